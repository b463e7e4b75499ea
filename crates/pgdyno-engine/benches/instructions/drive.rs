//! The whole engine with its sockets: select-only against a server that is given.

use pgdyno_engine::{Audience, Backend, ClientRules, RunEnd, RunSpec, Stop, run};
use pgdyno_net::{ConnectOptions, Env};
use pgdyno_workload::Capabilities;
use pgdyno_workloads::registry;

/// Lets `clients` do so many transactions each.
pub(crate) fn drive(dsn: &str, clients: u32, transactions: u64) {
    let options = ConnectOptions::resolve(dsn, &Env::from_process()).expect("a connection string");
    let workload = registry::build("select-only", []).expect("a built-in workload");
    let rules = ClientRules { transactions: Some(transactions), ..ClientRules::default() };
    let spec = RunSpec { clients, rules, measure_ns: None, ..RunSpec::default() };
    let audience = Audience {
        on_connect: &|_| {},
        on_event: &mut |_| {},
        observer: &mut |_, _| None,
        start: &mut || Some(std::time::Instant::now()),
    };
    let caps = Capabilities::default();
    let outcome = run(&workload.drive, &caps, Backend::Server(&options), &spec, &Stop::new(), audience);
    let outcome = outcome.expect("a server that lets all clients in");
    assert_eq!(outcome.ended, RunEnd::Complete);
    assert_eq!(outcome.measured.part.all().committed, u64::from(clients) * transactions);
}
