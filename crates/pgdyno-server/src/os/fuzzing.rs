//! Private readers of machines' output, for the fuzz targets. Not part of the interface.

use std::time::Instant;

use super::observer::Observer;
use super::rows::{Line, Rows};
use super::ssh::{Stream, digested};
use super::tally::Tally;
use crate::Frame;

/// Returns the rows of a remote shell's lines, up to the first invalid look, and its error.
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

/// Returns the rows of a user's command, and messages about its other lines.
#[must_use]
pub fn command(lines: &str) -> (Vec<Vec<Option<String>>>, Vec<String>) {
    let (mut reader, mut rows, mut messages) = (Rows::of(Some(4.0)), Vec::new(), Vec::new());
    for line in lines.lines() {
        match reader.take(line) {
            Line::Nothing => {}
            Line::Header(complaints) => messages.extend(complaints),
            Line::Useless(why) | Line::Garbage(why) => messages.push(why),
            Line::Row(_, row) => rows.push(row),
        }
    }
    (rows, messages)
}
