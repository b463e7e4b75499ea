//! Several drivers as one: the same transactions, from a common start.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Barrier, Mutex, OnceLock};
use std::time::{Duration, Instant};

use pgdyno_engine::{Audience, Backend, RunError, RunOutcome, RunShare, RunSpec, Stop, run};
use pgdyno_net::ConnectOptions;
use pgdyno_testing::directory::TestDirectory;
use pgdyno_wire::QueryMode;
use pgdyno_workload::Capabilities;

use crate::{committed, transactions, welcome};

/// The statements of each connection, in the order in which they ended.
type Log = Arc<Mutex<Vec<Vec<u8>>>>;

/// Answers every statement of a connection; returns all of them.
fn answer(mut stream: UnixStream) -> Vec<u8> {
    let (mut head, mut statements) = ([0; 5], Vec::new());
    while stream.read_exact(&mut head).is_ok() && head[0] == b'Q' {
        let mut text = vec![0; u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize - 4];
        let done = stream.read_exact(&mut text).and_then(|()| stream.write_all(b"C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I"));
        done.unwrap();
        statements.extend(text);
    }
    statements
}

fn serve(directory: &Path) -> Log {
    let listener = UnixListener::bind(directory.join(".s.PGSQL.5432")).unwrap();
    let log = Log::default();
    let for_all = Arc::clone(&log);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let log = Arc::clone(&for_all);
            std::thread::spawn(move || {
                if let Some(stream) = welcome(stream) {
                    let statements = answer(stream);
                    log.lock().unwrap().push(statements);
                }
            });
        }
    });
    log
}

fn drive(directory: &Path, spec: &RunSpec, start: &mut dyn FnMut() -> Option<Instant>) -> Result<RunOutcome, RunError> {
    let drive = pgdyno_workloads::registry::build("tpcb-like", []).unwrap().drive;
    let options = ConnectOptions::for_socket(directory, 5432, "test", "test");
    let audience = Audience { on_connect: &|_| {}, on_event: &mut |_| {}, observer: &mut |_, _| None, start };
    run(&drive, &Capabilities::default(), Backend::Server(&options), spec, &Stop::new(), audience)
}

#[test]
fn four_drivers_send_what_one_sends_and_begin_at_one_moment() {
    const DRIVERS: usize = 4;
    let directory = TestDirectory::new("engine");
    let log = serve(directory.path());
    let mode = QueryMode::Simple;
    let spec = RunSpec { clients: 8, threads: 6, seed: 9, mode, ..transactions(20, Default::default()) };
    let logged = || {
        // Connections that were closed may be read a little later.
        while log.lock().unwrap().len() < 8 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut statements = std::mem::take(&mut *log.lock().unwrap());
        statements.sort();
        statements
    };
    let alone = drive(directory.path(), &spec, &mut || Some(Instant::now())).unwrap();
    assert_eq!((committed(&alone), alone.threads), (160, 6));
    let by_one = logged();
    assert!(by_one.iter().all(|statements| statements.len() > 1000));

    let (all_connected, moment) = (Barrier::new(DRIVERS), OnceLock::new());
    let outcomes = std::thread::scope(|scope| {
        let drivers: Vec<_> = (0..DRIVERS)
            .map(|driver| {
                let (spec, path) = (spec.clone(), directory.path());
                let (all_connected, moment) = (&all_connected, &moment);
                scope.spawn(move || {
                    let spec = RunSpec { share: Some(RunShare { driver, drivers: DRIVERS }), ..spec };
                    drive(path, &spec, &mut || {
                        all_connected.wait();
                        Some(*moment.get_or_init(|| Instant::now() + Duration::from_millis(50)))
                    })
                })
            })
            .collect();
        drivers.into_iter().map(|driver| driver.join().unwrap().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(outcomes.iter().map(|outcome| outcome.threads).collect::<Vec<_>>(), [2, 2, 1, 1]);
    assert_eq!(outcomes.iter().map(|outcome| outcome.clients).collect::<Vec<_>>(), [4, 2, 1, 1]);
    assert_eq!(outcomes.iter().map(committed).sum::<u64>(), 160);
    assert_eq!(logged(), by_one);
}

#[test]
fn a_run_that_is_called_off_sends_nothing() {
    let directory = TestDirectory::new("engine");
    let log = serve(directory.path());
    let spec = RunSpec { clients: 2, mode: QueryMode::Simple, ..transactions(1, Default::default()) };
    let ended = drive(directory.path(), &spec, &mut || None);
    assert!(matches!(ended, Err(RunError::CalledOff)), "{ended:?}");
    while log.lock().unwrap().len() < 2 {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(log.lock().unwrap().iter().all(Vec::is_empty));
}

#[test]
fn a_driver_without_a_thread_is_refused() {
    let directory = TestDirectory::new("engine");
    let share = Some(RunShare { driver: 2, drivers: 3 });
    let spec = RunSpec { clients: 2, threads: 8, share, ..transactions(1, Default::default()) };
    let refused = drive(directory.path(), &spec, &mut || Some(Instant::now())).unwrap_err();
    assert_eq!(refused.to_string(), "there is no thread for this driver: the run has 2");
}
