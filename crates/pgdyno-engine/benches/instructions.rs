//! Instructions of user mode on the hot paths, counted by callgrind: the same on a busy machine as on a quiet one.
//!
//!     cargo bench -p pgdyno-engine --bench instructions              holds them against benches/instructions.txt
//!     cargo bench -p pgdyno-engine --bench instructions -- bless     writes that file
//!
//! Where the instructions of one path are:
//!
//!     valgrind --tool=callgrind --collect-atstart=no --toggle-collect=pgdyno_counted_path target/release/deps/instructions-* count NAME
//!
//! With sockets, as the difference of two runs with different numbers of transactions (`benches/floor.py engine`):
//!
//!     valgrind --tool=callgrind target/release/deps/instructions-* drive DSN CLIENTS TRANSACTIONS
//!
//! Needs valgrind; without it nothing is checked, which is said and counted in `target/skipped.log`. Another compiler
//! makes other code: the file names the one that it was counted with, and with another one the margin is wider.

#![expect(clippy::disallowed_methods, clippy::print_stderr, clippy::print_stdout, reason = "a program of its own")]
#![expect(clippy::expect_used, reason = "a check fails by panicking")]

#[path = "instructions/callgrind.rs"]
mod callgrind;
#[path = "instructions/drive.rs"]
mod drive;
mod paths;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// More than so much above the file's count is a mistake, in percent; so much below it, an old file, which is reported.
const MARGIN: f64 = 5.0;
/// The same with another compiler than the file's.
const MARGIN_OF_OTHERS: f64 = 20.0;
/// What a transaction of select-only may cost in a fleet of 1,000 clients for each instruction in one of 16.
const GROWTH: f64 = 1.15;

const HEADER: &str = "# Instructions in user mode of the hot paths, for each unit: a transaction, a message, a row.\n\
                      # Counted by callgrind: cargo bench -p pgdyno-engine --bench instructions -- bless\n";

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/instructions.txt")
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).filter(|a| a != "--bench");
    match arguments.next().as_deref() {
        Some("count") => {
            let wanted = arguments.next();
            callgrind::be_counted(paths::all().into_iter().filter(|p| wanted.as_deref().is_none_or(|w| w == p.name)));
            ExitCode::SUCCESS
        }
        Some("drive") => {
            let given: Vec<String> = arguments.collect();
            let [dsn, clients, transactions] = given.as_slice() else { panic!("drive DSN CLIENTS TRANSACTIONS") };
            let number = |text: &str| text.parse::<u32>().expect("a number");
            drive::drive(dsn, number(clients), number(transactions).into());
            ExitCode::SUCCESS
        }
        Some("bless") => bless(),
        None => check(),
        Some(other) => {
            eprintln!("'{other}' is not known here; known are: bless, or nothing to check");
            ExitCode::FAILURE
        }
    }
}

/// The compiler that this was most likely built with.
fn compiler() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    let version = output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
    version.ok().filter(|v| !v.is_empty()).unwrap_or_else(|| "unknown".to_owned())
}

fn bless() -> ExitCode {
    let Some(counts) = callgrind::count() else { return ExitCode::FAILURE };
    let mut text = format!("{HEADER}compiler = {}\n", compiler());
    for (name, count) in counts {
        writeln!(text, "{name} = {count:.1}").expect("a string takes everything");
    }
    std::fs::write(file(), &text).expect("the file of counts can be written");
    print!("{text}");
    ExitCode::SUCCESS
}

fn check() -> ExitCode {
    let Some(counts) = callgrind::count() else { return ExitCode::SUCCESS };
    let text = std::fs::read_to_string(file()).expect("benches/instructions.txt can be read");
    let lines = || text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" = "));
    let kept = |name: &str| lines().find(|(known, _)| *known == name).map(|(_, value)| value);
    let same_compiler = kept("compiler") == Some(&compiler());
    let margin = if same_compiler { MARGIN } else { MARGIN_OF_OTHERS };
    let mut bad = 0;
    println!("{:<28} {:>10} {:>10} {:>8}   (margin {margin} %)", "", "now", "kept", "change");
    for (name, now) in &counts {
        let Some(kept) = kept(name).and_then(|value| value.parse::<f64>().ok()) else {
            println!("{name:<28} {now:>10.1} {:>10}   is new: bless", "-");
            bad += 1;
            continue;
        };
        let change = (now / kept - 1.0) * 100.0;
        let verdict = if change > margin {
            bad += 1;
            "   costs more"
        } else if change < -margin && same_compiler {
            "   costs less: bless, so that it stays so"
        } else {
            ""
        };
        println!("{name:<28} {now:>10.1} {kept:>10.1} {change:>+7.1}%{verdict}");
    }
    let of = |wanted: &str| counts.iter().find(|(name, _)| *name == wanted).map_or(f64::NAN, |(_, count)| *count);
    let growth = of("select-only-1000-clients") / of("select-only-16-clients");
    println!("from 16 to 1,000 clients: {growth:.3} (at most {GROWTH})");
    if bad > 0 || growth > GROWTH {
        println!("{bad} paths cost more or are new; what is meant to differ is kept by `-- bless`");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
