//! The physical floor of a load client: the bytes of a prepared select-only transaction there and back, by send, recv
//! and epoll alone. Neither side reads what it receives, and nothing is recorded.
//!
//! `benches/versus/run.py` sets the drivers beside it: what this costs is the kernel's, and nobody can skip it.
//!
//!     echo serve --socket-dir DIR | --port PORT
//!     echo drive HOST PORT CLIENTS SECONDS

#![expect(clippy::unwrap_used, reason = "a measuring stick: any failure ends it")]

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use pgdyno_poll::Poller;
use pgdyno_wire::frontend;
use rustix::net::{RecvFlags, recv};

/// `BindComplete`, a row of one digit, `CommandComplete`, `ReadyForQuery`: as long as a server's reply.
const REPLY: &[u8] = b"2\0\0\0\x04D\0\0\0\x0b\0\x01\0\0\0\x011C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";
const LISTENER: usize = usize::MAX - 1;

trait Stream: Write + AsFd {}
impl<T: Write + AsFd> Stream for T {}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["serve", "--socket-dir", dir] => {
            let listener = UnixListener::bind(format!("{dir}/.s.PGSQL.5432")).unwrap();
            listener.set_nonblocking(true).unwrap();
            serve(&listener, || listener.accept().ok().map(|(link, _)| boxed_unix(link)));
        }
        ["serve", "--port", port] => {
            let listener = TcpListener::bind(("127.0.0.1", port.parse().unwrap())).unwrap();
            listener.set_nonblocking(true).unwrap();
            serve(&listener, || listener.accept().ok().map(|(link, _)| boxed_tcp(link)));
        }
        ["drive", host, port, clients, seconds] => {
            let open = || {
                if host.starts_with('/') {
                    boxed_unix(UnixStream::connect(format!("{host}/.s.PGSQL.{port}")).unwrap())
                } else {
                    boxed_tcp(TcpStream::connect((*host, port.parse().unwrap())).unwrap())
                }
            };
            let links = (0..clients.parse().unwrap()).map(|_| open()).collect();
            println!("{}", drive(links, Duration::from_secs_f64(seconds.parse().unwrap())));
        }
        _ => panic!("echo serve --socket-dir DIR | --port PORT; echo drive HOST PORT CLIENTS SECONDS"),
    }
}

fn boxed_unix(stream: UnixStream) -> Box<dyn Stream> {
    stream.set_nonblocking(true).unwrap();
    Box::new(stream)
}

fn boxed_tcp(stream: TcpStream) -> Box<dyn Stream> {
    stream.set_nonblocking(true).unwrap();
    stream.set_nodelay(true).unwrap();
    Box::new(stream)
}

/// Answers whatever comes with [`REPLY`], until it is killed.
fn serve(listener: &impl AsFd, accept: impl Fn() -> Option<Box<dyn Stream>>) {
    let (mut poller, mut ready, mut buffer) = (Poller::new().unwrap(), Vec::new(), [0; 4096]);
    let mut links: Vec<Option<Box<dyn Stream>>> = Vec::new();
    poller.add(listener.as_fd(), LISTENER).unwrap();
    println!("echo ready");
    loop {
        poller.wait(None, &mut ready).unwrap();
        for event in ready.drain(..) {
            if event.key == LISTENER {
                // The poller tells once of many that wait.
                while let Some(link) = accept() {
                    poller.add(link.as_fd(), links.len()).unwrap();
                    links.push(Some(link));
                }
            } else if let Some(link) = &mut links[event.key] {
                let received = recv(&mut *link, &mut buffer, RecvFlags::empty());
                let open = received.is_ok_and(|(count, _)| count > 0) && link.write_all(REPLY).is_ok();
                if !open {
                    poller.remove(link.as_fd()).unwrap();
                    links[event.key] = None;
                }
            }
        }
    }
}

/// How many replies came back in that time.
fn drive(mut links: Vec<Box<dyn Stream>>, time: Duration) -> u64 {
    let (mut poller, mut ready, mut buffer, mut done) = (Poller::new().unwrap(), Vec::new(), [0; 4096], 0);
    let request = request();
    for (key, link) in links.iter_mut().enumerate() {
        poller.add(link.as_fd(), key).unwrap();
        link.write_all(&request).unwrap();
    }
    let begun = Instant::now();
    while begun.elapsed() < time {
        poller.wait(None, &mut ready).unwrap();
        for event in ready.drain(..) {
            let (count, _) = recv(&mut links[event.key], &mut buffer, RecvFlags::empty()).unwrap();
            assert_eq!(count, REPLY.len(), "a reply comes in one piece");
            done += 1;
            links[event.key].write_all(&request).unwrap();
        }
    }
    done
}

/// Bind of one binary integer, Execute, Sync: the bytes that the engine sends.
fn request() -> Vec<u8> {
    let mut out = Vec::new();
    frontend::message(&mut out, b'B', |out| {
        frontend::cstr(out, "");
        frontend::cstr(out, "s0");
        out.extend_from_slice(&[0, 1, 0, 1, 0, 1, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0]);
    });
    frontend::message(&mut out, b'E', |out| out.extend_from_slice(&[0; 5]));
    frontend::sync(&mut out);
    out
}
