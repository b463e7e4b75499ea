//! The example of docs/contributing/workload.md on PostgreSQL.

#[path = "sockets/mixed.rs"]
mod mixed;

use pgdyno_engine::{Audience, Backend, RunEnd, RunSpec, Stop, run};
use pgdyno_measure::{ThreadCounts, Totals, broken_identities, broken_schedule};
use pgdyno_testing::postgres;
use pgdyno_testing::server::TestServer;
use pgdyno_workload::Capabilities;

/// The tables of `pgbench -i`, as small as they can be.
const TABLES: &str = "create table pgbench_branches (bid int primary key, bbalance int, filler char(88));
    create table pgbench_tellers (tid int primary key, bid int, tbalance int, filler char(84));
    create table pgbench_accounts (aid int primary key, bid int, abalance int, filler char(84));
    create table pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
    insert into pgbench_branches values (1, 0);
    insert into pgbench_tellers select tid, 1, 0 from generate_series(1, 10) tid;
    insert into pgbench_accounts select aid, 1, 0 from generate_series(1, 100000) aid";

fn sum(phases: [&Totals; 3]) -> ThreadCounts {
    let mut sum = ThreadCounts::default();
    phases.iter().for_each(|totals| sum.merge(&totals.part));
    sum
}

#[test]
fn writers_run_beside_readers_then_each_query_once() {
    if !postgres::available("stages and groups") {
        return;
    }
    let server = TestServer::start("fsync = off", "local all all trust");
    let mut admin = server.admin();
    admin.query_all(TABLES).unwrap();
    let workload = mixed::workload(pgdyno_workloads::registry::build("tpcb-like", []).unwrap());
    let spec = RunSpec { clients: 3, threads: 2, measure_ns: Some(2_000_000_000), ..RunSpec::default() };
    let audience = Audience {
        on_connect: &|_| {},
        on_event: &mut |_| {},
        observer: &mut |_, _| None,
        start: &mut || Some(std::time::Instant::now()),
    };
    let caps = Capabilities::default();
    let options = server.options();
    let outcome = run(&workload.drive, &caps, Backend::Server(&options), &spec, &Stop::new(), audience).unwrap();
    assert_eq!((&outcome.ended, outcome.errors.len(), outcome.cancelled_in_flight), (&RunEnd::Complete, 0, 0));
    let [writers, readers] = [0, 1].map(|group| sum(outcome.groups[group].phases()));
    let last = &outcome.later_stages[0];
    let once = sum([&last.ramp, &last.measured, &last.drain]);
    assert!(writers.txns[0].committed > 0 && readers.txns[1].committed > 0, "{writers:?} {readers:?}");
    assert_eq!([once.txns[2].committed, once.txns[3].committed], [1, 1]);
    // The server has seen what the writers count.
    let history: u64 = admin.query_one("select count(*) from pgbench_history").unwrap().parse().unwrap();
    assert_eq!(writers.all().committed, history);
    for phases in outcome.phases_by_group() {
        let broken = phases.iter().flat_map(|totals| broken_identities(totals, &[]));
        assert_eq!(broken.chain(broken_schedule(&phases)).collect::<Vec<_>>(), []);
    }
}
