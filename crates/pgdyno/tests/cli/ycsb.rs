//! YCSB's workloads on a server: one load, what runs on it, what is reported, and data of other programs. sysbench's, as far as they are
//! alike.

use crate::given_server::{Place, TRUST};

#[test]
fn what_cannot_be_meant_is_refused_before_anything_connects() {
    let home = crate::program::Home::new();
    let refused = |line: &str, words: &[&str]| {
        let ran = home.run(&line.split(' ').collect::<Vec<_>>()).ended(1);
        drop(ran.says(words));
    };
    refused("plan ycsb-a --records 0", &["records must be a whole number between 1 and 10000000000"]);
    refused("plan ycsb-a --distribution pareto", &["one of zipfian, uniform, latest, hotspot, exponential, zipf"]);
    refused("plan ycsb-b --schema json", &["schema must be one of jdbc, jsonb"]);
    refused("plan ycsb-a -s 5", &["--scale is an option of", "not of ycsb-a", "`pgdyno show ycsb-a` lists"]);
    refused("plan ycsb-c -D scan-length=5", &["has no parameter 'scan-length'"]);
    refused("plan oltp-read-write --tables 0", &["tables must be a whole number between 1 and 10000"]);
    refused("plan oltp-insert -D rand-type=normal", &["one of uniform, gaussian, special, pareto, zipfian"]);
    refused("plan tpcb-like --records 5", &["--records is an option of ycsb-a to ycsb-f, not of tpcb-like"]);
    refused(
        "plan ycsb-d --meet host=nowhere --agents 2 --target host=nowhere",
        &["ycsb-d share which records exist: it needs one driver"],
    );
    std::fs::write(home.join("own.sql"), "select 1").unwrap();
    refused(
        "plan own.sql --records 5",
        &["--records is an option of ycsb-a to ycsb-f, not of own.sql", "scripts take --scale (-s)"],
    );
    refused("plan own.sql --tables 5", &["--tables is an option of sysbench's workloads and ledger, not of own.sql"]);
}

#[test]
fn one_load_serves_all_six_and_a_missing_row_is_a_failure() {
    let Some(place) = Place::new("YCSB", "fsync = off\nshared_buffers = 64MB\n", TRUST) else { return };
    place.run("load ycsb-a --records 2000 --fields 4").ok().says(&["2,000 records, about", "loaded 2,000 rows"]);
    place.run("check ycsb-a").ok().prints(&["holds  fields"]);
    place.run("run ycsb-a --records 5 -T 1").ended(11).says(&["data of 2000 records; you asked for 5 records"]);

    let brief = "-c 2 -t 300";
    place
        .run(&format!("run ycsb-a --distribution hotspot {brief}"))
        .ok()
        .prints(&["ycsb-a, 2,000 records", "distribution hotspot"]);
    // What one run inserts the next one finds; what the table has gained is what the client counted.
    for id in ["ycsb-d", "ycsb-e"] {
        place.run(&format!("run {id} {brief}")).ok().prints(&["inserts: client and server counts match"]);
        let run = place.home.runs().pop().unwrap();
        let counts = ["by_client", "by_server"].map(|side| run.number(&format!("/server_counts/0/{side}")));
        assert!(counts[0] > 0.0 && counts[0] == counts[1], "{counts:?}");
        assert_eq!(run.number("/summary/failed"), 0.0);
    }
    place
        .run(&format!("run ycsb-f -D lost-updates=true -D read-modify-write=transaction {brief}"))
        .ok()
        .prints(&["read-modify-writes: client and server counts match"]);
    place
        .run("run ycsb-e -D scan-length=5000 -D expected-inserts=1 -c 3 -t 200")
        .ok()
        .says(&["scans of up to 5000 rows are longer than the table of 2000", "zipfian never draws those"]);

    // With a rate both latencies are reported.
    place.run(&format!("run ycsb-b -R 300 -L 500 {brief}")).ok();
    let lines =
        ["[READ], Operations, ", "[READ], 99thPercentileLatency(us), ", "[Intended-UPDATE], AverageLatency(us), "];
    place.home.run(&["report", "last", "--format", "ycsb"]).ok().prints(&lines);
    let block = ["queries performed:", "95th percentile:", "Service latency (ms):", "per sec.)", "Threads fairness:"];
    place.home.run(&["report", "last", "--format", "sysbench"]).ok().prints(&block);
    let run = place.home.runs().pop().unwrap();
    let by_client = |figure: &str| run.number(&format!("/summary/by_client/{figure}"));
    let committed = by_client("clients") * by_client("committed_mean");
    assert!((committed - run.number("/summary/committed")).abs() < 1e-6, "{}", run.at("/summary"));
    let response_s = by_client("clients") * by_client("response_s_mean");
    let mean_s = run.number("/summary/response_latency_ns/mean") / 1e9;
    assert!((response_s / committed / mean_s - 1.0).abs() < 0.01, "{response_s} {committed} {mean_s}");

    place.execute(
        "delete from usertable where ycsb_key > (select ycsb_key from usertable order by 1 offset 1500 limit 1)",
    );
    place.run(&format!("run ycsb-c --no-check {brief}")).prints(&["error 02000", "no row has this key"]);
    let run = place.home.runs().pop().unwrap();
    assert!(run.number("/summary/failed_by_class/data") > 0.0, "{}", run.at("/summary"));
}

#[test]
fn searches_experiments_and_suites_take_their_parameters() {
    let Some(place) = Place::new("YCSB in searches and experiments", "fsync = off\n", TRUST) else { return };
    place.run("load ycsb-d --records 1000 --fields 2").ok();
    // Slices insert, and each finds what those before it inserted.
    let sides = "--a param:distribution=latest --b param:distribution=uniform";
    place
        .run(&format!("ab ycsb-d -c 1 {sides} --slice 500ms --budget 1s --yes -q"))
        .ended(21)
        .prints(&["param:distribution latest → uniform"]);
    let inserts = |run: &crate::program::Run| {
        ["by_client", "by_server"].map(|side| run.record.pointer(&format!("/server_counts/0/{side}")).cloned())
    };
    let runs = place.home.runs();
    assert!(
        runs.iter().all(|run| inserts(run)[0] == inserts(run)[1]),
        "{:?}",
        runs.iter().map(inserts).collect::<Vec<_>>()
    );
    place
        .run("search ycsb-d --by clients --max 1 -T 1 --ramp 0 --slo mean<10s -q")
        .ok()
        .prints(&["most clients with mean < 10s: 1 client"]);

    let text = "name = 'kv'\ntargets = ['null']\n[[run]]\nwhat = 'ycsb-b'\ntransactions = 5\n\
                matrix.distribution = ['uniform', 'zipf']\n[[run]]\nwhat = 'oltp-read-only'\ntransactions = 5\n\
                tables = 2\nmatrix.clients = [1, 2]\n";
    std::fs::write(place.home.join("kv.toml"), text).unwrap();
    place.home.run(&["suite", "plan", "kv.toml"]).ok().prints(&[
        "ycsb-b.distribution=zipf@null #1",
        "oltp-read-only.clients=2@null #1",
        "--tables=2",
        "4 runs",
    ]);
}

#[test]
fn tables_of_other_programs_are_driven_or_refused_with_what_they_lack() {
    let Some(place) = Place::new("tables of other programs", "fsync = off\n", TRUST) else { return };
    place.run("load ycsb-a --records 500 --fields 3").ok();
    // As go-ycsb makes it.
    place.execute(
        "create table theirs (ycsb_key varchar(64) primary key, field0 varchar(100), field1 varchar(100), field2 varchar(100));
         insert into theirs select * from usertable",
    );
    place.run("drop ycsb-a").ok();
    place.execute("alter table theirs rename to usertable");
    let brief = "-c 2 -t 300";
    place
        .run(&format!("run ycsb-a --fields 3 {brief}"))
        .ok()
        .says(&["driving data loaded by YCSB as it is: 500 records"]);
    place.run(&format!("run ycsb-a {brief}")).ended(12).says(&[
        "the tables loaded by YCSB",
        "column usertable.field3 is missing",
        "--fields",
    ]);
    place
        .run(&format!("run ycsb-a --schema jsonb {brief}"))
        .ended(12)
        .says(&["column usertable.ycsb_value is missing"]);
    place
        .run(&format!("run ycsb-a --fields 3 --records 400 {brief}"))
        .ok()
        .says(&["driving data loaded by YCSB as it is: 400 records, the first of 500 keys"]);
    place
        .run("run ycsb-a --fields 3 --records 600 -T 1")
        .ended(11)
        .says(&["YCSB loaded 500 records; you asked for 600 records"]);

    // A sysbench table of another width, and one that is missing.
    place.execute(
        "create table sbtest1 (id integer primary key, k integer, c char(120)); insert into sbtest1 values (1, 1, 'x')",
    );
    place
        .run(&format!("run oltp-point-select {brief}"))
        .ended(12)
        .says(&["the tables loaded by sysbench", "column sbtest1.pad is missing"]);
    place.run(&format!("run oltp-point-select --tables 2 {brief}")).ended(11).says(&["are missing: sbtest2"]);
}
