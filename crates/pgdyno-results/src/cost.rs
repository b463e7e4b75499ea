//! Cost of a run's figures. Formulas: docs/measurement.md.

use crate::record::{CostRecord, Summary, TargetRecord};

impl CostRecord {
    /// Returns the cost of the figures on a target with a price; `None` without a price, or if nothing was committed.
    #[must_use]
    pub fn of(target: &TargetRecord, summary: &Summary) -> Option<Self> {
        let price_per_hour = target.price_per_hour?;
        (summary.tps > 0.0).then(|| Self {
            currency: target.currency.clone(),
            price_per_hour,
            per_million_transactions: price_per_hour / 3600.0 / summary.tps * 1e6,
            nopm_per_price: summary.nopm.map(|nopm| nopm / price_per_hour),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_is_shared_out_to_its_transactions() {
        let target = TargetRecord { price_per_hour: Some(3.6), currency: "EUR".into(), ..TargetRecord::default() };
        let summary = Summary { tps: 1000.0, nopm: Some(18_000.0), ..Summary::default() };
        let cost = CostRecord::of(&target, &summary).unwrap();
        // 3.6 an hour are 0.001 a second, in which 1,000 are committed: a millionth each.
        assert!((cost.per_million_transactions - 1.0).abs() < 1e-9, "{cost:?}");
        assert_eq!((cost.nopm_per_price, cost.currency.as_str()), (Some(5000.0), "EUR"));
        assert_eq!(CostRecord::of(&target, &Summary::default()), None);
        assert_eq!(CostRecord::of(&TargetRecord::default(), &summary), None);
    }
}
