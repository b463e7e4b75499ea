//! The physical floor of a load client: the bytes of a prepared select-only transaction there and back, by send, recv
//! and epoll alone. Neither side reads what it receives, and nothing is recorded.
//!
//! `benches/versus/run.py` sets the drivers beside it: what this costs is the kernel's, and nobody can skip it.
//!
//!     echo serve --socket-dir DIR | --port PORT [--reply BYTES] [--busy NS]
//!     echo drive HOST PORT CLIENTS SECONDS [--rate RATE] [--reply BYTES]
//!
//! With a rate, requests are sent when they are due, by the next link that waits for nothing: the floor of an open loop.
//! A reply is as long as that of a row of one digit, or as it is said to both sides. A server that is busy for some
//! nanoseconds with each request has a thread for each link, as PostgreSQL has a process: the client waits as it waits
//! for a real one.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a program of its own")]
#![expect(clippy::unwrap_used, reason = "a measuring stick: any failure ends it")]

use std::collections::VecDeque;
use std::fmt::Debug;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::str::FromStr;
use std::time::{Duration, Instant};

use pgdyno_poll::Poller;
use pgdyno_wire::frontend;
use pgdyno_workload::Rng;
use rustix::net::{RecvFlags, recv};

/// `BindComplete`, a row of one digit, `CommandComplete`, `ReadyForQuery`: as long as a server's reply.
const REPLY: &[u8] = b"2\0\0\0\x04D\0\0\0\x0b\0\x01\0\0\0\x011C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";
const LISTENER: usize = usize::MAX - 1;

trait Stream: Write + AsFd {}
impl<T: Write + AsFd> Stream for T {}

trait Blocking: Read + Write + Send {}
impl<T: Read + Write + Send> Blocking for T {}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let rate: Option<f64> = taken(&mut arguments, "--rate");
    let reply = reply(taken(&mut arguments, "--reply"));
    let busy: Option<u64> = taken(&mut arguments, "--busy");
    if let Some(busy) = busy {
        return toil(&arguments, &reply, Duration::from_nanos(busy));
    }
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["serve", "--socket-dir", dir] => {
            let listener = UnixListener::bind(format!("{dir}/.s.PGSQL.5432")).unwrap();
            listener.set_nonblocking(true).unwrap();
            serve(&listener, &reply, || listener.accept().ok().map(|(link, _)| boxed_unix(link)));
        }
        ["serve", "--port", port] => {
            let listener = TcpListener::bind(("127.0.0.1", port.parse().unwrap())).unwrap();
            listener.set_nonblocking(true).unwrap();
            serve(&listener, &reply, || listener.accept().ok().map(|(link, _)| boxed_tcp(link)));
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
            let time = Duration::from_secs_f64(seconds.parse().unwrap());
            let done = match rate {
                Some(rate) => pace(links, time, reply.len(), rate),
                None => drive(links, time, reply.len()),
            };
            println!("{done}");
        }
        _ => panic!("echo serve --socket-dir DIR | --port PORT; echo drive HOST PORT CLIENTS SECONDS"),
    }
}

/// Takes an option with its value out of the arguments.
fn taken<T: FromStr<Err: Debug>>(arguments: &mut Vec<String>, option: &str) -> Option<T> {
    let at = arguments.iter().position(|argument| argument == option)?;
    arguments.drain(at..at + 2).next_back().map(|value| value.parse().unwrap())
}

/// A server's reply with a row, filled up to so many bytes.
fn reply(bytes: Option<usize>) -> Vec<u8> {
    let mut reply = REPLY.to_vec();
    reply.resize(bytes.unwrap_or(REPLY.len()), b'x');
    reply
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

/// Answers whatever comes with `reply`, until it is killed.
fn serve(listener: &impl AsFd, reply: &[u8], accept: impl Fn() -> Option<Box<dyn Stream>>) {
    let (mut poller, mut ready, mut buffer) = (Poller::new().unwrap(), Vec::new(), [0; 4096]);
    let mut links: Vec<Option<Box<dyn Stream>>> = Vec::new();
    poller.add(listener.as_fd(), LISTENER).unwrap();
    println!("echo ready");
    loop {
        poller.wait(None, &mut ready).unwrap();
        for event in ready.drain(..) {
            if event.key == LISTENER {
                // The poller reports once of many that wait.
                while let Some(link) = accept() {
                    poller.add(link.as_fd(), links.len()).unwrap();
                    links.push(Some(link));
                }
            } else if let Some(link) = &mut links[event.key] {
                let received = recv(&mut *link, &mut buffer, RecvFlags::empty());
                let open = received.is_ok_and(|(count, _)| count > 0) && link.write_all(reply).is_ok();
                if !open {
                    poller.remove(link.as_fd()).unwrap();
                    links[event.key] = None;
                }
            }
        }
    }
}

/// Answers whatever comes after being busy for that long, each link with a thread of its own, until it is killed.
fn toil(arguments: &[String], reply: &[u8], busy: Duration) {
    let links: Box<dyn Iterator<Item = Box<dyn Blocking>>> =
        match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["serve", "--socket-dir", dir] => {
                let listener = UnixListener::bind(format!("{dir}/.s.PGSQL.5432")).unwrap();
                Box::new(std::iter::from_fn(move || Some(Box::new(listener.accept().unwrap().0) as _)))
            }
            ["serve", "--port", port] => {
                let listener = TcpListener::bind(("127.0.0.1", port.parse().unwrap())).unwrap();
                Box::new(std::iter::from_fn(move || {
                    let (link, _) = listener.accept().unwrap();
                    link.set_nodelay(true).unwrap();
                    Some(Box::new(link) as _)
                }))
            }
            _ => panic!("echo serve --socket-dir DIR | --port PORT [--reply BYTES] --busy NS"),
        };
    println!("echo ready");
    for mut link in links {
        let reply = reply.to_vec();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while link.read(&mut buffer).is_ok_and(|count| count > 0) {
                let begun = Instant::now();
                while begun.elapsed() < busy {
                    std::hint::spin_loop();
                }
                if link.write_all(&reply).is_err() {
                    break;
                }
            }
        });
    }
}

/// How many replies came back in that time.
fn drive(mut links: Vec<Box<dyn Stream>>, time: Duration, reply_bytes: usize) -> u64 {
    let (mut poller, mut ready, mut buffer, mut done) = (Poller::new().unwrap(), Vec::new(), vec![0; 1 << 16], 0);
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
            assert_eq!(count, reply_bytes, "a reply comes in one piece");
            done += 1;
            links[event.key].write_all(&request).unwrap();
        }
    }
    done
}

/// The same with requests at this rate per second, with exponential gaps.
fn pace(mut links: Vec<Box<dyn Stream>>, time: Duration, reply_bytes: usize, rate: f64) -> u64 {
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).unwrap();
    let (mut poller, mut ready, mut buffer, mut done) = (Poller::new().unwrap(), Vec::new(), vec![0; 1 << 16], 0);
    let (request, mut rng) = (request(), Rng::new(1));
    for (key, link) in links.iter().enumerate() {
        poller.add(link.as_fd(), key).unwrap();
    }
    let mut idle: VecDeque<usize> = (0..links.len()).collect();
    let (begun, mut due) = (Instant::now(), Duration::ZERO);
    let mut now = begun.elapsed();
    while now < time {
        let timeout = if idle.is_empty() { None } else { Some(due.saturating_sub(now)) };
        poller.wait(timeout, &mut ready).unwrap();
        for event in ready.drain(..) {
            let (count, _) = recv(&mut links[event.key], &mut buffer, RecvFlags::empty()).unwrap();
            assert_eq!(count, reply_bytes, "a reply comes in one piece");
            done += 1;
            idle.push_back(event.key);
        }
        now = begun.elapsed();
        while due <= now {
            let Some(key) = idle.pop_front() else { break };
            links[key].write_all(&request).unwrap();
            due += Duration::from_nanos(rng.exponential(1e9 / rate) as u64);
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
