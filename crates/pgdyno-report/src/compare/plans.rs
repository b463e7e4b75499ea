//! Queries whose plans changed shape between two sides: the tables' order, the kinds of joins, scans and aggregations.

use std::collections::BTreeMap;

use pgdyno_results::{QueryPlanRecord, RunRecord};
use pgdyno_text::units;

use super::words::signed;

/// What the plans of both sides say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plans {
    /// Number of queries of which both sides have a plan.
    pub compared: usize,
    /// The queries whose plans differ, in the order of the base.
    pub changed: Vec<PlanChange>,
}

/// A query whose plan changed shape.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanChange {
    /// The query: `q1`.
    pub query: String,
    /// Its mean time in the runs of each side, in seconds, if it ended there.
    pub seconds: [Option<f64>; 2],
    /// The changes, one in each line: `joins: Hash Join → Merge Join`.
    pub changes: Vec<String>,
}

impl PlanChange {
    /// Returns both times and their change: `0.121 → 0.440 s, +263.6 %`.
    pub(crate) fn times(&self) -> String {
        let text = |seconds: Option<f64>| seconds.map_or_else(|| "none".to_owned(), units::seconds);
        let [base, new] = self.seconds.map(text);
        let change = self.ratio().map_or_else(String::new, |ratio| format!(", {}", signed(ratio)));
        format!("{base} → {new} s{change}")
    }

    /// Returns the time in NEW by the time in BASE.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        let [base, new] = self.seconds;
        Some(new? / base?).filter(|ratio| ratio.is_finite())
    }
}

/// Returns the changes between the plans of both sides, of the first run with plans each; `None` where a side has none.
pub(super) fn changes(base: &[RunRecord], new: &[RunRecord]) -> Option<Plans> {
    let of =
        |records: &[RunRecord]| records.iter().map(|record| record.query_plans.clone()).find(|plans| !plans.is_empty());
    let (first, second) = (of(base)?, of(new)?);
    let mut plans = Plans::default();
    for before in first.iter().filter(|plan| has_plan(plan)) {
        let Some(after) = second.iter().find(|plan| plan.query == before.query && has_plan(plan)) else { continue };
        plans.compared += 1;
        if !before.has_shape_of(after) {
            let seconds = [base, new].map(|records| mean_s(records, &before.query));
            plans.changed.push(PlanChange { query: before.query.clone(), seconds, changes: words(before, after) });
        }
    }
    Some(plans)
}

/// Returns the queries whose plans differ in shape between two runs.
#[must_use]
pub fn changed_plans(base: &RunRecord, new: &RunRecord) -> Vec<PlanChange> {
    changes(std::slice::from_ref(base), std::slice::from_ref(new)).map(|plans| plans.changed).unwrap_or_default()
}

impl Plans {
    /// Returns how many plans changed, in words.
    #[must_use]
    pub fn summary(&self) -> String {
        match self.changed.len() {
            0 => format!("all {} queries have plans of the same shape on both sides", self.compared),
            1 => format!("1 of {} queries has a plan of another shape", self.compared),
            n => format!("{n} of {} queries have plans of another shape", self.compared),
        }
    }
}

/// Returns what to do to see the plans of both sides, where only one has them.
pub(super) fn missing(base: &[RunRecord], new: &[RunRecord]) -> Option<String> {
    let has_plans = |records: &[RunRecord]| records.iter().any(|record| !record.query_plans.is_empty());
    let without = match (has_plans(base), has_plans(new)) {
        (true, false) => "NEW",
        (false, true) => "BASE",
        _ => return None,
    };
    Some(format!("{without} has no plans of queries to compare: run it again with --plans"))
}

fn has_plan(plan: &QueryPlanRecord) -> bool {
    !plan.scans.is_empty() || !plan.join_order.is_empty()
}

fn mean_s(records: &[RunRecord], query: &str) -> Option<f64> {
    let times: Vec<f64> = records
        .iter()
        .flat_map(|record| &record.transactions)
        .filter(|kind| kind.name == query && kind.committed > 0)
        .filter_map(|kind| kind.response_latency_ns.as_ref().or(kind.service_latency_ns.as_ref()))
        .map(|latency| latency.mean / 1e9)
        .collect();
    (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
}

/// Returns the changes in words.
fn words(before: &QueryPlanRecord, after: &QueryPlanRecord) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = |what: &str, from: String, to: String| {
        if from != to {
            lines.push(format!("{what}: {from} → {to}"));
        }
    };
    let (from, to) = (counted(&before.joins), counted(&after.joins));
    if from == to {
        // The same kinds at other places of the plan.
        line("order of joins", before.joins.join(", "), after.joins.join(", "));
    }
    line("joins", from, to);
    line("join order", before.join_order.clone(), after.join_order.clone());
    let (mine, theirs) = (scans(before), scans(after));
    for (table, scan) in &mine {
        line(&format!("scan of {table}"), scan.clone(), theirs.get(table).cloned().unwrap_or_else(none));
    }
    for (table, scan) in theirs.iter().filter(|(table, _)| !mine.contains_key(*table)) {
        line(&format!("scan of {table}"), none(), scan.clone());
    }
    let (from, to) = (counted(&before.aggregates), counted(&after.aggregates));
    if from == to {
        line("order of aggregations", before.aggregates.join(", "), after.aggregates.join(", "));
    }
    line("aggregation", from, to);
    line("parallel workers", before.workers.to_string(), after.workers.to_string());
    lines
}

fn none() -> String {
    "none".to_owned()
}

/// Returns the scans of each table.
fn scans(plan: &QueryPlanRecord) -> BTreeMap<&str, String> {
    let mut scans: BTreeMap<&str, String> = BTreeMap::new();
    for scan in &plan.scans {
        let text = scans.entry(&scan.table).or_default();
        if !text.is_empty() {
            text.push_str(" and ");
        }
        text.push_str(&scan.scan);
    }
    scans
}

/// Returns the kinds with their numbers: `2 Hash Join, Nested Loop`.
fn counted(kinds: &[String]) -> String {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for kind in kinds {
        *numbers.entry(kind).or_default() += 1;
    }
    let words = numbers.iter().map(|(kind, n)| if *n == 1 { (*kind).to_owned() } else { format!("{n} {kind}") });
    let words = words.collect::<Vec<_>>().join(", ");
    if words.is_empty() { none() } else { words }
}

#[cfg(test)]
mod tests {
    use pgdyno_results::ScanRecord;

    use super::*;

    fn plan(joins: &[&str], order: &str, scans: &[(&str, &str)]) -> QueryPlanRecord {
        let scan = |(table, scan): &(&str, &str)| ScanRecord { table: (*table).to_owned(), scan: (*scan).to_owned() };
        QueryPlanRecord {
            query: "q3".to_owned(),
            join_order: order.to_owned(),
            joins: joins.iter().map(|join| (*join).to_owned()).collect(),
            scans: scans.iter().map(scan).collect(),
            ..QueryPlanRecord::default()
        }
    }

    #[test]
    fn a_change_is_reported_by_what_changed() {
        let scans = [("orders", "Seq Scan"), ("lineitem", "Seq Scan")];
        let hash = plan(&["Hash Join", "Hash Join"], "(orders lineitem)", &scans);
        let scans = [("orders", "Seq Scan"), ("lineitem", "Index Scan using lineitem_pkey")];
        let merge = QueryPlanRecord { workers: 2, ..plan(&["Merge Join", "Hash Join"], "(lineitem orders)", &scans) };
        assert_eq!(
            words(&hash, &merge),
            [
                "joins: 2 Hash Join → Hash Join, Merge Join",
                "join order: (orders lineitem) → (lineitem orders)",
                "scan of lineitem: Seq Scan → Index Scan using lineitem_pkey",
                "parallel workers: 0 → 2",
            ]
        );
        assert!(words(&hash, &hash).is_empty());
        let turned = plan(&["Hash Join", "Merge Join"], "(lineitem orders)", &scans);
        let words = words(&QueryPlanRecord { workers: 0, ..merge }, &turned);
        assert_eq!(words, ["order of joins: Merge Join, Hash Join → Hash Join, Merge Join"]);
    }
}
