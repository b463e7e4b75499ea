//! Files and directories that an option names: one that cannot be written is reported before anything is done.

use serde_json::Value;

use crate::compare::store;
use crate::program::Home;

/// A place where nobody can write, root neither: below a file.
const NOWHERE: &str = "file/x.json";

fn home() -> Home {
    let home = Home::new();
    std::fs::write(home.join("file"), "mine").unwrap();
    home
}

#[test]
fn a_run_does_not_begin_whose_outputs_cannot_be_written() {
    let home = home();
    for option in ["--json", "--out"] {
        // Nobody listens there: were it looked at, the error would be another one.
        let target = "host=127.0.0.1 port=1 user=u dbname=d";
        let ran = home.run(&["run", "tpcb-like", "--target", target, option, NOWHERE]).ended(1);
        assert!(ran.says(&[NOWHERE, "Not a directory", option]).stdout.is_empty());
        assert!(home.runs().is_empty(), "{option}");
    }
    home.run(&["run", "noop", "-t", "5", "--json", "."]).ended(1).says(&["directory", "--json"]);
    home.run(&["search", "noop", "--slo", "p99<1s", "--by", "clients", "--out", NOWHERE]).ended(1).says(&[NOWHERE]);
    home.run(&["run", "noop", "-t", "5", "--json", "good.json"]).ok();
    assert_eq!(crate::program::json(&home.join("good.json")), home.the_run().at("").clone());
    assert_eq!(std::fs::read_to_string(home.join("file")).unwrap(), "mine");
}

#[test]
fn a_suite_does_not_begin_with_a_run_whose_file_cannot_be_written() {
    let home = home();
    let runs = format!(
        "[[run]]\nname = 'a'\nwhat = 'noop'\ntransactions = 5\n[[run]]\nname = 'b'\nwhat = 'noop'\ntransactions = 5\n\
         args = ['--json={NOWHERE}']\n"
    );
    std::fs::write(home.join("s.toml"), format!("name = 's'\ntargets = ['none']\n{runs}")).unwrap();
    home.run(&["suite", "run", "s.toml"]).ended(1).says(&["run 2 (b@none)", NOWHERE, "--json"]);
    assert!(home.runs().is_empty() && !home.join("pgdyno-results/suites").exists());
    home.run(&["suite", "run", "s.toml", "--out", NOWHERE]).ended(1);
}

#[test]
fn what_is_made_of_runs_is_reported_first_as_well() {
    let home = home();
    store(&home, "20260101T000000Z-tproc-c-aaaaaa", 100.0, |_: &mut Value| {});
    for command in [
        // No run is called so: were runs looked at, the error would be another one.
        "report nothing --format html",
        "report nothing",
        "compare nothing nothing --format json",
        "scaling --axis clients nothing",
        "export",
    ] {
        let args: Vec<&str> = command.split(' ').chain(["-o", NOWHERE]).collect();
        let ran = home.run(&args).ended(1).says(&[NOWHERE, "Not a directory"]);
        assert!(ran.stdout.is_empty() && !ran.stderr.contains("no run"), "{command}: {}", ran.stderr);
    }
    home.run(&["report", "last", "-o", "report.txt"]).ok();
    assert!(std::fs::read_to_string(home.join("report.txt")).unwrap().contains("TPS"));
}

#[test]
fn a_file_that_cannot_be_written_later_costs_nothing_but_the_exit_code() {
    let home = home();
    std::fs::create_dir(home.join("dir")).unwrap();
    let mut running = home.start(&["run", "noop", "-R", "100", "-T", "3", "--ramp", "0", "--json", "dir/x.json"]);
    running.until_it_says("progress:", 1);
    std::fs::remove_dir(home.join("dir")).unwrap();
    running.end().ended(2).prints(&["TPS", "  open "]).says(&["warning: failed to write dir/x.json"]);
    let run = home.the_run();
    assert_eq!((run.text("/status"), run.number("/exit_code")), ("complete", 0.0));
    assert!(run.number("/summary/committed") > 0.0);
}
