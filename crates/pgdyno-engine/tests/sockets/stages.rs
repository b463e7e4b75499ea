//! Stages and groups as `run` runs them.

use std::sync::atomic::Ordering;
use std::time::Duration;

use pgdyno_engine::{Audience, Backend, EngineEvent, RunEnd, RunOutcome, RunShare, RunSpec, Stop, run};
use pgdyno_measure::{Interval, Phase, ThreadCounts, Totals, broken_identities, broken_schedule};
use pgdyno_net::ConnectOptions;
use pgdyno_testing::directory::TestDirectory;
use pgdyno_wire::QueryMode;
use pgdyno_workload::Capabilities;

use crate::mixed;
use crate::{Reply, serve};

/// Runs the example on two threads; also returns the intervals and how many queries the server saw.
fn drive(spec: RunSpec) -> (RunOutcome, Vec<Interval>, u64) {
    let directory = TestDirectory::new("engine");
    let seen = serve(directory.path(), u64::MAX, |_| {
        std::thread::sleep(Duration::from_millis(1));
        Reply::Complete
    });
    let workload = mixed::workload(pgdyno_workloads::registry::build("tpcb-like", []).unwrap());
    let options = ConnectOptions::for_socket(directory.path(), 5432, "test", "test");
    let mut intervals = Vec::new();
    let audience = Audience {
        on_connect: &|_| {},
        on_event: &mut |event| {
            if let EngineEvent::Interval(interval) = event {
                intervals.push(interval.clone());
            }
        },
        observer: &mut |_, _| None,
        start: &mut || Some(std::time::Instant::now()),
    };
    let caps = Capabilities::default();
    let outcome = run(&workload.drive, &caps, Backend::Server(&options), &spec, &Stop::new(), audience).unwrap();
    (outcome, intervals, seen.queries.load(Ordering::SeqCst))
}

fn spec() -> RunSpec {
    RunSpec {
        clients: 3,
        threads: 2,
        mode: QueryMode::Simple,
        measure_ns: Some(2_000_000_000),
        interval_ns: 500_000_000,
        ..RunSpec::default()
    }
}

fn sum(phases: [&Totals; 3]) -> ThreadCounts {
    let mut sum = ThreadCounts::default();
    phases.iter().for_each(|totals| sum.merge(&totals.part));
    sum
}

#[test]
fn groups_run_side_by_side_and_the_stage_after_them_ends_by_itself() {
    let (outcome, intervals, queries) = drive(spec());
    assert_eq!((&outcome.ended, outcome.clients_lost, outcome.clients_aborted), (&RunEnd::Complete, 0, 0));
    let [writers, readers] = &outcome.groups[..] else { panic!("{:?}", outcome.groups) };
    assert_eq!([(writers.name, writers.clients), (readers.name, readers.clients)], [("writers", 3), ("readers", 2)]);

    // Each group has its own transactions, and its own pace.
    let (written, read, all) = (sum(writers.phases()), sum(readers.phases()), sum(outcome.phases()));
    assert!(written.txns[0].committed > 0 && read.txns[1].committed > 0, "{written:?} {read:?}");
    assert_eq!((written.txns[1].started, read.txns[0].started), (0, 0));
    assert_eq!((written.scheduled, all.scheduled, read.scheduled.is_some()), (None, read.scheduled, true));
    // What is due in 2 s at 100 a second; the chance of fewer or more is below 1e-9.
    assert!(read.scheduled.is_some_and(|scheduled| (100..310).contains(&scheduled)), "{:?}", read.scheduled);

    // Totals are the sums of the groups: nothing is missing, nothing counted twice.
    for ((writers, readers), total) in writers.phases().into_iter().zip(readers.phases()).zip(outcome.phases()) {
        let mut both = writers.part.clone();
        both.merge(&readers.part);
        assert!(both == total.part, "{:?}", total.start_ns);
    }
    let [last] = &outcome.later_stages[..] else { panic!("{:?}", outcome.later_stages) };
    let once = sum([&last.ramp, &last.measured, &last.drain]);
    assert_eq!(once.txns.iter().map(|txn| txn.committed).collect::<Vec<_>>(), [0, 0, 1, 1]);
    assert_eq!((last.name, last.groups.len()), ("each-once", 0));
    let answered: u64 = all.stmts.iter().chain(&once.stmts).map(|stmt| stmt.latency.count()).sum();
    assert_eq!(answered, queries, "as many as the server answered");
    for phases in outcome.phases_by_group() {
        let broken = phases.iter().flat_map(|totals| broken_identities(totals, &["w", "r", "q", "q"]));
        assert_eq!(broken.chain(broken_schedule(&phases)).collect::<Vec<_>>(), []);
    }
    let total = outcome.phases().map(|totals| broken_identities(totals, &["w", "r", "q", "q"]));
    assert_eq!(total, [vec![], vec![], vec![]]);

    // Intervals are numbered over the run, and their times go on.
    assert!(intervals.iter().map(|interval| interval.index).eq(0..intervals.len() as u64));
    assert!(intervals.windows(2).all(|pair| pair[0].end_ns <= pair[1].start_ns && pair[0].stage <= pair[1].stage));
    assert_eq!(intervals.iter().map(|interval| interval.stage).max(), Some(1));
    let counts = |interval: &Interval| (interval.stage, interval.groups.len());
    assert!(intervals.iter().map(counts).all(|counts| counts == (0, 2) || counts == (1, 0)));
    assert!(last.measured.start_ns >= outcome.measured.end_ns);
    assert!(intervals.iter().any(|interval| interval.stage == 1 && interval.phase == Phase::Measure));
}

#[test]
fn drivers_run_a_stage_alone_also_one_that_has_no_client_in_it() {
    let share = |driver| Some(RunShare { driver, drivers: 2 });
    let (first, intervals, _) = drive(RunSpec { stage: Some(1), share: share(0), ..spec() });
    assert_eq!((&first.ended, first.clients, first.threads), (&RunEnd::Complete, 1, 1));
    let once = sum(first.phases());
    assert_eq!(once.txns.iter().map(|txn| txn.committed).collect::<Vec<_>>(), [0, 0, 1, 1]);
    // The place within the run is known where the shares are put together.
    assert!(intervals.iter().map(|interval| interval.index).eq(0..intervals.len() as u64));
    assert_eq!(intervals.first().map(|interval| (interval.stage, interval.start_ns)), Some((1, 0)));
    let (second, intervals, queries) = drive(RunSpec { stage: Some(1), share: share(1), ..spec() });
    assert_eq!((&second.ended, second.clients, second.threads), (&RunEnd::Complete, 0, 0));
    assert_eq!((intervals.len(), queries, second.later_stages.len()), (0, 0, 0));
}

/// docs/contributing/workload.md shows the workload that these tests run.
#[test]
fn the_example_of_the_documentation_is_the_one_that_is_tested() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/contributing/workload.md");
    let page = std::fs::read_to_string(page).unwrap();
    let shown = page.split_once("```rust\n").and_then(|(_, rest)| rest.split_once("```")).map(|(code, _)| code);
    assert_eq!(shown, Some(include_str!("mixed.rs")));
}

#[test]
fn groups_share_connections() {
    let (outcome, _, _) = drive(RunSpec { connections: Some(2), ..spec() });
    assert_eq!(outcome.ended, RunEnd::Complete);
    assert!(outcome.groups.iter().all(|group| group.measured.part.all().committed > 0), "{:?}", outcome.groups);
    for phases in outcome.phases_by_group() {
        let broken = phases.iter().flat_map(|totals| broken_identities(totals, &[]));
        assert_eq!(broken.chain(broken_schedule(&phases)).collect::<Vec<_>>(), []);
    }
    assert_eq!(outcome.later_stages.len(), 1);
}
