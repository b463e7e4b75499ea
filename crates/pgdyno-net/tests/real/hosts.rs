//! Which of several hosts is taken, and peers that are no PostgreSQL server.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use crate::server::{self, TestServer};
use crate::{beside, fake};
use pgdyno_net::{ConnectError, ConnectOptions, Connection, Env};
use pgdyno_testing::port::Port;

const TRUST: &str = "local all,replication all trust\nhost all all all trust\n";

fn resolve(dsn: &str) -> ConnectOptions {
    ConnectOptions::resolve(dsn, &Env::new([], None, Some("postgres"))).unwrap()
}

fn error(dsn: &str) -> ConnectError {
    match Connection::open(&resolve(dsn)) {
        Ok(_) => panic!("{dsn} was let in"),
        Err(error) => error,
    }
}

/// A peer that reads once, says `answer` to every caller, and closes.
fn answering(answer: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _received = stream.read(&mut [0; 1024]).unwrap_or(0);
            stream.write_all(answer).ok();
        }
    });
    port
}

/// An error message of a server, as it stands on the wire.
const STARTING: &[u8] = b"E\0\0\0\x38SFATAL\0VFATAL\0C57P03\0Mthe database system is starting\0\0";

#[test]
fn a_peer_that_is_no_postgres_server_is_distinguished() {
    let http = answering(b"HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n");
    let ssh = answering(b"SSH-2.0-OpenSSH_9.2\r\n");
    let silent = answering(b"");
    let garbage = answering(b"\x80\x01\x02\xff\xff\xff\xff\xff\xff");
    for (port, part) in [(http, "HTTP/1.1 400 Bad Request"), (silent, "without an answer"), (garbage, "\\x80")] {
        for sslmode in ["disable", "prefer", "require"] {
            let error = error(&format!("host=127.0.0.1 port={port} sslmode={sslmode}"));
            let text = error.to_string();
            assert!(text.contains("is not a PostgreSQL server"), "{text}");
            assert!(text.contains(part) && text.contains("check host and port"), "{text}");
        }
    }
    // It says S, which is also a yes to the question for TLS.
    let text = error(&format!("host=127.0.0.1 port={ssh} sslmode=require")).to_string();
    assert!(text.contains("not TLS"), "{text}");
    let text = error(&format!("host=127.0.0.1 port={ssh}")).to_string();
    assert!(text.contains("check host and port"), "{text}");
}

#[test]
fn a_peer_that_never_answers_runs_into_the_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for sslmode in ["disable", "prefer", "verify-ca sslrootcert=/dev/null", "require"] {
        let dsn = format!("host=127.0.0.1 port={port} connect_timeout=1 sslmode={sslmode}");
        let error = error(&dsn);
        if sslmode.starts_with("verify") {
            assert!(matches!(error, ConnectError::TlsFile { .. }), "{error}");
        } else {
            assert!(matches!(error, ConnectError::Timeout { seconds: 1, .. }), "{error}");
        }
    }
    let dir = pgdyno_testing::directory::TestDirectory::new("net");
    let path = dir.path().join(".s.PGSQL.5432");
    let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let dsn = format!("host={} connect_timeout=1", dir.path().display());
    assert!(matches!(error(&dsn), ConnectError::Timeout { .. }));
}

#[test]
fn nobody_there_says_where_it_was_looked_for() {
    let reserved = Port::reserve();
    let free = reserved.number();
    let text = error(&format!("host=127.0.0.1 port={free}")).to_string();
    assert!(text.contains(&format!("127.0.0.1:{free}")) && text.contains("nothing listens"), "{text}");
    let text = error("host=/nonexistent port=1").to_string();
    assert!(text.contains("/nonexistent/.s.PGSQL.1"), "{text}");
    let text = error("host=@pgdyno-absent").to_string();
    assert!(text.contains("@pgdyno-absent/.s.PGSQL.5432"), "{text}");
    let text = error("host=no-such-host.invalid").to_string();
    assert!(text.contains("no-such-host.invalid") && text.contains("spelling"), "{text}");
    let text = error(&format!("host=127.0.0.1,/nonexistent port={free},1")).to_string();
    assert!(text.contains("127.0.0.1:") && text.contains("/nonexistent"), "{text}");
    // Without a host, both of the usual directories are looked into.
    let text = error(&format!("port={free}")).to_string();
    assert!(text.contains("/var/run/postgresql/") && text.contains("/tmp/"), "{text}");
}

#[test]
fn hosts_are_tried_until_one_will_do() {
    if !server::available("several hosts") {
        return;
    }
    let primary = TestServer::start("", TRUST);
    let standby = TestServer::standby_of(&primary);
    let reserved = Port::reserve();
    let free = reserved.number();
    let starting = answering(STARTING);
    let (p, s) = (primary.port, standby.port);
    let peer = |ports: &str, rest: &str| {
        let count = ports.split(',').count();
        let hosts = vec!["127.0.0.1"; count].join(",");
        let dsn = format!("host={hosts} port={ports} dbname=postgres sslmode=disable {rest}");
        Connection::open(&resolve(&dsn)).map(|c| c.peer().to_string())
    };
    let at = |port: u16| format!("127.0.0.1:{port}");
    for (ports, attrs, found) in [
        (format!("{free},{s},{p}"), "any", s),
        (format!("{starting},{p}"), "any", p),
        (format!("{s},{p}"), "read-write", p),
        (format!("{s},{p}"), "primary", p),
        (format!("{p},{s}"), "read-only", s),
        (format!("{p},{free},{s}"), "standby", s),
        (format!("{p},{s}"), "prefer-standby", s),
        (format!("{p},{free}"), "prefer-standby", p),
    ] {
        let rest = format!("target_session_attrs={attrs}");
        assert_eq!(peer(&ports, &rest).unwrap(), at(found), "{ports} {attrs}");
    }
    let text = peer(&format!("{free},{p}"), "target_session_attrs=standby").unwrap_err().to_string();
    assert!(
        text.contains("target_session_attrs=standby")
            && text.contains(&at(free))
            && text.contains(&format!("{} will not do: it is a primary", at(p))),
        "{text}"
    );
    // A server that answers and refuses ends the search.
    let error = peer(&format!("{p},{s}"), "dbname=absent").unwrap_err();
    assert!(matches!(error, ConnectError::NoDatabase { .. }), "{error}");
    assert!(
        peer(&p.to_string(), "options='-c default_transaction_read_only=on' target_session_attrs=read-write").is_err()
    );

    let mut taken = std::collections::HashSet::new();
    while taken.len() < 2 {
        taken.insert(peer(&format!("{p},{s}"), "load_balance_hosts=random").unwrap());
    }
}

#[test]
fn a_host_that_hangs_is_left_for_the_next_one() {
    if !server::available("hosts that hang") || !beside::available("hosts that hang") {
        return;
    }
    let primary = TestServer::start("", TRUST);
    let standby = TestServer::standby_of(&primary);
    let hold = |stream: std::net::TcpStream| {
        // Until the client gives up.
        let mut stream = stream;
        while stream.read(&mut [0; 1024]).is_ok_and(|count| count > 0) {}
    };
    let silent = fake::serve(hold);
    let says = move |answer: Vec<u8>| {
        fake::serve(move |mut stream| {
            fake::startup(&mut stream);
            stream.write_all(&answer).unwrap();
            hold(stream);
        })
    };
    // One lets in and hangs; one hangs when it is asked for its state, which servers before PostgreSQL 14 are.
    let version = fake::message(b'S', b"server_version\x0013.0\0");
    let let_in = fake::let_in();
    let (halfway, unsettled) = (says(fake::request(0, b"")), says([&let_in[..9], &version, &let_in[9..]].concat()));
    std::thread::scope(|scope| {
        for (hanging, what) in [(silent, "silent"), (halfway, "halfway"), (unsettled, "unsettled")] {
            for (attrs, found) in [
                ("any", primary.port),
                ("read-write", primary.port),
                ("primary", primary.port),
                ("read-only", standby.port),
                ("standby", standby.port),
                ("prefer-standby", standby.port),
            ] {
                if (what, attrs) == ("unsettled", "any") {
                    continue;
                }
                let ports = format!("{hanging},{},{}", primary.port, standby.port);
                scope.spawn(move || {
                    let dsn = format!(
                        "host=127.0.0.1,127.0.0.1,127.0.0.1 port={ports} dbname=postgres user=postgres \
                         sslmode=disable connect_timeout=2 target_session_attrs={attrs}"
                    );
                    let ours = Connection::open(&resolve(&dsn)).unwrap_or_else(|e| panic!("{what} {attrs}: {e}"));
                    assert_eq!(ours.peer().port(), found, "{what} {attrs}");
                    let libpq = beside::libpq(&dsn);
                    assert_eq!(libpq.value, Some(found.to_string()), "{what} {attrs}: {libpq:?}");
                });
            }
            // Alone, it is a timeout; the connection that is taken waits for its statements without limit.
            scope.spawn(move || {
                for attrs in ["read-write", "standby", "prefer-standby"] {
                    let dsn = format!("host=127.0.0.1 port={hanging} sslmode=disable connect_timeout=1");
                    let dsn = format!("{dsn} target_session_attrs={attrs}");
                    if (what, attrs) == ("unsettled", "prefer-standby") {
                        // The second round takes any.
                        assert!(Connection::open(&resolve(&dsn)).is_ok());
                        continue;
                    }
                    let text = error(&dsn).to_string();
                    assert!(text.contains("did not answer within 1 s"), "{what} {attrs}: {text}");
                }
            });
        }
    });
}
