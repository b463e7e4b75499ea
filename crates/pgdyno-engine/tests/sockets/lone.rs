//! A client alone on its thread, which waits for its replies in reads.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use pgdyno_engine::{ClientRules, RunEnd, RunSpec};
use pgdyno_testing::directory::TestDirectory;

use crate::{committed, drive, run_script, transactions, welcome};

const DONE: &[u8] = b"C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";

/// Serves each connection in `directory` by `and_then`.
fn serve(directory: &Path, and_then: fn(UnixStream)) {
    let listener = UnixListener::bind(directory.join(".s.PGSQL.5432")).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || welcome(stream).map(and_then));
        }
    });
}

fn read_query(stream: &mut UnixStream) -> bool {
    let mut head = [0; 5];
    if stream.read_exact(&mut head).is_err() || head[0] != b'Q' {
        return false;
    }
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize - 4;
    stream.read_exact(&mut vec![0; length]).is_ok()
}

#[test]
fn the_clock_goes_on_while_a_reply_is_awaited() {
    let outcome = drive(2, |mut stream| {
        let mut ignored = [0; 4096];
        while stream.read(&mut ignored).is_ok_and(|count| count > 0) {}
    });
    assert_eq!((outcome.ended.clone(), outcome.cancelled_in_flight), (RunEnd::Complete, 2));
    assert_eq!((outcome.measured.end_ns, outcome.measured.intervals), (300_000_000, 3));
}

/// Neither of both would ever go on if the client waited for room in its socket.
#[test]
fn a_text_larger_than_the_socket_takes_is_sent_while_the_server_sends_more_than_is_read_at_once() {
    let directory = TestDirectory::new("engine");
    serve(directory.path(), |mut stream| {
        // A notice is sent before the text is read.
        let notice = [b"SNOTICE\0M".as_slice(), &vec![b'x'; 4 << 20], b"\0\0"].concat();
        let message = [b"N".as_slice(), &(notice.len() as u32 + 4).to_be_bytes(), &notice].concat();
        while stream.write_all(&message).is_ok() && read_query(&mut stream) && stream.write_all(DONE).is_ok() {}
    });
    let text = format!("select '{}';\n", "y".repeat(4 << 20));
    let (outcome, _) = run_script(directory.path(), &text, 1, transactions(3, ClientRules::default()));
    assert_eq!((committed(&outcome), outcome.clients_aborted), (3, 0));
}

#[test]
fn replies_that_come_in_pieces_and_late_are_awaited() {
    let directory = TestDirectory::new("engine");
    serve(directory.path(), |mut stream| {
        while read_query(&mut stream) {
            for piece in DONE.chunks(5) {
                // Longer than one wait.
                std::thread::sleep(std::time::Duration::from_millis(25));
                if stream.write_all(piece).is_err() {
                    return;
                }
            }
        }
    });
    let (outcome, _) = run_script(directory.path(), "select 1;\n", 1, transactions(3, ClientRules::default()));
    assert_eq!((committed(&outcome), outcome.clients_lost), (3, 0));
}

#[test]
fn a_connection_that_ends_is_a_loss() {
    let directory = TestDirectory::new("engine");
    serve(directory.path(), |mut stream| {
        for _ in 0..10 {
            assert!(read_query(&mut stream));
            stream.write_all(DONE).unwrap();
        }
    });
    let spec = RunSpec { threads: 1, ..transactions(100, ClientRules::default()) };
    let (outcome, _) = run_script(directory.path(), "select 1;\n", 1, spec);
    assert_eq!((committed(&outcome), outcome.clients_lost + outcome.clients_aborted), (10, 1));
}
