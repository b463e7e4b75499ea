//! `ch-benchmark`: transactions of tproc-c and queries side by side, on data that is there.

use crate::given_server::{Place, TRUST};
use crate::program::Run;
use crate::server::TestServer;

const REPLICATION: &str = "local all all trust\nlocal replication all trust\n";

#[test]
fn transactions_and_queries_run_on_a_loaded_tproc_c_and_each_alone() {
    let Some(place) = Place::with_warehouse("transactions and queries", "fsync = off\nshared_buffers = 256MB\n", TRUST)
    else {
        return;
    };
    place.run("plan ch-benchmark -c 2").ok().prints(&["mixed", "olap: 1 client"]);
    let ran = place.run("run ch-benchmark -c 2 --streams 2 --queries 1,6,22 -T 2 --ramp 500ms --alone").ok();
    ran.says(&[
        "loading ch-benchmark with 10,000 suppliers",
        "; creates region, nation, supplier, ch_markers and pgdyno_stamp",
    ])
    .prints(&["NOPM", "queries/h", "mixed: olap", "at first size", "q22 returned no rows: every customer has an order"])
    .prints(&["together: NOPM", "sets of all queries ended"]);
    let run = place.home.the_run();
    assert_eq!((run.text("/status"), run.checks_that_hold().last()), ("complete", Some(&"after the run")));
    assert_eq!(run.at("/load/tables").as_array().unwrap().len(), 4, "tproc-c was there");

    // The main figures are those of the transactions.
    let group = |nth: usize, figure: &str| run.number(&format!("/stages/0/groups/{nth}/summary/{figure}"));
    assert_eq!(run.number("/summary/committed"), group(0, "committed"));
    assert!(group(1, "committed") > 0.0 && run.number("/metrics/nopm/value") > 0.0);
    let [hour, alone] =
        ["analytics-per-hour", "analytics-per-hour-alone"].map(|m| run.number(&format!("/metrics/{m}/value")));
    let seconds = run.number("/stages/0/groups/1/summary/duration_s");
    assert!((hour - group(1, "committed") / seconds * 3600.0).abs() < 1.0 && alone > 0.0, "{hour} {alone}");
    assert!(run.at("/metrics").get("analytics-time").is_none(), "a part of the queries has no mean of 22");

    // What the driver's threads do for streams is counted apart: the clients' time has none of it.
    let busy: f64 = run.at("/client/thread_busy").as_array().unwrap().iter().filter_map(|busy| busy.as_f64()).sum();
    let beside = run.number("/client/beside_busy");
    assert!(beside > 0.0 && beside < busy, "{beside} of {busy}");

    // Queries have their times by the rows that they met.
    let streams = run.at("/analytics/stages/0");
    assert_eq!((streams["stage"].as_str(), streams["streams"].as_u64()), (Some("mixed"), Some(2)));
    assert_eq!(run.at("/analytics/stages").as_array().unwrap().len(), 2);
    let [before, after] = ["rows_before", "rows_after"].map(|rows| run.number(&format!("/analytics/growth/{rows}")));
    let orders = run.number("/metrics/nopm/workload/by_client");
    assert_eq!((before, after - before), (300_000.0, 10.0 * orders));
    for query in streams["queries"].as_array().unwrap() {
        let time = |name: &str| query[name].as_f64().unwrap();
        assert!(time("seconds_p50_by_growth") <= time("seconds_p50"), "{query}");
        assert!(time("seconds_p50") <= time("seconds_p95") && time("completed") > 0.0, "{query}");
    }
    let executions = std::fs::read_to_string(run.path.join("executions.csv")).unwrap();
    assert!(executions.lines().skip(1).all(|line| line.contains(",q")), "transactions are not kept one by one");
    let page = std::fs::read_to_string(run.path.join("report.html")).unwrap();
    assert!(page.contains("Streams of stage mixed") && page.contains("oltp a second, at most"));

    // Better is only what is better in both.
    place.run("run ch-benchmark -c 2 --streams 2 --queries 1,6,22 -T 1 --ramp 0 --no-check").ok();
    let compared = place.home.run(&["compare", "last", "last-1", "--anyway", "--run-noise", "1%"]);
    compared.prints(&["one run is better than another only if both"]);
    let one_figure = ["ab", "ch-benchmark", "-w", "1", "--a", "clients=1", "--b", "clients=2"];
    place.home.run(&one_figure).ended(1).says(&["an experiment decides by one figure, and ch-benchmark has two"]);

    // The same tables are tproc-c's.
    place.run("check tproc-c").ok();
    place.run("run tproc-c -c 1 -t 20 --no-check").ok();
    place.execute("update supplier set su_nationkey = 55 where su_suppkey = 5");
    place.run("run ch-benchmark -c 1 -T 1 --ramp 0 --queries 6").ok();
    place.execute("update supplier set su_nationkey = 1000 where su_suppkey = 5");
    place.run("check ch-benchmark").ended(12).prints(&["BROKEN ch-keys", "table=supplier key=5 refers_to=1000"]);
    place.run("drop ch-benchmark").ok();
    assert_eq!(
        place.ask("select count(*) from pg_tables where schemaname = 'public' and tablename <> 'pgdyno_stamp'"),
        "0"
    );
}

/// The findings of a run by their rules, each in one text.
fn findings(run: &Run) -> Vec<(String, String)> {
    let findings = run.at("/findings").as_array().unwrap().iter();
    findings.map(|found| (found["rule"].as_str().unwrap().to_owned(), found.to_string())).collect()
}

#[test]
fn what_streams_do_to_transactions_is_found_and_they_are_none_of_the_clients() {
    let conf =
        "fsync = off\nshared_buffers = 48MB\nshared_preload_libraries = 'pg_stat_statements'\nautovacuum = off\n";
    let Some(place) = Place::with_suppliers("what streams do to transactions", conf, TRUST) else { return };
    place.execute("create extension pg_stat_statements");
    let run = |args: &str| {
        place.run(&format!("run ch-benchmark --no-check --ramp 0 {args}")).ok();
        let run = place.home.runs().pop().unwrap();
        // The parts are of the clients' time: streams have none of it.
        let parts = run.at("/clients_time").as_array().unwrap().clone();
        let sum: f64 = parts.iter().filter_map(|part| part["share"].as_f64()).sum();
        assert!((0.97..1.01).contains(&sum) && !run.at("/clients_time").to_string().contains("temporary"), "{parts:?}");
        (findings(&run), run)
    };
    let found = |found: &[(String, String)], rule: &str| {
        found
            .iter()
            .find(|(of, _)| of == rule)
            .map(|(_, text)| text.clone())
            .unwrap_or_else(|| panic!("no {rule}: {found:?}"))
    };
    let lacks =
        |found: &[(String, String)], rule: &str| assert!(found.iter().all(|(of, _)| of != rule), "{rule}: {found:?}");

    // Sorts without memory.
    let (all, _) = run("-c 1 --streams 2 --queries 16 --query-form citus -T 3 --analytics-set work_mem=64kB");
    let memory = found(&all, "stream-memory");
    assert!(memory.contains("work_mem (64kB)") && memory.contains("--analytics-set work_mem="), "{memory}");
    lacks(&all, "temp-files");

    // Nested loops keep each stream busy for as long as the run, with snapshots of its age and the workers of all scans.
    let gather = "--analytics-set max_parallel_workers_per_gather=2 --analytics-set max_parallel_workers=2 \
                  --analytics-set parallel_setup_cost=0 --analytics-set parallel_tuple_cost=0 \
                  --analytics-set min_parallel_table_scan_size=0 --analytics-set jit=off";
    let loops = ["hashjoin", "mergejoin", "indexscan", "indexonlyscan", "bitmapscan"];
    let loops = loops.map(|path| format!("--analytics-set enable_{path}=off")).join(" ");
    let (all, run_of_loops) = run(&format!("-c 1 --streams 2 --queries 5 -T 7 --grace 0.1 {gather} {loops}"));
    let snapshots = found(&all, "stream-snapshots");
    assert!(snapshots.contains("the oldest snapshot in") && snapshots.contains("--analytics-target"), "{snapshots}");
    let workers = found(&all, "stream-workers");
    assert!(workers.contains("2 streams may ask for 4 parallel workers at once, and 2 may work"), "{workers}");
    ["old-snapshot", "parallel-workers"].iter().for_each(|rule| lacks(&all, rule));
    assert_eq!(run_of_loops.text("/analytics/stages/0/unfinished/0/name"), "q5");

    // Index scans over whole tables displace the blocks of transactions that do not fit anyway.
    let scans = "--analytics-set enable_seqscan=off --analytics-set enable_bitmapscan=off --analytics-set jit=off";
    let (all, _) = run(&format!("-c 1 --streams 2 --queries 1,6 -T 3 {scans}"));
    let displaced = found(&all, "displaced-cache");
    assert!(displaced.contains("of the blocks of transactions were in shared buffers"), "{displaced}");
    assert!(displaced.contains("blocks from outside shared buffers: "), "{displaced}");
}

/// A target of a server that command lines can have without quotes.
fn uri(server: &TestServer) -> String {
    format!("postgresql:///postgres?host={}&port={}&user=postgres", server.dir().display(), server.port)
}

#[test]
fn what_queries_see_on_a_standby_has_an_age() {
    let conf = "fsync = off\nshared_buffers = 128MB\nautovacuum = off\n";
    let Some(place) = Place::with_suppliers("queries on a standby", conf, REPLICATION) else { return };
    let standby = TestServer::standby_of(&place.server);
    let set = |server: &TestServer, settings: &str| {
        for setting in settings.split(", ") {
            server.admin().execute(&format!("alter system set {setting}")).unwrap();
        }
        server.admin().execute("select pg_reload_conf()").unwrap();
    };
    let run = |args: &str| {
        let args = format!("run ch-benchmark -c 2 --no-check --analytics-target {} {args}", uri(&standby));
        place.run(&args).ok();
        place.home.runs().pop().unwrap()
    };
    // What was replayed two seconds late is at least as old, also to a query without rows.
    set(&standby, "recovery_min_apply_delay = '2s'");
    let late = run("-R 50 -T 2 --ramp 3 --queries 1,22");
    let fresh = |run: &Run, figure: &str| run.number(&format!("/analytics/stages/0/freshness/{figure}"));
    assert!(fresh(&late, "queries") > 0.0 && fresh(&late, "fresh") == 0.0, "{}", late.at("/analytics/stages/0"));
    assert!(fresh(&late, "age_s_p50") >= 1.9 && fresh(&late, "age_s_max") >= fresh(&late, "age_s_p50"));
    assert_eq!(late.at("/analytics/server/place/standby").as_bool(), Some(true));
    assert_eq!(late.text("/analytics/server/settings/recovery_min_apply_delay"), "2s");
    assert!(late.at("/plan/params/markers").as_str() == Some("true") && late.number("/metrics/nopm/value") > 0.0);
    let reported = place.home.run(&["report", "last"]).ok();
    reported.prints(&["age of the answers: p50 ", "recovery_min_apply_delay 2s", "its replay was up to "]);

    // A commit that waits for the replay is seen by every query after it.
    set(&standby, "recovery_min_apply_delay = 0");
    set(&place.server, "synchronous_standby_names = '*', synchronous_commit = remote_apply");
    let applied = run("-R 50 -T 2 --ramp 1 --queries 6");
    assert!(fresh(&applied, "queries") > 0.0, "{}", applied.at("/analytics"));
    assert_eq!(fresh(&applied, "fresh"), fresh(&applied, "queries"), "{}", applied.at("/analytics"));
    set(&place.server, "synchronous_standby_names = '', synchronous_commit = on");

    // A standby that does not wait cancels queries: they are counted apart, and the run is no failure.
    set(&standby, "max_standby_streaming_delay = 0");
    let cancelled = run("-T 3 --ramp 1 --queries 5,10,18");
    let queries = cancelled.at("/analytics/stages/0/queries").as_array().unwrap();
    let conflicts: u64 = queries.iter().filter_map(|query| query["conflicts"].as_u64()).sum();
    assert!(conflicts > 0 && queries.iter().all(|query| query["failed"].as_u64() == Some(0)), "{queries:?}");
    assert_eq!(cancelled.text("/status"), "complete");
    assert!(cancelled.at("/analytics/server/conflicts").as_object().is_some_and(|kinds| !kinds.is_empty()));
    place.home.run(&["report", "last"]).ok().prints(&["the standby cancelled"]);
}

#[test]
fn a_server_of_queries_that_cannot_have_the_same_data_is_refused_before_anything_is_done() {
    let Some(place) = Place::new("the server of queries", "fsync = off\n", REPLICATION) else { return };
    let other = TestServer::start("fsync = off\n", TRUST);
    let run = |args: &str| place.run(&format!("run ch-benchmark -w 1 -c 1 -T 1 --ramp 0 {args}"));
    let to = |server: &TestServer| format!("--analytics-target {}", uri(server));
    run(&to(&other))
        .ended(1)
        .says(&["is no standby any more: it was promoted, or is a copy"])
        .says(&["name a hot standby of --target"]);
    run(&to(&place.server)).ended(1).says(&["is the server of --target itself, where every query sees all"]);
    run("--analytics-target embedded").ended(1).says(&["is no server that could have the same data as the target"]);
    run("--analytics-target host=/nowhere").ended(1).says(&["/nowhere"]);
    run(&format!("{} --mode simple", to(&other))).ended(1).says(&["query mode simple", "-D markers=false"]);
    run(&format!("{} --streams 0", to(&other))).ended(1).says(&["is for queries beside transactions, and this run"]);
    run("--analytics-set work_mem=1GB --connections 2").ended(1).says(&["gives queries connections of their own"]);
    place.run("run select-only -s 1 --analytics-set work_mem=1GB").ended(1).says(&["run ch-benchmark with --streams"]);
    run("--streams 900").ended(1).says(&["you asked for 901 clients", "lower --clients or --streams"]);
    run("--analytics-set statement_timeout=no").ended(1).says(&["statement_timeout"]);
    // The standby of another primary has the same tables, perhaps, and never the same commits.
    let unlike = TestServer::start_unlike_others("fsync = off\n", REPLICATION);
    let standby = TestServer::standby_of(&unlike);
    run(&to(&standby)).ended(1).says(&["is a standby of another primary: its system identifier is"]);
    run(&to(&unlike)).ended(1).says(&["is another primary: its system identifier is"]);
    assert_eq!(place.ask("select count(*) from pg_tables where tablename = 'supplier'"), "0");

    // Settings are those of the queries' sessions only.
    place
        .run("run ch-benchmark -w 1 -c 1 -T 1 --ramp 0 --queries 16 --no-check --analytics-set statement_timeout=1")
        .ended(2);
    let run = place.home.runs().pop().unwrap();
    let query = run.at("/analytics/stages/0/queries/0");
    assert!(query["timed_out"].as_u64() > Some(0) && run.number("/summary/failed") == 0.0, "{query}");
    assert_eq!(run.text("/plan/analytics/settings/statement_timeout"), "1");
}

#[test]
fn a_frontier_measures_each_point_on_the_same_data_and_goes_on_where_it_ended() {
    let Some(place) = Place::with_suppliers("a frontier", "fsync = off\nshared_buffers = 128MB\n", TRUST) else {
        return;
    };
    let none = ["has no queries beside transactions"];
    place.run("frontier select-only -s 1").ended(1).says(&none);
    place.home.run(&["frontier", "--resume", "none"]).ended(1).says(&["no record 'none' in pgdyno-results/frontiers"]);
    place.run("frontier ch-benchmark -w 1 --rate 5").ended(1).says(&["a frontier has several rates"]);
    let unknown = place.home.run(&["frontier", "ch-benchmark", "-w", "1", "--slo", "neword p99 < 1ms"]).ended(1);
    unknown.says(&["'neword' is not one of new-order, payment, order-status, delivery, stock-level"]);
    let options = "-w 1 -c 2 -T 1 --ramp 0 --queries 6,13 --no-check --max-streams 1";
    // The time is over before the second point.
    let first = place.run(&format!("frontier ch-benchmark {options} --budget 1")).ok();
    first.says(&["highest rate, closed loop without queries"]).prints(&["stopped: budget exhausted", "1 of 9 points"]);
    let rows = place.ask("select count(*) from orders");
    assert_eq!(rows, "30000", "runs work on copies");
    let begun = place.home.runs().len();
    place.home.run(&["frontier", "--resume", "last", "--slo", "p99 < 1ms"]).ended(1).says(&["--resume continues"]);
    let ran = place.home.run(&["frontier", "--resume", "last"]).ok();
    ran.prints(&["area below the frontier: ", "9 of 9 points", "each run had a fresh copy of the same data", "100 %"]);
    let shown = place.home.run(&["frontier", "--resume", "last", "--format", "json"]).ok();
    crate::schemas::validate_one("frontier", &shown.stdout);
    assert_eq!(place.home.runs().len() - begun, 8, "no point is measured again");

    let found: Vec<_> = std::fs::read_dir(place.home.join("pgdyno-results/frontiers")).unwrap().flatten().collect();
    let path = |end: &str| found.iter().map(|file| file.path()).find(|path| path.extension().is_some_and(|e| e == end));
    let record = crate::program::json(&path("json").unwrap());
    assert_eq!(record["ended"].as_str(), Some("complete"));
    let points = record["points"].as_array().unwrap();
    for point in points {
        let [tps, hour] = ["tps", "queries_per_hour"].map(|name| point[name][0].as_f64().unwrap());
        // In a second of a slow machine nothing may end.
        assert!(tps == 0.0 || point["share"].as_f64() > Some(0.0), "{point}");
        assert!(hour == 0.0 || point["streams"].as_u64() > Some(0), "{point}");
    }
    let area = record["result"]["area"].as_f64().unwrap();
    // On a busy machine one point may be the best of both.
    assert!(area > 0.0 && area <= 1.0 && !record["result"]["hull"].as_array().unwrap().is_empty(), "{area}");
    let page = std::fs::read_to_string(path("html").unwrap()).unwrap();
    assert_eq!((page.matches("<circle").count(), page.contains("the frontier of transactions and queries")), (9, true));
    let databases = place.ask("select count(*) from pg_database where not datistemplate");
    assert_eq!(databases, "1", "copies are gone");
}
