//! A server over a real socket whose delays are given, and which writes down what it did and when.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pgdyno_engine::{Audience, Backend, Observer, RunOutcome, RunSpec, Stop, TxEnd, run};
use pgdyno_net::ConnectOptions;
use pgdyno_testing::directory::TestDirectory;
use pgdyno_wire::{QueryMode, backend, frontend};
use pgdyno_workload::Capabilities;
use pgdyno_workloads::scripted::{self, ErrorHandling, PgbenchErrors, Spec, WeightedScript};

/// One request of a client, and its reply, by the server's own clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    pub(crate) client: u32,
    /// When all of the request had been read.
    pub(crate) read: Instant,
    /// When the reply was about to be written.
    pub(crate) sent: Instant,
}

/// How long the answer to the nth request of a client, from 0, is held back.
pub(crate) type Delay = dyn Fn(u32, u64) -> Duration + Send + Sync;

/// Keeps the engine's thread from its work after the end of a transaction.
pub(crate) type Hold = dyn Fn(&TxEnd) + Send + Sync;

/// A server that listens until the test ends.
pub(crate) struct Server {
    directory: TestDirectory,
    exchanges: Arc<Mutex<Vec<Exchange>>>,
}

impl Server {
    pub(crate) fn start(delay: impl Fn(u32, u64) -> Duration + Send + Sync + 'static) -> Self {
        let directory = TestDirectory::new("engine");
        let listener = UnixListener::bind(directory.path().join(".s.PGSQL.5432")).unwrap();
        let exchanges = Arc::default();
        let (log, delay) = (Arc::clone(&exchanges), Arc::new(delay));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, delay) = (Arc::clone(&log), Arc::clone(&delay));
                std::thread::spawn(move || converse(stream, &log, &*delay));
            }
        });
        Self { directory, exchanges }
    }

    /// A server of so many clients that reads a request of each, and then answers all of them, again and again; after each
    /// round the number of rounds is in the counter.
    pub(crate) fn answering_all_at_once(clients: usize) -> (Self, Arc<AtomicU64>) {
        let directory = TestDirectory::new("engine");
        let listener = UnixListener::bind(directory.path().join(".s.PGSQL.5432")).unwrap();
        let rounds = Arc::new(AtomicU64::new(0));
        let done = Arc::clone(&rounds);
        std::thread::spawn(move || {
            let mut streams: Vec<_> = listener.incoming().flatten().take(clients).filter_map(greet).collect();
            let mut request = [0; 512];
            while streams.iter_mut().all(|stream| stream.read(&mut request).is_ok_and(|count| count > 0)) {
                for stream in &mut streams {
                    stream.write_all(&answer()).ok()?;
                }
                done.fetch_add(1, Ordering::SeqCst);
            }
            Some(())
        });
        (Self { directory, exchanges: Arc::default() }, rounds)
    }

    /// What it did for a client, in order.
    pub(crate) fn exchanges(&self, client: u32) -> Vec<Exchange> {
        self.exchanges.lock().unwrap().iter().filter(|exchange| exchange.client == client).copied().collect()
    }

    /// Lets clients ask for their own number again and again; what came of it, and how each transaction ended. `linger` is
    /// how long the engine's thread is kept from its work after each.
    pub(crate) fn drive(&self, spec: RunSpec, linger: Duration) -> (RunOutcome, Vec<TxEnd>) {
        self.drive_holding(spec, Arc::new(move |_| std::thread::sleep(linger)))
    }

    /// The same, where the engine's thread comes back from each transaction's end when `hold` does.
    pub(crate) fn drive_holding(&self, spec: RunSpec, hold: Arc<Hold>) -> (RunOutcome, Vec<TxEnd>) {
        let script = WeightedScript {
            name: "test".to_owned(),
            text: b"select :client_id;\n".to_vec(),
            weight: 1,
            read_only: None,
        };
        let workload = scripted::build(Spec {
            id: "test".to_owned(),
            summary: String::new(),
            scripts: vec![script],
            defines: Vec::new(),
            scale: 1,
            seed: 1,
            clients: spec.clients,
            threads: spec.threads,
            groups: None,
            errors: ErrorHandling::Pgbench(PgbenchErrors::default()),
        });
        let workload = workload.unwrap_or_else(|error| panic!("{error}"));
        let options = ConnectOptions::for_socket(self.directory.path(), 5432, "test", "test");
        let ends = Arc::new(Mutex::new(Vec::new()));
        let audience = Audience {
            on_connect: &|_| {},
            on_event: &mut |_| {},
            observer: &mut |_, _| Some(Box::new(Log { ends: Arc::clone(&ends), hold: Arc::clone(&hold) })),
            start: &mut || Some(std::time::Instant::now()),
        };
        let caps = Capabilities::default();
        let spec = RunSpec { mode: QueryMode::Simple, measure_ns: None, ..spec };
        let outcome = run(&workload.drive(), &caps, Backend::Server(&options), &spec, &Stop::new(), audience).unwrap();
        let ends = std::mem::take(&mut *ends.lock().unwrap());
        (outcome, ends)
    }
}

/// Keeps all that it receives.
struct Log {
    ends: Arc<Mutex<Vec<TxEnd>>>,
    hold: Arc<Hold>,
}

impl Observer for Log {
    fn transaction(&mut self, end: &TxEnd) {
        if let Ok(mut ends) = self.ends.lock() {
            ends.push(*end);
        }
        (self.hold)(end);
    }
}

/// Lets a client in.
fn greet(mut stream: UnixStream) -> Option<UnixStream> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).ok()?;
    stream.read_exact(&mut vec![0; u32::from_be_bytes(length) as usize - 4]).ok()?;
    let mut reply = Vec::new();
    frontend::message(&mut reply, b'R', |out| out.extend_from_slice(&[0; 4]));
    frontend::message(&mut reply, b'K', |out| out.extend_from_slice(&[0; 8]));
    frontend::message(&mut reply, b'Z', |out| out.push(b'I'));
    stream.write_all(&reply).ok()?;
    Some(stream)
}

/// What a simple query is answered.
fn answer() -> Vec<u8> {
    let mut reply = Vec::new();
    frontend::message(&mut reply, b'C', |out| frontend::cstr(out, "SELECT 0"));
    frontend::message(&mut reply, b'Z', |out| out.push(b'I'));
    reply
}

/// Serves one connection, until it ends.
fn converse(stream: UnixStream, log: &Mutex<Vec<Exchange>>, delay: &Delay) -> Option<()> {
    let mut stream = greet(stream)?;
    let (mut pending, mut buffer, mut nth) = (Vec::new(), [0; 4096], 0);
    loop {
        let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
        let read = Instant::now();
        pending.extend_from_slice(&buffer[..count]);
        while let Ok(Some(message)) = backend::next_message(&pending) {
            // "select 12;" and the end of a string; anything else is a goodbye.
            let sql = std::str::from_utf8(message.body).ok()?;
            let client = sql.chars().filter(char::is_ascii_digit).collect::<String>().parse().ok()?;
            std::thread::sleep(delay(client, nth));
            nth += 1;
            log.lock().ok()?.push(Exchange { client, read, sent: Instant::now() });
            stream.write_all(&answer()).ok()?;
            let used = message.len;
            pending.drain(..used);
        }
    }
}
