//! Servers that send more than they should before a connection is ready, beside libpq.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pgdyno_net::{Admin, ConnectError, ConnectOptions, Connection, Env};

use crate::{beside, fake};

/// A server that says `first`, and then `again` until nobody listens any more. Returns its port, and how many bytes it
/// has got rid of.
fn flood(first: Vec<u8>, again: Vec<u8>) -> (u16, Arc<AtomicU64>) {
    let sent = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&sent);
    let port = fake::serve(move |mut stream: TcpStream| {
        fake::startup(&mut stream);
        let mut next = first.as_slice();
        while stream.write_all(next).is_ok() {
            counter.fetch_add(next.len() as u64, Ordering::Relaxed);
            next = &again;
            if again.is_empty() {
                break;
            }
        }
    });
    (port, sent)
}

fn resolve(port: u16, rest: &str) -> ConnectOptions {
    let dsn = format!("host=127.0.0.1 port={port} sslmode=disable {rest}");
    ConnectOptions::resolve(&dsn, &Env::new([], None, Some("u"))).unwrap()
}

/// A header that promises a body of this many bytes.
fn header(tag: u8, body_bytes: u32) -> Vec<u8> {
    [&[tag], (body_bytes + 4).to_be_bytes().as_slice()].concat()
}

#[test]
fn no_server_takes_memory_before_a_connection_is_ready() {
    let notices = fake::message(b'N', b"SNOTICE\0VNOTICE\0C00000\0Mflood\0\0").repeat(1_000);
    let parameters: Vec<u8> =
        (0..1_000).flat_map(|i| fake::message(b'S', format!("name{i}\0{}\0", "x".repeat(100)).as_bytes())).collect();
    let zeros = vec![0; 1 << 16];
    let authenticated = fake::request(0, b"");
    let long = |message: &[u8], tag, bytes| [message, &header(tag, bytes)].concat();
    let ready_without_state = fake::let_in();
    for (what, first, again, rest, part) in [
        ("an authentication message of 1 GiB", header(b'R', 1 << 30), zeros.clone(), "", "announces 1073741828 bytes"),
        ("one of 2,001 bytes", header(b'R', 2_001), zeros.clone(), "", "announces 2005 bytes"),
        ("an error of 1 GiB", header(b'E', 1 << 30), zeros.clone(), "", "announces 1073741828 bytes"),
        ("notices before authentication", notices.clone(), notices.clone(), "", "'N' out of turn"),
        ("parameters before authentication", parameters.clone(), parameters.clone(), "", "'S' out of turn"),
        ("notices after it", authenticated.clone(), notices.clone(), "", "notices and parameters"),
        ("parameters after it", authenticated.clone(), parameters.clone(), "", "notices and parameters"),
        ("a notice of 1 GiB", long(&authenticated, b'N', 1 << 30), zeros.clone(), "", "announces 1073741828 bytes"),
        ("a key of 1 GiB", long(&authenticated, b'K', 1 << 30), zeros.clone(), "", "announces 1073741828 bytes"),
        ("protocol options", vec![], fake::message(b'v', &[0; 8]), "", "announces 12 bytes"),
        (
            "notices instead of its state",
            ready_without_state.clone(),
            notices.clone(),
            "target_session_attrs=primary",
            "notices and parameters",
        ),
        (
            "a state of 1 GiB",
            long(&ready_without_state, b'D', 1 << 30),
            zeros.clone(),
            "target_session_attrs=standby",
            "announces 1073741828 bytes",
        ),
    ] {
        let (port, sent) = flood(first, again);
        let error = Connection::open(&resolve(port, rest)).map(drop).unwrap_err();
        let text = match &error {
            ConnectError::NoSuitableHost { .. } => panic!("{what}: {error}"),
            _ => error.to_string(),
        };
        assert!(text.contains(part), "{what}: {text}");
        assert!(text.len() < 400, "{what}: {} characters", text.len());
        assert!(Admin::connect(&resolve(port, rest)).is_err(), "{what}");
        // What two connections read, and what the system holds for them.
        let sent = sent.load(Ordering::Relaxed);
        assert!(sent < 64 << 20, "{what}: {sent} bytes were taken");
    }
}

#[test]
fn what_libpq_does_not_believe_before_authentication_is_not_believed() {
    if !beside::available("libpq's bounds") {
        return;
    }
    let error =
        |text_bytes: usize| fake::message(b'E', format!("SFATAL\0C28000\0M{}\0\0", "x".repeat(text_bytes)).as_bytes());
    for (what, says, refused) in [
        ("the shortest start", fake::let_in(), false),
        ("a notice first", [fake::message(b'N', b"SNOTICE\0C00000\0Mx\0\0"), fake::let_in()].concat(), true),
        ("a parameter first", [fake::message(b'S', b"a\0b\0"), fake::let_in()].concat(), true),
        ("a key first", [fake::message(b'K', &[0; 8]), fake::let_in()].concat(), true),
        ("readiness alone", fake::message(b'Z', b"I"), true),
        ("a long request", [fake::request(3, &[0; 2_000]), fake::let_in()].concat(), true),
        ("an error", error(10), true),
        ("a long error", error(29_000), true),
        (
            "parameters and notices afterwards",
            {
                let parameter = fake::message(b'S', b"a\0b\0");
                [
                    fake::request(0, b""),
                    parameter,
                    fake::message(b'N', b"SNOTICE\0C00000\0Mx\0\0"),
                    fake::let_in()[9..].to_vec(),
                ]
                .concat()
            },
            false,
        ),
    ] {
        let (port, _) = flood(says, vec![]);
        let dsn = format!("host=127.0.0.1 port={port} user=u password=p dbname=d sslmode=disable connect_timeout=10");
        // What is asked of a server that said no more than hello gets no answer: it was let in all the same.
        let libpq = beside::libpq(&dsn);
        let ours = Connection::open(&ConnectOptions::resolve(&dsn, &Env::new([], None, Some("u"))).unwrap());
        assert_eq!(libpq.refused(), refused, "{what}: {libpq:?}");
        assert_eq!(ours.is_err(), refused, "{what}: {:?}", ours.err());
    }
}
