//! Any text as a `run.json`: either a record that can be written and shown, or an error with a message.

use pgdyno_report::FORMATS;
use pgdyno_report::Look;
use pgdyno_report::html::{self, ReportRun};
use pgdyno_results::Timeline;
use pgdyno_results::fuzzing::record;

pub(crate) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let record = match record(text) {
        Ok(record) => record,
        Err(why) => return assert!(why.to_string().starts_with("run.json "), "an error names what it read: {why}"),
    };
    let written = serde_json::to_string(&record).expect("a record can be written");
    let again = pgdyno_results::fuzzing::record(&written).expect("what was written reads back");
    assert_eq!(serde_json::to_string(&again).expect("a record can be written"), written);
    for (name, render) in FORMATS {
        let mut out = Vec::new();
        render(&record, Look::default(), &mut out).expect("a vector takes all");
        let shown = String::from_utf8(out);
        assert!(shown.as_ref().is_ok_and(|shown| !shown.is_empty()), "{name}");
        assert!(*name != "text" || shown.is_ok_and(|shown| !shown.contains('\x1b')), "a record moves no cursor");
    }
    let mut page = Vec::new();
    let timeline = Timeline::of_record(&record);
    html::write(&[ReportRun::new(record, timeline)], &mut page).expect("a vector takes all");
    let page = String::from_utf8(page).expect("a page is UTF-8");
    assert!(!page.contains("<b onclick"), "what a record says is no markup");
}
