//! Readers of what machines say, private otherwise, for the fuzz targets. No part of the interface.

use std::time::Instant;

use super::observer::Observer;
use super::rows::{Line, Rows};
use super::ssh::{Stream, digested};
use super::tally::Tally;
use crate::Frame;

/// What the lines of a remote shell make, up to the first look that makes no sense, and what is said of that.
#[must_use]
pub fn shell(lines: &str) -> (Vec<Frame>, Option<String>) {
    let mut observer = Observer::of_server(Tally::elsewhere(None));
    let (mut stream, mut frames) = (Stream::default(), Vec::new());
    for line in lines.lines() {
        let Some(texts) = stream.take(line) else { continue };
        let look = digested(texts);
        match observer.digest(&look, Instant::now()) {
            Ok(found) => frames.extend(found),
            Err(malformed) => return (frames, Some(malformed.to_string())),
        }
        if let Some(processes) = &look.processes {
            observer.tally.wanted(processes);
        }
    }
    (frames, None)
}

/// The rows of what a command of the user's prints, and what is said of its other lines.
#[must_use]
pub fn command(lines: &str) -> (Vec<Vec<Option<String>>>, Vec<String>) {
    let (mut reader, mut rows, mut told) = (Rows::of(Some(4.0)), Vec::new(), Vec::new());
    for line in lines.lines() {
        match reader.take(line) {
            Line::Nothing => {}
            Line::Header(complaints) => told.extend(complaints),
            Line::Useless(why) | Line::Garbage(why) => told.push(why),
            Line::Row(_, row) => rows.push(row),
        }
    }
    (rows, told)
}
