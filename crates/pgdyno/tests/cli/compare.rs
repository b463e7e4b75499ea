//! Runs against runs, and figures against what grows: of stored records, and of a run on the null server.

use std::path::Path;

use serde_json::Value;

use crate::program::{Home, json};

/// A complete run of tproc-c on two clients, as the fixture has it, with another throughput.
pub(crate) fn store(home: &Home, id: &str, tps: f64, edit: impl Fn(&mut Value)) {
    let directory = home.join("pgdyno-results").join(id);
    std::fs::create_dir_all(&directory).unwrap();
    let mut record = json(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json"));
    record["id"] = id.into();
    record["warnings"] = Value::Array(Vec::new());
    record["summary"]["tps"] = tps.into();
    record["summary"]["nopm"] = (tps * 27.0).into();
    edit(&mut record);
    std::fs::write(directory.join("run.json"), record.to_string()).unwrap();
}

/// Five runs with 1 % between them around `tps`: `a-1` to `a-5`.
pub(crate) fn store_five(home: &Home, name: &str, tps: f64, edit: impl Fn(&mut Value)) {
    for (nth, off) in (1..).zip([-0.01, 0.012, 0.003, -0.007, 0.002]) {
        store(home, &format!("{name}-{nth}"), tps * (1.0 + off), &edit);
    }
}

/// Intervals of a second around `tps`, after a second of ramp that is far off.
pub(crate) fn store_intervals(home: &Home, id: &str, tps: u64, seconds: u64) {
    let swing = |at: u64| [0, 7, 3, 11, 1, 9, 5][(at % 7) as usize];
    let mut text = "interval,phase,start_s,end_s,committed\n0,ramp,0.000000,1.000000,1\n".to_owned();
    for at in 1..=seconds {
        let committed = tps + swing(at) - 5;
        text += &format!("{at},measure,{at}.000000,{}.000000,{committed}\n", at + 1);
    }
    std::fs::write(home.join("pgdyno-results").join(id).join("intervals.csv"), text).unwrap();
}

#[test]
fn several_runs_of_each_side_give_a_verdict_and_an_exit_code() {
    let home = Home::new();
    store_five(&home, "old", 1000.0, |_| {});
    store_five(&home, "new", 900.0, |_| {});
    let compare = |args: &[&str]| home.run(&[&["compare", "old-*", "new-*"], args].concat());
    compare(&[]).ok().prints(&["verdict: slower: NOPM -10.0 %", "of 5 vs 5 runs"]);
    // A note says that one side ran after the other.
    assert!(!compare(&[]).ok().stdout.contains("in turns"));
    store_five(&home, "later", 900.0, |record| record["started_at"] = "2026-11-23T00:00:00Z".into());
    home.run(&["compare", "later-*", "old-*"]).ok().prints(&["verdict: faster", "run them in turns"]);
    compare(&["--fail-if-slower", "3%"]).ended(20).prints(&["slower by 3 % at most: NOT held"]);
    compare(&["--fail-if-slower", "20%"]).ok().prints(&["slower by 20 % at most: held"]);
    let unsure = ["cannot tell; the interval spans the limit", "runs of each side decide it in 4 of 5 cases"];
    compare(&["--fail-if-slower", "10.5%"]).ended(21).prints(&unsure);
    compare(&["--fail-if-slower", "10.5%", "--pass-if-unsure"]).ok().prints(&unsure);
    let slower = home.run(&["compare", "new-1,new-2,new-3", "old-*", "--metric", "tps", "--fail-if-slower", "0"]);
    slower.ok().prints(&["verdict: faster: TPS +10.9 %", "of 5 vs 3 runs", "slower by 0 % at most: held"]);
    insta::assert_snapshot!("several_runs_as_text", compare(&["--fail-if-slower", "3%"]).stdout);
    insta::assert_snapshot!("several_runs_as_markdown", compare(&["--format", "markdown"]).stdout);
}

#[test]
fn latencies_can_have_the_verdict_too() {
    let home = Home::new();
    let p99 = |ns: u64| move |record: &mut Value| record["summary"]["response_latency_ns"]["p99"] = ns.into();
    for (nth, off) in [(1, 0), (2, 10_000), (3, 20_000)] {
        store(&home, &format!("old-{nth}"), 1000.0, p99(5_000_000 + off));
        store(&home, &format!("new-{nth}"), 1000.0, p99(6_000_000 + off));
    }
    let args = ["compare", "old-*", "new-*", "--metric", "p99", "--fail-if-slower", "10%"];
    home.run(&args).ended(20).prints(&["verdict: slower: p99 ms +20.0 %", "TPS", "no difference shown"]);
    let args = ["compare", "new-*", "old-*", "--metric", "p99", "--fail-if-slower", "10%"];
    home.run(&args).ok().prints(&["verdict: faster: p99 ms -16.6 %", "held"]);
}

#[test]
fn single_runs_are_compared_by_their_intervals() {
    let home = Home::new();
    for (id, tps, seconds) in [("old", 1000, 60), ("new", 950, 60), ("short", 950, 9)] {
        store(&home, id, tps as f64, |_| {});
        store_intervals(&home, id, tps, seconds);
    }
    let gate = |args: &[&str]| home.run(&[args, &["--fail-if-slower", "3%"]].concat());
    let ran = gate(&["compare", "old", "new"]).ended(21);
    ran.prints(&[
        "verdict: cannot tell: NOPM -5.0 %, one run of each side",
        "--run-noise",
        "true uncertainty is larger",
    ]);
    let quiet = gate(&["compare", "old", "new", "--run-noise", "0.1%"]).ended(20);
    quiet.prints(&["verdict: slower: NOPM -5.0 %", "of one run each", "take runs to vary by 0.1 %"]);
    let noisy = gate(&["compare", "old", "new", "--run-noise", "3%"]).ended(21);
    noisy.prints(&["verdict: no difference shown", "the interval spans the limit", "at least"]);
    let short = home.run(&["compare", "old", "short", "--run-noise", "1%"]).ok();
    short.prints(&["verdict: cannot tell", "short has 9 whole intervals"]);
    std::fs::remove_file(home.join("pgdyno-results/new/intervals.csv")).unwrap();
    let gone = home.run(&["compare", "old", "new", "--run-noise", "1%"]).ok();
    gone.prints(&["cannot tell", "the intervals of new are not there"]);
}

#[test]
fn runs_in_turns_are_compared_without_the_drift_of_the_machine() {
    let home = Home::new();
    // NEW is slower by 4 %, and the machine by 30 % from first to last.
    for (nth, side) in "ABBAABBAAB".chars().enumerate() {
        let off = [0.002, -0.003, 0.001][nth % 3];
        let tps = 1000.0 * (1.0 - 0.3 * nth as f64 / 9.0) * if side == 'B' { 0.96 } else { 1.0 } * (1.0 + off);
        let id = format!("{}-{nth}", if side == 'A' { "old" } else { "new" });
        store(&home, &id, tps, |record| record["started_at"] = format!("2026-11-22T12:{nth:02}:00Z").into());
    }
    let ran = home.run(&["compare", "old-*", "new-*", "--fail-if-slower", "2%"]).ended(20);
    ran.prints(&["verdict: slower", "done in turns: a drift over time is taken out"]);
}

#[test]
fn runs_of_different_work_are_not_comparable_unless_that_is_meant() {
    let home = Home::new();
    let settings = |buffers: &str, wal: &str| serde_json::json!({ "shared_buffers": buffers, "max_wal_size": wal });
    store_five(&home, "old", 1000.0, |record| record["server"]["settings"] = settings("128MB", "6001MB"));
    store_five(&home, "new", 1200.0, |record| {
        record["plan"]["clients"] = 4.into();
        record["plan"]["params"]["call"] = "client".into();
        record["server"]["settings"] = settings("1GB", "6065MB");
        record["server"]["settings_changed"]["data_directory"] = "/elsewhere".into();
        record["plan"]["seed"] = 7.into();
    });
    let ran = home.run(&["compare", "old-*", "new-*"]).ok();
    let ran = ran.prints(&["not comparable: -D call procedure → client; clients 2 → 4", "--anyway", "128MB → 1GB"]);
    for unlisted in ["data_directory", "seed", "max_wal_size"] {
        assert!(!ran.stdout.contains(unlisted), "{}", ran.stdout);
    }
    let gate = home.run(&["compare", "old-*", "new-*", "--fail-if-slower", "3%"]).ended(1);
    gate.says(&["not comparable", "--anyway"]);
    let anyway = home.run(&["compare", "old-*", "new-*", "--fail-if-slower", "3%", "--anyway"]).ok();
    anyway.prints(&["verdict: faster: NOPM +20.0 %", "the runs did different work", "held"]);
    // So are runs of one side among themselves.
    home.run(&["compare", "old-1,new-1", "old-2,old-3"]).ok().prints(&["not comparable", "clients 2 or 4 → 2"]);
}

#[test]
fn runs_that_do_not_count_are_left_out_aloud() {
    let home = Home::new();
    store_five(&home, "old", 1000.0, |_| {});
    store_five(&home, "new", 1000.0, |_| {});
    for (id, status) in [("new-6", "failed"), ("new-7", "invalid"), ("new-8", "interrupted")] {
        store(&home, id, 500.0, |record| {
            record["status"] = status.into();
            record["reason"] = "the server went away".into();
        });
    }
    store(&home, "new-9", 0.0, |record| record["summary"]["committed"] = 0.into());
    let ran = home.run(&["compare", "old-*,old-1", "new-*"]).ok();
    ran.prints(&["no difference shown", "of 5 vs 5 runs", "left out: old-1 is named twice"]).prints(&[
        "left out: new-6 is failed (the server went away)",
        "new-7 is invalid",
        "new-8 is interrupted",
        "new-9 committed nothing",
    ]);
    home.run(&["compare", "old-*", "new-6,new-7"]).ended(1).says(&["NEW has no run that counts", "new-6 is failed"]);
    store(&home, "plain", 1000.0, |record| record["summary"]["nopm"] = Value::Null);
    home.run(&["compare", "old-1", "plain", "--metric", "nopm"]).ended(1).says(&["plain has no nopm"]);
    home.run(&["compare", "old-*", "gone-*"]).ended(1).says(&["no run 'gone-*'", "pgdyno list runs"]);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let home = Home::new();
    for (args, words) in [
        (&["compare", "last"][..], "<NEW>"),
        (&["compare", "a", "b", "--fail-if-slower", "300%"], "a percentage below 100"),
        (&["compare", "a", "b", "--metric", "tpmC"], "the figures are tps, nopm"),
        (&["compare", "a", "b", "--confidence", "100"], "from 50 to 99.99"),
        (&["scaling", "a"], "--axis"),
        (&["scaling", "a", "--axis", "cores"], "the axes are clients"),
    ] {
        home.run(args).ended(1).says(&[words]);
    }
}

#[test]
fn a_run_does_not_differ_from_itself() {
    let home = Home::new();
    let run = ["run", "select-only", "--target", "null", "-c", "4", "-R", "1000", "-T", "11", "--ramp", "0", "-q"];
    home.run(&run).ok();
    let ran = home.run(&["compare", "last", "last", "--run-noise", "1%"]).ok();
    ran.prints(&["verdict: no difference shown: TPS 0.00 %", "is on both sides", "there is a rate"]);
    let reported = home.run(&["compare", "last", "last", "--format", "json"]).ok().stdout;
    let comparison: Value = serde_json::from_str(&reported).unwrap();
    assert_eq!(comparison["differences"], Value::Array(Vec::new()));
    assert_eq!(comparison["figures"].as_array().unwrap().len(), 6);
    let tps = &comparison["figures"][0];
    let percent = |name: &str| tps[name].as_f64().unwrap();
    assert_eq!(percent("change_percent"), 0.0);
    assert!(percent("change_percent_low") < 0.0 && percent("change_percent_high") > 0.0, "{tps}");
    assert_eq!(tps["base"], home.the_run().record["summary"]["tps"]);
    // A record that lies elsewhere finds its intervals in its run directory.
    std::fs::copy(home.the_run().path.join("run.json"), home.join("base.json")).unwrap();
    home.run(&["compare", "base.json", "last", "--run-noise", "1%"]).ok().prints(&["no difference shown"]);
}

#[test]
fn a_figure_against_what_grows() {
    let home = Home::new();
    for (clients, tps) in [(1, 1000.0), (2, 1900.0), (4, 3000.0)] {
        for (nth, off) in [(1, -10.0), (2, 10.0)] {
            let id = format!("c{clients}-{nth}");
            store(&home, &id, tps + off, |record| record["plan"]["clients"] = clients.into());
        }
    }
    store(&home, "c4-3", 10.0, |record| record["status"] = "failed".into());
    let scaling = |args: &[&str]| home.run(&[&["scaling", "c*", "--axis"], args].concat());
    let text = scaling(&["clients", "--metric", "tps"]).ok().prints(&["left out: c4-3 is failed"]).stdout;
    insta::assert_snapshot!("scaling_as_text", text);
    let csv = scaling(&["clients", "--metric", "tps", "--format", "csv"]).ok().stdout;
    assert_eq!(
        csv.lines().nth(3).unwrap(),
        "clients,4,tps,2,2999.983,2990.000,3010.000,14.142136,3.000133,4.000000,0.750033"
    );
    let markdown = scaling(&["clients", "--format", "markdown"]).ok();
    markdown.prints(&["### NOPM by clients", "| 4 | 2 | 81,000 | 80,730 | 81,270 | 3.00× | 4.00× | 75.0 % |"]);
    let reported: Value = serde_json::from_str(&scaling(&["clients", "--format", "json"]).ok().stdout).unwrap();
    assert_eq!(reported["metric"], "nopm");
    assert!(
        reported["points"][2]["efficiency"].as_f64().is_some_and(|share| (share - 0.75).abs() < 1e-3),
        "{reported}"
    );
    let svg = scaling(&["clients", "--format", "svg"]).ok().prints(&["<svg ", "NOPM by clients", "</svg>"]).stdout;
    assert_eq!(svg.matches("<circle").count(), 3);
    // A note names what else differs between the runs, not the axis itself.
    assert!(!text.contains("different work"));
    for nth in [1, 2] {
        store(&home, &format!("w{nth}"), 1000.0, |record| {
            record["plan"]["scale"] = nth.into();
            record["plan"]["params"]["warehouses"] = nth.to_string().into();
        });
    }
    for axis in ["scale", "param:warehouses"] {
        let ran = home.run(&["scaling", "w1", "w2", "--axis", axis]).ok().prints(&["1.00×", "2.00×", "50.0 %"]);
        assert!(!ran.stdout.contains("different work"), "{}", ran.stdout);
    }
    scaling(&["threads"]).ok().prints(&["different work", "plan clients (1, 2, 4)", "nothing grows"]);
    scaling(&["label:size"]).ended(1).says(&["no run counts", "c1-1 has no label size"]);
}

#[test]
fn clusters_grow_by_their_cores() {
    let home = Home::new();
    for (label, tps) in [("c4+2w8", 2000.0), ("c4", 800.0), ("c4+4w8", 3200.0)] {
        store(&home, &format!("run-{label}"), tps, |record| {
            record["target"] = serde_json::json!({ "name": label, "labels": { "cluster": label } });
        });
    }
    for axis in ["label:cluster", "vcpus"] {
        let ran = home.run(&["scaling", "run-*", "--axis", axis, "--metric", "tps", "--format", "csv"]).ok();
        let cells: Vec<_> = ran.stdout.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
        assert_eq!(cells, ["4", "20", "36"], "{axis}");
    }
    // The fixture's server was on the driver's machine; one elsewhere says nothing.
    store(&home, "plain", 1000.0, |record| record["server"]["local"] = false.into());
    home.run(&["scaling", "plain", "--axis", "vcpus"]).ended(1).says(&["does not say how many CPUs the server has"]);
}

#[test]
fn the_cells_of_a_suite_are_held_against_each_other() {
    let home = Home::new();
    for (clients, tps) in [(16, 1000.0), (64, 1200.0)] {
        store_five(&home, &format!("c{clients}"), tps, |record| {
            let cell = format!("tproc-c.clients={clients}@db16");
            record["plan"]["suite"] = serde_json::json!({ "suite": "pools", "id": "x", "run": cell, "repetition": 1 });
            record["plan"]["clients"] = clients.into();
        });
    }
    let ran = home.run(&["compare", "pools/tproc-c.clients=16@db16", "pools-x/*=64@*", "--anyway"]).ok();
    ran.prints(&["verdict: faster: NOPM +20.0 %", "of 5 vs 5 runs"]);
    home.run(&["compare", "pools/clients=16", "pools/64", "--anyway"]).ok().prints(&["of 5 vs 5 runs"]);
    home.run(&["compare", "pools/clients", "last"])
        .ended(1)
        .says(&["'clients' is not one cell of the suite 'pools'", "tproc-c.clients=64@db16"]);
    let csv = home.run(&["scaling", "pools/*", "--axis", "clients", "--metric", "tps", "--format", "csv"]).ok().stdout;
    assert_eq!(csv.lines().count(), 3, "{csv}");
}
