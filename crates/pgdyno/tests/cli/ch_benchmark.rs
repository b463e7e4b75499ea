//! `ch-benchmark`: transactions of tproc-c and queries side by side, on data that is there.

use crate::given_server::{Place, TRUST};

#[test]
fn transactions_and_queries_run_on_a_loaded_tproc_c_and_each_alone() {
    let Some(place) = Place::new("transactions and queries", "fsync = off\nshared_buffers = 256MB\n", TRUST) else {
        return;
    };
    place.run("load tproc-c -w 1").ok();
    place.run("plan ch-benchmark -c 2").ok().prints(&["mixed", "olap: 1 client"]);
    let ran = place.run("run ch-benchmark -c 2 --streams 2 --queries 1,6,22 -T 3 --ramp 1 --alone").ok();
    ran.says(&["loading ch-benchmark with suppliers 10,000", "creates tables region, nation, supplier"])
        .prints(&[
            "NOPM",
            "queries/h",
            "mixed: olap",
            "at first size",
            "q22 returned no rows: every customer has an order",
        ])
        .prints(&["together: NOPM", "sets of all queries ended"]);
    let run = place.home.the_run();
    assert_eq!((run.text("/status"), run.checks_that_hold().last()), ("complete", Some(&"after the run")));
    assert_eq!(run.at("/load/tables").as_array().unwrap().len(), 3, "tproc-c was there");

    // The main figures are those of the transactions.
    let group = |nth: usize, figure: &str| run.number(&format!("/stages/0/groups/{nth}/summary/{figure}"));
    assert_eq!(run.number("/summary/committed"), group(0, "committed"));
    assert!(group(1, "committed") > 0.0 && run.number("/metrics/nopm/value") > 0.0);
    let [hour, alone] =
        ["analytics-per-hour", "analytics-per-hour-alone"].map(|m| run.number(&format!("/metrics/{m}/value")));
    let seconds = run.number("/stages/0/groups/1/summary/duration_s");
    assert!((hour - group(1, "committed") / seconds * 3600.0).abs() < 1.0 && alone > 0.0, "{hour} {alone}");
    assert!(run.at("/metrics").get("analytics-time").is_none(), "a part of the queries has no mean of 22");

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

    // The same tables are tproc-c's.
    place.run("check tproc-c").ok();
    place.run("run tproc-c -c 1 -T 1 --ramp 0 --no-check").ok();
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
