//! What a test could not test here, said aloud and counted.

use std::io::Write as _;

/// Says that something is skipped and why, and adds a line to `target/skipped.log`, so that a whole test run can
/// tell how much of it was not.
pub fn skipped(why: &str) {
    // What a system says may have several lines.
    let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    eprintln!("SKIPPED: {why}");
    // A test binary is `target/debug/deps/NAME`.
    let program = std::env::current_exe().unwrap();
    let Some(target) = program.ancestors().nth(3) else { return };
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    // One write for a line: lines of test binaries side by side do not mix.
    let appended = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(target.join("skipped.log"))
        .and_then(|mut log| log.write_all(format!("{package}: {why}\n").as_bytes()));
    drop(appended);
}
