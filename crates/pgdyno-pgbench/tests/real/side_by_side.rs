//! Scripts and options that pgbench and the drop-in are given side by side: the same words, figures apart, the same
//! exit code, the same files and the same rows afterwards.
//!
//! `PGDYNO_TEST_PGBENCH` is the path of another pgbench to compare with, `PGDYNO_TEST_CASE` a part of the options and
//! scripts of the only cases that are wanted.

mod cases;
mod errors;
mod logs;
mod lost;
mod mask;
mod ours;
mod reports;
mod scripts;
mod stage;
mod traffic;

use crate::postgres;
use cases::{Case, one};
use stage::Stage;

/// Runs cases, and fails with all differences.
#[expect(clippy::print_stderr, reason = "the test harness shows how many cases were compared")]
fn compare(test: &str, cases: &[Case]) {
    let Some(stage) = Stage::start(test) else { return };
    let (ran, wrong) = stage.compare(cases);
    eprintln!("{test}: {ran} of {} cases compared with pgbench {}", cases.len(), stage.version);
    assert!(ran > 0 && wrong.is_empty(), "{} of {ran} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn scripts_do_the_same() {
    compare("scripts", scripts::CASES);
}

#[test]
fn errors_are_reported_the_same() {
    compare("script errors", errors::CASES);
}

#[test]
fn options_and_reports_are_the_same() {
    compare("reports", reports::CASES);
}

#[test]
fn logs_and_random_numbers_are_the_same() {
    compare("logs", logs::CASES);
}

#[test]
fn warnings_of_every_connection_are_the_same() {
    const SELECT: &[&str; 1] = &["select 1;\n"];
    let test = "warnings of connections";
    let Some(stage) = Stage::start(test) else { return };
    let mut admin = stage.server.admin();
    // Who does not own a table may not vacuum it, and the server reports a collation that has changed on each connection.
    admin.execute("create role guest login").unwrap();
    let knows_collations = postgres::major() >= 15;
    if knows_collations {
        admin.execute("update pg_database set datcollversion = 'another' where datname like 'lane%'").unwrap();
    }
    let cases = [
        one("-n -t 2 -c 3", SELECT),
        one("-n -t 2 -c 2 -C", SELECT),
        one("-n -t 2 -c 2 -j 2 -M prepared", SELECT),
        one("-t 1 -U guest", SELECT),
        one("-t 1 -v -U guest", SELECT),
    ];
    let reported = stage.run_one(&cases[0], false, "lane0").err.matches("WARNING:  ").count();
    assert_eq!(reported, if knows_collations { 4 } else { 0 }, "of the first connection and of each client");
    let (ran, wrong) = stage.compare(&cases);
    assert!(ran == cases.len() && wrong.is_empty(), "{} of {ran} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn large_scripts_do_the_same() {
    let leaked = |text: String| -> &'static [&'static str; 1] { Box::leak(Box::new([&*text.leak()])) };
    let many_commands: String =
        (0..10_000).map(|n| format!("\\set v{} {n}\nselect :v{};\n", n % 100, n % 100)).collect();
    let nested = "\\if true\n".repeat(500) + "select shout('deep');\n" + &"\\endif\n".repeat(500);
    let parameters: String = (0..255).map(|_| ":client_id::int, ").collect();
    compare(
        "large scripts",
        &[
            one("-n -t 1", leaked(many_commands.clone())),
            one("-n -t 2 -M prepared -r", leaked(many_commands)),
            one("-n -t 1", leaked(format!("select length('{}');\n", "x".repeat(10 << 20)))),
            one("-n -t 2 -M extended", leaked(format!("select length('{}');\n", "x".repeat(1 << 20)))),
            one("-n -t 1", leaked(nested)),
            one("-n -t 1 -M extended", leaked(format!("select {parameters} 1;\n"))),
            one("-n -t 1 -M extended", leaked(format!("select {parameters} :client_id::int;\n"))),
            one("-n -t 1", leaked(format!("select {parameters} :client_id::int;\n"))),
            one("-n -t 1", leaked(format!("\\shell true {}\n", "x".repeat(300)))),
        ],
    );
}
