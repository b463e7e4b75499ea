//! Every run ends, whatever scripts, servers and threads do.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use pgdyno_engine::{
    Audience, Backend, ClientRules, ConnectFailed, FileLimit, RunEnd, RunError, RunOutcome, RunSpec, Stop,
    raise_file_limit, run,
};
use pgdyno_net::{ConnectOptions, Env};
use pgdyno_testing::directory::TestDirectory;
use pgdyno_wire::{QueryMode, Wire};
use pgdyno_workload::{Batch, Begin, Capabilities, ClientScript, Drive, Next, Program, Reply, Scripts};

use crate::{answer, committed, welcome};

/// What takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs `work`, which must end.
fn ends<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, end) = mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    end.recv_timeout(PATIENCE).expect("it hangs or panics")
}

/// A run, ended by `control`, that nobody listens to.
fn drive(workload: &Drive, options: &ConnectOptions, spec: &RunSpec, stop: &Stop) -> Result<RunOutcome, RunError> {
    let audience = Audience {
        on_connect: &|_| {},
        on_event: &mut |_| {},
        observer: &mut |_, _| None,
        start: &mut || Some(std::time::Instant::now()),
    };
    run(workload, &Capabilities::default(), Backend::Server(options), spec, stop, audience)
}

struct Script {
    inner: Box<dyn ClientScript>,
    left: Option<u32>,
}

impl ClientScript for Script {
    fn begin(&mut self) -> Option<Begin> {
        if let Some(left) = &mut self.left {
            *left -= 1;
            assert!(*left > 0, "on purpose");
        }
        self.inner.begin()
    }

    fn step(&mut self, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        self.inner.step(reply, batch)
    }

    fn restart(&mut self) {
        self.inner.restart();
    }
}

/// Returns select-only, whose client 1 panics in its tenth transaction.
fn panicking() -> Drive {
    let select_only = Arc::unwrap_or_clone(select_only());
    let panicking = |scripts: &Scripts| {
        let of_select_only = Arc::clone(&scripts.program);
        let program = move |caps: &Capabilities| {
            let Program { statements, client } = of_select_only(caps);
            Program::new(statements, move |context| {
                let left = (context.id.0 == 1).then_some(10);
                Box::new(Script { inner: client(context), left })
            })
        };
        Scripts { program: Arc::new(program), ..scripts.clone() }
    };
    Drive { scripts: select_only.scripts.iter().map(panicking).collect(), ..select_only }
}

#[test]
fn a_thread_that_dies_fails_the_run_and_what_was_measured_stays() {
    let outcome = ends(|| {
        let directory = TestDirectory::new("engine");
        crate::serve(directory.path(), u64::MAX, |_| {
            std::thread::sleep(Duration::from_millis(2));
            crate::Reply::Complete
        });
        let options = ConnectOptions::for_socket(directory.path(), 5432, "test", "test");
        let workload = panicking();
        let spec = RunSpec {
            clients: 2,
            threads: 2,
            mode: QueryMode::Simple,
            // An hour: only the dead thread ends it.
            measure_ns: Some(3_600_000_000_000),
            interval_ns: 10_000_000,
            ..RunSpec::default()
        };
        drive(&workload, &options, &spec, &Stop::new()).unwrap()
    });
    assert!(
        matches!(&outcome.ended, RunEnd::Fatal(why) if why.contains("pgdyno-1") && why.contains("on purpose")),
        "{:?}",
        outcome.ended
    );
    assert!(committed(&outcome) > 0);
}

/// Lets clients in over TCP, whose buffers hold more than a single read takes. The first one is answered with rows
/// without end.
fn endless_rows() -> ConnectOptions {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for (n, stream) in listener.incoming().flatten().enumerate() {
            std::thread::spawn(move || {
                let Some(stream) = welcome(stream) else { return };
                if n == 0 { pour(stream) } else { answer(stream, &crate::Seen::default(), &|_| crate::Reply::Complete) }
            });
        }
    });
    let dsn = format!("host=127.0.0.1 port={port} user=test dbname=test sslmode=disable");
    ConnectOptions::resolve(&dsn, &Env::default()).unwrap()
}

/// Rows, until nobody takes them.
fn pour(mut stream: TcpStream) {
    let mut head = [0; 4096];
    if stream.read(&mut head).is_err() {
        return;
    }
    // Short ones, so that they come faster than a client goes through them.
    let row = [b"D\0\0\0\x3c\0\x01\0\0\0\x32".as_slice(), &[b'x'; 50]].concat();
    let rows = row.repeat(50_000);
    while stream.write_all(&rows).is_ok() {}
}

#[test]
fn rows_without_end_starve_neither_the_clock_nor_the_other_clients() {
    let outcome = ends(|| {
        let options = endless_rows();
        let workload = pgdyno_workloads::registry::build("select-only", []).unwrap().drive;
        let spec = RunSpec {
            clients: 2,
            threads: 1,
            mode: QueryMode::Simple,
            wire: Wire::Libpq,
            measure_ns: Some(1_000_000_000),
            interval_ns: 100_000_000,
            grace_ns: 100_000_000,
            ..RunSpec::default()
        };
        drive(&workload, &options, &spec, &Stop::new()).unwrap()
    });
    assert_eq!((outcome.ended.clone(), outcome.cancelled_in_flight), (RunEnd::Complete, 1));
    assert!(committed(&outcome) > 10, "the other client works meanwhile: {}", committed(&outcome));
}

/// Reads the first message of a connection: whether it asks to be let in, and not to cancel.
fn wants_in(stream: &mut UnixStream) -> bool {
    let mut head = [0; 8];
    stream.read_exact(&mut head).unwrap();
    let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
    stream.read_exact(&mut vec![0; length - 8]).unwrap();
    head[4..] == 196_608u32.to_be_bytes()
}

/// Serves on a socket in `directory`. Lets the first `admitted` connections in, and hands each to `and_then`; to all
/// others, and to requests to cancel, it never says a word. Returns counters of those that were kept waiting: sessions,
/// requests to cancel.
fn silent_after(
    directory: &Path,
    admitted: usize,
    mut and_then: impl FnMut(UnixStream) -> Option<UnixStream> + Send + 'static,
) -> Arc<[AtomicUsize; 2]> {
    let listener = UnixListener::bind(directory.join(".s.PGSQL.5432")).unwrap();
    let waiting: Arc<[AtomicUsize; 2]> = Arc::default();
    let count = Arc::clone(&waiting);
    std::thread::spawn(move || {
        let (mut held, mut let_in) = (Vec::new(), 0);
        for mut stream in listener.incoming().flatten() {
            if !wants_in(&mut stream) {
                count[1].fetch_add(1, Ordering::SeqCst);
                held.push(stream);
            } else if let_in < admitted {
                let_in += 1;
                stream.write_all(crate::WELCOME).unwrap();
                held.extend(and_then(stream));
            } else {
                count[0].fetch_add(1, Ordering::SeqCst);
                held.push(stream);
            }
        }
    });
    waiting
}

fn select_only() -> Arc<Drive> {
    pgdyno_workloads::registry::build("select-only", []).unwrap().drive
}

fn at(directory: &Path) -> ConnectOptions {
    ConnectOptions::for_socket(directory, 5432, "test", "test")
}

#[test]
fn a_thousand_requests_to_cancel_that_nobody_answers_take_one_deadline() {
    const CLIENTS: u32 = 1000;
    // Both ends of each connection are here.
    if let FileLimit::TooLow { needed, hard } = raise_file_limit(3 * CLIENTS) {
        println!("SKIPPED: a thousand hung sessions: {needed} open files are needed, and {hard} are allowed");
        return;
    }
    let (outcome, cancels) = ends(|| {
        let directory = TestDirectory::new("engine");
        let waiting = silent_after(directory.path(), CLIENTS as usize, Some);
        let spec = RunSpec {
            clients: CLIENTS,
            threads: 2,
            measure_ns: Some(200_000_000),
            grace_ns: 100_000_000,
            ..RunSpec::default()
        };
        let outcome = drive(&select_only(), &at(directory.path()), &spec, &Stop::new()).unwrap();
        (outcome, waiting[1].load(Ordering::SeqCst))
    });
    assert_eq!((outcome.ended, outcome.cancelled_in_flight), (RunEnd::Complete, CLIENTS as usize));
    assert!(cancels >= 900, "they all go out: {cancels}");
}

#[test]
fn a_second_signal_ends_the_sending_of_requests_to_cancel() {
    const CLIENTS: u32 = 1000;
    if let FileLimit::TooLow { needed, hard } = raise_file_limit(3 * CLIENTS) {
        println!("SKIPPED: a thousand hung sessions: {needed} open files are needed, and {hard} are allowed");
        return;
    }
    let (outcome, cancels) = ends(|| {
        let directory = TestDirectory::new("engine");
        let waiting = silent_after(directory.path(), CLIENTS as usize, Some);
        let stop = Arc::new(Stop::new());
        let (killer, seen) = (Arc::clone(&stop), Arc::clone(&waiting));
        std::thread::spawn(move || {
            while seen[1].load(Ordering::SeqCst) == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            killer.at_once();
        });
        let spec = RunSpec {
            clients: CLIENTS,
            threads: 2,
            measure_ns: Some(200_000_000),
            grace_ns: 100_000_000,
            ..RunSpec::default()
        };
        let outcome = drive(&select_only(), &at(directory.path()), &spec, &stop).unwrap();
        (outcome, waiting[1].load(Ordering::SeqCst))
    });
    assert_eq!(outcome.cancelled_in_flight, CLIENTS as usize);
    // Without it they all go out, over three seconds.
    assert!(cancels < 600, "they go on: {cancels}");
}

#[test]
fn connections_that_are_made_anew_keep_to_their_time_and_to_the_runs() {
    // The time to connect is over before the run, and the other way round.
    for (measure_s, reconnect_s) in [(3600, 1), (1, 3600)] {
        let outcome = ends(move || {
            let directory = TestDirectory::new("engine");
            // Sessions are dropped as soon as they are let in.
            silent_after(directory.path(), 6, |_| None);
            let spec = RunSpec {
                clients: 6,
                threads: 1,
                measure_ns: Some(measure_s * 1_000_000_000),
                grace_ns: 100_000_000,
                reconnect_ns: reconnect_s * 1_000_000_000,
                ..RunSpec::default()
            };
            drive(&select_only(), &at(directory.path()), &spec, &Stop::new()).unwrap()
        });
        assert!(outcome.clients_lost == 6, "{:?}", outcome.ended);
        if measure_s > reconnect_s {
            assert!(matches!(outcome.ended, RunEnd::ServerLost(_)), "{:?}", outcome.ended);
        }
    }
}

/// A client that waits for the connection of a transaction at the end has nothing to finish, and has not failed.
#[test]
fn a_connection_for_a_transaction_that_never_comes_does_not_hold_up_the_end() {
    let outcome = ends(|| {
        let directory = TestDirectory::new("engine");
        silent_after(directory.path(), 3, |stream| {
            std::thread::spawn(move || answer(stream, &crate::Seen::default(), &|_| crate::Reply::Complete));
            None
        });
        let spec = RunSpec {
            clients: 2,
            threads: 1,
            mode: QueryMode::Simple,
            measure_ns: Some(500_000_000),
            // As the drop-in waits for transactions.
            grace_ns: u64::MAX / 2,
            rules: ClientRules { connect_each: true, ..ClientRules::default() },
            ..RunSpec::default()
        };
        drive(&select_only(), &at(directory.path()), &spec, &Stop::new()).unwrap()
    });
    assert_eq!((outcome.ended.clone(), outcome.clients_aborted, committed(&outcome)), (RunEnd::Complete, 0, 3));
}

#[test]
fn clients_that_wait_to_be_let_in_end_when_they_are_asked_to() {
    let ended = ends(|| {
        let directory = TestDirectory::new("engine");
        let waiting = silent_after(directory.path(), 1, Some);
        let stop = Arc::new(Stop::new());
        let stopper = Arc::clone(&stop);
        std::thread::spawn(move || {
            while waiting[0].load(Ordering::SeqCst) < 3 {
                std::thread::sleep(Duration::from_millis(1));
            }
            stopper.cleanly();
        });
        let spec = RunSpec { clients: 4, ..RunSpec::default() };
        drive(&select_only(), &at(directory.path()), &spec, &stop).map(|outcome| outcome.ended)
    });
    assert!(
        matches!(ended, Err(RunError::Connect(ConnectFailed::Interrupted { connected: 1, clients: 4 }))),
        "{ended:?}"
    );
}
