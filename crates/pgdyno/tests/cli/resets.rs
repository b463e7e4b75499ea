//! Connections that the other end resets while the drop-in for pgbench makes its tables.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};

use crate::given_server::{Place, TRUST};

/// Passes on what a client and the server on `port` say, until the client has said so many bytes: then the client's
/// connection is reset.
fn resetting(port: u16, bytes: usize) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let server = TcpStream::connect(("127.0.0.1", port)).unwrap();
            std::thread::spawn(move || pass_on(client, server, bytes));
        }
    });
    here
}

fn pass_on(mut client: TcpStream, mut server: TcpStream, bytes: usize) {
    let (mut answers, mut to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    // Either side may be gone before the other.
    let back = std::thread::spawn(move || drop(std::io::copy(&mut answers, &mut to_client)));
    let (mut buffer, mut passed) = ([0; 4096], 0);
    while passed < bytes {
        let room = buffer.len().min(bytes - passed);
        match client.read(&mut buffer[..room]) {
            Ok(n) if n > 0 && server.write_all(&buffer[..n]).is_ok() => passed += n,
            _ => break,
        }
    }
    // The system resets a connection that is closed while something in it is unread.
    let _ = client.peek(&mut buffer);
    let _ = server.shutdown(Shutdown::Both);
    back.join().unwrap();
}

#[test]
fn a_reset_ends_an_initialization_with_its_message_and_exit_code() {
    let Some(mut place) = Place::new("resets", "", TRUST) else { return };
    place.offer_tls();
    // A request for TLS has 8 bytes; what follows them is the handshake.
    let (handshake, copy) = (8, 1_000_000);
    for (sslmode, bytes, options, words) in [
        ("disable", copy, "-i -q -s 10", "pgbench: error: PQ"),
        ("require", copy, "-i -q -s 10", "pgbench: error: PQ"),
        ("disable", copy, "-i -q -s 10 --init-jobs=2", "pgbench: error: PQ"),
        ("require", handshake, "-i -q", "pgbench: error: connection to server at \"127.0.0.1\""),
    ] {
        let port = resetting(place.server.port, bytes);
        let target = format!("host=127.0.0.1 port={port} user=postgres dbname=postgres sslmode={sslmode}");
        let args: Vec<_> = ["pgbench"].into_iter().chain(options.split(' ')).chain([target.as_str()]).collect();
        // A signal would leave no exit code.
        let ran = place.home.run(&args).ended(1);
        assert!(ran.stderr.lines().any(|line| line.starts_with(words)), "{sslmode} {options}: {}", ran.stderr);
    }
}
