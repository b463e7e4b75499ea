//! Servers that let a client in and then say nothing, and waits that are ended.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use pgdyno_net::{Admin, AdminError, ConnectError, ConnectOptions, Env, Interrupter};

use crate::fake;

/// Far above what an answer takes here.
const BOUND: Duration = Duration::from_secs(2);

fn options(port: u16, more: &str) -> ConnectOptions {
    let dsn = format!("host=127.0.0.1 port={port} user=u dbname=d sslmode=disable {more}");
    ConnectOptions::resolve(&dsn, &Env::new([], None, Some("u"))).unwrap()
}

/// Answers each query after a pause of its own, and those behind them never.
fn server<const N: usize>(pauses: [Duration; N]) -> u16 {
    fake::serve(move |mut stream: TcpStream| {
        fake::startup(&mut stream);
        stream.write_all(&fake::let_in()).unwrap();
        for pause in pauses {
            if fake::receive(&mut stream).is_none() {
                return;
            }
            std::thread::sleep(pause);
            let answer = [fake::message(b'C', b"SELECT 0\0"), fake::message(b'Z', b"I")].concat();
            stream.write_all(&answer).unwrap();
        }
        while fake::receive(&mut stream).is_some() {}
    })
}

#[test]
fn a_short_question_is_bounded_and_no_other() {
    let port = server([Duration::ZERO, Duration::from_secs(4), Duration::ZERO]);
    let mut admin = Admin::connect(&options(port, "").with_answer_timeout(BOUND)).unwrap();
    admin.promptly("its version", |admin| admin.query("select version()")).unwrap();
    admin.patiently(|admin| admin.execute("vacuum")).unwrap();
    admin.promptly("its version", |admin| admin.query("select version()")).unwrap();
    let error = admin.promptly("its settings", |admin| admin.query("select * from pg_settings")).unwrap_err();
    assert!(matches!(error, AdminError::Silent { .. }) && error.is_lost(), "{error}");
    let text = error.to_string();
    for words in [&format!("127.0.0.1:{port}"), "within 2 s when asked its settings", "its log", "connect_timeout"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    // Nobody waits for it again, and the reason stays.
    let again = admin.execute("vacuum").unwrap_err();
    assert!(matches!(again, AdminError::Silent { .. }), "{again}");
}

#[test]
fn the_bound_follows_connect_timeout_where_that_is_longer() {
    for (more, seconds) in [("", 60), ("connect_timeout=5", 60), ("connect_timeout=300", 300)] {
        assert_eq!(options(1, more).answer_timeout(), Duration::from_secs(seconds), "{more}");
    }
}

#[test]
fn an_interrupted_wait_says_so_and_not_what_was_sent() {
    let port = server([]);
    let interrupter = Interrupter::new();
    let mut admin = Admin::connect(&options(port, "").interrupted_by(&interrupter)).unwrap();
    let waiting = std::thread::spawn(move || admin.query("create table of_a_long_statement (i int)").unwrap_err());
    interrupter.interrupt();
    let error = waiting.join().unwrap();
    assert!(matches!(error, AdminError::Interrupted { .. }) && error.is_lost(), "{error}");
    assert_eq!(error.to_string(), format!("interrupted during CREATE TABLE on 127.0.0.1:{port}"));
    // Neither an address that is not looked up any more nor one that is not connected to is the cause.
    for host in ["127.0.0.1", "localhost"] {
        let dsn = format!("host={host} port={port} user=u dbname=d");
        let options = ConnectOptions::resolve(&dsn, &Env::new([], None, Some("u"))).unwrap();
        let error = Admin::connect(&options.interrupted_by(&interrupter)).unwrap_err();
        assert!(matches!(error, ConnectError::Interrupted { .. }), "{error}");
        assert_eq!(error.to_string(), format!("interrupted while connecting to {host}"));
    }
}
