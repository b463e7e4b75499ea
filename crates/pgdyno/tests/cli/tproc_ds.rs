//! `tproc-ds`: one load, whose rows are checked, and what runs on it.

use std::path::Path;

use crate::given_server::{Place, TRUST};
use crate::program::finish;
use crate::python::python;

const CONF: &str = "fsync = off\nshared_buffers = 256MB\n";

/// Three queries of the tests' own: one with parameters, one without, one of two statements.
const QUERIES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../pgdyno-workloads/src/tproc_ds/fixtures");

#[test]
fn what_is_not_there_is_named_with_a_remedy() {
    let home = crate::program::Home::new();
    home.run(&["plan", "tproc-ds", "-s", "0.005"]).ended(1).says(&["scale must be a number between 0.01 and"]);
    home.run(&["plan", "tproc-ds", "--queries", "1-100"]).ended(1).says(&["queries must be numbers between 1 and 99"]);
    home.run(&["plan", "tproc-ds", "--indexes", "dates"]).ended(1).says(&["indexes must be one of fks, keys, none"]);
    home.run(&["plan", "tproc-ds", "--timeout", "0"]).ended(1).says(&["it would cancel every query"]);
    home.run(&["plan", "tproc-ds", "--queries-from", "nowhere"]).ended(1).says(&["failed to read nowhere", "q01.sql"]);
    home.run(&["plan", "tproc-ds", "--queries-from", QUERIES, "--queries", "3,98"])
        .ended(1)
        .says(&["no text for these queries: 98", "hint: it has 3, 7, 14"]);
    home.run(&["plan", "tproc-ds", "-s", "0.01"]).ok().prints(&["several queries find no rows"]);
    home.run(&["run", "ycsb-a", "--queries-from", "duckdb"])
        .ended(1)
        .says(&["--queries-from is an option of tproc-ds"]);
    let mut command = home.command(["plan", "tproc-ds", "--queries-from", "duckdb"]);
    command.env("PATH", "/nowhere");
    finish(command).ended(1).says(&[
        "no DuckDB with its extension tpcds: there is no python3 on PATH",
        "pip install duckdb duckdb-extension-tpcds",
    ]);
}

#[test]
fn a_load_has_dsdgen_s_rows_and_streams_ask_their_queries() {
    let Some(place) = Place::new("queries of 24 tables", CONF, TRUST) else { return };
    place.run("load tproc-ds -s 0.01").ok().says(&["scale 0.01, about", "loaded 2,608,765 rows"]);
    place.run("check tproc-ds").ok().prints(&["holds  digests"]);
    assert_eq!(
        place.ask("select count(*) from pg_constraint where contype = 'p' and conname ~ '_pkey' and conrelid <> 'pgdyno_stamp'::regclass and connamespace = 'public'::regnamespace"),
        "24"
    );

    let run = format!("run tproc-ds --queries-from {QUERIES} --streams 2 --plans");
    place.run(&run).ok().prints(&[
        "s set time",
        "queries/h",
        "scale 0.01, power (1 client, ",
        "power ms  throughput mean ms",
    ]);
    let run = place.home.runs().pop().unwrap();
    let committed = ["/stages/0/groups/0/summary/committed", "/stages/1/groups/0/summary/committed"];
    assert_eq!(committed.map(|at| run.number(at)), [3.0, 6.0]);
    // Query 14 has two statements, each with a row.
    let names: Vec<_> = run.at("/transactions").as_array().unwrap().iter().map(|txn| txn["name"].clone()).collect();
    assert_eq!(names, ["q3", "q7", "q14"]);
    assert_eq!(["/statements/2/rows", "/statements/3/rows"].map(|at| run.number(at)), [1.0, 1.0]);
    assert!(run.at("/metrics").get("geometric-mean").is_none(), "three are not all: {}", run.at("/metrics"));
    assert!(run.number("/metrics/set-time/value") > 0.0 && run.number("/metrics/queries-per-hour/value") > 0.0);
    assert_eq!(run.at("/query_plans").as_array().unwrap().len(), 3);
    let page = std::fs::read_to_string(run.path.join("report.html")).unwrap();
    assert!(["<h2>Queries", "Streams of stage throughput", "stream 2"].iter().all(|part| page.contains(part)));
    place.home.run(&["compare", "last", "last"]).ok();
    by_duckdb(&place);

    place.ask("update item set i_color = 'none' where i_item_sk = 1 returning 1");
    place.run("check tproc-ds").ended(12).prints(&["BROKEN digests", "table=item"]);
    place.run("drop tproc-ds").ok();
}

/// Runs some of DuckDB's texts, where it and its extension are installed.
fn by_duckdb(place: &Place) {
    let Some(python) = python(&["duckdb", "duckdb_extension_tpcds"], "has texts of queries") else { return };
    let target = place.target();
    let mut command = place.home.command(place.args(&target, "run tproc-ds --queries-from duckdb --queries 3,7,96"));
    // The program looks for `python3` in the PATH.
    let own = python.parent().map(Path::to_path_buf);
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env("PATH", std::env::join_paths(own.into_iter().chain(std::env::split_paths(&path))).unwrap());
    finish(command).ok().prints(&["q96"]);
    let run = place.home.runs().pop().unwrap();
    assert_eq!(run.number("/stages/0/groups/0/summary/committed"), 3.0);
    assert!(run.at("/statements").to_string().contains("i_manufact_id = 128"), "{}", run.at("/statements"));
}
