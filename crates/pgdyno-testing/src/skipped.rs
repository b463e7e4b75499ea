//! Reports and counts what a test cannot test on this machine.

use std::io::Write as _;

/// Prints what is skipped and why, and adds a line to `target/skipped.log`, where a whole test run counts what it skipped.
#[expect(clippy::print_stderr, reason = "the test harness shows it")]
pub fn skipped(why: &str) {
    // A message of the system may have several lines.
    let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    eprintln!("SKIPPED: {why}");
    // A test binary is `target/debug/deps/NAME`.
    let program = std::env::current_exe().unwrap();
    let Some(target) = program.ancestors().nth(3) else { return };
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    // One write per line: the lines of concurrent test binaries do not mix.
    let appended = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(target.join("skipped.log"))
        .and_then(|mut log| log.write_all(format!("{package}: {why}\n").as_bytes()));
    drop(appended);
}
