//! Keys of a captured application that are drawn as unevenly on the copy, as its reads or its log show.

use std::path::Path;

use pgdyno_net::Admin;
use rustix::process::Signal;
use serde_json::Value;

use crate::capture::{capturing, copy, execute};
use crate::given_server::{Place, TRUST};
use crate::program::json;

/// Shared buffers of 8 MiB, and a table seven times as large.
const CONF: &str =
    "fsync = off\nshared_preload_libraries = 'pg_stat_statements'\nautovacuum = off\nshared_buffers = 8MB\n";
const TABLE: [&str; 3] = [
    "create table items (id int primary key, n int not null, filler char(220))",
    "insert into items select i, 0, '' from generate_series(1, 200000) i",
    "vacuum analyze items",
];

const MANIFEST: &str = "[data]\nexisting = true\n[[script]]\nfile = \"a.sql\"\n[[group]]\nname = \"a\"\nscripts = [\"a.sql\"]\nmode = \"extended\"\n";
const TEXT: &str = "SELECT n FROM items WHERE id";

/// A server with the table, and an application that looks up rows by keys of ranks that this expression draws.
fn items(test: &str, more: &str, rank: &str) -> Option<Place> {
    let place = Place::new(test, &format!("{CONF}{more}"), TRUST)?;
    place.execute("create database shop");
    let place = place.into_database("shop");
    TABLE.iter().for_each(|sql| execute(&place, sql));
    execute(
        &place,
        "create extension pg_stat_statements; create role watcher login; grant pg_read_all_stats to watcher",
    );
    let script = format!("\\set rank {rank}\n\\set id permute(:rank - 1, 200000) + 1\n{TEXT} = :id;\n");
    write(&place.home.join("app"), &[("workload.toml", MANIFEST), ("a.sql", &script)]);
    Some(place)
}

fn write(directory: &Path, files: &[(&str, &str)]) {
    std::fs::create_dir(directory).unwrap();
    files.iter().for_each(|(file, text)| std::fs::write(directory.join(file), text).unwrap());
}

fn number(place: &Place, sql: &str) -> f64 {
    let mut session = Admin::connect(&place.server.resolve(&place.target())).unwrap();
    session.query_one(sql).unwrap().parse().unwrap()
}

/// Captures the application after it has filled shared buffers, and fits it on a copy. Returns the copy and the fitted statement.
fn fitted(place: Place, more: &str) -> (Place, Value) {
    let target = copy(&place, "lab");
    place.run("run ./app -c 2 -t 5000 --ramp 0 --no-samples").ok();
    let capture = capturing(&place, format!("--window 1h {more}").trim_end());
    place.run("run ./app -c 2 -t 8000 --ramp 0 --no-samples").ok();
    capture.signal(Signal::INT);
    capture.end().ok();
    let fit = place.home.run(&["fit", "shop.capture", "-o", "fitted", "--target", &target]).ok();
    let fidelity = json(&place.home.join("fitted/fidelity.json"));
    let all = fidelity["statements"].as_array().unwrap();
    let statement = all.iter().find(|one| one["text"].as_str().unwrap().contains(TEXT)).unwrap().clone();
    if let Some(why) = statement["keys"]["undetermined"].as_str() {
        fit.prints(&["Skew over keys is not determined", why]);
    }
    (Place { database: "lab", ..place }, statement)
}

/// Returns the blocks that a lookup of the fitted workload reads, once shared buffers are full of its own.
fn reads(place: &Place) -> f64 {
    place.run("run ./fitted -c 2 -t 5000 -R none --ramp 0 --no-samples").ok();
    execute(place, "select pg_stat_statements_reset()");
    place.run("run ./fitted -c 2 -t 8000 -R none --ramp 0 --no-samples").ok();
    let sql = format!("select sum(shared_blks_read) / sum(calls) from pg_stat_statements where query like '{TEXT}%'");
    number(place, &sql)
}

#[test]
fn a_skew_over_keys_is_found_in_the_blocks_that_were_read() {
    let Some(place) = items("skew_of_reads", "", "random_zipfian(1, 200000, 1.01)") else { return };
    let (lab, statement) = fitted(place, "");
    let captured = statement["captured_read_blocks_per_call"].as_f64().unwrap();
    let theta = statement["keys"]["theta"].as_f64().unwrap();
    let replayed = reads(&lab);
    execute(
        &lab,
        "truncate pgdyno_values.s1; insert into pgdyno_values.s1 select id from items order by random() limit 70000",
    );
    let uniform = reads(&lab);
    assert!((replayed / captured).ln().abs() < 1.5_f64.ln(), "{replayed} of {captured}");
    assert!(uniform > 1.5 * captured, "uniform keys read {uniform}, captured {captured}");
    assert!((0.9..1.1).contains(&theta), "{statement:#}");
}

/// What a log of sampled transactions needs.
const LOG: &str =
    "logging_collector = on\nlog_directory = '%/logs'\nlog_destination = 'csvlog'\nlog_transaction_sample_rate = 1\n";

/// Another statement by the same key, for some hot ones.
const HOT: &str = "\\set hot random(1, 50) * 7\nSELECT filler FROM items WHERE id = :hot;\n";

#[test]
fn a_skew_over_keys_is_found_in_the_log() {
    let Some(place) = items("skew_of_a_log", LOG, "random_zipfian(1, 200000, 1.2)") else { return };
    let script = place.home.join("app/a.sql");
    let both = std::fs::read_to_string(&script).unwrap() + HOT;
    std::fs::write(&script, both).unwrap();
    let log = format!("--log {}", place.server.dir().join("logs").display());
    let (lab, statement) = fitted(place, &log);
    let theta = statement["keys"]["theta"].as_f64().unwrap();
    assert!((1.1..1.3).contains(&theta) && statement["keys"]["source"] == "log", "{statement:#}");
    let captured = statement["captured_read_blocks_per_call"].as_f64().unwrap();
    let replayed = reads(&lab);
    assert!((replayed / captured).ln().abs() < 1.5_f64.ln(), "{replayed} of {captured}");

    let fidelity = json(&lab.home.join("fitted/fidelity.json"));
    let all = fidelity["statements"].as_array().unwrap();
    let hot = all.iter().find(|one| one["text"].as_str().unwrap().contains("SELECT filler")).unwrap();
    assert!(hot["values"].as_str().unwrap().contains("of the keys from 5"), "{hot:#}");
    let list = format!("s{}", hot["script"].as_str().unwrap()[..2].trim_start_matches('0'));
    let keys = number(&lab, &format!("select count(distinct p1) from pgdyno_values.{list}"));
    assert!((40.0..60.0).contains(&keys), "{keys} hot keys");
}

#[test]
fn uniform_keys_are_fitted_as_uniform() {
    let Some(place) = items("uniform_keys", "", "random(1, 200000)") else { return };
    let (lab, statement) = fitted(place, "");
    assert!(statement["values"].as_str().unwrap().contains("uniform keys"), "{statement:#}");
    let captured = statement["captured_read_blocks_per_call"].as_f64().unwrap();
    let replayed = reads(&lab);
    assert!((replayed / captured).ln().abs() < 1.2_f64.ln(), "{replayed} of {captured}");

    // A run has them beside the captured ones.
    lab.run("run ./fitted -c 2 -T 2 --ramp 0 -R none").ok();
    lab.home
        .run(&["report", "last", "-v"])
        .ok()
        .prints(&["Blocks read a call, captured and run: 01-select-items 1.2 and"]);
}

#[test]
fn a_skew_that_nothing_shows_is_not_determined() {
    let Some(place) = items("skew_undetermined", "", "random_zipfian(1, 100, 1.2)") else { return };
    let (lab, statement) = fitted(place, "");
    assert_eq!(statement["keys"]["undetermined"], "all blocks were cached", "{statement:#}");
    assert_eq!(statement["values"], "sampled rows");
    assert!((number(&lab, "select count(*) from pgdyno_values.s1") - 1000.0).abs() < 0.5);
}
