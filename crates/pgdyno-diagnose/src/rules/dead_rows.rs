//! Tables are full of dead rows, or updates leave them in new places.

use pgdyno_results::{Certainty, FindingRecord};
use pgdyno_samples::{vacuum, waits};
use pgdyno_text::brief::{number, percent};
use pgdyno_text::units::plural;

use super::{UNKNOWN, with_settings};
use crate::blocks;
use crate::explained::Explained;
use crate::facts::Facts;
use crate::horizon::Holder;
use crate::scans;
use crate::statements;
use crate::tables::Table;

/// Fewer dead rows than this are nothing.
const ROWS_MIN: f64 = 10_000.0;

/// A smaller share of a table's rows than this is as autovacuum leaves it.
const DEAD: f64 = 0.25;

/// Where more updates than this stay on their page, more room on pages would not help.
const HOT: f64 = 0.9;

/// Workers that sleep for more of their time than this are slowed down by their cost limit.
const ASLEEP: f64 = 0.3;

/// A vacuum that was seen so many seconds before the end of the window is still at work.
const STILL_S: f64 = 2.5;

/// CPU time of a dead row that a sequential scan skips, at least.
const ROW_S: f64 = 2e-9;

/// Dead rows and their blocks that would take less of the CPU time than this are not why statements on the table take theirs.
const ESTIMATED_MIN: f64 = 0.25;

/// Returns the share of a table's rows that are dead.
fn share(table: &Table) -> f64 {
    table.dead / (table.dead + table.live)
}

/// Returns the table with most dead rows, if these are many.
fn worst(facts: &Facts<'_>) -> Option<Table> {
    let tables = Table::at_end(facts).into_iter();
    tables.filter(|table| table.dead >= ROWS_MIN && share(table) >= DEAD).max_by(|a, b| a.dead.total_cmp(&b.dead))
}

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let worst = &worst(facts)?;
    let mut evidence = vec![format!(
        "{}: {} dead and {} live rows at the end, vacuumed {} meanwhile",
        worst.name,
        number(worst.dead),
        number(worst.live),
        plural(worst.vacuums.max(0.0) as u64, "time")
    )];
    if worst.updates > 0.0 {
        evidence.push(format!("{} of its updates stayed on their page (HOT)", percent(worst.hot / worst.updates)));
    }
    if skipped(facts).is_some() {
        let scans_per_s = number(worst.seq_scans / worst.seconds);
        evidence.push(format!("{scans_per_s} sequential scans a second went over all of them"));
    }
    if let Some(asleep) = asleep(facts) {
        evidence.push(format!("autovacuum workers slept for {} of their time (cost limit)", percent(asleep)));
    }
    let (why, advice) = cause(facts, worst);
    Some(FindingRecord {
        rule: "dead-rows".to_owned(),
        text: format!("{} of the rows of {} were dead at the end: {why}", percent(share(worst)), worst.name),
        weight: UNKNOWN,
        also_seen: true,
        evidence,
        advice,
        ..FindingRecord::default()
    })
}

/// Sequential scans of a table read its dead rows, too, and skip them.
pub(crate) fn of_cpu(facts: &Facts<'_>) -> Option<Explained> {
    skipped(facts).map(|share| Explained { share, certainty: Certainty::Consistent })
}

/// The blocks that these scans read have dead rows.
pub(crate) fn of_reads(facts: &Facts<'_>) -> Option<Explained> {
    skipped(facts)?;
    let worst = worst(facts)?;
    let share = scans::share_of_table(facts, &worst)? * share(&worst);
    Some(Explained { share, certainty: Certainty::Consistent })
}

/// Returns true if these are most of the blocks from outside shared buffers.
pub(crate) fn read_most_blocks(facts: &Facts<'_>) -> bool {
    of_reads(facts).is_some_and(|explained| explained.share >= scans::MOST)
}

/// Returns the share of the statements' time that scans need for dead rows, if these could take a fair part of the CPU time.
fn skipped(facts: &Facts<'_>) -> Option<f64> {
    // Queries of streams may make the scans, and wait for them.
    let worst = worst(facts).filter(|table| table.seconds > 0.0 && facts.streams.is_none())?;
    let skipping = worst.seq_scans / worst.seconds * worst.dead * ROW_S;
    let copying = scans::blocks_read(&worst).map_or(0.0, blocks::copying_cpus) * share(&worst);
    let is_work = skipping + copying >= ESTIMATED_MIN * facts.cpus_of_clients();
    statements::share_of(facts, &worst.name).filter(|_| is_work).map(|of_table| of_table * share(&worst))
}

/// Returns why the rows are still there, and what to do about it.
fn cause(facts: &Facts<'_>, table: &Table) -> (String, Option<String>) {
    let word = |why: &str, what: &str, settings: &[&str]| (why.to_owned(), with_settings(facts, what, settings));
    if facts.setting("autovacuum") == Some("off") {
        return word("autovacuum is off", "turn autovacuum on", &["autovacuum"]);
    }
    if let Some(holder) = Holder::longest(facts) {
        let why = format!("no vacuum can remove what died since the snapshot of {}", holder.session.who(facts));
        return (why, holder.session.advice(facts).or_else(|| Some("make transactions shorter".to_owned())));
    }
    let limits = ["autovacuum_vacuum_cost_delay", "autovacuum_vacuum_cost_limit", "vacuum_cost_limit"];
    let eager = ["autovacuum_vacuum_scale_factor", "autovacuum_naptime"];
    let is_slowed = asleep(facts).is_some_and(|asleep| asleep >= ASLEEP);
    let faster =
        "let autovacuum work faster: lower autovacuum_vacuum_cost_delay, or raise autovacuum_vacuum_cost_limit";
    let has_room = table.updates > 0.0 && table.hot < HOT * table.updates;
    let hot =
        if has_room { ", or lower the table's fillfactor and rewrite it by VACUUM FULL (for HOT updates)" } else { "" };
    let more_eager = format!("make autovacuum more eager: lower autovacuum_vacuum_scale_factor{hot}");
    let at_work = workers(facts);
    if at_work.of(&table.name, facts.until_s) {
        let why = "a vacuum of it was still at work";
        let longer = "run for longer, or use a faster disk";
        return if is_slowed { word(why, faster, &limits) } else { word(why, longer, &[]) };
    }
    if table.vacuums > 0.0 {
        let (what, settings): (&str, &[&str]) = if is_slowed { (faster, &limits) } else { (&more_eager, &eager) };
        return word("vacuum did not keep up", what, settings);
    }
    let number_of = |name| facts.setting(name).and_then(|value| value.parse::<f64>().ok());
    let (threshold, factor) = (number_of("autovacuum_vacuum_threshold"), number_of("autovacuum_vacuum_scale_factor"));
    // From 18 on there is a limit as well; -1 means none.
    let most = number_of("autovacuum_vacuum_max_threshold").filter(|most| *most >= 0.0).unwrap_or(f64::INFINITY);
    let due = threshold.zip(factor).map(|(threshold, factor)| (threshold + factor * table.live).min(most));
    if let Some(due) = due.filter(|due| table.dead < *due) {
        let why = format!("autovacuum comes at {} dead rows", number(due));
        return word(&why, &more_eager, &["autovacuum_vacuum_threshold", "autovacuum_vacuum_scale_factor"]);
    }
    if facts.seconds() < facts.setting_seconds("autovacuum_naptime").unwrap_or(60.0) {
        let what = "run for longer, so that the figures have vacuum's part in them";
        return word("the window was too short for autovacuum to run", what, &["autovacuum_naptime"]);
    }
    if let Some(workers) = number_of("autovacuum_max_workers").filter(|workers| at_work.most >= *workers) {
        let why = format!("all {} autovacuum workers were at work on other tables", workers);
        let what = "raise autovacuum_max_workers, and autovacuum_vacuum_cost_limit, which they share";
        return word(&why, what, &["autovacuum_max_workers", limits[0], limits[1], limits[2]]);
    }
    let what = "see whether the table turns autovacuum off (pg_class.reloptions), and whether the log has \"canceling autovacuum task\"";
    word("autovacuum did not come", what, &["autovacuum_naptime"])
}

/// Share of the time at work in which autovacuum workers slept for their cost limit; `None` where none was seen at work.
fn asleep(facts: &Facts<'_>) -> Option<f64> {
    let table = facts.samples.of(waits::SOURCE);
    let (mut all, mut asleep) = (0.0, 0.0);
    for (_, row) in facts.within(table) {
        if table.cell(row, waits::BACKEND_TYPE) == Some("autovacuum worker") {
            let seen: f64 = table.cell(row, waits::SAMPLES).and_then(|cell| cell.parse().ok()).unwrap_or_default();
            all += seen;
            asleep += if table.cell(row, waits::WAIT_EVENT) == Some("VacuumDelay") { seen } else { 0.0 };
        }
    }
    (all > 0.0).then(|| asleep / all)
}

/// Vacuums that were seen at work in the window.
struct Workers {
    /// The largest number of autovacuums at once.
    most: f64,
    /// The last look at each table's vacuum.
    last: Vec<(String, f64)>,
}

impl Workers {
    /// Returns true if a vacuum of the table was at work at the end of the window.
    fn of(&self, table: &str, until_s: f64) -> bool {
        self.last.iter().any(|(name, at)| name == table && until_s - at <= STILL_S)
    }
}

fn workers(facts: &Facts<'_>) -> Workers {
    let table = facts.samples.of(vacuum::SOURCE);
    let within: Vec<_> = facts.within(table).collect();
    let is_auto = |row: &[String]| table.cell(row, vacuum::AUTOVACUUM) == Some("true");
    let at_once = |look: &[&(f64, Vec<String>)]| look.iter().filter(|(_, row)| is_auto(row)).count();
    let most = within.chunk_by(|a, b| a.0 == b.0).map(at_once).max().unwrap_or_default();
    let name = |row: &[String]| table.cell(row, vacuum::TABLE).unwrap_or_default().to_owned();
    Workers { most: most as f64, last: within.iter().map(|(at, row)| (name(row), *at)).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    fn run(dead: &str, live: &str) -> Run {
        let columns = [
            "schema",
            "table",
            "n_dead_tup",
            "n_live_tup",
            "n_tup_upd",
            "n_tup_hot_upd",
            "autovacuum_count",
            "vacuum_count",
        ];
        let then: &[&str] = &["public", "t", "0", live, "100", "50", "1", "0"];
        let now: &[&str] = &["public", "t", dead, live, "1100", "250", "1", "0"];
        Run::new().looks("tables", &columns, &[(0.0, then), (10.0, now)]).setting("autovacuum", "off")
    }

    #[test]
    fn a_table_of_dead_rows_is_reported() {
        let found = run("60000", "40000").finds(look);
        assert!(found.text.starts_with("60 % of the rows of t were dead"), "{found:?}");
        assert_eq!(
            found.evidence,
            [
                "t: 60,000 dead and 40,000 live rows at the end, vacuumed 0 times meanwhile",
                "20 % of its updates stayed on their page (HOT)"
            ]
        );
        assert!(found.advice.unwrap().ends_with("(autovacuum is off)"));
    }

    #[test]
    fn a_few_dead_rows_are_nothing() {
        run("9000", "10").finds_nothing(look);
        run("20000", "900000").finds_nothing(look);
        Run::new().finds_nothing(look);
    }

    #[test]
    fn why_they_are_still_there_is_reported() {
        let why = |run: &Run| {
            let found = run.finds(look);
            (found.text.split_once("end: ").unwrap().1.to_owned(), found.advice.unwrap())
        };
        let on = |run: Run| run.setting("autovacuum", "on").setting("autovacuum_naptime", "5s");
        let (text, advice) = why(&on(run("60000", "40000")));
        assert!(text == "autovacuum did not come" && advice.contains("pg_class.reloptions"), "{text} {advice}");
        let (text, _) = why(&on(run("60000", "40000")).setting("autovacuum_naptime", "1min"));
        assert_eq!(text, "the window was too short for autovacuum to run");
        let factor = on(run("60000", "40000"))
            .setting("autovacuum_vacuum_threshold", "50")
            .setting("autovacuum_vacuum_scale_factor", "2");
        assert_eq!(why(&factor).0, "autovacuum comes at 80,050 dead rows");

        let columns = ["schema", "table", "autovacuum", "phase"];
        let of = |table: &str| ["public", table, "true", "scanning heap"].map(str::to_owned).to_vec();
        let at_work = on(run("60000", "40000"))
            .table("vacuum", &columns, &[of("t")])
            .setting("autovacuum_vacuum_cost_delay", "2ms");
        assert_eq!(
            why(&at_work),
            ("a vacuum of it was still at work".to_owned(), "run for longer, or use a faster disk".to_owned())
        );
        let (text, advice) = why(&at_work.waits_of(&[("autovacuum worker", "Timeout", "VacuumDelay", 1.0)]));
        assert!(text == "a vacuum of it was still at work" && advice.contains("cost_delay is 2ms"), "{text} {advice}");
        let busy = on(run("60000", "40000")).table("vacuum", &columns, &[of("a"), of("b"), of("c")]);
        assert_eq!(
            why(&busy.setting("autovacuum_max_workers", "3")).0,
            "all 3 autovacuum workers were at work on other tables"
        );

        let held = ["holder", "pid", "name", "xmin", "age", "state"];
        let slot = ["replication slot", "", "s", "700", "9", "inactive"].map(str::to_owned).to_vec();
        let (text, advice) = why(&on(run("60000", "40000")).table("horizon", &held, &[slot]));
        assert!(text.ends_with("the snapshot of a replication slot (\"s\")"), "{text}");
        assert!(advice.contains("pg_drop_replication_slot('s')"), "{advice}");
    }

    /// A table of 100,000 rows on 1,000 blocks, 90 % of them dead, which is scanned so many times in 10 s.
    fn scanned(scans: &str) -> Run {
        let columns = ["schema", "table", "n_dead_tup", "n_live_tup", "seq_scan", "heap_blks_read", "heap_bytes"];
        let then: &[&str] = &["public", "t", "90000", "10000", "0", "0", "8192000"];
        let now: &[&str] = &["public", "t", "90000", "10000", scans, "5000", "8192000"];
        let mut run = Run::new()
            .waits(&[("CPU", "CPU", 1.0)])
            .looks("tables", &columns, &[(0.0, then), (10.0, now)])
            .counters("database", &[("blks_read", 1000.0), ("blks_hit", 1000.0)])
            .setting("autovacuum", "off");
        let latency_ns = Some(pgdyno_results::LatencyRecord { mean: 1e6, ..Default::default() });
        run.record.statements = vec![pgdyno_results::StatementRecord {
            sql: "SELECT sum(n) FROM t".to_owned(),
            executed: 1000,
            latency_ns,
            ..Default::default()
        }];
        run
    }

    #[test]
    fn dead_rows_that_scans_skip_are_their_work() {
        let explained = |scans: &str| scanned(scans).ask(of_cpu);
        assert_eq!(explained("30000"), Some(Explained { share: 0.9, certainty: Certainty::Consistent }));
        assert_eq!(explained("10"), None);
        assert_eq!(scanned("30000").streams(2, &[("q1", "select 1")]).ask(of_cpu), None);
    }

    #[test]
    fn dead_rows_that_scans_skip_are_on_the_blocks_that_are_read() {
        let explained = |scans: &str| scanned(scans).ask(of_reads);
        // The table has 500 of the 1,000 blocks a second.
        assert_eq!(explained("30000"), Some(Explained { share: 0.45, certainty: Certainty::Consistent }));
        assert_eq!(explained("10"), None);
        assert!(!scanned("30000").ask(read_most_blocks));
        let most = scanned("30000").counters("database", &[("blks_read", 600.0)]);
        assert!(most.ask(read_most_blocks));
    }

    #[test]
    fn room_on_pages_is_not_offered_where_nothing_is_updated() {
        let columns = ["schema", "table", "n_dead_tup", "n_live_tup", "n_tup_upd", "n_tup_hot_upd"];
        let then: &[&str] = &["public", "queue", "0", "1000", "100", "50"];
        let now: &[&str] = &["public", "queue", "60000", "1000", "100", "50"];
        let run = Run::new().looks("tables", &columns, &[(0.0, then), (10.0, now)]).setting("autovacuum_naptime", "5s");
        assert!(!run.finds(look).advice.unwrap().contains("fillfactor"));
    }
}
