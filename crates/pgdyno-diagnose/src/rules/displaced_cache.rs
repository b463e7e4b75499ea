//! Streams of queries displace the transactions' blocks from shared buffers.

use pgdyno_results::{Certainty, FindingRecord};
use pgdyno_samples::{database, statements, waits};
use pgdyno_text::brief::{number, percent};
use pgdyno_text::units::mean_bytes;

use super::{SAMPLES_MIN, SHARE_MIN, UNKNOWN, with_settings};
use crate::explained::Explained;
use crate::facts::Facts;
use crate::streams::Streams;
use crate::waits::{Class, Waits};

/// Alone the transactions hit shared buffers so much more often, at least.
const LOST: f64 = 0.005;

/// Without a stage of transactions alone, hits below this are many misses.
const HIT_RATIO_MIN: f64 = 0.98;

/// Waits for blocks beside the streams are so many times those without them, at least.
const TIMES: f64 = 2.0;

/// Fewer sessions seen waiting for blocks than this could be chance.
const SEEN_MIN: f64 = 10.0;

/// Blocks that statements read in the window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Blocks {
    hit: f64,
    read: f64,
}

impl Blocks {
    /// Returns the share of hits; `None` without blocks.
    fn hit_ratio(self) -> Option<f64> {
        (self.hit + self.read > 0.0).then(|| self.hit / (self.hit + self.read))
    }
}

/// The transactions without the streams, in a later stage.
struct Alone {
    hit_ratio: Option<f64>,
    /// Share of the clients' time that went into waits for blocks.
    waited: f64,
}

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let streams = facts.streams?;
    let alone = alone(facts);
    let counted = by_side(facts, streams);
    let waited = facts.account.share(facts.waits.sessions(Class::DataRead));
    let beside = counted.and_then(|[transactions, _]| transactions.hit_ratio());
    let without = alone.as_ref().and_then(|alone| alone.hit_ratio);
    let has_fewer_hits = match (beside, without) {
        (Some(beside), Some(without)) => beside <= without - LOST,
        (Some(beside), None) => beside < HIT_RATIO_MIN,
        (None, _) => false,
    };
    let waits_more = facts.waits.sessions(Class::DataRead) * facts.waits.looks >= SEEN_MIN
        && waited >= SHARE_MIN
        && alone.as_ref().is_some_and(|alone| waited >= TIMES * alone.waited);
    let mut evidence = Vec::new();
    let mut of_streams = 0.0;
    if let Some([transactions, queries]) = counted {
        let seconds = facts.seconds();
        of_streams = queries.read / (queries.read + transactions.read).max(1.0);
        // Where the streams read little, another user displaces the blocks.
        if without.is_none() && of_streams < 0.5 {
            return None;
        }
        evidence.push(format!(
            "blocks from outside shared buffers: {} a second by the transactions, {} by the streams ({} of both)",
            number(transactions.read / seconds),
            number(queries.read / seconds),
            percent(of_streams)
        ));
    }
    if let Some(alone) = &alone {
        evidence.push(format!(
            "the clients waited for blocks {} of their time, and {} in the stage without streams",
            percent(waited),
            percent(alone.waited)
        ));
    }
    let text = match (beside, without) {
        (Some(beside), Some(without)) if has_fewer_hits => format!(
            "beside the streams {:.2} % of the blocks of transactions were in shared buffers, without them {:.2} %",
            beside * 100.0,
            without * 100.0
        ),
        (Some(beside), None) if has_fewer_hits => {
            format!(
                "beside the streams, which read {} of all blocks from outside, {:.2} % of the blocks of transactions were in shared \
                 buffers",
                percent(of_streams),
                beside * 100.0
            )
        }
        _ if waits_more => {
            format!("beside the streams the clients waited for blocks {} of their time", percent(waited))
        }
        _ => return None,
    };
    let data = facts.record.server.as_ref().and_then(|server| server.database_bytes).map(|n| n as f64);
    if let Some((data, buffers)) = data.zip(facts.setting_bytes("shared_buffers")) {
        evidence.push(format!("the database has {}, shared buffers {}", mean_bytes(data), mean_bytes(buffers)));
    }
    let what = match alone {
        Some(_) => "run the queries on a standby (--analytics-target), or raise shared_buffers",
        None => {
            "measure the transactions without them (--alone); then run the queries on a standby (--analytics-target), or raise \
             shared_buffers"
        }
    };
    Some(FindingRecord {
        rule: "displaced-cache".to_owned(),
        text,
        weight: UNKNOWN,
        evidence,
        advice: with_settings(facts, what, &["shared_buffers"]),
        also_seen: true,
        ..FindingRecord::default()
    })
}

/// Returns the share of the waits for blocks that the stage without streams does not have.
pub(crate) fn of_reads(facts: &Facts<'_>) -> Option<Explained> {
    let alone = alone(facts)?;
    let waited = facts.account.share(facts.waits.sessions(Class::DataRead));
    let share = 1.0 - alone.waited / waited.max(f64::MIN_POSITIVE);
    (share > 0.0).then_some(Explained { share, certainty: Certainty::Measured })
}

/// Returns the blocks of the transactions' statements and of the streams', by `pg_stat_statements`; `None` without it.
fn by_side(facts: &Facts<'_>, streams: Streams<'_>) -> Option<[Blocks; 2]> {
    let table = facts.samples.of(statements::SOURCE);
    let mut sides = [Blocks::default(); 2];
    for (_, row) in table.rows() {
        let number = |column| table.cell(row, column).and_then(|n| n.parse::<f64>().ok()).unwrap_or_default();
        let side = &mut sides[usize::from(streams.has(table.cell(row, statements::QUERY).unwrap_or_default()))];
        side.hit += number(statements::SHARED_BLKS_HIT);
        side.read += number(statements::SHARED_BLKS_READ);
    }
    sides.iter().all(|side| side.hit_ratio().is_some()).then_some(sides)
}

/// Returns what the stage of transactions alone shows; `None` if there is none, or nobody looked.
fn alone(facts: &Facts<'_>) -> Option<Alone> {
    let [first, later @ ..] = &facts.record.stages[..] else { return None };
    let transactions = first.groups.first()?;
    let is_alone = |stage: &&pgdyno_results::StageRecord| {
        stage.groups.len() == 1 && stage.groups[0].name == transactions.name && transactions.clients > 0
    };
    let [from_s, until_s] = later.iter().find(is_alone)?.window_s?;
    let waits = Waits::of(facts.samples.of(waits::SOURCE), from_s, until_s, !facts.has_names, false);
    if waits.looks < SAMPLES_MIN {
        return None;
    }
    let table = facts.samples.of(database::SOURCE);
    let mean = |column| table.rate(&[], column).mean(from_s, until_s);
    let blocks = mean(database::BLKS_HIT).zip(mean(database::BLKS_READ)).map(|(hit, read)| Blocks { hit, read });
    Some(Alone {
        hit_ratio: blocks.and_then(Blocks::hit_ratio),
        waited: waits.sessions(Class::DataRead) / f64::from(transactions.clients),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    const QUERY: &str = "select sum(a) from t where n > 7";

    /// Transactions with so many blocks read in a thousand, beside streams with so many.
    fn run(transactions: f64, streams: f64) -> Run {
        let columns = ["queryid", "query", "shared_blks_hit", "shared_blks_read"];
        let row = |query: &str, read: f64| {
            ["1", query, &((1000.0 - read) * 100.0).to_string(), &(read * 100.0).to_string()]
                .map(str::to_owned)
                .to_vec()
        };
        let rows = [row("CALL neword($1)", transactions), row("select sum(a) from t where n > $1", streams)];
        Run::new()
            .waits(&[("IO", "DataFileRead", 1.0)])
            .streams(2, &[("q6", QUERY)])
            .table("statements", &columns, &rows[..])
            .setting("shared_buffers", "128MB")
    }

    /// The stage of transactions alone is sampled as well, with so many blocks read in a thousand.
    fn with_alone(mut run: Run, read: f64) -> Run {
        run.record.stages[1].window_s = Some([2.0, 12.0]);
        run.counters("database", &[("blks_hit", 1000.0 - read), ("blks_read", read)])
    }

    #[test]
    fn misses_of_transactions_beside_streams_that_read_much_are_reported() {
        let found = run(50.0, 800.0).finds(look);
        assert_eq!(
            found.text,
            "beside the streams, which read 94 % of all blocks from outside, 95.00 % of the blocks of transactions were in \
             shared buffers"
        );
        assert!(found.evidence[0].ends_with("(94 % of both)") && found.advice.unwrap().contains("--alone"));
        run(5.0, 800.0).finds_nothing(look);
        run(50.0, 10.0).finds_nothing(look);
    }

    #[test]
    fn the_stage_without_streams_decides_where_there_is_one() {
        let found = with_alone(run(50.0, 10.0), 2.0).finds(look);
        assert_eq!(
            found.text,
            "beside the streams 95.00 % of the blocks of transactions were in shared buffers, without them 99.80 %"
        );
        assert!(found.advice.unwrap().ends_with("raise shared_buffers (shared_buffers is 128MB)"));
        with_alone(run(50.0, 800.0), 49.0).finds_nothing(look);
    }

    #[test]
    fn waits_for_blocks_are_held_against_those_without_streams() {
        let waits_of_both = |beside: f64, alone: f64| {
            let mut run = Run::new().streams(2, &[("q6", QUERY)]);
            run.record.stages[1].window_s = Some([12.5, 22.5]);
            let columns = ["backend_type", "wait_event_type", "wait_event", "samples", "looks"];
            let row = |sessions: f64| {
                let seen = (sessions * 10.0).to_string();
                ["client backend", "IO", "DataFileRead", &seen, "10"].map(str::to_owned).to_vec()
            };
            let rows = (0..23).map(|at| (f64::from(at), row(if at < 13 { beside } else { alone }))).collect();
            run.samples.insert("waits", pgdyno_results::SampleTable::new(&columns, rows));
            run
        };
        let found = waits_of_both(2.0, 0.4).finds(look);
        assert_eq!(found.text, "beside the streams the clients waited for blocks 25 % of their time");
        assert!(found.evidence[0].ends_with("25 % of their time, and 5.0 % in the stage without streams"), "{found:?}");
        assert_eq!(waits_of_both(2.0, 0.4).ask(of_reads).map(|explained| explained.share), Some(0.8));
        let first = waits_of_both(2.0, 0.4).ask(crate::chains::ranked).swap_remove(0);
        assert_eq!((first.rule.as_str(), first.chain.len(), first.weight), ("displaced-cache", 2, 0.2));
        waits_of_both(2.0, 1.6).finds_nothing(look);
    }

    /// A real run of PostgreSQL 15.20: one warehouse, one client beside two streams of queries 1 and 6 by index scans, `-T 4
    /// --ramp 0 --alone`, 48 MB of shared buffers. Its samples are as they were written; of the record only what is asked for here.
    #[test]
    fn a_recorded_run_with_both_stages_is_judged_by_its_own_counters() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/displaced-cache");
        let text = std::fs::read_to_string(format!("{directory}/record.json")).unwrap();
        let recorded: serde_json::Value = serde_json::from_str(&text).unwrap();
        let group = |group: &serde_json::Value| pgdyno_results::GroupRecord {
            name: group["name"].as_str().unwrap().to_owned(),
            clients: group["clients"].as_u64().unwrap() as u32,
            ..pgdyno_results::GroupRecord::default()
        };
        let mut run = Run::new().setting("shared_buffers", recorded["shared_buffers"].as_str().unwrap());
        run.record.plan.drive.clients = 1;
        let stage = |stage: &serde_json::Value| pgdyno_results::StageRecord {
            name: stage["name"].as_str().unwrap().to_owned(),
            window_s: serde_json::from_value(stage["window_s"].clone()).unwrap(),
            groups: stage["groups"].as_array().unwrap().iter().map(group).collect(),
        };
        run.record.stages = recorded["stages"].as_array().unwrap().iter().map(stage).collect();
        run.record.statements = serde_json::from_value(recorded["statements"].clone()).unwrap();
        run.record.analytics = Some(serde_json::from_value(recorded["analytics"].clone()).unwrap());
        run.samples = pgdyno_results::read_samples(std::path::Path::new(directory)).unwrap();
        let second = |nth: u32| pgdyno_results::IntervalRecord {
            phase: "measure".to_owned(),
            start_s: f64::from(nth),
            end_s: f64::from(nth + 1),
            ..pgdyno_results::IntervalRecord::default()
        };
        run.timeline.intervals = (0..4).map(second).collect();
        let found = run.finds(look);
        assert_eq!(
            found.text,
            "beside the streams 93.55 % of the blocks of transactions were in shared buffers, without them 96.46 %"
        );
        assert_eq!(
            found.evidence[0],
            "blocks from outside shared buffers: 1,606 a second by the transactions, 90 by the streams (5.3 % of both)"
        );
        // Without the stage of transactions alone, streams that read so little themselves are not the cause.
        run.record.stages.truncate(1);
        run.finds_nothing(look);
    }

    #[test]
    fn without_streams_or_counts_it_is_nothing() {
        Run::new().waits(&[("IO", "DataFileRead", 4.0)]).finds_nothing(look);
        Run::new().waits(&[("IO", "DataFileRead", 4.0)]).streams(2, &[("q6", QUERY)]).finds_nothing(look);
    }
}
