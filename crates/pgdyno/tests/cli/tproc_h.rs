//! `tproc-h`: one load, whose rows and answers are checked, and what runs on it.

use std::path::Path;

use serde_json::Value;

use crate::given_server::{Place, TRUST};
use crate::program::{Run, finish, json};
use crate::python::python;

const CONF: &str = "fsync = off\nshared_buffers = 256MB\nshared_preload_libraries = 'pg_stat_statements'\n";

/// From the start of the power stage to its first text, in seconds.
const FIRST_TEXT: &str = "/stages/0/groups/0/summary/first_text_s";

/// Asserts that set time and queries an hour begin with the first text that is sent (TPC-H 5.3.6), and that executions are within their
/// stages.
fn times_begin_with_the_first_text(run: &Run) {
    let text = std::fs::read_to_string(run.path.join("executions.csv")).unwrap();
    let executions: Vec<(&str, f64, f64)> = text
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[0], cells[3].parse().unwrap(), cells[4].parse().unwrap())
        })
        .collect();
    // Times in the file have six decimals.
    const ROUNDED: f64 = 2e-6;
    let span = |stage: &str| {
        let of_stage = || executions.iter().filter(|(name, ..)| *name == stage);
        let first = of_stage().map(|(_, start_s, _)| *start_s).fold(f64::INFINITY, f64::min);
        (first, of_stage().map(|(.., end_s)| *end_s).fold(0.0, f64::max))
    };
    for (nth, stage) in ["power", "throughput"].into_iter().enumerate() {
        let [from_s, until_s] = [0, 1].map(|end| run.number(&format!("/stages/{nth}/window_s/{end}")));
        let (first, last) = span(stage);
        assert!(
            from_s - ROUNDED <= first && last <= until_s + ROUNDED,
            "{stage}: {first} to {last} in {from_s} to {until_s}"
        );
    }
    let (first, last) = span("power");
    let set = run.number("/metrics/set-time/value");
    // The text is computed after the execution has begun, and sent then.
    assert!(set <= last - first + 0.001 && run.number(FIRST_TEXT) > 0.0, "{set}: {first} to {last}");
}

#[test]
fn answers_are_checked_and_a_set_has_figures_only_if_it_is_whole() {
    let Some(place) = Place::new("queries and answers", CONF, TRUST) else { return };
    place.home.run(&["plan", "tproc-h", "-s", "0.0005"]).ended(1).says(&["scale must be a number between 0.001 and"]);
    place
        .home
        .run(&["plan", "tproc-h", "-D", "queries=23"])
        .ended(1)
        .says(&["queries must be numbers between 1 and 22, or ranges of them,"]);
    place
        .home
        .run(&["plan", "tproc-h", "-D", "timeout=0"])
        .ended(1)
        .says(&["timeout must be a number between 0.001 and"]);
    place.home.run(&["plan", "tproc-h", "--timeout", "0"]).ended(1).says(&["it would cancel every query"]);
    place.home.run(&["run", "select-only", "--plans"]).ended(1).says(&["--plans explains the queries of tproc-h"]);
    place.home.run(&["check", "tpcb-like", "--oracle", "duckdb"]).ended(1).says(&["tpcb-like has none to compare"]);
    // Without a target it would be a private server, whose disk is this machine's.
    let short = ["scale 10,000 of tproc-h takes about", "the server's disk"];
    place.home.run(&["plan", "tproc-h", "-s", "10000"]).ok().prints(&short);
    if cfg!(target_os = "linux") {
        place.run("load tproc-h -s 10000").ended(11).says(&short).says(&["take a smaller --scale"]);
    }
    // A part has a supplier twice there.
    place.run("run tproc-h -s 0.001 --queries 2,16,20").ok().says(&["partsupp has no primary key", "loaded "]);
    place.run("drop tproc-h").ok();
    place.run("load tproc-h -s 0.01").ok().says(&["scale 0.01, about", "loaded 86,805 rows"]);
    place.run("check tproc-h").ok().prints(&["holds  answer of q16", "holds  digests"]);

    costs(&place);
    in_turns(&place);

    // The scale factor is that of what is loaded.
    place.run("run tproc-h -D streams=2 --no-refresh --plans").ok().prints(&[
        "s geometric mean",
        "queries/h",
        "s set time",
        "scale 0.01, power (1 client, ",
        "power ms  throughput mean ms  max ms  rows",
    ]);
    let run = place.home.runs().pop().unwrap();
    assert_eq!(run.checks_that_hold(), ["before the run", "after the run"]);
    assert_eq!([run.text("/stages/0/name"), run.text("/stages/1/name")], ["power", "throughput"]);
    let committed = ["/stages/0/groups/0/summary/committed", "/stages/1/groups/0/summary/committed"];
    assert_eq!(committed.map(|at| run.number(at)), [22.0, 44.0]);
    let [mean, set, hour] = ["geometric-mean", "set-time", "queries-per-hour"]
        .map(|metric| run.number(&format!("/metrics/{metric}/value")));
    assert!(mean > 0.0 && mean < set && hour > 0.0, "{mean} {set} {hour}");
    times_begin_with_the_first_text(&run);
    // Query 1 has four rows, whatever its parameter.
    assert_eq!(run.number("/statements/0/rows"), 4.0);

    let page = std::fs::read_to_string(run.path.join("report.html")).unwrap();
    assert!(
        ["<h2>Queries", "Streams of stage throughput", "stream 2", "plans of 22 queries"]
            .iter()
            .all(|part| page.contains(part))
    );
    assert_eq!(run.at("/query_plans").as_array().unwrap().len(), 22);
    assert!(run.number("/query_plans/0/execution_ms") > 0.0, "{}", run.at("/query_plans/0"));
    let plans = std::fs::read_to_string(run.path.join("plans.json")).unwrap();
    assert!(plans.contains("\"Node Type\"") && plans.contains("Actual Rows"), "{plans}");

    let beside = format!("answers beside those of run {}, which read the same rows:", run.text("/id"));
    place.run("check tproc-h").ok().prints(&[&beside, "holds  digest of q22"]);

    // A part of the queries is no set of 22.
    place
        .run("run tproc-h --queries 1,14 --repeat 3 --no-check --plans --set enable_hashjoin=off")
        .ok()
        .prints(&["s set time"]);
    let run = place.home.runs().pop().unwrap();
    assert!(run.at("/metrics").get("geometric-mean").is_none());
    let [set, whole, first] =
        ["/metrics/set-time/value", "/stages/0/groups/0/summary/duration_s", FIRST_TEXT].map(|at| run.number(at));
    assert!(
        (3.0 * set - (whole - first)).abs() < 1e-9
            && first > 0.0
            && run.number("/stages/0/groups/0/summary/committed") == 6.0
    );
    let [rows, first, mean] = ["rows", "first_row_ns_mean", "latency_ns/mean"]
        .map(|figure| run.number(&format!("/stages/0/groups/0/statements/0/{figure}")));
    assert!(rows == 12.0 && first > 0.0 && first <= mean, "{rows} {first} {mean}");

    // Query 1 has no join: only the plan of query 14 changes without hash joins.
    let changed = ["plans: 1 of 2 queries has a plan of another shape", "  q14 ", "joins: Hash Join → "];
    place.home.run(&["compare", "last-1", "last"]).ok().prints(&changed).prints(&["no interval for single tasks"]);
    place
        .run("run tproc-h --queries 1,14 --repeat 3 --no-check --set enable_hashjoin=off")
        .ok()
        .prints(&["95 % interval ms"]);
    let judged = ["BASE ms", "q14", "2 tasks are judged together, by Holm's method", "the same answers to 2 queries"];
    place.home.run(&["compare", "last-1", "last"]).ok().prints(&judged);

    timed_out(&place);

    place.ask("update lineitem set l_quantity = l_quantity + 1 where l_orderkey = 1 and l_linenumber = 1 returning 1");
    let wrong = ["answer of q1:", "row=3 column=sum_qty expected=742802.00 found=742803.00"];
    place.run("run tproc-h").ended(12).says(&["the data is broken before the run"]).says(&wrong);
    let broken =
        ["BROKEN answer of q1", "BROKEN digests", "table=lineitem", "BROKEN digest of q1", "of which some differ"];
    place.run("check tproc-h").ended(12).prints(&broken);
    let oracle = ["against DuckDB", "BROKEN answer of q1", "row=3 column=sum_qty expected=", "holds  answer of q22"];
    by_duckdb(&place, "-D queries=1,22", 12, &oracle);
    place.ask("update lineitem set l_quantity = l_quantity - 1 where l_orderkey = 1 and l_linenumber = 1 returning 1");
    sabotaged(&place);
    refreshed(&place);
    place.run("drop tproc-h").ok();

    // The answers are the same where two tables have partitions, of which query 6 reads one year.
    place.run("load tproc-h -s 0.01 --partitions month").ok().prints(&["holds  answer of q16"]);
    place.run("run tproc-h --queries 6 --no-check --plans").ok();
    let run = place.home.runs().pop().unwrap();
    assert!(run.text("/query_plans/0/scans/0/scan").ends_with(" of 12 partitions"), "{}", run.at("/query_plans"));
}

/// Queries that wait for a lock are cancelled at their time-out; others end, however slow the machine is.
fn timed_out(place: &Place) {
    let mut other = place.server.admin();
    other.execute("begin; lock table region").unwrap();
    place.run("run tproc-h -D timeout=2 --no-check --no-refresh").ended(2);
    other.execute("rollback").unwrap();
    let run = place.home.runs().pop().unwrap();
    assert_eq!([run.text("/status"), run.text("/errors/0/sqlstate")], ["invalid", "57014"]);
    let count = |txn: &Value, count: &str| txn[count].as_u64().unwrap();
    let queries = run.at("/transactions").as_array().unwrap();
    let failed: Vec<_> =
        queries.iter().filter(|txn| count(txn, "failed") == 1).map(|txn| txn["name"].clone()).collect();
    assert!(["q2", "q5", "q8"].iter().all(|query| failed.contains(&Value::from(*query))), "{failed:?}");
    // Each query is tried, whatever failed before it.
    assert_eq!(queries.iter().map(|txn| count(txn, "committed") + count(txn, "failed")).sum::<u64>(), 22);
    let warnings = run.at("/warnings").to_string();
    let warning = ["not every client of stage power ended ", "q2, ", "geometric-mean and set-time are left out"];
    assert!(warning.iter().all(|words| warnings.contains(words)), "{warnings}");
}

/// What queries cost beside time. Before PostgreSQL 14 they have no identifier by which the server counts them.
fn costs(place: &Place) {
    place.execute("create extension pg_stat_statements");
    let reported = place.run("run tproc-h --queries 6,9 --repeat 12 --no-check --set work_mem=64kB -v").ok();
    let run = place.home.runs().pop().unwrap();
    let [q6, q9] = ["q6", "q9"].map(|query| {
        let costs = run.at("/query_costs").as_array().unwrap();
        costs.iter().find(|cost| cost["query"] == query).cloned().unwrap_or_default()
    });
    if place.ask("select current_setting('server_version_num')::int >= 140000") == "t" {
        reported.prints(&["query  temp MiB", "temp: temporary files"]);
        assert_eq!(q6["temp_bytes_mean"].as_f64(), Some(0.0), "{q6}");
        assert!(q9["temp_bytes_mean"].as_f64() > Some(10_000.0), "{q9}");
    }
    if cfg!(target_os = "linux") {
        assert!(q9["memory_bytes_max"].as_u64() > Some(500_000), "{q9}");
        let executions = std::fs::read_to_string(run.path.join("executions.csv")).unwrap();
        let sampled = |line: &str| line.starts_with("power,0,q9,") && !line.ends_with(',');
        assert!(executions.lines().any(sampled), "{executions}");
    }
    place.execute("drop extension pg_stat_statements");
}

/// Query 17 reads a few lines by an index, or all of them again and again; query 6 reads all lines in any case.
fn in_turns(place: &Place) {
    let args =
        "ab tproc-h --queries 6,17 --no-refresh --b enable_indexscan=off --b enable_bitmapscan=off --budget 1s -q";
    place.run(args).ended(21).prints(&["each unit is four runs in turns"]);
    let files = std::fs::read_dir(place.home.join("pgdyno-results/ab")).unwrap().map(|file| file.unwrap().path());
    let file = files.into_iter().find(|path| path.extension().is_some_and(|end| end == "json")).unwrap();
    let record = json(&file);
    let tasks = record["units"][0]["tasks"].as_array().unwrap();
    assert_eq!(tasks.iter().map(|task| task["name"].as_str().unwrap()).collect::<Vec<_>>(), ["q6", "q17"]);
    let log_ratio = |nth: usize| tasks[nth]["log_ratio"].as_f64().unwrap();
    assert!(log_ratio(1) > 1.0 && log_ratio(1) > log_ratio(0), "{tasks:?}");
    assert!(record["tasks"].is_null(), "one unit shows nothing yet: {record}");
}

/// Compares the answers with DuckDB's, where it is installed.
fn by_duckdb(place: &Place, more: &str, code: i32, printed: &[&str]) {
    let is_installed =
        std::process::Command::new("duckdb").arg("--version").output().is_ok_and(|ran| ran.status.success());
    let python = if is_installed { None } else { python(&["duckdb"], "has the answers of another program") };
    if !is_installed && python.is_none() {
        return;
    }
    let target = place.target();
    let line = format!("check tproc-h --oracle duckdb {more}");
    let mut command = place.home.command(place.args(&target, line.trim_end()));
    // The program looks for `python3` in the PATH.
    let own = python.iter().filter_map(|python| python.parent()).map(Path::to_path_buf);
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env("PATH", std::env::join_paths(own.chain(std::env::split_paths(&path))).unwrap());
    finish(command).ended(code).prints(printed);
}

/// A query that computes something else on the right rows has a wrong answer. (A superuser would find the system's functions first.)
fn sabotaged(place: &Place) {
    place.execute(
        "create aggregate public.avg(numeric) (sfunc = numeric_larger, stype = numeric); create role reader login in role \
         pg_read_all_data; alter role reader set search_path = public, pg_catalog",
    );
    let wrong = ["answer of q1:", "row=1 column=avg_qty expected=25.58 found=50.00"];
    let target = place.target().replace("user=postgres", "user=reader");
    place.home.run(&place.args(&target, "run tproc-h --no-refresh")).ended(12).says(&wrong);
    assert_eq!(place.home.runs().pop().unwrap().text("/status"), "failed");
    place.execute("drop aggregate public.avg(numeric); drop role reader");
}

/// Pairs of refresh functions leave as many orders as before, and exactly those that tpchgen has, also after an
/// interruption.
fn refreshed(place: &Place) {
    let orders = "select count(*) || ' ' || count(*) filter (where o_orderkey / 8 % 4 = 1) from orders";
    let stamp = "select changes from pgdyno_stamp";
    place
        .run("run tproc-h -D streams=2")
        .ok()
        .prints(&["s geometric mean with refresh", "throughput (3 clients in 2 groups, "]);
    let run = place.home.runs().pop().unwrap();
    assert_eq!(run.checks_that_hold(), ["before the run", "after the run"]);
    let metrics = run.at("/metrics");
    for name in ["geometric-mean", "set-time", "queries-per-hour"] {
        assert!(
            metrics.get(name).is_none() && metrics.get(format!("{name}-with-refresh")).is_some(),
            "{name}: {metrics}"
        );
    }
    let committed = |at: &str| run.number(&format!("/stages/{at}/summary/committed"));
    assert_eq!(["0/groups/0", "1/groups/0", "1/groups/1"].map(committed), [24.0, 44.0, 4.0]);
    assert_eq!([place.ask(orders), place.ask(stamp)], ["15000 45", "refresh 3"]);
    place.run("check tproc-h").ok().prints(&["holds  refresh", "holds  digests"]);
    by_duckdb(place, "-D parameter-seed=7 -D queries=1,3,18", 0, &["holds  answer of q3", "holds  answer of q18"]);

    // A pair that fails in RF1 is undone, one that fails in RF2 is completed.
    for (event, end) in [("insert", ["15000 45", "refresh 3"]), ("delete", ["15000 60", "refresh 4"])] {
        place.execute(&format!(
            "create function fail() returns trigger language plpgsql as $$ begin if (select count(*) from orders) % 15 = \
             7 then raise 'no'; end if; return null; end $$; create trigger fail after {event} on orders execute \
             function fail()"
        ));
        place
            .run("run tproc-h --allow-schema-changes --queries all")
            .ended(2)
            .says(&["refresh 4, which was interrupted"]);
        place.execute("drop function fail cascade");
        assert_eq!([place.ask(orders), place.ask(stamp)], end, "{event}");
    }
    // As after kill -9.
    place.execute(
        "update pgdyno_stamp set changes = 'refresh 4 inserting'; insert into orders select 237, o_custkey, \
         o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment from orders where \
         o_orderkey = 9",
    );
    place.run("check tproc-h").ended(12).prints(&["BROKEN refresh", "refresh=interrupted: the next run repairs it"]);
    let repaired = place.run("run tproc-h --queries 6 -T 60").ok();
    repaired.says(&["undoing refresh 5, which was interrupted", "-T or -t has no effect on tproc-h"]);
    let warnings = place.home.runs().pop().unwrap().at("/warnings").to_string();
    assert!(warnings.contains("-T or -t has no effect on tproc-h"), "{warnings}");
    place.run("check tproc-h").ok().prints(&["holds  rows of lineitem", "holds  digests"]);
}
