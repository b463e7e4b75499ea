//! A run of a fitted workload beside the capture: what is representative, at which pace; and two copies against each other.

use std::path::PathBuf;

use serde_json::Value;

use crate::capture::{SHOP_TABLES, assert_representative, captured_and_fitted, copy, execute, shop};
use crate::given_server::Place;
use crate::program::json;

/// A copy of the shop, and a directory that was fitted to it.
fn fitted(test: &str) -> Option<(Place, PathBuf)> {
    let place = shop(test)?;
    let target = copy(&place, "lab");
    captured_and_fitted(&place, &target, || drop(place.run("run ./app -c 2 -t 500 --ramp 0 --no-samples").ok()));
    let directory = place.home.join("fitted");
    Some((Place { database: "lab", ..place }, directory))
}

/// The record of the last run.
fn last(place: &Place) -> Value {
    json(&place.home.runs().last().unwrap().path.join("run.json"))
}

#[test]
fn a_run_says_how_much_of_the_captured_load_it_represents() {
    let Some((place, directory)) = fitted("fidelity") else { return };
    // About as many executions as were captured: writes change what later reads cost.
    let ran = place.run("run ./fitted -c 2 -t 2000 --ramp 0 -R none").ok();
    ran.prints(&["CAPTURE", "of the captured time and", "are representative"]);
    let record = last(&place);
    let fidelity = &record["fidelity"];
    assert_representative(fidelity, &SHOP_TABLES);
    let open = |fidelity: &Value| {
        let all = fidelity["statements"].as_array().unwrap();
        all.iter().find(|one| one["text"].as_str().unwrap().contains("WHERE status = $1")).unwrap().clone()
    };
    let statement = open(fidelity);
    assert_eq!(statement["is_representative"], true, "{statement:#}");
    let blocks = [&statement["captured"], &statement["run"]].map(|call| call["blocks_per_call"].as_f64().unwrap());
    assert!((0.5..2.0).contains(&(blocks[0] / blocks[1])), "{statement:#}");
    assert_eq!(record["plan"]["drive"]["mode"].as_str().or(record["plan"]["mode"].as_str()), Some("extended"));
    let page = std::fs::read_to_string(place.home.runs().last().unwrap().path.join("report.html")).unwrap();
    assert!(page.contains("id=\"fidelity\"") && page.contains("factor of 2"));
    place.home.run(&["report", "last", "-v"]).ok().prints(&["rows/call", "blocks/call"]);

    // Another statement in its place is not what was captured.
    let script = directory.join(statement["script"].as_str().unwrap());
    std::fs::write(&script, "select count(*) from customers;\n").unwrap();
    place.run("run ./fitted -T 3 --ramp 0 -R 3x").ok().prints(&["CAPTURE"]);
    let record = last(&place);
    let warnings = record["warning_details"].to_string();
    assert!(warnings.contains("low-fidelity"), "{warnings}");
    assert_eq!(open(&record["fidelity"])["is_representative"], false);
    assert_ne!(record["trust"]["degree"], "good");
    let manifest = std::fs::read_to_string(directory.join("workload.toml")).unwrap();
    let own: f64 = manifest.split("rate_per_s = ").nth(1).unwrap().trim().parse().unwrap();
    let offered = record["plan"]["rate_per_s"].as_f64().or(record["plan"]["pace"]["rate"]["per_s"].as_f64());
    assert!((offered.unwrap() / own - 3.0).abs() < 1e-6, "{offered:?} of {own}: {}", record["plan"]);

    // Without samples nothing is compared, and the run is as good as before.
    place.run("run ./fitted -T 1 --ramp 0 --no-samples").ok();
    let record = last(&place);
    assert!(record["fidelity"].is_null());
    let warnings = record["warning_details"].to_string();
    assert!(warnings.contains("not compared with the captured ones"), "{warnings}");
    place.run("run select-only -R 2x -T 1").ended(1).says(&["multiple of the workload's own rate"]);
}

#[test]
fn a_copy_without_an_index_is_slower_by_the_statements_that_need_it() {
    let Some((place, _)) = fitted("upgrade") else { return };
    let target = place.target();
    place.execute("create database lab2 template lab");
    let other = target.replace("dbname=lab", "dbname=lab2");
    let lab2 = Place { database: "lab2", ..place };
    execute(&lab2, "drop index orders_status_idx; drop index orders_customer_id_idx");
    let [a, b] = [&target, &other].map(|target| format!("target={target}"));
    let args = [
        "ab", "./fitted", "-c", "1", "--target", &target, "--a", &a, "--b", &b, "--slice", "500ms", "--budget", "3min",
    ];
    lab2.home.run(&args).prints(&["B is slower", "Seq Scan on orders", "tasks"]);
}
