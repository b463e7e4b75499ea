//! Any text as what others wrote, where it is shown: on a terminal, in Markdown, CSV, XML and on a command line.

use pgdyno_untrusted::{
    CsvField, FileName, MarkdownCode, MarkdownText, PaintedText, RelativePath, ShellWord, TerminalText, XmlText,
    plain_cell,
};

pub(crate) fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let shown = TerminalText(&text).to_string();
    assert!(moves_no_terminal(&shown), "{shown:?}");
    assert_eq!(TerminalText(&shown).to_string(), shown, "what is shown is plain");
    let painted = PaintedText(&text).to_string();
    let unpainted = ["\u{1b}[1m", "\u{1b}[1;31m", "\u{1b}[33m", "\u{1b}[0m"]
        .iter()
        .fold(painted, |painted, code| painted.replace(code, ""));
    assert!(moves_no_terminal(&unpainted), "{unpainted:?}");

    is_plain_markdown(&MarkdownText(&text).to_string());
    let code = MarkdownCode(&text).to_string();
    let fence = code.len() - code.trim_start_matches('`').len();
    let inner = &code[fence..code.len() - fence];
    assert!(!inner.contains(&"`".repeat(fence)) && !inner.contains('\n'), "{code:?}");

    let field = CsvField(&text).to_string();
    let cell = match field.strip_prefix('"') {
        Some(quoted) => quoted.strip_suffix('"').expect("a closing quote").replace("\"\"", "\""),
        None => field,
    };
    is_no_formula(&cell);
    assert_eq!(plain_cell(cell.into()), text);

    let xml = XmlText(&text).to_string();
    assert!(xml.chars().all(|c| !c.is_control() || matches!(c, '\t' | '\n' | '\r')), "{xml:?}");
    let word = ShellWord(&text).to_string();
    assert_eq!(word.replace(r"'\''", "").matches('\'').count() % 2, 0, "{word}");

    if let Ok(path) = RelativePath::parse(&text) {
        assert!(path.as_str().split('/').all(|part| !matches!(part, "" | "." | "..")), "{path}");
    }
    assert!(!FileName::is_valid(&text) || !text.contains(['/', '\0']) && !text.starts_with('.'));
}

fn moves_no_terminal(text: &str) -> bool {
    text.chars().all(|c| !c.is_control() || matches!(c, '\t' | '\n'))
}

/// Checks that a text in Markdown is no markup.
pub(crate) fn is_plain_markdown(text: &str) {
    assert!(!text.contains(['<', '>', '\r']) && moves_no_terminal(text), "{text:?}");
    for (at, c) in text.char_indices() {
        let after = text[at + c.len_utf8()..].chars().next();
        let escapes = text[..at].len() - text[..at].trim_end_matches('\\').len();
        match c {
            '@' => {
                let word = text[at..].split(' ').next().unwrap_or_default();
                let is_within = text[..at].ends_with(char::is_alphanumeric) && !word.contains('.');
                assert!(is_within || !after.is_some_and(char::is_alphanumeric), "{text:?} mentions or links");
            }
            '`' | '|' | '[' | '*' => assert!(escapes % 2 == 1, "{text:?} has an unescaped {c}"),
            _ => {}
        }
    }
}

/// Checks that no spreadsheet computes a cell.
pub(crate) fn is_no_formula(cell: &str) {
    let computed = cell.starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']);
    assert!(!computed || cell.parse::<f64>().is_ok(), "{cell:?} is a formula");
}
