//! Servers that kill sessions or talk without end, connections that are left in a block, commands that end late.

use super::*;
use pgdyno_net::Stop;

/// A server that lets sessions in and kills them is not asked for as many as it can kill.
#[test]
fn sessions_that_are_killed_are_not_made_anew_at_once_again_and_again() {
    let directory = TestDirectory::new("engine");
    let listener = UnixListener::bind(directory.path().join(".s.PGSQL.5432")).unwrap();
    let opened = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&opened);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::SeqCst);
            drop(welcome(stream));
        }
    });
    let spec = RunSpec {
        threads: 1,
        measure_ns: Some(3_000_000_000),
        reconnect_ns: 60_000_000_000,
        rules: ClientRules { give_up: false, ..ClientRules::default() },
        ..RunSpec::default()
    };
    let errors = PgbenchErrors { reconnect: true, ..PgbenchErrors::default() };
    let (outcome, _) = run_script_as(directory.path(), "select 1;\n", 8, spec, errors);
    assert_eq!((outcome.ended.clone(), outcome.clients_aborted), (RunEnd::Complete, 0));
    // At once, then after 0.1, 0.2, 0.4, 0.8 and 1.6 s at most, and at least half of that.
    let opened = opened.load(Ordering::SeqCst);
    assert!((8 * 4..8 * 10).contains(&opened), "{opened} connections");
}

#[test]
fn a_shared_connection_that_a_client_leaves_in_a_block_is_made_anew() {
    let directory = TestDirectory::new("engine");
    let seen = serve(directory.path(), u64::MAX, |n| if n == 5 { Reply::FailInBlock } else { Reply::Complete });
    let rules = ClientRules { give_up: false, transactions: Some(10), ..ClientRules::default() };
    let spec = RunSpec {
        threads: 1,
        measure_ns: None,
        connections: Some(1),
        reconnect_ns: 60_000_000_000,
        rules,
        ..RunSpec::default()
    };
    let (outcome, _) = run_script(directory.path(), "select 1;\n", 4, spec);
    assert_eq!((outcome.clients_aborted, outcome.clients_lost), (1, 0));
    assert_eq!(seen.connections.load(Ordering::SeqCst), 2);
    assert!((30..40).contains(&committed(&outcome)), "{}", committed(&outcome));
}

/// Keeps the engine's thread for a while after each transaction, and notes when that ended.
struct Slow(Arc<Mutex<Vec<u64>>>);

impl Observer for Slow {
    fn transaction(&mut self, end: &TxEnd) {
        self.0.lock().unwrap().push(end.end.0);
        std::thread::sleep(Duration::from_millis(15));
    }
}

/// Several answers of commands lie ready at once, and an interval ends while they are taken one by one.
#[test]
fn what_ends_with_a_command_counts_in_the_interval_in_which_it_ends() {
    let directory = TestDirectory::new("engine");
    serve(directory.path(), u64::MAX, |_| Reply::Complete);
    let workload = script("\\shell sleep 0.05\n", 8, 1, PgbenchErrors::default());
    let ends = Arc::new(Mutex::new(Vec::new()));
    let mut intervals = Vec::new();
    let audience = Audience {
        on_connect: &|_| {},
        on_event: &mut |event| {
            if let EngineEvent::Interval(interval) = event {
                intervals.push((interval.start_ns, interval.end_ns, interval.part.all().committed));
            }
        },
        observer: &mut |_, _| Some(Box::new(Slow(Arc::clone(&ends)))),
        start: &mut || Some(std::time::Instant::now()),
    };
    let options = ConnectOptions::for_socket(directory.path(), 5432, "test", "test");
    let rules = ClientRules { transactions: Some(4), ..ClientRules::default() };
    let spec = RunSpec { clients: 8, measure_ns: None, interval_ns: 40_000_000, rules, ..RunSpec::default() };
    let caps = Capabilities::default();
    run(&workload.drive(), &caps, Backend::Server(&options), &spec, &Stop::new(), audience).unwrap();
    let ends = ends.lock().unwrap();
    assert_eq!(ends.len(), 32);
    // A border at another time is that of the window, which ends with the last transaction and holds it.
    let before = |at: u64, border: u64| at < border || at == border && !border.is_multiple_of(40_000_000);
    for (start, end, committed) in intervals {
        let ended = ends.iter().filter(|at| before(**at, end) && !before(**at, start)).count();
        assert_eq!(ended as u64, committed, "between {start} and {end}");
    }
}

/// The reader of the notices reads them only when all have been sent, and 100 MB of them came.
#[test]
fn notices_that_nobody_reads_are_dropped_and_counted() {
    const NOTICES: usize = 100_000;
    let directory = TestDirectory::new("engine");
    let listener = UnixListener::bind(directory.path().join(".s.PGSQL.5432")).unwrap();
    let all_sent = Arc::new(AtomicU64::new(0));
    let sent = Arc::clone(&all_sent);
    std::thread::spawn(move || {
        let mut stream = welcome(listener.accept().ok()?.0)?;
        let body = [&b"SNOTICE\0C00000\0M"[..], &[b'x'; 1_000], b"\0\0"].concat();
        let notice = [&b"N"[..], &(body.len() as u32 + 4).to_be_bytes(), &body].concat();
        stream.read_exact(&mut [0; 5]).ok()?;
        for _ in 0..NOTICES / 100 {
            stream.write_all(&notice.repeat(100)).ok()?;
        }
        stream.write_all(b"C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I").ok()?;
        // Read to the last: the goodbye follows.
        let goodbye = stream.read(&mut [0; 512]).and_then(|_| stream.read(&mut [0; 512]));
        sent.store(1, Ordering::SeqCst);
        goodbye.ok()
    });
    let workload = script("select 1;\n", 1, 1, PgbenchErrors::default());
    let (mut notices, mut reported) = (0, Vec::new());
    let audience = Audience {
        on_connect: &|_| {},
        on_event: &mut |event| match event {
            EngineEvent::Note(Note::Notice(_)) => {
                while all_sent.load(Ordering::SeqCst) == 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
                notices += 1;
            }
            EngineEvent::Note(note) => reported.push(note.text().into_owned()),
            _ => {}
        },
        observer: &mut |_, _| None,
        start: &mut || Some(std::time::Instant::now()),
    };
    let options = ConnectOptions::for_socket(directory.path(), 5432, "test", "test");
    let spec = RunSpec { threads: 1, clients: 1, mode: QueryMode::Simple, ..transactions(1, ClientRules::default()) };
    let caps = Capabilities::default();
    let outcome = run(&workload.drive(), &caps, Backend::Server(&options), &spec, &Stop::new(), audience).unwrap();
    let dropped: u64 = outcome.phases().iter().map(|totals| totals.part.notices_dropped).sum();
    assert_eq!((committed(&outcome), notices + dropped), (1, NOTICES as u64));
    assert!(dropped > NOTICES as u64 / 2, "{dropped}");
    assert!(
        matches!(reported.as_slice(), [said] if said.starts_with(&format!("{dropped} notices of the server"))),
        "{reported:?}"
    );
}
