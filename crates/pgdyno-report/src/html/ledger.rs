//! A run with a ledger: the verdict, and a table of all that is known of its commits.

use pgdyno_results::RunRecord;

use super::markup::Html;
use super::outage;
use crate::faults;
use crate::ledger::{alarms, answer, rows};

/// Writes the section, if the run kept a ledger.
pub(super) fn ledger(record: &RunRecord, html: &mut Html) {
    let Some(ledger) = &record.ledger else { return };
    html.raw("<section id=\"ledger\">\n").heading("Commits");
    html.raw("<p>").text(&answer(ledger)).raw(".</p>\n");
    for alarm in alarms(ledger) {
        html.raw("<p>").text(&alarm).raw(".</p>\n");
    }
    for line in faults::sentences(record) {
        html.raw("<p>").text(&line).raw(".</p>\n");
    }
    outage::outage(ledger, html);
    let cells: Vec<Vec<String>> = rows(ledger).into_iter().map(|(name, value)| vec![name, value]).collect();
    html.table(&[("commits", false), ("value", true)], &cells).raw("</section>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_no_markup() {
        let mut html = Html::default();
        let mut record = crate::ledger::tests::record();
        record.ledger = Some(crate::ledger::tests::ledger());
        ledger(&record, &mut html);
        let page = html.into_string();
        assert!(
            page.contains("27 s without commits") && page.contains("&lt;b&gt;|a") && !page.contains("<b>|a"),
            "{page}"
        );
        let mut none = Html::default();
        ledger(&crate::ledger::tests::record(), &mut none);
        assert_eq!(none.into_string(), "");
    }
}
