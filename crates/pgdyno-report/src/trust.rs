//! Whether the figures can be used, for a reader of one screen.

use std::borrow::Cow;

use pgdyno_results::{RunRecord, Trust, TrustRecord};

/// Maximum number of reasons that are shown; the others are counted.
const REASONS_MAX: usize = 3;

/// Returns the trust of a record; computes it for records that were written before it existed.
pub(crate) fn of(record: &RunRecord) -> Cow<'_, TrustRecord> {
    record.trust.as_ref().map_or_else(|| Cow::Owned(TrustRecord::of_stored(record)), Cow::Borrowed)
}

/// Returns the trust, and the first reasons, one per line; `where_more` says where the others are.
pub(crate) fn lines(record: &RunRecord, where_more: &str) -> (Trust, Vec<String>) {
    let trust = of(record);
    let mut lines: Vec<String> = trust.reasons.iter().take(REASONS_MAX).cloned().collect();
    let more = trust.reasons.len().saturating_sub(REASONS_MAX);
    if more > 0 {
        lines.push(format!("{more} more ({where_more})"));
    }
    (trust.degree(), lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_reasons_are_shown_and_the_others_counted() {
        let mut record: RunRecord = serde_json::from_str(include_str!("../../../fixtures/runs/v1/run.json")).unwrap();
        let warning = |nth| pgdyno_results::Warning::note(format!("warning {nth}: and what to do"));
        record.warnings = (1..=5).map(warning).collect();
        record.trust = None;
        let (verdict, reasons) = lines(&record, "-v");
        assert_eq!(verdict, Trust::WithCare, "what warnings of old records mean is unknown");
        assert_eq!(reasons.last().unwrap(), "2 more (-v)", "{reasons:?}");
        assert_eq!(reasons.len(), 4);
    }
}
