//! Signals that come while a connection is opened or written to. The client is a process of its own.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use pgdyno_net::{ConnectOptions, Connection, Env};
use rustix::process::{Pid, Signal, kill_process};

use crate::fake;

const DSN: &str = "PGDYNO_TEST_DSN";

/// Runs [`the_client`] with `dsn`.
fn client(dsn: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "signals::the_client", "--nocapture"])
        .env(DSN, dsn)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Not a test, but the other process of the tests below: opens a connection and writes until the server has hung up.
#[test]
#[expect(clippy::disallowed_methods, reason = "this is a program of its own")]
fn the_client() {
    let Ok(dsn) = std::env::var(DSN) else { return };
    // SAFETY: only changes what the signal does; nothing else runs in this process.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let options = ConnectOptions::resolve(&dsn, &Env::new([], None, Some("u"))).unwrap();
    let mut parts = match Connection::open(&options) {
        Ok(connection) => connection.into_parts(),
        Err(error) => return println!("\nrefused: {error}"),
    };
    println!("\nopened");
    let bytes = [0; 10_000];
    let error = loop {
        let pieces = [std::io::IoSlice::new(&bytes), std::io::IoSlice::new(&bytes)];
        if let Err(error) = parts.transport.write_vectored(&pieces).and_then(|_| parts.transport.flush()) {
            break error;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    // The second write to a connection that is gone is the one that raises the signal.
    let again = parts.transport.write(&bytes).and_then(|_| parts.transport.flush()).unwrap_err();
    println!("\nlost: {error}, {again}");
}

/// Stops and continues the process, as Ctrl-Z and fg do; waits are broken off by it.
fn stop_and_continue(pid: Pid) {
    for signal in [Signal::STOP, Signal::CONT] {
        std::thread::sleep(Duration::from_millis(30));
        kill_process(pid, signal).unwrap();
    }
    std::thread::sleep(Duration::from_millis(30));
}

/// What stops and continues the client, and where to say which process that is.
fn with_pid() -> (Sender<Pid>, impl Fn() + Send + Sync) {
    let (sender, receiver) = channel();
    let receiver = std::sync::Mutex::new(receiver);
    let known = std::sync::OnceLock::new();
    let interrupt = move || stop_and_continue(*known.get_or_init(|| receiver.lock().unwrap().recv().unwrap()));
    (sender, interrupt)
}

/// What the client printed, and how it ended.
fn output(mut child: Child) -> String {
    let mut lines = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    while out.read_line(&mut lines).unwrap() > 0 {}
    let status = child.wait().unwrap();
    assert_eq!(status.signal(), None, "{lines}");
    lines
}

#[test]
fn a_connection_is_opened_across_stops_and_continuations() {
    for sslmode in ["disable", "require"] {
        let (pid, interrupt) = with_pid();
        let interrupt = Arc::new(interrupt);
        let talk = move |mut stream: TcpStream| {
            if sslmode == "disable" {
                fake::startup(&mut stream);
                interrupt();
                stream.write_all(&fake::let_in()).unwrap();
            } else {
                let mut stream = fake::tls(stream, &*interrupt);
                fake::startup(&mut stream);
                interrupt();
                stream.write_all(&fake::let_in()).unwrap();
                stream.flush().unwrap();
            }
        };
        let port = fake::serve(talk);
        let child = client(&format!("host=127.0.0.1 port={port} sslmode={sslmode} connect_timeout=60"));
        pid.send(Pid::from_child(&child)).unwrap();
        let said = output(child);
        assert!(said.contains("\nopened"), "{sslmode}: {said}");
    }
}

#[test]
fn a_full_queue_of_a_socket_is_waited_for_across_stops_and_continuations() {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};
    let dir = pgdyno_testing::directory::TestDirectory::new("net");
    let path = dir.path().join(".s.PGSQL.5432");
    let listener = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    bind(&listener, &SocketAddrUnix::new(&path).unwrap()).unwrap();
    // Room for one caller who is not accepted yet.
    listen(&listener, 0).unwrap();
    let first = std::os::unix::net::UnixStream::connect(&path).unwrap();
    let mut child = client(&format!("host={} connect_timeout=60", dir.path().display()));
    let pid = Pid::from_child(&child);
    // Until the client waits in connect().
    let waits = || std::fs::read_to_string(format!("/proc/{}/wchan", child.id())).unwrap_or_default();
    for _ in 0..100 {
        if waits().contains("unix_wait_for_peer") {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    for _ in 0..3 {
        stop_and_continue(pid);
    }
    assert!(child.try_wait().unwrap().is_none(), "the client has given up");
    let listener = std::os::unix::net::UnixListener::from(listener);
    drop((listener.accept().unwrap(), first));
    let (mut stream, _) = listener.accept().unwrap();
    fake::startup(&mut stream);
    stream.write_all(&fake::let_in()).unwrap();
    drop(stream);
    let said = output(child);
    assert!(said.contains("\nopened"), "{said}");
}

#[test]
fn a_server_that_resets_is_an_error_and_no_signal() {
    for sslmode in ["disable", "require"] {
        let port = fake::serve(move |mut stream: TcpStream| {
            if sslmode == "disable" {
                fake::startup(&mut stream);
                stream.write_all(&fake::let_in()).unwrap();
                // Read a little, so that the rest is answered with a reset.
                stream.read_exact(&mut [0; 100]).unwrap();
            } else {
                let mut stream = fake::tls(stream, &|| ());
                fake::startup(&mut stream);
                stream.write_all(&fake::let_in()).unwrap();
                stream.flush().unwrap();
                stream.read_exact(&mut [0; 100]).unwrap();
            }
        });
        let said = output(client(&format!("host=127.0.0.1 port={port} sslmode={sslmode}")));
        assert!(said.contains("\nopened") && said.contains("\nlost: "), "{sslmode}: {said}");
    }
}
