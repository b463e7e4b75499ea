//! Running this program under callgrind, and reading what it counted.

use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::paths;

/// The function whose instructions are counted, and whose end begins a new count. Callgrind knows it by its symbol.
#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn pgdyno_counted_path(path: &mut paths::Path) {
    (black_box(path).run)();
}

/// What is counted: each path once.
pub(crate) fn be_counted(paths: impl Iterator<Item = paths::Path>) {
    paths.for_each(|mut path| pgdyno_counted_path(&mut path));
}

/// Instructions for each unit of every path; `None` where there is no valgrind.
pub(crate) fn count() -> Option<Vec<(&'static str, f64)>> {
    if !Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success()) {
        skipped("instructions of the hot paths: there is no valgrind");
        return None;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let out = directory.path().join("out");
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet", "--collect-atstart=no"])
        .args(["--toggle-collect=pgdyno_counted_path", "--dump-after=pgdyno_counted_path"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(std::env::current_exe().expect("the path of this program"))
        .arg("count")
        .status()
        .expect("valgrind runs");
    assert!(status.success(), "valgrind --tool=callgrind ended with {status}");
    let paths = paths::all();
    let counts = paths.iter().zip(1..).map(|(path, number)| {
        // Callgrind numbers what it writes.
        let dump = directory.path().join(format!("out.{number}"));
        (path.name, instructions(&dump) as f64 / path.units as f64)
    });
    Some(counts.collect())
}

/// The sum of one of callgrind's files.
fn instructions(dump: &Path) -> u64 {
    let text = std::fs::read_to_string(dump).expect("callgrind wrote a file for each path");
    let sum = text.lines().find_map(|line| line.strip_prefix("summary: ").or(line.strip_prefix("totals: ")));
    sum.and_then(|sum| sum.trim().parse().ok()).expect("callgrind's file has a sum")
}

/// As tests say what they could not test: aloud, and in `target/skipped.log`.
fn skipped(why: &str) {
    eprintln!("SKIPPED: {why}");
    let log = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("skipped.log");
    let log = std::fs::OpenOptions::new().create(true).append(true).open(log);
    // Where it cannot be counted it was said.
    drop(log.and_then(|mut log| log.write_all(format!("{}: {why}\n", env!("CARGO_PKG_NAME")).as_bytes())));
}
