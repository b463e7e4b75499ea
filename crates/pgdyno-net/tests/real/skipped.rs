//! What a test could not test here, said aloud and counted. Shared by the test binaries of several crates.

use std::io::Write;
use std::path::Path;

/// Says that something is skipped and why, and adds a line to `target/skipped.log`, so that a whole test run can
/// tell how much of it was not.
pub(crate) fn skipped(why: &str) {
    // What a system says may have several lines.
    let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    eprintln!("SKIPPED: {why}");
    let log = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("skipped.log");
    // One write for a line: lines of test binaries side by side do not mix.
    let appended = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(log)
        .and_then(|mut log| log.write_all(format!("{}: {why}\n", env!("CARGO_PKG_NAME")).as_bytes()));
    drop(appended);
}
