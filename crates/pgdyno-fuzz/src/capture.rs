//! Any text as the content of a capture: either it is refused, or it can be written, read again and shown.

use std::io::Cursor;

use pgdyno_capture::{CaptureRecord, FORMATS, read, statement_key, write};
use pgdyno_text::TextStyle;
use pgdyno_untrusted::TerminalText;

pub(crate) fn run(input: &[u8]) {
    if let Ok(text) = std::str::from_utf8(input) {
        assert!(statement_key(text).len() <= 2 * text.len(), "a key is its tokens and the spaces between them");
    }
    let Ok(capture) = serde_json::from_slice::<CaptureRecord>(input) else { return };
    let mut file = Cursor::new(Vec::new());
    write(&capture, &mut file).expect("a vector takes all");
    // Figures that no server counts are refused.
    let Ok(again) = read(&mut file) else { return };
    assert_eq!(again, capture, "what was written reads back");
    for (name, show) in FORMATS {
        for verbose in [false, true] {
            let mut out = Vec::new();
            show(&capture, TextStyle { verbose, ..TextStyle::default() }, &mut out).expect("a vector takes all");
            let shown = String::from_utf8(out).expect("it is text");
            assert!(!shown.is_empty() && !TerminalText(&shown).to_string().contains('\x1b'), "{name}");
        }
    }
}
