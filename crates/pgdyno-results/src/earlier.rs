//! Earlier runs of the same plan: how much its figure differs from run to run.

use std::path::Path;

use pgdyno_measure::mean;

use crate::layout::{RECORD, is_run_name};
use crate::listing::listed_runs;
use crate::record::{EarlierRunsRecord, RunRecord, Status};
use crate::store::read_record;

/// How many of them count, the newest: servers change over months.
const RUNS_MAX: usize = 8;

/// Fewer say too little: their interval would be several times as wide as the difference between runs.
const RUNS_MIN: usize = 3;

/// Returns what the newest complete runs in `results` say that had the plan, driver, version and settings of `record`; `None` if there
/// are fewer than three. What cannot be read does not count.
#[must_use]
pub fn earlier_runs(results: &Path, record: &RunRecord) -> Option<EarlierRunsRecord> {
    if record.plan.suite.is_some() {
        return None;
    }
    let tps = record.summary.as_ref().map(|summary| summary.tps).filter(|tps| *tps > 0.0)?;
    let mut earlier = Vec::new();
    for id in listed_runs(results, &record.plan_hash).iter().rev().filter(|id| is_run_name(id) && **id != record.id) {
        let of_run = read_record(&results.join(id).join(RECORD)).ok().filter(|earlier| is_alike(earlier, record));
        earlier.extend(of_run.and_then(|run| run.summary).map(|summary| summary.tps).filter(|tps| *tps > 0.0));
        if earlier.len() == RUNS_MAX {
            break;
        }
    }
    if earlier.len() < RUNS_MIN {
        return None;
    }
    let mut logarithms: Vec<f64> = earlier.iter().map(|tps| tps.ln()).collect();
    let of_earlier = mean::mean(&logarithms)?;
    logarithms.push(tps.ln());
    // The interval of a mean is narrower than that of one run by the root of their number.
    let reach = mean::reach(&logarithms)? * (logarithms.len() as f64).sqrt();
    Some(EarlierRunsRecord {
        runs: earlier.len() as u64,
        tps_mean: of_earlier.exp(),
        change_share: (tps.ln() - of_earlier).exp_m1(),
        error_share: reach.exp_m1(),
    })
}

/// Returns true if nothing recorded makes the figures of two runs of a plan differ.
fn is_alike(earlier: &RunRecord, record: &RunRecord) -> bool {
    let server = |record: &RunRecord| {
        record.server.as_ref().map(|server| (server.version.clone(), server.settings_changed.clone()))
    };
    let driver = |record: &RunRecord| {
        let client = &record.client;
        (client.cpu.clone(), client.cpus, client.memory_bytes)
    };
    earlier.status == Status::Complete
        && earlier.plan_hash == record.plan_hash
        && earlier.pgdyno_version == record.pgdyno_version
        && driver(earlier) == driver(record)
        && server(earlier) == server(record)
        // Runs of a study are short, and the study judges them.
        && earlier.plan.suite.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Summary, list_run, write_record};

    #[test]
    fn runs_of_the_plan_on_the_same_server_say_how_much_runs_differ() {
        let directory = tempfile::tempdir().unwrap();
        let results = directory.path();
        let mut record: RunRecord = serde_json::from_str(include_str!("../../../fixtures/runs/v1/run.json")).unwrap();
        record.status = Status::Complete;
        let run = |id: &str, tps: f64, change: &dyn Fn(&mut RunRecord)| {
            let mut run = RunRecord { id: id.to_owned(), ..record.clone() };
            run.summary = Some(Summary { tps, committed: 9, ..Summary::default() });
            change(&mut run);
            std::fs::create_dir(results.join(id)).unwrap();
            write_record(&results.join(id).join(RECORD), &run).unwrap();
            list_run(results, &run).unwrap();
            run
        };
        let same = |_: &mut RunRecord| {};
        run("a", 100.0, &same);
        run("failed", 1.0, &|run| run.status = Status::Failed);
        run("other-plan", 1.0, &|run| run.plan_hash = "other".to_owned());
        run("other-driver", 1.0, &|run| run.client.cpus += 1);
        run("other-settings", 1.0, &|run| {
            run.server.as_mut().unwrap().settings_changed.insert("work_mem".to_owned(), "1GB".to_owned());
        });
        run("b", 110.0, &same);
        let third = run("c", 105.0, &same);
        assert_eq!(earlier_runs(results, &third), None, "two are too few");
        let fourth = run("d", 100.0, &same);
        std::fs::write(results.join("a").join(RECORD), "{").unwrap();
        assert_eq!(earlier_runs(results, &fourth), None, "one cannot be read");
        let fifth = run("e", 105.0, &same);
        let earlier = earlier_runs(results, &fifth).unwrap();
        assert_eq!(earlier.runs, 3);
        assert!(
            (earlier.tps_mean - 104.92).abs() < 0.01 && (earlier.change_share - 0.0008).abs() < 0.0001,
            "{earlier:?}"
        );
        // ln: standard deviation 0.0389; t of 3 degrees of freedom is 3.182.
        assert!((earlier.error_share - 0.1319).abs() < 0.001, "{earlier:?}");
        assert_eq!(earlier_runs(&results.join("none"), &fifth), None);
    }
}
