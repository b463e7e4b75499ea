//! Plans of queries, as EXPLAIN returned them outside the measured window.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The shape of a query's plan, and what its one execution under EXPLAIN took. The whole plan is in
/// [`QUERY_PLANS`](crate::QUERY_PLANS).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct QueryPlanRecord {
    /// The query: `q1`.
    pub query: String,
    /// Tables as they are joined, the outer side first: `((customer orders) lineitem)`. Subplans follow after `+`.
    pub join_order: String,
    /// Joins, from the top of the plan: `Hash Join`, `Nested Loop Semi Join`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joins: Vec<String>,
    /// Scans, in the order of the plan.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scans: Vec<ScanRecord>,
    /// Aggregations, from the top of the plan: `GroupAggregate`, `Partial HashAggregate`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aggregates: Vec<String>,
    /// Largest number of parallel workers that a node asks for.
    pub workers: u64,
    /// Time of planning; absent where the query was not executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planning_ms: Option<f64>,
    /// Time of execution; absent where the query was not executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_ms: Option<f64>,
    /// Blocks of shared buffers that were not in the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_read_blocks: Option<u64>,
    /// Blocks of temporary files that were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temp_written_blocks: Option<u64>,
    /// Reason why there is no plan, or none of an execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A scan of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ScanRecord {
    /// The table's name in the query: `lineitem`, `n1`.
    pub table: String,
    /// The kind of scan, with its index: `Index Scan using lineitem_pkey`.
    pub scan: String,
}

impl QueryPlanRecord {
    /// Returns the shape and times of a plan in EXPLAIN's JSON format: a list with one object. What is missing there is
    /// missing here.
    #[must_use]
    pub fn of_explain(query: &str, explained: &Value) -> Self {
        let whole = explained.get(0).unwrap_or(explained);
        let mut record = Self { query: query.to_owned(), ..Self::default() };
        let Some(top) = whole.get("Plan") else { return record };
        let mut subplans = Vec::new();
        let main = record.walk(top, &mut subplans);
        record.join_order = main.into_iter().chain(subplans).collect::<Vec<_>>().join(" + ");
        let ms = |name: &str| whole.get(name).and_then(Value::as_f64);
        (record.planning_ms, record.execution_ms) = (ms("Planning Time"), ms("Execution Time"));
        let blocks = |name: &str| top.get(name).and_then(Value::as_u64).filter(|_| record.execution_ms.is_some());
        let (read, written) = (blocks("Shared Read Blocks"), blocks("Temp Written Blocks"));
        (record.shared_read_blocks, record.temp_written_blocks) = (read, written);
        record
    }

    /// Returns true if both plans join the same tables in the same order by the same kinds of joins, scans and
    /// aggregations, with the same number of workers.
    #[must_use]
    pub fn has_shape_of(&self, other: &Self) -> bool {
        self.join_order == other.join_order
            && self.joins == other.joins
            && self.scans == other.scans
            && self.aggregates == other.aggregates
            && self.workers == other.workers
    }

    /// Adds a node and those below it. Returns the order in which it joins tables; adds those of subplans to `subplans`.
    fn walk(&mut self, node: &Value, subplans: &mut Vec<String>) -> Option<String> {
        let text = |name: &str| node.get(name).and_then(Value::as_str).unwrap_or_default();
        let kind = text("Node Type");
        self.workers = self.workers.max(node.get("Workers Planned").and_then(Value::as_u64).unwrap_or_default());
        if matches!(kind, "Nested Loop" | "Hash Join" | "Merge Join") {
            self.joins.push(join(kind, text("Join Type")));
        }
        if kind == "Aggregate" {
            self.aggregates.push(aggregate(text("Strategy"), text("Partial Mode")));
        }
        let table = [text("Alias"), text("Relation Name"), text("CTE Name")].into_iter().find(|name| !name.is_empty());
        let is_scan = !text("Relation Name").is_empty() || !text("CTE Name").is_empty();
        if let Some(table) = table.filter(|_| is_scan) {
            self.scans.push(ScanRecord { table: table.to_owned(), scan: scan(node, kind) });
        }
        let first_scan = self.scans.len();
        let mut inputs = Vec::new();
        for child in children(node) {
            // The indexes of a bitmap scan belong to it.
            if is_scan && !is_subplan(child) {
                continue;
            }
            let order = self.walk(child, subplans);
            if is_subplan(child) { subplans.extend(order) } else { inputs.extend(order) }
        }
        if matches!(kind, "Append" | "Merge Append") {
            self.merge_partitions(first_scan);
            inputs = inputs.iter().map(|input| of_partition(input).to_owned()).collect();
            inputs.dedup();
        }
        match (is_scan, inputs.len()) {
            (true, _) => table.map(str::to_owned),
            (false, 0) => None,
            (false, 1) => inputs.pop(),
            (false, _) => Some(format!("({})", inputs.join(" "))),
        }
    }

    /// Makes one scan of those of the partitions of each table, from the scan of this number on: EXPLAIN calls them
    /// `lineitem_1`, `lineitem_2`.
    fn merge_partitions(&mut self, first: usize) {
        let mut merged: Vec<(String, Vec<String>, usize)> = Vec::new();
        for scan in self.scans.drain(first..) {
            let table = of_partition(&scan.table);
            // Each partition has indexes of its own.
            let kind = scan.scan.split(" using ").next().unwrap_or_default().to_owned();
            match merged.iter_mut().find(|(name, ..)| name == table) {
                None => merged.push((table.to_owned(), vec![kind], 1)),
                Some((_, kinds, partitions)) => {
                    *partitions += 1;
                    if !kinds.contains(&kind) {
                        kinds.push(kind);
                    }
                }
            }
        }
        self.scans.extend(merged.into_iter().map(|(table, kinds, partitions)| {
            let of = if partitions > 1 { format!(" of {partitions} partitions") } else { String::new() };
            ScanRecord { table, scan: format!("{}{of}", kinds.join(", ")) }
        }));
    }
}

fn children(node: &Value) -> impl Iterator<Item = &Value> {
    node.get("Plans").and_then(Value::as_array).into_iter().flatten()
}

fn is_subplan(node: &Value) -> bool {
    matches!(node.get("Parent Relationship").and_then(Value::as_str), Some("SubPlan" | "InitPlan"))
}

/// Returns the name of a partition's table: without the number that EXPLAIN adds.
fn of_partition(name: &str) -> &str {
    match name.rsplit_once('_') {
        Some((table, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => table,
        _ => name,
    }
}

/// Returns a join as EXPLAIN's text format has it.
fn join(kind: &str, of: &str) -> String {
    match (kind, of) {
        (_, "" | "Inner") => kind.to_owned(),
        ("Nested Loop", of) => format!("Nested Loop {of} Join"),
        (kind, of) => format!("{} {of} Join", kind.trim_end_matches(" Join")),
    }
}

/// Returns an aggregation as EXPLAIN's text format has it.
fn aggregate(strategy: &str, mode: &str) -> String {
    let kind = match strategy {
        "Sorted" => "GroupAggregate",
        "Hashed" => "HashAggregate",
        "Mixed" => "MixedAggregate",
        _ => "Aggregate",
    };
    if matches!(mode, "Partial" | "Finalize") { format!("{mode} {kind}") } else { kind.to_owned() }
}

/// Returns a scan with its indexes.
fn scan(node: &Value, kind: &str) -> String {
    let mut indexes = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        indexes.extend(node.get("Index Name").and_then(Value::as_str));
        open.extend(children(node).filter(|child| !is_subplan(child)));
    }
    indexes.sort_unstable();
    let parallel = if node.get("Parallel Aware") == Some(&Value::Bool(true)) { "Parallel " } else { "" };
    let using = if indexes.is_empty() { String::new() } else { format!(" using {}", indexes.join(", ")) };
    format!("{parallel}{kind}{using}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn seq(table: &str) -> Value {
        json!({ "Node Type": "Seq Scan", "Relation Name": table, "Alias": table, "Parent Relationship": "Outer" })
    }

    #[test]
    fn a_shape_has_joins_scans_and_their_order() {
        let bitmap = json!({
            "Node Type": "Bitmap Heap Scan", "Relation Name": "lineitem", "Alias": "l", "Parent Relationship": "Inner",
            "Plans": [{ "Node Type": "Bitmap Index Scan", "Index Name": "l_orderkey_idx" }],
        });
        let inner = json!({
            "Node Type": "Hash Join", "Join Type": "Inner", "Parent Relationship": "Outer",
            "Plans": [seq("customer"), { "Node Type": "Hash", "Parent Relationship": "Inner", "Plans": [seq("orders")] }],
        });
        let sub = json!({
            "Node Type": "Aggregate", "Strategy": "Plain", "Parent Relationship": "SubPlan",
            "Plans": [seq("partsupp")],
        });
        let explained = json!([{
            "Plan": {
                "Node Type": "Gather", "Workers Planned": 2, "Shared Read Blocks": 7, "Temp Written Blocks": 3,
                "Plans": [{ "Node Type": "Nested Loop", "Join Type": "Semi", "Plans": [inner, bitmap, sub] }],
            },
            "Planning Time": 1.5, "Execution Time": 20.25,
        }]);
        let plan = QueryPlanRecord::of_explain("q3", &explained);
        assert_eq!(plan.join_order, "((customer orders) l) + partsupp");
        assert_eq!(plan.joins, ["Nested Loop Semi Join", "Hash Join"]);
        let scans = plan.scans.iter().map(|scan| format!("{}: {}", scan.table, scan.scan)).collect::<Vec<_>>();
        let bitmap = "l: Bitmap Heap Scan using l_orderkey_idx";
        assert_eq!(scans, ["customer: Seq Scan", "orders: Seq Scan", bitmap, "partsupp: Seq Scan"]);
        assert_eq!((plan.aggregates.as_slice(), plan.workers), (["Aggregate".to_owned()].as_slice(), 2));
        assert_eq!((plan.planning_ms, plan.execution_ms), (Some(1.5), Some(20.25)));
        assert_eq!((plan.shared_read_blocks, plan.temp_written_blocks), (Some(7), Some(3)));
        assert!(plan.has_shape_of(&QueryPlanRecord { execution_ms: None, ..plan.clone() }));
    }

    #[test]
    fn partitions_of_a_table_are_one_scan() {
        let partition = |nth: usize, kind: &str| {
            let (name, index) = (format!("orders_p{nth}"), format!("orders_p{nth}_o_orderdate_idx"));
            json!({ "Node Type": kind, "Relation Name": name, "Alias": format!("orders_{nth}"), "Index Name": index })
        };
        let plans = [partition(1, "Index Scan"), partition(2, "Index Scan"), partition(3, "Seq Scan")];
        let explained = json!([{ "Plan": { "Node Type": "Append", "Plans": plans } }]);
        let plan = QueryPlanRecord::of_explain("q4", &explained);
        assert_eq!((plan.join_order.as_str(), plan.execution_ms), ("orders", None));
        let scan = "Index Scan, Seq Scan of 3 partitions".to_owned();
        assert_eq!(plan.scans, [ScanRecord { table: "orders".to_owned(), scan }]);
    }

    #[test]
    fn anything_else_has_no_shape() {
        for other in [json!(null), json!([]), json!([{ "Plan": 5 }]), json!({ "Plan": { "Plans": "none" } })] {
            let plan = QueryPlanRecord::of_explain("q1", &other);
            assert_eq!(plan, QueryPlanRecord { query: "q1".to_owned(), ..QueryPlanRecord::default() });
        }
    }
}
