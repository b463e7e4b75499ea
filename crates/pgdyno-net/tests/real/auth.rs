//! Authentication that libpq refuses, and iterations that it does.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use pgdyno_net::{ConnectOptions, Connection, Env};
use sha2::{Digest as _, Sha256};

use crate::server::{self, TestServer};
use crate::trust::Fixture;
use crate::{beside, fake};

fn open(dsn: &str) -> Result<Connection, String> {
    let options = ConnectOptions::resolve(dsn, &Env::new([], None, Some("u"))).unwrap();
    Connection::open(&options).map_err(|error| error.to_string())
}

/// Makes a server's first message of the client's nonce.
type First = fn(&str) -> String;

/// A server that offers these mechanisms, and whose first message is made of the client's nonce. It learns whether the
/// client answers with a proof.
fn scram(mechanisms: &'static [u8], first: First) -> (u16, Receiver<bool>) {
    let (sender, receiver) = channel();
    let sender = Mutex::new(sender);
    let port = fake::serve(move |mut stream: TcpStream| {
        let receive =
            |stream: &mut TcpStream| fake::receive(stream).map(|body| String::from_utf8(body[..].to_vec()).unwrap());
        fake::startup(&mut stream);
        stream.write_all(&fake::request(10, mechanisms)).unwrap();
        let proven = receive(&mut stream).and_then(|begin| {
            let nonce = begin.split("r=").nth(1)?;
            stream.write_all(&fake::request(11, first(nonce).as_bytes())).ok()?;
            receive(&mut stream).filter(|answer| answer.contains(",p="))
        });
        sender.lock().unwrap().send(proven.is_some()).unwrap();
    });
    (port, receiver)
}

#[test]
fn a_proof_is_given_where_libpq_gives_one() {
    if !beside::available("SCRAM") {
        return;
    }
    const PLAIN: &[u8] = b"SCRAM-SHA-256\0\0";
    const BOTH: &[u8] = b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0";
    let cases: [(&str, &[u8], First, &str, bool); 8] = [
        ("as it should be", PLAIN, |nonce| format!("r={nonce}x,s=c2FsdA==,i=4096"), "", true),
        ("one iteration", PLAIN, |nonce| format!("r={nonce}x,s=c2FsdA==,i=1"), "", true),
        ("more than others take", PLAIN, |nonce| format!("r={nonce}x,s=c2FsdA==,i=100001"), "", true),
        ("no iteration", PLAIN, |nonce| format!("r={nonce}x,s=c2FsdA==,i=0"), "", false),
        ("fewer than none", PLAIN, |nonce| format!("r={nonce}x,s=c2FsdA==,i=-1"), "", false),
        ("another nonce", PLAIN, |_| "r=abcdefghijklmnopqrstuvwxyz,s=c2FsdA==,i=4096".into(), "", false),
        ("TLS taken away", BOTH, |nonce| format!("r={nonce}x,s=c2FsdA==,i=4096"), "", false),
        (
            "TLS taken away, and no binding wanted",
            BOTH,
            |nonce| format!("r={nonce}x,s=c2FsdA==,i=4096"),
            "channel_binding=disable",
            false,
        ),
    ];
    for (what, mechanisms, first, rest, proven) in cases {
        let (port, received) = scram(mechanisms, first);
        let dsn = format!("host=127.0.0.1 port={port} user=u password=p dbname=d sslmode=disable {rest}");
        assert!(open(&dsn).is_err(), "{what}");
        assert_eq!(received.recv().unwrap(), proven, "{what}: pgdyno");
        beside::libpq(&dsn);
        assert_eq!(received.recv().unwrap(), proven, "{what}: libpq");
    }
    // A server may ask for work, and gets no more than the time that there is.
    let (port, _received) = scram(PLAIN, |nonce| format!("r={nonce}x,s=c2FsdA==,i=10000000"));
    let error = open(&format!("host=127.0.0.1 port={port} password=p sslmode=disable connect_timeout=1")).unwrap_err();
    assert!(error.contains("took longer than connect_timeout") && error.contains("scram_iterations"), "{error}");
}

/// What PostgreSQL keeps of a password: `SCRAM-SHA-256$iterations:salt$stored:server`.
fn verifier(password: &[u8], iterations: u32) -> String {
    let mac = |key: &[u8], text: &[u8]| -> [u8; 32] {
        Hmac::<Sha256>::new_from_slice(key).unwrap().chain_update(text).finalize().into_bytes().into()
    };
    let mut block = mac(password, b"salt\0\0\0\x01");
    let mut salted = block;
    for _ in 1..iterations {
        block = mac(password, &block);
        salted.iter_mut().zip(block).for_each(|(sum, byte)| *sum ^= byte);
    }
    let stored = STANDARD.encode(Sha256::digest(mac(&salted, b"Client Key")));
    let server = STANDARD.encode(mac(&salted, b"Server Key"));
    format!("SCRAM-SHA-256${iterations}:{}${stored}:{server}", STANDARD.encode(b"salt"))
}

#[test]
fn a_role_may_have_more_than_a_hundred_thousand_iterations() {
    if !server::available("iterations") || !beside::available("iterations") {
        return;
    }
    let server = TestServer::start("", "local all postgres trust\nhost all all all scram-sha-256\n");
    let secret = verifier(b"pencil", 150_000);
    server.admin().execute(&format!("create role careful login password '{secret}'")).unwrap();
    let dsn = format!("host=127.0.0.1 port={} dbname=postgres user=careful", server.port);
    for (password, let_in) in [("pencil", true), ("pen", false)] {
        let dsn = format!("{dsn} password={password}");
        assert_eq!(open(&dsn).is_ok(), let_in, "{password}");
        assert_eq!(!beside::libpq(&dsn).refused(), let_in, "{password}");
    }
}

#[test]
fn a_certificate_that_cannot_be_bound_to_is_refused_as_by_libpq() {
    if !server::available("binding") || !beside::available("binding") {
        return;
    }
    let mut f = Fixture::new();
    let sql = "set password_encryption = 'scram-sha-256'; create role bound login password 'pencil'";
    f.server.admin().execute(sql).unwrap();
    std::fs::write(f.server.dir().join("data/pg_hba.conf"), "local all all trust\nhost all all all scram-sha-256\n")
        .unwrap();
    // In the old form, without the public key, which is the only one that OpenSSL 3.0 reads.
    let seed = [&[0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20], [7; 32].as_slice()].concat();
    let ed25519 = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(seed));
    let ecdsa = rcgen::KeyPair::generate().unwrap().serialize_pem();
    for (what, key, prefer) in [("Ed25519", ed25519, false), ("ECDSA", ecdsa, true)] {
        let key = rcgen::KeyPair::from_pem(&key).unwrap();
        let params = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
        f.show(&params.self_signed(&key).unwrap().pem(), &key.serialize_pem());
        for (policy, let_in) in [("prefer", prefer), ("require", prefer), ("disable", true)] {
            let dsn = format!(
                "host=127.0.0.1 port={} dbname=postgres user=bound password=pencil sslmode=require \
                 channel_binding={policy}",
                f.server.port
            );
            let ours = open(&dsn);
            assert_eq!(ours.is_ok(), let_in, "{what} {policy}: {:?}", ours.err());
            let libpq = beside::libpq(&dsn);
            assert_eq!(!libpq.refused(), let_in, "{what} {policy}: {libpq:?}");
        }
    }
}
