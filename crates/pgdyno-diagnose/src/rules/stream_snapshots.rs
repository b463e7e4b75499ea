//! Snapshots of streams of queries keep dead rows from being removed, also where each query ends soon.

use pgdyno_results::FindingRecord;
use pgdyno_samples::horizon;
use pgdyno_text::brief::{duration, number};

use super::UNKNOWN;
use super::old_snapshot::RATE_MIN;
use crate::facts::Facts;
use crate::horizon::Holder;
use crate::sessions::is_of_streams;
use crate::tables::Table;

/// A smaller share of the looks, and the oldest snapshot is mostly another user's.
const SHARE: f64 = 0.5;

/// Fewer looks show no habit.
const LOOKS: usize = 3;

/// Fewer dead rows of a table are as pruning leaves them.
const DEAD_MIN: f64 = 500.0;

/// The streams at the head of the snapshots in the window.
#[derive(Default)]
struct Seen {
    looks: usize,
    /// Looks at which the oldest snapshot was a stream's.
    oldest: usize,
    /// Of these, the most later transactions, and the longest time with it.
    age: f64,
    held_s: f64,
    /// The statement that was seen with the greatest age.
    statement: String,
}

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    facts.streams?;
    let seen = seen(facts);
    // One query that lasts, or one after the other with what it does to a table.
    let lasting = Holder::longest(facts).filter(|holder| is_of_streams(&holder.session.kind));
    let lasting = lasting.filter(|holder| holder.newer / holder.seconds.max(f64::MIN_POSITIVE) >= RATE_MIN);
    let is_habit = seen.looks >= LOOKS && seen.oldest as f64 >= SHARE * seen.looks as f64;
    let tables = Table::at_end(facts);
    let worst = tables.iter().filter(|table| table.dead >= DEAD_MIN.max(table.live));
    let worst = worst.max_by(|a, b| a.dead.total_cmp(&b.dead));
    if lasting.is_none() && !(is_habit && worst.is_some()) {
        return None;
    }
    let statement = Some(&seen.statement).filter(|text| !text.is_empty());
    let statement = statement.map_or_else(String::new, |text| format!(": {text}"));
    let mut evidence = vec![
        format!("the oldest snapshot in {} of {} samples was a stream's", seen.oldest, seen.looks),
        format!("the longest held it for {}{statement}", duration(seen.held_s)),
    ];
    evidence.extend(
        worst.map(|t| format!("{}: {} dead and {} live rows at the end", t.name, number(t.dead), number(t.live))),
    );
    Some(FindingRecord {
        rule: "stream-snapshots".to_owned(),
        text: format!(
            "queries of the streams kept rows from being removed that up to {} later transactions may have left dead",
            number(seen.age)
        ),
        weight: UNKNOWN,
        evidence,
        advice: Some(
            "run the queries on a standby (--analytics-target), or limit their time (--timeout, in seconds): vacuum and \
             pruning wait for the oldest snapshot"
                .to_owned(),
        ),
        also_seen: true, ..FindingRecord::default() })
}

fn seen(facts: &Facts<'_>) -> Seen {
    let table = facts.samples.of(horizon::SOURCE);
    let within: Vec<_> = facts.within(table).collect();
    let mut seen = Seen::default();
    for look in within.chunk_by(|a, b| a.0 == b.0) {
        seen.looks += 1;
        let number =
            |row: &[String], column| table.cell(row, column).and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0);
        // Snapshots are as old as the oldest transaction that ran when they were made: that began earlier.
        let oldest = look.iter().max_by(|(_, a), (_, b)| {
            let age = number(a, horizon::AGE).total_cmp(&number(b, horizon::AGE));
            age.then(number(a, horizon::HELD_S).total_cmp(&number(b, horizon::HELD_S)))
        });
        let is_streams = |row: &[String]| table.cell(row, horizon::HOLDER).is_some_and(is_of_streams);
        let Some((_, row)) = oldest.filter(|(_, row)| is_streams(row)) else { continue };
        seen.oldest += 1;
        seen.held_s = seen.held_s.max(number(row, horizon::HELD_S));
        let age = number(row, horizon::AGE);
        if age >= seen.age {
            seen.age = age;
            seen.statement = table.cell(row, horizon::QUERY).unwrap_or_default().to_owned();
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    const COLUMNS: [&str; 8] = ["holder", "pid", "name", "xmin", "age", "state", "held_s", "query"];

    /// Looks at 3, 5, 7 and 9 s; streams hold snapshots of these ages, a client one that is younger.
    fn run(xmins: [&str; 4], dead: &str) -> Run {
        let stream = |xmin, age| ["query stream", "9", "pgdyno queries", xmin, age, "active", "1.8", "select ?"];
        let client = ["client backend", "3", "pgdyno", "900", "5", "active", "0", "UPDATE t"];
        let ages = ["100", "500", "900", "700"];
        let rows: Vec<_> = xmins.iter().zip(ages).flat_map(|(xmin, age)| [stream(xmin, age), client]).collect();
        let at = [3.0, 3.0, 5.0, 5.0, 7.0, 7.0, 9.0, 9.0];
        let looks: Vec<_> = at.iter().zip(&rows).map(|(at, row)| (*at, &row[..])).collect();
        let columns = ["schema", "table", "n_dead_tup", "n_live_tup"];
        let (then, now): (&[&str], &[&str]) = (&["public", "district", "0", "10"], &["public", "district", dead, "10"]);
        Run::new().streams(2, &[("q1", "select 1")]).looks("horizon", &COLUMNS, &looks).looks(
            "tables",
            &columns,
            &[(2.0, then), (12.0, now)],
        )
    }

    #[test]
    fn one_query_after_the_other_is_reported_with_what_it_does_to_a_table() {
        let one_by_one = ["1", "2", "3", "4"];
        let found = run(one_by_one, "4000").finds(look);
        assert!(found.text.contains("up to 900 later transactions"), "{found:?}");
        assert_eq!(
            found.evidence,
            [
                "the oldest snapshot in 4 of 4 samples was a stream's",
                "the longest held it for 1.8 s: select ?",
                "district: 4,000 dead and 10 live rows at the end"
            ]
        );
        run(one_by_one, "40").finds_nothing(look);
    }

    #[test]
    fn a_query_that_lasts_is_reported_and_is_no_session_of_a_client() {
        let lasting = run(["1", "1", "1", "4"], "40");
        assert!(lasting.finds(look).text.contains("queries of the streams"));
        lasting.finds_nothing(super::super::old_snapshot::look);
        // Their workers have the same snapshot.
        let row = |age| ["query stream worker", "11", "pgdyno queries", "1", age, "active", "6", "select ?"];
        let rows = [row("100"), row("900")];
        let of_worker = lasting.looks("horizon", &COLUMNS, &[(3.0, &rows[0]), (9.0, &rows[1])]);
        assert!(of_worker.finds(look).text.contains("queries of the streams"));
        of_worker.finds_nothing(super::super::old_snapshot::look);
    }

    #[test]
    fn without_streams_it_is_nothing() {
        Run::new().finds_nothing(look);
    }
}
