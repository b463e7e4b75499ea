//! Transactions wait for each other's rows.

use pgdyno_results::{Certainty, FindingRecord, LinkRecord};
use pgdyno_samples::locks;
use pgdyno_text::brief::{duration, number};

use super::waited;
use crate::blockers::Head;
use crate::facts::Facts;
use crate::hot_rows::HotRows;
use crate::tables::Table;
use crate::waits::Class;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let what = "waiting for row locks of other transactions";
    let mut found = waited(facts, "row-locks", Class::RowLock, what)?;
    found.evidence.extend(where_they_wait(facts, |kind| matches!(kind, "transactionid" | "tuple")));
    let hot = HotRows::of(facts);
    found.evidence.extend(hot.as_ref().map(HotRows::evidence));
    let head = name_head(facts, &mut found);
    let few = hot.as_ref().and_then(|hot| FewRows::of(facts, hot)).filter(|_| head.is_none());
    if let Some(few) = &few {
        let waits = std::mem::replace(&mut found.text, few.text());
        let link = |text: &str, evidence: &[String]| LinkRecord::new(text, Certainty::Measured, evidence);
        found.chain = vec![link(&found.text, &found.evidence[1..]), link(&waits, &found.evidence[..1])];
        found.evidence.insert(0, waits);
    }
    found.advice = head
        .or_else(|| few.map(|few| few.advice(facts)))
        .or_else(|| hot?.advice())
        .or_else(|| Some("use a larger scale (more rows to lock), fewer clients or shorter transactions".to_owned()));
    Some(found)
}

/// With fewer rows than this for each client, clients often want the same one.
const ROWS_EACH: f64 = 2.0;

/// A table of which the clients change the same few rows.
struct FewRows<'a> {
    table: &'a str,
    rows: f64,
    clients: f64,
}

impl<'a> FewRows<'a> {
    /// Returns the table with wanted rows that has the fewest, if it has so few that some clients must share one. A transaction that
    /// waits there holds the rows that it changed before, so that others wait for those.
    fn of(facts: &Facts<'_>, hot: &'a HotRows) -> Option<Self> {
        let (tables, clients) = (Table::at_end(facts), facts.connections());
        let rows = |table: &str| Some(tables.iter().find(|of| of.name == table)?.live.max(1.0));
        let known = hot.tables().filter_map(|table| Some(Self { table, rows: rows(table)?, clients }));
        known.filter(|few| few.rows < ROWS_EACH * clients).min_by(|a, b| a.rows.total_cmp(&b.rows))
    }

    fn text(&self) -> String {
        let of_rows = if self.rows < 1.5 { "one row".to_owned() } else { format!("{:.0} rows", self.rows) };
        format!("{:.0} clients waited for each other to change {of_rows} of {}", self.clients, self.table)
    }

    /// Where the table grows with the scale of the workload, the scale is the remedy.
    fn advice(&self, facts: &Facts<'_>) -> String {
        let plan = &facts.record.plan;
        let grows = |option: &str, per_client: f64| {
            let scale = (self.clients * per_client).ceil().max(plan.scale as f64 + 1.0);
            format!("use a larger scale: {option} {scale:.0} or more (it is {})", plan.scale)
        };
        match (plan.scale_name.as_str(), self.table) {
            ("scale", "pgbench_branches") => grows("-s", ROWS_EACH),
            ("scale", "pgbench_tellers") => grows("-s", ROWS_EACH / 10.0),
            // Clients that draw their homes share some even where there are as many: HammerDB's rule is 4 to 5 for each client.
            ("warehouses", "warehouse") => grows("-w", 4.0),
            ("warehouses", "district") => grows("-w", ROWS_EACH / 10.0),
            _ => "spread the changes over more rows; or use fewer clients or shorter transactions".to_owned(),
        }
    }
}

/// Adds who was seen most often at the head of a queue to the evidence. Returns advice, if that is none of the clients and was
/// there in most looks.
pub(super) fn name_head(facts: &Facts<'_>, found: &mut FindingRecord) -> Option<String> {
    let head = Head::all(facts).into_iter().next()?;
    found.evidence.push(head.evidence(facts));
    head.session.advice(facts).filter(|_| 2 * head.seen > head.looks)
}

/// The relations on whose locks of some types most sessions waited, and the longest wait, where `locks` has it.
pub(super) fn where_they_wait(facts: &Facts<'_>, is_one: impl Fn(&str) -> bool) -> Option<String> {
    let table = facts.samples.of(locks::SOURCE);
    let mut waiting = std::collections::BTreeMap::<&str, f64>::new();
    let mut longest_s: f64 = 0.0;
    for (_, row) in facts.within(table).filter(|(_, row)| table.cell(row, locks::LOCKTYPE).is_some_and(&is_one)) {
        let number = |column| table.cell(row, column).and_then(|cell| cell.parse::<f64>().ok()).unwrap_or_default();
        *waiting.entry(table.cell(row, locks::RELATION).unwrap_or_default()).or_default() += number(locks::WAITING);
        longest_s = longest_s.max(number(locks::LONGEST_WAIT_S));
    }
    let total: f64 = waiting.values().sum();
    if total <= 0.0 {
        return None;
    }
    // A lock on a transaction names no relation.
    let mut of_relations: Vec<_> = waiting.into_iter().filter(|(relation, _)| !relation.is_empty()).collect();
    of_relations.sort_by(|a, b| b.1.total_cmp(&a.1));
    let relations: Vec<_> = of_relations.iter().take(3).map(|(relation, _)| *relation).collect();
    let relations = if relations.is_empty() { String::new() } else { format!(", on {}", relations.join(", ")) };
    let mean = number(total / facts.seconds());
    Some(format!("{mean} sessions in the queues for such locks{relations}; longest wait seen {}", duration(longest_s)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn row_locks_are_reported_with_their_relations() {
        let columns = ["locktype", "mode", "relation", "waiting", "longest_wait_s"];
        let row = |cells: [&str; 5]| cells.map(str::to_owned).to_vec();
        let run = Run::new().waits(&[("Lock", "transactionid", 4.0), ("Lock", "tuple", 1.0)]).table(
            "locks",
            &columns,
            &[
                row(["transactionid", "ShareLock", "", "4", "0.25"]),
                row(["tuple", "ExclusiveLock", "pgbench_branches", "1", "0.1"]),
                row(["relation", "AccessExclusiveLock", "other", "9", "9"]),
            ],
        );
        let found = run.finds(look);
        assert!((found.weight - 0.625).abs() < 1e-9);
        // Eleven looks lie within the ten seconds.
        assert_eq!(
            found.evidence[1],
            "5.5 sessions in the queues for such locks, on pgbench_branches; longest wait seen 0.2 s"
        );
    }

    #[test]
    fn the_hottest_rows_are_named_and_more_rows_are_no_remedy_then() {
        let row = ["usertable", "ycsb_key = user1", "5", "6"].map(str::to_owned).to_vec();
        let run = Run::new().waits(&[("Lock", "transactionid", 4.0)]).table(
            "row_locks",
            pgdyno_samples::row_locks::SOURCE.names,
            &[row],
        );
        let found = run.finds(look);
        assert!(found.evidence[1].starts_with("hottest row: usertable ycsb_key = user1 (83 % of"), "{found:?}");
        assert!(found.advice.unwrap().ends_with("usertable ycsb_key = user1 has most of the waits"));
    }

    #[test]
    fn of_tables_with_few_rows_the_one_with_the_fewest_is_named_also_where_its_row_is_not() {
        let rows = [
            ["pgbench_tellers", "tid = 7", "4", "9"],
            ["pgbench_branches", "", "4", "9"],
            ["pgbench_accounts", "aid = 1", "1", "9"],
        ];
        let tables = [["pgbench_branches", "1"], ["pgbench_tellers", "10"], ["pgbench_accounts", "100000"]];
        let run = |rows: &[[&str; 4]]| {
            let rows: Vec<_> = rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect();
            let tables = tables.map(|[name, live]| ["public", name, "0", live].map(str::to_owned).to_vec());
            let mut run = Run::new()
                .waits(&[("Lock", "transactionid", 4.0)])
                .table("row_locks", pgdyno_samples::row_locks::SOURCE.names, &rows)
                .table("tables", &["schema", "table", "n_dead_tup", "n_live_tup"], &tables);
            run.record.plan.drive.clients = 8;
            run.finds(look)
        };
        let found = run(&rows);
        assert_eq!(found.text, "8 clients waited for each other to change one row of pgbench_branches");
        // Without waits for its row, the next table is named.
        let others = [rows[0], rows[2]];
        assert_eq!(run(&others).text, "8 clients waited for each other to change 10 rows of pgbench_tellers");
    }

    #[test]
    fn warehouses_are_to_be_four_for_each_client() {
        let row = ["warehouse", "w_id = 3", "4", "9"].map(str::to_owned).to_vec();
        let table = ["public", "warehouse", "0", "4"].map(str::to_owned).to_vec();
        let mut run = Run::new()
            .waits(&[("Lock", "transactionid", 4.0)])
            .table("row_locks", pgdyno_samples::row_locks::SOURCE.names, &[row])
            .table("tables", &["schema", "table", "n_dead_tup", "n_live_tup"], &[table]);
        let plan = &mut run.record.plan;
        (plan.drive.clients, plan.scale, plan.scale_name) = (4, 4, "warehouses".to_owned());
        assert_eq!(run.finds(look).advice.unwrap(), "use a larger scale: -w 16 or more (it is 4)");
    }

    #[test]
    fn who_is_in_the_way_decides_the_advice() {
        let columns = ["pid", "backend_type", "application_name", "state", "state_s", "query"];
        let head = |kind: &str, state: &str| {
            let row = ["9", kind, "psql", state, "4", "UPDATE t SET n = ?"].map(str::to_owned).to_vec();
            Run::new().waits(&[("Lock", "transactionid", 4.0)]).table("blockers", &columns, &[row]).finds(look)
        };
        let found = head("other session", "idle in transaction");
        assert!(found.evidence[1].starts_with("at the head of the queue in 11 of 11 samples"), "{found:?}");
        assert!(found.advice.unwrap().contains("pg_terminate_backend(9)"));
        assert!(head("client backend", "active").advice.unwrap().contains("larger scale"));
    }

    #[test]
    fn other_locks_are_not_rows() {
        Run::new().waits(&[("Lock", "relation", 4.0), ("Lock", "tuple", 0.1)]).finds_nothing(look);
        Run::new().finds_nothing(look);
    }
}
