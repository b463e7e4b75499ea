//! Any text as a `run.json`: either a record that can be written and shown, or an error with a message.

use pgdyno_report::FORMATS;
use pgdyno_report::html::{self, ReportRun};
use pgdyno_report::suite::{SuiteRun, junit};
use pgdyno_results::Timeline;
use pgdyno_results::fuzzing::record;
use pgdyno_text::TextStyle;
use pgdyno_untrusted::TerminalText;

use crate::text::is_no_formula;

/// Returns the cells of a table in CSV, without their quotes.
fn cells(table: &str) -> Vec<String> {
    let (mut cells, mut is_quoted) = (vec![String::new()], false);
    for c in table.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' | '\n' if !is_quoted => cells.push(String::new()),
            c => cells.last_mut().into_iter().for_each(|cell| cell.push(c)),
        }
    }
    cells
}

/// Checks that a text is XML 1.0.
fn is_xml(text: &str) {
    assert!(text.chars().all(|c| !c.is_control() || matches!(c, '\t' | '\n' | '\r')), "{text:?}");
    let mut reader = quick_xml::Reader::from_str(text);
    loop {
        match reader.read_event() {
            Ok(quick_xml::events::Event::Eof) => return,
            Ok(_) => {}
            Err(error) => panic!("{error}: {text}"),
        }
    }
}

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
        render(&record, TextStyle::default(), &mut out).expect("a vector takes all");
        let shown = String::from_utf8(out);
        assert!(shown.as_ref().is_ok_and(|shown| !shown.is_empty()), "{name}");
        let shown = shown.unwrap_or_default();
        match *name {
            "text" => assert!(!TerminalText(&shown).to_string().contains('\x1b'), "a record moves no cursor"),
            "markdown" => assert!(!shown.contains('<'), "a record is no HTML: {shown}"),
            "csv" => cells(&shown).iter().for_each(|cell| is_no_formula(cell)),
            _ => {}
        }
    }
    is_xml(
        &junit(
            &record.id,
            &[SuiteRun { cell: &record.plan.workload, record: Some(&record), failure: record.reason.as_deref() }],
        )
        .expect("memory takes all"),
    );
    let mut page = Vec::new();
    let timeline = Timeline::of_record(&record);
    html::write(&[ReportRun::new(record, timeline)], &mut page).expect("a vector takes all");
    let page = String::from_utf8(page).expect("a page is UTF-8");
    assert!(!page.contains("<b onclick"), "what a record says is no markup");
}
