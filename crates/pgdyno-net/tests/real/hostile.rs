//! Servers that let a client in and then answer its statements with more, or for longer, than any server does.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, AdminError, ConnectOptions, Deadline, Env, Interrupter};

use crate::fake;

/// Time limit of an answer here.
const LIMIT: Duration = Duration::from_secs(1);
/// Time between two small messages: none of the waits between them is long.
const PAUSE: Duration = Duration::from_millis(50);

fn options(port: u16) -> ConnectOptions {
    let dsn = format!("host=127.0.0.1 port={port} user=u dbname=d sslmode=disable");
    ConnectOptions::resolve(&dsn, &Env::new([], None, Some("u"))).unwrap().with_answer_timeout(LIMIT)
}

/// A server that answers the first message after the start with `first`, and then sends `again` for ever, with a pause
/// after each. Returns its port, and how many bytes it has got rid of.
fn server(first: Vec<u8>, again: Vec<u8>, pause: Duration) -> (u16, Arc<AtomicU64>) {
    let sent = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&sent);
    let port = fake::serve(move |mut stream: TcpStream| {
        fake::startup(&mut stream);
        // A cancel request gets no answer.
        if stream.write_all(&fake::let_in()).is_err() || fake::receive(&mut stream).is_none() {
            return;
        }
        let mut next = &first;
        while stream.write_all(next).is_ok() {
            counter.fetch_add(next.len() as u64, Ordering::Relaxed);
            next = &again;
            std::thread::sleep(pause);
        }
    });
    (port, sent)
}

/// A row with columns of these values.
fn row(values: &[Option<&[u8]>]) -> Vec<u8> {
    let mut body = (values.len() as u16).to_be_bytes().to_vec();
    for value in values {
        body.extend_from_slice(&value.map_or(-1, |value| value.len() as i32).to_be_bytes());
        body.extend_from_slice(value.unwrap_or_default());
    }
    fake::message(b'D', &body)
}

/// A header that promises a body of this many bytes.
fn header(tag: u8, body_bytes: u32) -> Vec<u8> {
    [&[tag], (body_bytes + 4).to_be_bytes().as_slice()].concat()
}

fn notice(text: &str) -> Vec<u8> {
    fake::message(b'N', format!("SNOTICE\0VNOTICE\0C00000\0M{text}\0\0").as_bytes())
}

const DESCRIPTION: &[u8] = b"\0\0";

/// A way to ask.
type Way = fn(&mut Admin) -> Result<(), AdminError>;

/// The ways to ask, by their names.
const WAYS: [(&str, Way); 4] = [
    ("execute", |admin| admin.execute("select from t").map(drop)),
    ("query", |admin| admin.query("select from t").map(drop)),
    ("query_all", |admin| admin.query_all("select from t").map(drop)),
    ("query_with", |admin| admin.query_with("select from t", &["x"]).map(drop)),
];

#[test]
fn an_answer_that_never_ends_is_given_up_however_often_something_comes() {
    let parameter = fake::message(b'S', b"application_name\0x\0");
    let notification = fake::message(b'A', b"\0\0\0\x01channel\0\0");
    for (what, again) in [
        ("nothing", vec![]),
        ("notices", notice("wait")),
        ("parameters", parameter),
        ("notifications", notification),
        ("short rows", row(&[Some(b"1")])),
        ("errors", fake::message(b'E', b"SERROR\0C42P01\0Mno\0\0")),
        ("command tags", fake::message(b'C', b"SELECT 1\0")),
        ("a byte at a time of a row", vec![0]),
    ] {
        let first = match what {
            "a byte at a time of a row" => header(b'D', 1 << 20),
            _ => fake::message(b'T', DESCRIPTION),
        };
        let (port, _) = server(first, again, PAUSE);
        // Side by side: each of them takes as long as the limit.
        std::thread::scope(|scope| {
            for (way, ask) in WAYS {
                scope.spawn(move || {
                    let mut admin = Admin::connect(&options(port)).unwrap();
                    let error = ask(&mut admin).unwrap_err();
                    assert!(matches!(error, AdminError::Silent { .. }) && error.is_lost(), "{what} for {way}: {error}");
                    let text = error.to_string();
                    for words in ["did not answer within 1 s", "to: select from t", &format!("127.0.0.1:{port}")] {
                        assert!(text.contains(words), "{what} for {way}: {words}: {text}");
                    }
                });
            }
        });
    }
}

#[test]
fn a_copy_and_a_long_statement_are_given_up_as_well() {
    // It never reads the statement, which is longer than all buffers between.
    let port = fake::serve(|mut stream: TcpStream| {
        fake::startup(&mut stream);
        stream.write_all(&fake::let_in()).unwrap();
        std::thread::sleep(Duration::from_secs(3600));
    });
    let mut admin = Admin::connect(&options(port)).unwrap();
    let error = admin.execute(&"select 1;".repeat(8 << 20)).unwrap_err();
    assert!(matches!(error, AdminError::Silent { .. }), "{error}");

    let (port, _) = server(notice("wait"), notice("wait"), PAUSE);
    let error = Admin::connect(&options(port)).unwrap().copy_in("copy t from stdin").map(drop).unwrap_err();
    assert!(matches!(error, AdminError::Silent { .. }), "{error}");

    // Only its end is not answered.
    let (port, _) = server(fake::message(b'G', b"\0\0\0"), vec![], PAUSE);
    let mut admin = Admin::connect(&options(port)).unwrap();
    let mut copy = admin.copy_in("copy t from stdin").unwrap();
    std::thread::sleep(LIMIT);
    copy.write(b"1\n").unwrap();
    let error = copy.finish().unwrap_err();
    assert!(matches!(error, AdminError::Silent { .. }), "{error}");
}

#[test]
fn no_answer_takes_more_memory_than_it_may() {
    let long = row(&[Some(&[b'x'; 60_000])]).repeat(16);
    let nulls = row(&[None; 1_600]).repeat(16);
    let zeros = vec![0; 1 << 16];
    let none = Duration::ZERO;
    for (what, first, again) in [
        ("long rows", fake::message(b'T', DESCRIPTION), long),
        ("rows of NULLs", fake::message(b'T', DESCRIPTION), nulls),
        ("a row of 1 GiB", header(b'D', 1 << 30), zeros.clone()),
        ("an error of 1 GiB", header(b'E', 1 << 30), zeros.clone()),
        ("a notice of 1 GiB", header(b'N', 1 << 30), zeros.clone()),
        ("a notification of 1 GiB", header(b'A', 1 << 30), zeros.clone()),
        ("a description of 1 GiB", header(b'T', 1 << 30), zeros.clone()),
    ] {
        for (way, ask) in WAYS {
            let keeps_rows = way != "execute" || what.contains("GiB");
            if !keeps_rows {
                continue;
            }
            let (port, sent) = server(first.clone(), again.clone(), none);
            let mut admin = Admin::connect(&options(port).with_answer_timeout(Duration::from_secs(120))).unwrap();
            admin.take_at_most(8 << 20);
            admin.keep_notices();
            let error = ask(&mut admin).unwrap_err();
            assert!(matches!(error, AdminError::TooLarge { .. }) && error.is_lost(), "{what} for {way}: {error}");
            let text = error.to_string();
            assert!(text.contains("more than 8 MiB to: select from t") && text.len() < 400, "{what} for {way}: {text}");
            // What it read, and what the system holds for it.
            let sent = sent.load(Ordering::Relaxed);
            assert!(sent < 24 << 20, "{what} for {way}: {sent} bytes were taken");
            // NULLs take six times their bytes in the message.
            assert!(what != "rows of NULLs" || sent < 8 << 20, "{what} for {way}: {sent} bytes were taken");
        }
    }
}

#[test]
fn notices_are_kept_as_far_as_they_are_few() {
    let ready = [fake::message(b'C', b"DO\0"), fake::message(b'Z', b"I")].concat();
    let flood = [notice(&"x".repeat(100_000)).repeat(50), ready].concat();
    let (port, _) = server(flood, vec![], PAUSE);
    let mut admin = Admin::connect(&options(port)).unwrap();
    admin.keep_notices();
    admin.execute("do 'x'").unwrap();
    assert_eq!(admin.take_notices().len(), 10, "1 MiB of them");
}

#[test]
fn all_statements_of_a_step_share_its_deadline() {
    let port = fake::serve(|mut stream: TcpStream| {
        fake::startup(&mut stream);
        stream.write_all(&fake::let_in()).unwrap();
        while fake::receive(&mut stream).is_some() {
            std::thread::sleep(LIMIT / 4);
            let answer = [fake::message(b'C', b"SELECT 0\0"), fake::message(b'Z', b"I")].concat();
            if stream.write_all(&answer).is_err() {
                return;
            }
        }
    });
    let mut admin = Admin::connect(&options(port).with_answer_timeout(Duration::from_secs(60))).unwrap();
    let began = Instant::now();
    let all = admin.until(Deadline::after(LIMIT), |admin| (0..100).try_for_each(|_| admin.execute("select").map(drop)));
    assert!(matches!(all, Err(AdminError::Silent { .. })), "{all:?}");
    assert!(began.elapsed() < Duration::from_secs(20), "each had its own");
}

#[test]
fn a_wait_without_limit_can_be_interrupted_also_while_something_comes() {
    for (again, pause) in [(notice("wait"), PAUSE), (row(&[Some(b"1")]).repeat(100), Duration::ZERO)] {
        let (port, sent) = server(fake::message(b'T', DESCRIPTION), again, pause);
        let interrupter = Interrupter::new();
        let mut admin = Admin::connect(&options(port).interrupted_by(&interrupter)).unwrap();
        admin.wait_without_limit();
        let waiting = std::thread::spawn(move || admin.execute("vacuum").unwrap_err());
        // Longer than any other wait here may take.
        std::thread::sleep(LIMIT + PAUSE);
        assert!(!waiting.is_finished() && sent.load(Ordering::Relaxed) > 0);
        interrupter.interrupt();
        let error = waiting.join().unwrap();
        assert_eq!(error.to_string(), format!("interrupted during VACUUM on 127.0.0.1:{port}"));
    }
}
