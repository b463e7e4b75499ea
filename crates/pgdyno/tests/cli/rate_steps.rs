//! A rate that changes in steps over the measured window.

use std::fs;

use crate::given_server::{Place, TRUST};
use crate::own::write;

const MANIFEST: &str = "[data]
existing = true

[[script]]
file = \"one.sql\"

[run]
clients = 8
rate_per_s = 100
rate_steps = [0.5, 2, 0, 1.5]
rate_step = \"1min\"
";

/// The offered and the achieved rate of each whole second of the window.
fn seconds(directory: &std::path::Path) -> Vec<(f64, f64)> {
    let text = fs::read_to_string(directory.join("intervals.csv")).unwrap();
    let mut lines = text.lines();
    let names: Vec<_> = lines.next().unwrap().split(',').collect();
    let at = |name: &str| names.iter().position(|column| *column == name).unwrap();
    let [phase, offered, tps] = ["phase", "offered_per_s", "tps"].map(at);
    let rows = lines.map(|line| line.split(',').collect::<Vec<_>>()).filter(|row| row[phase] == "measure");
    rows.map(|row| (row[offered].parse().unwrap_or_default(), row[tps].parse().unwrap())).collect()
}

#[test]
fn a_run_offers_the_steps_of_its_workload() {
    let Some(place) = Place::new("rate_steps", "fsync = off\n", TRUST) else { return };
    write(&place.home, "mine", &[("workload.toml", MANIFEST), ("one.sql", "select 1;\n")]);
    // All steps once, two seconds each; twice the rate.
    place
        .run("run ./mine --rate-steps=2s -R 2x --ramp 1 --arrivals uniform --no-samples")
        .ok()
        .prints(&["200.0/s offered in 4 steps of 2.0 s", "TRUST"]);
    let run = place.home.runs().pop().unwrap();
    let found = seconds(&run.path);
    assert_eq!(found.len(), 8, "{found:?}");
    for (second, (offered, tps)) in found.iter().enumerate() {
        let wanted = 200.0 * [0.5, 2.0, 0.0, 1.5][second / 2];
        assert!((offered - wanted).abs() < 2.0, "{second}: {offered}");
        assert!((tps - wanted).abs() < 100.0, "{second}: {tps} of {wanted}");
    }
    let all: f64 = found.iter().map(|(_, tps)| tps).sum();
    assert!((all / 1600.0 - 1.0).abs() < 0.06, "{all} of 1,600");
    let page = fs::read_to_string(run.path.join("report.html")).unwrap();
    assert!(page.contains("and the offered rate."), "the chart has it");
    for unsteady in ["drifts", "level-changed", "not-settled", "rate-missed"] {
        assert!(!run.at("/warning_details").to_string().contains(unsteady), "{}", run.at("/warning_details"));
    }
    // The plan of the run leads to the same run.
    place
        .home
        .run(&["plan", "--again", run.text("/id")])
        .ok()
        .prints(&["200 transactions a second in 4 steps of 2.0 s"]);

    // A run that is shorter has the first steps, and one with another rate none.
    place.run("run ./mine -T 1 --ramp 0 --no-samples").ok().prints(&["50.0/s offered in the first of 4 steps of 60 s"]);
    place.run("run ./mine --rate-steps=none -T 1 --ramp 0 --no-samples").ok().prints(&["100.0/s offered,"]);
    place.run("run ./mine -R none -T 1 --ramp 0 --no-samples").ok();
    assert!(place.home.runs().pop().unwrap().at("/plan").get("rate_steps").is_none());
    place
        .run("run ./mine -R none --rate-steps -T 1")
        .ended(1)
        .says(&["--rate-steps needs a rate", "leave out -R none"]);
    // How the arrivals of the workload's own rate are spread can be said without that rate.
    place.run("plan ./mine --arrivals uniform -T 1").ok().prints(&["uniform arrivals"]);
    place
        .run("run ./mine -R none --arrivals uniform -T 1")
        .ended(1)
        .says(&["--arrivals chooses the distribution of the arrivals of a rate, and this run has no rate"]);
    place.run("run select-only -R 9 --rate-steps -T 1").ended(1).says(&["steps", "select-only has none"]);
    write(&place.home, "mine", &[("workload.toml", &format!("{MANIFEST}follow_rate_steps = false\n"))]);
    place.run("run ./mine -T 1 --ramp 0 --no-samples").ok().prints(&["100.0/s offered,"]);
}

/// Two groups, of which each may have a rate of its own.
fn groups(rates: [&str; 2]) -> String {
    let group = |name: &str, rate: &str| {
        format!("[[group]]\nname = \"{name}\"\nscripts = [\"one.sql\"]\nshare = 0.5\n{rate}\n")
    };
    let both = [group("one", rates[0]), group("two", rates[1])].concat();
    MANIFEST.replace("[run]", &format!("{both}\n[run]")).replace("[0.5, 2, 0, 1.5]", "[0.5, 2]")
}

#[test]
fn each_group_without_a_rate_of_its_own_follows_the_steps() {
    let Some(place) = Place::new("rate_steps_of_groups", "fsync = off\n", TRUST) else { return };
    let own = "rate_per_s = 30\narrivals = \"uniform\"";
    for (rates, wanted) in [(["", ""], [100.0, 400.0]), ([own, ""], [80.0, 230.0]), ([own, own], [60.0, 60.0])] {
        write(&place.home, "mine", &[("workload.toml", &groups(rates)), ("one.sql", "select 1;\n")]);
        let ran = place.run("run ./mine --rate-steps=2s -R 1x --ramp 0 --arrivals uniform --no-samples").ok();
        let run = place.home.runs().pop().unwrap();
        let found = seconds(&run.path);
        for (second, (offered, _)) in found.iter().enumerate() {
            assert!((offered - wanted[second / 2]).abs() < 2.0, "{rates:?}, {second}: {offered} of {wanted:?}");
        }
        let ran = ran.prints(&[&format!("{:.1}/s offered", (wanted[0] + wanted[1]) / 2.0)]);
        let all: f64 = found.iter().map(|(_, tps)| tps).sum();
        assert!((all / (2.0 * (wanted[0] + wanted[1])) - 1.0).abs() < 0.08, "{rates:?}: {all} of {wanted:?}");
        if rates == [own, own] {
            ran.says(&["--rate-steps has no effect on this run of mine: none of its clients follows it"]);
        }
    }
}
