//! Statistics of a real PostgreSQL, sampled: what is seen, what is left out, and what happens to it meanwhile.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod meanwhile;
mod sources;
mod statements;

use pgdyno_testing::{postgres, server};

use std::time::{Duration, Instant};

use pgdyno_server::Frame;
use pgdyno_server::stat::{Sampled, Sampler};
use server::TestServer;

/// What takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);
const TRUST: &str = "local all all trust\nlocal replication all trust\n";

/// A server with these lines in its configuration, where there is a PostgreSQL.
fn server(test: &str, conf: &str) -> Option<TestServer> {
    server::available(test).then(|| TestServer::start(conf, TRUST))
}

/// Looks again and again until `found` finds something in what a look brings.
#[track_caller]
fn until<T>(sampler: &mut Sampler, what: &str, mut found: impl FnMut(&[Frame]) -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        sampler.look_at_waits();
        if let Some(found) = found(&sampler.look()) {
            return found;
        }
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn frame<'a>(frames: &'a [Frame], source: &str) -> Option<&'a Frame> {
    frames.iter().find(|frame| frame.source == source)
}

/// A cell by the name of its column.
fn cell<'a>(frame: &Frame, row: &'a [Option<String>], column: &str) -> Option<&'a str> {
    let nth = frame.columns.iter().position(|name| *name == column).unwrap();
    row[nth].as_deref()
}

/// A number of the only row.
fn number(frame: &Frame, column: &str) -> f64 {
    let [row] = &frame.rows[..] else { panic!("{frame:?}") };
    cell(frame, row, column).unwrap().parse().unwrap()
}

/// Why `source` is left out.
fn why<'a>(sampled: &'a Sampled, source: &str) -> Option<&'a str> {
    sampled.left_out.iter().find(|out| out.source == source).map(|out| out.why.as_str())
}
