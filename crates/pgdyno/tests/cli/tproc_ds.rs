//! `tproc-ds`: one load, whose rows are checked, and what runs on it.

use std::path::{Path, PathBuf};

use rustix::process::Signal;

use crate::given_server::{Place, TRUST};
use crate::program::{PATIENCE, eventually, finish, json};
use crate::python::{self, python};

const CONF: &str = "fsync = off\nshared_buffers = 256MB\n";

/// Three queries of the tests' own: one with parameters, one without, one of two statements.
const QUERIES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../pgdyno-workloads/src/tproc_ds/fixtures");

/// Compares answers with DuckDB's to its own texts.
const COMPARE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../pgdyno-workloads/src/tproc_ds/questions/compare.py");

/// Statements of the 99 questions: four of them have two.
const STATEMENTS: u32 = 103;

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
    killed(&place);
    place.run("load tproc-ds -s 0.01 --resumable").ok().says(&[
        "scale 0.01, about",
        "resuming: ",
        "loaded 2,608,765 rows",
    ]);
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
    all_questions(&place);
    timed_out(&place);
    in_turns(&place);
    by_duckdb(&place);
    // Each finds rows at this scale. A class of question 12 has sold for nothing, a day of 51 has sales without a price.
    compared_with_duckdb(&place, &["3", "12", "14", "51", "67", "78"], 7);

    place.ask("update item set i_color = 'none' where i_item_sk = 1 returning 1");
    place.run("check tproc-ds").ended(12).prints(&["BROKEN digests", "table=item"]);
    place.run("drop tproc-ds").ok();
}

#[test]
#[ignore = "loads 2.5 GiB: .ci/nightly"]
fn answers_at_scale_factor_1_are_duckdb_s() {
    let conf = "fsync = off\nshared_buffers = 1GB\nwork_mem = 256MB\nmax_wal_size = 2GB\nwal_level = minimal\nmax_wal_senders = 0\n";
    let Some(place) = Place::new("all answers of tproc-ds", conf, TRUST) else { return };
    place.run("load tproc-ds -s 1").ok().prints(&["holds  answer of q1 ", "holds  answer of q99"]);
    place.run("check tproc-ds -D queries=1").ok().prints(&["holds  digests"]);
    all_questions(&place);
    compared_with_duckdb(&place, &[], STATEMENTS);
}

/// A load ends by SIGKILL when it has committed some of its rows.
fn killed(place: &Place) {
    let loading = place.start("load tproc-ds -s 0.01 --resumable");
    let any =
        || place.server.admin().query_one("select exists (select from customer_demographics where ctid < '(1,0)')");
    eventually("some rows are there", PATIENCE, || any().is_ok_and(|any| any == "t"));
    loading.signal(Signal::KILL);
    assert_eq!(loading.end().code, None);
}

/// Every question runs on this version of PostgreSQL, with two sets of parameters.
fn all_questions(place: &Place) {
    place.run("run tproc-ds --no-check --streams 1 --timeout 600").ok();
    let run = place.home.runs().pop().unwrap();
    let committed = ["/stages/0/groups/0/summary/committed", "/stages/1/groups/0/summary/committed"];
    assert_eq!(committed.map(|at| run.number(at)), [99.0, 99.0]);
    let [mean, set] = ["geometric-mean", "set-time"].map(|metric| run.number(&format!("/metrics/{metric}/value")));
    assert!(mean > 0.0 && mean < set, "{mean} {set}");
}

/// A query that waits for a lock is cancelled at its time-out, and the next one is tried.
fn timed_out(place: &Place) {
    let mut other = place.server.admin();
    other.execute("begin; lock table item").unwrap();
    place.run("run tproc-ds --queries 3,96 --timeout 5 --no-check").ended(2);
    other.execute("rollback").unwrap();
    let run = place.home.runs().pop().unwrap();
    assert_eq!([run.text("/status"), run.text("/errors/0/sqlstate")], ["invalid", "57014"]);
    assert_eq!(run.number("/stages/0/groups/0/summary/committed"), 1.0);
    let warnings = run.at("/warnings").to_string();
    let parts = ["the statement took longer than --timeout", "set-time are left out"];
    assert!(parts.iter().all(|part| warnings.contains(part)), "{warnings}");
}

/// An experiment on a copy of the database judges each query.
fn in_turns(place: &Place) {
    let args = "ab tproc-ds --queries 3,96 --from-template --b enable_hashjoin=off --budget 1s -q";
    place.run(args).ended(21).prints(&["each unit is four runs in turns"]);
    let files = std::fs::read_dir(place.home.join("pgdyno-results/ab")).unwrap().map(|file| file.unwrap().path());
    let record = json(&files.into_iter().find(|path| path.extension().is_some_and(|end| end == "json")).unwrap());
    let tasks = record["units"][0]["tasks"].as_array().unwrap();
    assert_eq!(tasks.iter().map(|task| task["name"].as_str().unwrap()).collect::<Vec<_>>(), ["q3", "q96"]);
}

/// Compares the answers of these questions, or of all, with DuckDB's over the same rows, where it is installed.
fn compared_with_duckdb(place: &Place, questions: &[&str], statements: u32) {
    let Some(python) = duckdb() else { return };
    let output = python::program(python).args([COMPARE, &place.target(), "server"]).args(questions).output().unwrap();
    let [printed, failed] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    let all = format!("equal: {statements} of {statements} statements\n");
    assert!(output.status.success() && printed.ends_with(&all), "{printed}{failed}");
}

/// Returns a Python that has DuckDB with its texts of the questions, and a client for PostgreSQL.
fn duckdb() -> Option<PathBuf> {
    python(&["duckdb", "duckdb_extension_tpcds", "psycopg"], "has texts of queries and their answers")
}

/// Runs some of DuckDB's texts, where it and its extension are installed.
fn by_duckdb(place: &Place) {
    let Some(python) = duckdb() else { return };
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
