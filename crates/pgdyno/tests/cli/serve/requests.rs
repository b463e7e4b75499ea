//! How it begins, ends, and bears with clients that behave badly.

use std::io::Write;
use std::net::{Shutdown, TcpListener};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{put, serve};
use crate::program::Home;

/// Long for a program that has nothing to finish, short for one that waits for its clients.
const SOON: Duration = Duration::from_secs(8);

#[test]
fn a_signal_ends_it_at_once_with_clients_connected() {
    for signal in [Signal::INT, Signal::TERM] {
        let home = Home::new();
        let server = serve(&home);
        assert_eq!(server.get("/").status, 200);
        let mut half = server.connect();
        half.write_all(b"GET / HTTP/1.1\r\nHost: loc").unwrap();
        let _silent = server.connect();
        let (code, took) = server.end(signal);
        assert_eq!(code, Some(0));
        assert!(took < SOON, "{took:?}");
        home.assert_clean();
    }
}

#[test]
fn bad_clients_take_nobodys_place() {
    let home = Home::new();
    put(&home, "20260101T000000Z-a-111111", "2026-01-01T00:00:00Z");
    let server = serve(&home);
    // Silent ones, half a request, nonsense, one that reads nothing, one that has gone: fewer than there is room for.
    let silent: Vec<_> = (0..40).map(|_| server.connect()).collect();
    let mut others: Vec<_> = (0..8).map(|_| server.connect()).collect();
    let report = format!("GET /runs/20260101T000000Z-a-111111 HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    for (nth, client) in others.iter_mut().enumerate() {
        let words = ["GET / HT", "\0\u{1}\u{2}nonsense\r\n\r\n", &report, &report][nth % 4];
        client.write_all(words.as_bytes()).unwrap();
        if nth % 4 == 3 {
            client.shutdown(Shutdown::Both).unwrap();
        }
    }
    for _ in 0..20 {
        assert_eq!(server.get("/").status, 200);
    }
    // What a request may be is limited.
    let long = server.say(&format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(100_000)));
    assert!([0, 400, 414, 431].contains(&long.status), "{}", long.status);
    let headers: String = (0..200).map(|nth| format!("X-{nth}: x\r\n")).collect();
    let many = server.say(&format!("GET / HTTP/1.1\r\nHost: {}\r\n{headers}\r\n", server.address));
    assert!([0, 400, 431].contains(&many.status), "{}", many.status);
    assert_eq!(server.get("/").status, 200);
    drop(silent);
}

#[test]
fn silent_clients_lose_their_places() {
    let home = Home::new();
    let server = serve(&home);
    // More than there is room for: all others wait until these have been waited for long enough.
    let _silent: Vec<_> = (0..80).map(|_| server.connect()).collect();
    assert_eq!(server.get("/").status, 200);
}

#[test]
fn a_port_that_is_taken_is_reported_with_the_remedy() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let home = Home::new();
    home.run(&["serve", "--port", &port]).ended(1).says(&[&format!("127.0.0.1:{port}"), "--port 0"]);
    std::fs::write(home.join("file"), "").unwrap();
    home.run(&["serve", "--port", "0", "--out", "file"]).ended(1).says(&["file is no directory", "--out"]);
}

#[test]
fn a_thousand_runs_are_listed_and_listed_again() {
    let home = Home::new();
    for nth in 0..1000 {
        let began = format!("2026-01-01T{:02}:{:02}:00Z", nth / 60, nth % 60);
        put(&home, &format!("20260101T{nth:06}Z-a-{nth:06x}"), &began);
    }
    let server = serve(&home);
    let first = server.get("/");
    assert_eq!((first.status, first.body.matches("<a href=\"/runs/").count()), (200, 1000));
    assert!(first.body.find("2026-01-01 16:39:00") < first.body.find("2026-01-01 16:38:00"));
    let begin = Instant::now();
    let again = server.get("/?sort=tps&words=tproc-c");
    assert_eq!(again.body.matches("<a href=\"/runs/").count(), 1000);
    // Printed, not judged: other tests use the machine, too.
    eprintln!("1,000 runs once more: {:?}", begin.elapsed());
    put(&home, "20260102T000000Z-b-222222", "2026-01-02T00:00:00Z");
    assert!(server.get("/?last=1").body.contains("the last 1 of 1,001 runs"));
}
