//! The plans of both sides, by the runs that load the data.

use std::path::Path;

use pgdyno_report::compare::changed_plans;
use pgdyno_results::{AbPlanChange, RunRecord, read_beside};
use pgdyno_text::wrap::one_line;

/// Statements whose plans are compared, by the time that they take.
pub(super) const STATEMENTS: u32 = 30;

/// The file with the plans of a run's statements: each statement, an empty line, its plan, and two empty lines.
const FILE: &str = "samples/plans.txt";

/// The plan of a statement.
struct StatementPlan {
    statement: String,
    /// Its nodes: `Limit (Index Scan using t_pkey on t)`.
    shape: String,
}

/// What is known of the plans of a side.
pub(super) struct SidePlans {
    record: RunRecord,
    statements: Vec<StatementPlan>,
}

impl SidePlans {
    /// Reads the plans of a run, whose directory is `run`. A run without plans has none.
    pub(super) fn read(run: &Path, record: RunRecord) -> Self {
        let text = read_beside(run, FILE).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
        Self { record, statements: parse(&text) }
    }
}

/// Returns the queries and statements whose plans have another shape on B.
pub(super) fn changes(a: &SidePlans, b: &SidePlans) -> Vec<AbPlanChange> {
    let queries = changed_plans(&a.record, &b.record).into_iter();
    let queries = queries.map(|change| AbPlanChange { statement: change.query, changes: change.changes });
    let other = |of_a: &StatementPlan| b.statements.iter().find(|of_b| of_b.statement == of_a.statement);
    let pairs = a.statements.iter().filter_map(|of_a| Some((of_a, other(of_a)?)));
    let statements = pairs.filter(|(of_a, of_b)| of_a.shape != of_b.shape).map(|(of_a, of_b)| AbPlanChange {
        statement: of_a.statement.clone(),
        changes: vec![format!("{} → {}", of_a.shape, of_b.shape)],
    });
    queries.chain(statements).collect()
}

/// Parses the file of a run. Statements without a plan are left out.
fn parse(text: &str) -> Vec<StatementPlan> {
    let one = |part: &str| {
        // A statement may have empty lines of its own: its plan has none.
        let (statement, plan) = part.trim().rsplit_once("\n\n")?;
        Some(StatementPlan { statement: one_line(statement), shape: shape(plan)? })
    };
    text.split("\n\n\n").filter_map(one).collect()
}

/// Returns the nodes of a plan in EXPLAIN's text format, each with those below it in parentheses.
fn shape(plan: &str) -> Option<String> {
    let node = |line: &str| {
        let indent = line.find("->");
        let depth = indent.map_or(0, |indent| indent + 1);
        let (name, _) = line[indent.map_or(0, |indent| indent + 2)..].split_once("  (cost=")?;
        Some((depth, name.trim().to_owned()))
    };
    let nodes: Vec<(usize, String)> = plan.lines().filter_map(node).collect();
    (!nodes.is_empty()).then(|| below(&nodes).join(", "))
}

/// Returns the shapes of the nodes at one level of a plan. The first node must be at that level.
fn below(mut nodes: &[(usize, String)]) -> Vec<String> {
    let mut shapes = Vec::new();
    while let [(depth, name), rest @ ..] = nodes {
        let children = rest.iter().take_while(|(other, _)| other > depth).count();
        let (inner, others) = rest.split_at(children);
        shapes.push(match inner {
            [] => name.clone(),
            inner => format!("{name} ({})", below(inner).join(", ")),
        });
        nodes = others;
    }
    shapes
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLANS: &str = "SELECT a\n\nFROM t WHERE id = $1\n\nLimit  (cost=0.1..8.1 rows=1 width=4)\n  \
         ->  Index Scan using t_pkey on t  (cost=0.1..8.1 rows=1 width=4)\n        Index Cond: (id = $1)\n\n\n\
         SELECT 1\n\nno plan: it has none\n\n\n\
         SELECT * FROM t, u\n\nHash Join  (cost=1..2 rows=1 width=8)\n  Hash Cond: (t.id = u.id)\n  \
         ->  Seq Scan on t  (cost=0..1 rows=1 width=4)\n  ->  Hash  (cost=0..1 rows=1 width=4)\n        \
         ->  Seq Scan on u  (cost=0..1 rows=1 width=4)\n\n\n";

    fn side(plans: &str) -> SidePlans {
        let text = include_str!("../../../../fixtures/runs/v1/run.json");
        let record: RunRecord = serde_json::from_str(text).unwrap();
        SidePlans { record, statements: parse(plans) }
    }

    #[test]
    fn a_plan_that_changed_is_named_with_both_shapes() {
        let of_b = PLANS.replace("Index Scan using t_pkey on t ", "Seq Scan on t ");
        assert_eq!(
            changes(&side(PLANS), &side(&of_b)),
            [AbPlanChange {
                statement: "SELECT a FROM t WHERE id = $1".to_owned(),
                changes: vec!["Limit (Index Scan using t_pkey on t) → Limit (Seq Scan on t)".to_owned()],
            }]
        );
        let same = PLANS.replace("cost=0.1..8.1", "cost=3..9");
        assert_eq!(changes(&side(PLANS), &side(&same)), [], "costs are no shape");
        assert_eq!(changes(&side(PLANS), &side("")), []);
    }

    #[test]
    fn nodes_are_nested_as_in_the_plan() {
        let plans = parse(PLANS);
        let shapes: Vec<_> = plans.iter().map(|plan| plan.shape.as_str()).collect();
        assert_eq!(shapes, ["Limit (Index Scan using t_pkey on t)", "Hash Join (Seq Scan on t, Hash (Seq Scan on u))"]);
    }
}
