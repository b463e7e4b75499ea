//! Real sockets and threads, against servers that misbehave.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod drivers;
mod endings;
mod floods;
mod lone;
mod mixed;
mod stages;

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use pgdyno_engine::{
    Audience, Backend, ClientRules, EngineEvent, Observer, RunEnd, RunOutcome, RunSpec, Stop, TxEnd, run,
};
use pgdyno_net::ConnectOptions;
use pgdyno_testing::directory::TestDirectory;
use pgdyno_wire::{ErrorClass, QueryMode};
use pgdyno_workload::{Capabilities, Note};
use pgdyno_workloads::scripted::{self, ErrorHandling, PgbenchErrors, Scripted, Spec, WeightedScript};

/// What lets a client in.
const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0K\0\0\0\x0c\0\0\0\x01\0\0\0\x01Z\0\0\0\x05I";

/// Lets a client in; a request to cancel is only read.
fn welcome<S: Read + Write>(mut stream: S) -> Option<S> {
    let (mut length, mut code) = ([0; 4], [0; 4]);
    stream.read_exact(&mut length).ok()?;
    stream.read_exact(&mut code).ok()?;
    stream.read_exact(&mut vec![0; u32::from_be_bytes(length) as usize - 8]).ok()?;
    let protocol_3 = u32::from_be_bytes(code) == 196_608;
    (protocol_3 && stream.write_all(WELCOME).is_ok()).then_some(stream)
}

/// Drives select-only by `clients` on two threads against a server that does `and_then` with each connection.
fn drive(clients: u32, and_then: fn(UnixStream)) -> RunOutcome {
    let directory = TestDirectory::new("engine");
    let listener = UnixListener::bind(directory.path().join(".s.PGSQL.5432")).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || welcome(stream).map(and_then));
        }
    });
    let drive = pgdyno_workloads::registry::build("select-only", []).unwrap().drive;
    let spec = RunSpec {
        clients,
        threads: 2,
        measure_ns: Some(300_000_000),
        interval_ns: 100_000_000,
        grace_ns: 200_000_000,
        ..RunSpec::default()
    };
    let options = ConnectOptions::for_socket(directory.path(), 5432, "test", "test");
    let audience = Audience {
        on_connect: &|_| {},
        on_event: &mut |_| {},
        observer: &mut |_, _| None,
        start: &mut || Some(std::time::Instant::now()),
    };
    run(&drive, &Capabilities::default(), Backend::Server(&options), &spec, &Stop::new(), audience).unwrap()
}

/// Nothing but the coordinator shows the workers that time passes while no reply comes.
#[test]
fn a_server_that_never_answers_does_not_hold_up_the_end() {
    let outcome = drive(6, |mut stream| {
        let mut ignored = [0; 4096];
        while stream.read(&mut ignored).is_ok_and(|count| count > 0) {}
    });
    assert_eq!((outcome.ended.clone(), outcome.cancelled_in_flight), (RunEnd::Complete, 6));
    assert_eq!((outcome.measured.start_ns, outcome.measured.end_ns, outcome.measured.intervals), (0, 300_000_000, 3));
    assert_eq!(outcome.measured.in_flight_at_end, 6);
}

#[test]
fn a_server_that_hangs_up_on_all_ends_the_run_and_is_named_as_the_reason() {
    let outcome = drive(6, drop);
    assert!(matches!(outcome.ended, RunEnd::ServerLost(_)), "{:?}", outcome.ended);
    assert_eq!((outcome.clients_lost, outcome.cancelled_in_flight), (6, 0));
    let failed: u64 = outcome.phases().iter().map(|totals| totals.part.all().failures()).sum();
    let started: u64 = outcome.phases().iter().map(|totals| totals.part.all().started).sum();
    assert_eq!(started, failed, "each transaction under way has failed");
}

/// What a server that knows queries does with the next one.
enum Reply {
    Complete,
    Fail,
    /// Within a transaction block.
    FailInBlock,
}

/// What a server saw.
#[derive(Default)]
struct Seen {
    connections: AtomicU64,
    goodbyes: AtomicU64,
    queries: AtomicU64,
}

/// Answers simple queries on one connection; `reply` is given the number of the query over all connections.
fn answer(mut stream: impl Read + Write, seen: &Seen, reply: &dyn Fn(u64) -> Reply) {
    let mut head = [0; 5];
    while stream.read_exact(&mut head).is_ok() {
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize - 4;
        if stream.read_exact(&mut vec![0; length]).is_err() {
            return;
        }
        match head[0] {
            b'X' => {
                seen.goodbyes.fetch_add(1, Ordering::SeqCst);
            }
            b'Q' => {
                let bytes: &[u8] = match reply(seen.queries.fetch_add(1, Ordering::SeqCst) + 1) {
                    Reply::Complete => b"C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I",
                    Reply::Fail => b"E\0\0\0\x17SERROR\0C42P01\0Mno\0\0Z\0\0\0\x05I",
                    Reply::FailInBlock => b"E\0\0\0\x17SERROR\0C42P01\0Mno\0\0Z\0\0\0\x05E",
                };
                if stream.write_all(bytes).is_err() {
                    return;
                }
            }
            _ => return,
        }
    }
}

/// Serves on a socket in `directory`, which admits so many connections.
fn serve(directory: &Path, admitted: u64, reply: impl Fn(u64) -> Reply + Send + Sync + 'static) -> Arc<Seen> {
    let listener = UnixListener::bind(directory.join(".s.PGSQL.5432")).unwrap();
    let (seen, reply) = (Arc::new(Seen::default()), Arc::new(reply));
    let for_all = Arc::clone(&seen);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (seen, reply) = (Arc::clone(&for_all), Arc::clone(&reply));
            if seen.connections.fetch_add(1, Ordering::SeqCst) < admitted {
                std::thread::spawn(move || {
                    if let Some(stream) = welcome(stream) {
                        answer(stream, &seen, &*reply);
                    }
                });
            } else {
                std::thread::spawn(move || {
                    let mut ignored = [0; 512];
                    let refusal = b"E\0\0\0\x19SFATAL\0C53300\0Mfull\0\0";
                    drop(stream.read(&mut ignored).and_then(|_| stream.write_all(refusal)));
                });
            }
        }
    });
    seen
}

fn script(script: &str, clients: u32, threads: usize, errors: PgbenchErrors) -> Scripted {
    let workload = scripted::build(Spec {
        id: "test".to_owned(),
        summary: String::new(),
        scripts: vec![WeightedScript {
            name: "test".to_owned(),
            text: script.as_bytes().to_vec(),
            weight: 1,
            read_only: None,
        }],
        defines: Vec::new(),
        scale: 1,
        seed: 1,
        clients,
        threads,
        groups: None,
        errors: ErrorHandling::Pgbench(errors),
    });
    workload.unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a script of pgbench's as pgbench does, on two threads at most.
fn run_script(directory: &Path, text: &str, clients: u32, spec: RunSpec) -> (RunOutcome, Vec<u32>) {
    run_script_as(directory, text, clients, spec, PgbenchErrors::default())
}

fn run_script_as(
    directory: &Path,
    text: &str,
    clients: u32,
    spec: RunSpec,
    errors: PgbenchErrors,
) -> (RunOutcome, Vec<u32>) {
    let workload = script(text, clients, spec.threads, errors);
    let options = ConnectOptions::for_socket(directory, 5432, "test", "test");
    let mut refused = Vec::new();
    let audience = Audience {
        on_connect: &|_| {},
        on_event: &mut |event| {
            if let EngineEvent::ConnectFailed { client, error } = event {
                assert!(error.to_string().contains("full"), "{error}");
                refused.push(client);
            }
        },
        observer: &mut |_, _| None,
        start: &mut || Some(std::time::Instant::now()),
    };
    let caps = Capabilities::default();
    let spec = RunSpec { clients, mode: QueryMode::Simple, ..spec };
    let outcome = run(&workload.drive(), &caps, Backend::Server(&options), &spec, &Stop::new(), audience).unwrap();
    refused.sort_unstable();
    (outcome, refused)
}

/// A run of so many transactions of each client on two threads.
fn transactions(n: u64, rules: ClientRules) -> RunSpec {
    RunSpec {
        threads: 2,
        measure_ns: None,
        rules: ClientRules { transactions: Some(n), give_up: false, ..rules },
        ..RunSpec::default()
    }
}

fn committed(outcome: &RunOutcome) -> u64 {
    outcome.phases().iter().map(|totals| totals.part.all().committed).sum()
}

#[test]
fn each_transaction_has_a_connection_of_its_own_and_says_goodbye() {
    let directory = TestDirectory::new("engine");
    let seen = serve(directory.path(), u64::MAX, |_| Reply::Complete);
    let spec = transactions(5, ClientRules { connect_each: true, ..ClientRules::default() });
    let (outcome, refused) = run_script(directory.path(), "select 1;\nselect 2;\n", 6, spec);
    assert_eq!((committed(&outcome), refused, outcome.clients_aborted), (30, vec![], 0));
    let count = |n: &AtomicU64| n.load(Ordering::SeqCst);
    assert_eq!((count(&seen.connections), count(&seen.queries)), (30, 60));
    let part = &outcome.measured.part;
    assert_eq!(part.connected, 30);
    assert!(part.connecting_ns > 0);
    // The last goodbyes may be on their way still.
    while count(&seen.goodbyes) < 30 {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_refused_connection_is_reported_and_gives_its_client_up() {
    let directory = TestDirectory::new("engine");
    serve(directory.path(), 7, |_| Reply::Complete);
    let spec = transactions(5, ClientRules { connect_each: true, ..ClientRules::default() });
    let (outcome, refused) = run_script(directory.path(), "select 1;\n", 3, spec);
    assert_eq!((committed(&outcome), outcome.clients_aborted), (7, refused.len()));
    assert!(!refused.is_empty() && refused.windows(2).all(|pair| pair[0] < pair[1]), "each once: {refused:?}");
    assert_eq!((outcome.ended.clone(), outcome.measured.part.all().failures()), (RunEnd::Complete, 0));
}

#[test]
fn the_first_client_that_is_given_up_ends_the_run_where_that_is_wanted() {
    for stop_on_abort in [true, false] {
        let directory = TestDirectory::new("engine");
        serve(directory.path(), u64::MAX, |n| if n == 50 { Reply::Fail } else { Reply::Complete });
        let rules = ClientRules { stop_on_abort, ..ClientRules::default() };
        // Without it, the others do all that they have to do.
        let spec = transactions(if stop_on_abort { u64::MAX } else { 100 }, rules);
        let (outcome, _) = run_script(directory.path(), "select 1;\n", 4, spec);
        assert_eq!((outcome.clients_aborted, outcome.clients_lost), (1, 0));
        let failed: u64 = outcome.phases().iter().map(|t| t.part.all().failed[ErrorClass::Other as usize]).sum();
        assert_eq!(failed, 1);
        if stop_on_abort {
            assert_eq!(outcome.ended, RunEnd::Interrupted);
        } else {
            assert_eq!(outcome.ended, RunEnd::Complete);
            assert!((300..400).contains(&committed(&outcome)), "{}", committed(&outcome));
        }
    }
}

/// The command ends when another client of the same thread has done a hundred transactions: it would never end if it
/// held that client up.
#[test]
fn a_slow_shell_command_does_not_hold_up_the_other_clients_of_its_thread() {
    const PATIENCE: Duration = Duration::from_secs(60);
    let directory = TestDirectory::new("engine");
    let (pipe, done) = (directory.path().join("pipe"), directory.path().join("done"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Opening the pipe for writing awaits the command that reads it; those that follow find the mark.
    let release = {
        let (pipe, done) = (pipe.clone(), done.clone());
        move || {
            let mut pipe = OpenOptions::new().write(true).open(&pipe).unwrap();
            std::fs::write(&done, "").unwrap();
            pipe.write_all(b"go on\n").unwrap();
        }
    };
    let (over, end) = mpsc::channel::<()>();
    let watchdog = {
        let (pipe, done) = (pipe.clone(), done.clone());
        std::thread::spawn(move || {
            let gave_up = end.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout);
            if gave_up {
                // For reading as well, so that it waits for nobody; until the run has ended.
                let mut pipe = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
                std::fs::write(&done, "").unwrap();
                pipe.write_all(b"go on\n").unwrap();
                let _ = end.recv();
            }
            gave_up
        })
    };
    serve(directory.path(), u64::MAX, move |n| {
        if n == 100 {
            release();
        }
        Reply::Complete
    });
    let (pipe, done) = (pipe.display(), done.display());
    let script =
        format!("\\if :client_id = 0\n\\shell test -e {done} || read line < {pipe}\n\\else\nselect 1;\n\\endif\n");
    let spec = RunSpec { threads: 1, ..transactions(200, ClientRules::default()) };
    let (outcome, _) = run_script(directory.path(), &script, 2, spec);
    drop(over);
    assert!(!watchdog.join().unwrap(), "the other client did not come to its hundredth transaction");
    assert_eq!((committed(&outcome), outcome.clients_aborted), (400, 0));
}
