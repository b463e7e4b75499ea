//! The floor of a load client: select-only by epoll, one read and one write a transaction, nothing recorded.
//!
//! `benches/spine.py` sets the engine beside it: what this costs is the kernel's, and nobody can skip it.
//!
//!     bare 'host=/tmp/x port=5432 user=postgres dbname=postgres' CLIENTS SECONDS

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a program of its own")]
#![expect(clippy::unwrap_used, reason = "a measuring stick: any failure ends it")]

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use pgdyno_net::{ConnectOptions, Connection, Env};
use pgdyno_poll::Poller;
use pgdyno_wire::{ParamType, ParamValue, QueryMode, Received, Session, Statement, StmtId};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, dsn, clients, seconds] = arguments.as_slice() else { panic!("bare DSN CLIENTS SECONDS") };
    let options = ConnectOptions::resolve(dsn, &Env::from_process()).unwrap();
    let (clients, seconds): (usize, u64) = (clients.parse().unwrap(), seconds.parse().unwrap());
    let statement = Statement::new("SELECT abalance FROM pgbench_accounts WHERE aid = $1", &[ParamType::Int4]);
    let mut poller = Poller::new().unwrap();
    let mut request = Vec::new();
    let mut links: Vec<_> = (0..clients)
        .map(|key| {
            let mut transport = Connection::open(&options).unwrap().into_parts().transport;
            // Prepares the statement; what follows is the same bytes each time but for the key.
            let mut session = Session::new(QueryMode::Prepared, 1);
            for _ in 0..2 {
                request.clear();
                session.execute(
                    StmtId(0),
                    &statement,
                    &[ParamValue::Int4(1)],
                    pgdyno_wire::Capture::Nothing,
                    &mut request,
                );
                session.sync(&mut request);
                transport.write_all(&request).unwrap();
                let (mut answer, mut buffer) = (Vec::new(), [0; 4096]);
                while session.is_busy() {
                    let count = transport.read(&mut buffer).unwrap();
                    answer.extend_from_slice(&buffer[..count]);
                    while let Ok(Received::Event { used, .. }) = session.receive(&answer) {
                        answer.drain(..used);
                    }
                }
            }
            transport.set_nonblocking(true).unwrap();
            poller.add(transport.as_fd(), key).unwrap();
            transport
        })
        .collect();
    let at = request.len() - 4 - 2 - 10 - 5;
    let (mut state, mut done) = (1u32, 0u64);
    let mut next = |request: &mut Vec<u8>| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        request[at..at + 4].copy_from_slice(&(state % 5_000_000 + 1).to_be_bytes());
    };
    for link in &mut links {
        next(&mut request);
        link.write_all(&request).unwrap();
    }
    let (mut ready, mut buffer, begun) = (Vec::new(), [0; 65536], Instant::now());
    while begun.elapsed() < Duration::from_secs(seconds) {
        poller.wait(None, &mut ready).unwrap();
        for event in ready.drain(..) {
            let count = links[event.key].read(&mut buffer).unwrap();
            if buffer[..count].ends_with(b"Z\0\0\0\x05I") {
                done += 1;
                next(&mut request);
                links[event.key].write_all(&request).unwrap();
            }
        }
    }
    println!("{done}");
}
