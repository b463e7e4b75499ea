//! The cost of the figures.

use pgdyno_results::RunRecord;
use pgdyno_text::units::{count, rate};

/// Returns one line, if the target has a price.
pub(crate) fn line(record: &RunRecord) -> Option<String> {
    figures(record).map(|figures| format!("cost: {figures}"))
}

/// Returns the price, if the target has one.
pub(crate) fn figures(record: &RunRecord) -> Option<String> {
    let cost = record.cost.as_ref()?;
    let currency = &cost.currency;
    let nopm = cost
        .nopm_per_price
        .map_or_else(String::new, |nopm| format!("; {} NOPM for each {currency} an hour", count(nopm.round() as u64)));
    Some(format!(
        "{} {currency} an hour; {} {currency} a million transactions{nopm}",
        rate(cost.price_per_hour),
        rate(cost.per_million_transactions)
    ))
}
