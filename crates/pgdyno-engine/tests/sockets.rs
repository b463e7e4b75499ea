//! Real sockets and threads, against servers that misbehave.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};

use pgdyno_engine::{Audience, Backend, Control, Ended, RunOutcome, RunSpec, run};
use pgdyno_net::ConnectOptions;
use pgdyno_workload::Capabilities;

/// Lets a client in and hands the connection on; a request to cancel is only read.
fn let_in(mut stream: UnixStream, and_then: fn(UnixStream)) {
    let (mut length, mut code) = ([0; 4], [0; 4]);
    if stream.read_exact(&mut length).is_err() || stream.read_exact(&mut code).is_err() {
        return;
    }
    let mut rest = vec![0; u32::from_be_bytes(length) as usize - 8];
    let protocol_3 = u32::from_be_bytes(code) == 196_608;
    if stream.read_exact(&mut rest).is_ok() && protocol_3 {
        let welcome = b"R\0\0\0\x08\0\0\0\0K\0\0\0\x0c\0\0\0\x01\0\0\0\x01Z\0\0\0\x05I";
        if stream.write_all(welcome).is_ok() {
            and_then(stream);
        }
    }
}

/// Drives select-only by `clients` on two threads against a server that does `and_then` with each connection.
fn drive(clients: u32, and_then: fn(UnixStream)) -> RunOutcome {
    let directory = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(directory.path().join(".s.PGSQL.5432")).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || let_in(stream, and_then));
        }
    });
    let workload = pgdyno_workloads::registry::build("select-only", []).unwrap();
    let spec = RunSpec {
        clients,
        threads: 2,
        measure_ns: Some(300_000_000),
        interval_ns: 100_000_000,
        grace_ns: 200_000_000,
        ..RunSpec::default()
    };
    let options = ConnectOptions::for_socket(directory.path(), 5432, "test", "test");
    let statements = workload.statements(&Capabilities::default());
    let audience = Audience { on_connect: &|_| {}, on_event: &mut |_| {}, observer: &mut |_, _| None };
    run(&*workload, statements, Backend::Server(&options), &spec, &Control::new(), audience).unwrap()
}

/// Nothing but the coordinator tells the workers that time passes while no reply comes.
#[test]
fn a_server_that_never_answers_does_not_hold_up_the_end() {
    let outcome = drive(6, |mut stream| {
        let mut ignored = [0; 4096];
        while stream.read(&mut ignored).is_ok_and(|count| count > 0) {}
    });
    assert_eq!((outcome.ended.clone(), outcome.cancelled_in_flight), (Ended::Complete, 6));
    assert_eq!((outcome.measured.start_ns, outcome.measured.end_ns, outcome.measured.intervals), (0, 300_000_000, 3));
    assert_eq!(outcome.measured.in_flight_at_end, 6);
}

#[test]
fn a_server_that_hangs_up_on_all_ends_the_run_and_is_named_as_the_reason() {
    let outcome = drive(6, drop);
    assert!(matches!(outcome.ended, Ended::ServerLost(_)), "{:?}", outcome.ended);
    assert_eq!((outcome.clients_lost, outcome.cancelled_in_flight), (6, 0));
    let failed: u64 = outcome.phases().iter().map(|totals| totals.part.all().failures()).sum();
    let started: u64 = outcome.phases().iter().map(|totals| totals.part.all().started).sum();
    assert_eq!(started, failed, "each transaction under way has failed");
}
