//! The directories that are a part of the program, and scripts of one's own on the tables of built-in workloads.

use crate::given_server::{Place, TRUST};
use crate::own::{tables, write};
use crate::program::{Home, Run};
use crate::server;

/// Names, the options of small data, and what QPS counts in a transaction.
const WORKLOADS: [(&str, &str, f64); 5] = [
    ("index-insert", "-s 1", 1.0),
    ("polardb-ro", "-s 1", 1.0),
    ("polardb-rw", "-s 1", 5.0),
    ("sensor-1", "-D rows=1000", 3.0),
    ("sensor-2", "-D rows=1000", 3.0),
];

const HISTORY_INDEXES: &str = "select string_agg(indexname, ' ' order by indexname) from pg_indexes \
     where tablename = 'pgbench_history'";

fn last(place: &Place) -> Run {
    place.home.runs().pop().unwrap()
}

#[test]
fn each_lives_the_whole_life_cycle() {
    let Some(place) = Place::new("the program's own directories", "", TRUST) else { return };
    for (name, size, queries) in WORKLOADS {
        place.run(&format!("load {name} {size}")).ok().prints(&["holds"]);
        place.run(&format!("run {name} --replace {size} -c 2 -t 100")).ok().prints(&[name, "TPS"]);
        let run = last(&place);
        assert_eq!((run.text("/status"), run.text("/plan/workload")), ("complete", name));
        assert_eq!(run.number("/summary/committed"), 200.0, "{name}");
        let (qps, tps) = (run.number("/summary/qps"), run.number("/summary/tps"));
        assert!((qps / tps - queries).abs() < 1e-6, "{name}: {qps} QPS at {tps} TPS");
        assert_eq!(run.checks_that_hold(), ["after the load", "after the run"], "{name}");
        let (sql, expected) = match name {
            "index-insert" => (
                "select count(*) || ' ' || (max(aid) > 1e6 and max(bid) > 1e6 and max(tid) > 1e6 and min(aid) > 0 \
                 and min(delta) < -1e6 and max(delta) > 1e6) from pgbench_history",
                "200 true",
            ),
            "polardb-ro" => ("select count(*) from pgbench_history", "0"),
            "polardb-rw" => ("select count(*) from pgbench_history", "200"),
            "sensor-1" => ("select count(*) from sensor_log", "200"),
            _ => ("select count(*) from sensor_log", "1200"),
        };
        assert_eq!(place.ask(sql), expected, "{name}");
        place.run(&format!("check {name}")).ok();
        place.run(&format!("drop {name}")).ok().prints(&["dropped table"]);
        assert_eq!(tables(&place), "", "{name}");
    }
}

#[test]
fn indexes_on_the_history_are_another_data_set() {
    let Some(place) = Place::new("indexes on the history", "", TRUST) else { return };
    place.run("run index-insert -s 1 -c 2 -t 20 -D keys=100 -D delta_max=7").ok();
    assert_eq!(place.ask("select max(aid) <= 100 and max(abs(delta)) <= 7 from pgbench_history"), "t");
    let indexes = "pgbench_history_aid_idx pgbench_history_bid_idx pgbench_history_delta_idx \
                   pgbench_history_mtime_idx pgbench_history_tid_idx";
    assert_eq!(place.ask(HISTORY_INDEXES), indexes);
    // What is not said is as it was loaded.
    place.run("run tpcb-like -c 2 -t 20").ok();
    assert_eq!((last(&place).record.get("load"), last(&place).text("/plan/params/history-indexes")), (None, "true"));
    let other = "holds data of pgbench with history-indexes=true; you asked for history-indexes=false";
    place.run("run tpcb-like -c 2 -t 20 -D history-indexes=false").ended(11).says(&[other, "--replace"]);
    place.run("run index-insert -D history-indexes=false").ended(1).says(&["history-indexes must be one of true"]);

    place.execute("drop index pgbench_history_bid_idx");
    place.run("run index-insert -c 2 -t 20").ended(12).says(&["history-indexes", "without_index=bid"]);

    // What needs the indexes does not do without them.
    place.run("run select-only -s 1 -c 2 -t 20 -D history-indexes=false --replace").ok();
    assert_eq!(place.ask(&format!("select ({HISTORY_INDEXES}) is null")), "t");
    let plain = "data set pgbench with scale=1 (version";
    place.run("run index-insert -c 2 -t 20").ended(11).says(&["index-insert needs data", plain, "--replace"]);
    // The same tables under other scripts.
    place.run("run polardb-ro -c 2 -t 20").ok();
    assert!(last(&place).record.get("load").is_none());
    // As if another program had made them: it is not asked for indexes that it does not know, and their lack is reported.
    for table in ["accounts", "branches", "history", "tellers"] {
        place.execute(&format!("comment on table pgbench_{table} is null"));
    }
    let warning = "condition history-indexes does not hold before the run";
    place.run("run index-insert -c 2 -t 20").ok().says(&[
        "driving data loaded by another program as it is",
        warning,
        "leads a valid index",
    ]);
    place.run("drop index-insert --force").ok();
    place.run("run index-insert -s 1 -c 2 -t 20").ok();
    assert_eq!(place.ask(HISTORY_INDEXES), indexes);
}

#[test]
fn accounts_are_drawn_from_the_middle_of_the_hot_range() {
    let Some(place) = Place::new("hot ranges", "", TRUST) else { return };
    for (range, first, last) in [("", 1, 100_000), ("-D range=300", 1, 300), ("-D range=2000000000", 1, 100_000)] {
        place.run(&format!("run polardb-rw -s 1 -c 2 -t 100 {range}").trim_end().replace("  ", " ")).ok();
        let third = (last - first) / 3;
        let middle = place.ask(&format!(
            "select min(aid) >= {first} and max(aid) <= {last} and max(aid) > {third} \
             and avg((aid between {} and {})::int) > 0.9 from pgbench_history",
            first + third,
            last - third
        ));
        assert_eq!(middle, "t", "{range}");
    }
}

const MINE: &str = "\
summary = 'steps'
[data]
workload = 'simple-update'
[params]
step = 3
[[script]]
file = 'up.sql'
[[check]]
name = 'tellers'
unchanged = true
sql = 'select count(*) from pgbench_tellers'
";

#[test]
fn scripts_of_ones_own_work_on_the_tables_of_a_built_in_workload() {
    let Some(place) = Place::new("scripts on built-in tables", "", TRUST) else { return };
    let up = "\\set aid random(1, 100000 * :scale)\nbegin;\n\
              update pgbench_accounts set abalance = abalance + :step where aid = :aid;\n\
              insert into pgbench_history (aid, delta) values (:aid, :step);\nend;\n";
    write(&place.home, "mine", &[("workload.toml", MINE), ("up.sql", up)]);
    place.run("plan mine -s 2").ok().prints(&["mine", "scale 2", "history-indexes = false", "step = 3"]);
    place.run("run mine -s 2 -c 2 -t 50").ok().says(&["loading mine with scale 2"]);
    let run = last(&place);
    assert_eq!((run.text("/plan/scale_name"), run.number("/plan/scale")), ("scale", 2.0));
    assert_eq!(run.checks_that_hold(), ["after the load", "after the run"]);
    assert_eq!(run.at("/checks/0/checks").as_array().unwrap().len(), 4, "rows of four tables");
    assert_eq!(
        run.at("/checks/1/checks").as_array().unwrap().len(),
        8,
        "schema, rows, simple-update's and one of its own"
    );
    assert_eq!(
        place.ask(
            "select sum(abalance) || ' ' || (max(aid) filter (where abalance <> 0) > 100000) \
                          from pgbench_accounts"
        ),
        "300 true"
    );
    // It is the data of all that work on these tables.
    place.run("run tpcb-like -c 2 -t 5").ok();
    assert!(last(&place).record.get("load").is_none());
    place.run("run mine -s 1 -t 5").ended(11).says(&["data of scale 2", "you asked for scale 1"]);

    // A check of the built-in workload that these scripts break.
    write(&place.home, "mine", &[("up.sql", &up.replace("aid, delta", "aid, bid"))]);
    place.run("run mine -c 2 -t 5").ended(12).prints(&["accounts-history"]);
    write(&place.home, "mine", &[("workload.toml", &MINE.replace("[params]", "checks = []\n[params]"))]);
    place.run("run mine -c 2 -t 5").ok();
    // One of its own, of what must not change.
    write(
        &place.home,
        "mine",
        &[("up.sql", "delete from pgbench_tellers where tid = (select max(tid) from pgbench_tellers);\n")],
    );
    place.run("run mine -c 1 -t 1").ended(12).prints(&["tellers", "was count=20, is count=19"]);
    // What a directory fixes is neither taken from what is loaded nor from the number of clients.
    let fixed = MINE.replace("[params]", "params = { scale = 1 }\n[params]");
    write(&place.home, "mine", &[("workload.toml", &fixed)]);
    place.run("plan mine -c 2").ok().prints(&["scale = 1"]);
    place.run("run mine -c 2 -t 5").ended(11).says(&["data of scale 2", "you asked for scale 1"]);
    place.run("drop mine").ok().prints(&["dropped table pgbench_accounts"]);
}

#[test]
fn names_paths_and_mistakes() {
    let home = Home::new();
    home.run(&["list", "workloads"]).ok().prints(&["\n  index-insert ", "\n  sensor-2 "]);
    home.run(&["show", "index-insert"]).ok().prints(&["[always true]"]);
    home.run(&["show", "sensor-1"]).ok().prints(&["-D rows=…", "sensors to load [default: 5000000]"]);
    // A path is a path, whatever it is called.
    let script = [("a.sql", "select :mine;\n")];
    write(&home, "sensor-1", &script);
    let manifest = "[params]\nmine = 1\n[[script]]\nfile = 'a.sql'\n";
    write(&home, "sensor-1", &[("workload.toml", manifest), ("schema.sql", "create table t (a int);")]);
    home.run(&["plan", "./sensor-1"]).ok().prints(&["of sensor-1\n", "mine = 1"]);
    home.run(&["plan", "sensor-1"]).ok().prints(&["of sensor-1\n", "rows = 5000000"]);
    home.run(&["run", "sensor3"]).ended(1).says(&["unknown workload 'sensor3'; did you mean sensor-1 or sensor-2?"]);
    home.run(&["plan", "polardb-rw", "-w", "3"])
        .ended(1)
        .says(&["--warehouses is an option of tproc-c and ch-benchmark, not of polardb-rw", "use --scale (-s)"]);

    let on = |data: &str| format!("[data]\n{data}\n[[script]]\nfile = 'a.sql'\n");
    write(&home, "mine", &script);
    for (data, message) in [
        (
            "workload = 'tpcb_like'",
            "mine/workload.toml: data: 'tpcb_like' is not a built-in workload with tables; did you mean",
        ),
        (
            "workload = 'tpcb-like'\nparams = { index = true }",
            "workload tpcb-like has no parameter 'index'; it has scale",
        ),
        ("workload = 'tpcb-like'\nchecks = ['sums']", "tpcb-like has no check 'sums'; it has branches-tellers-history"),
    ] {
        write(&home, "mine", &[("workload.toml", &on(data))]);
        for command in ["run", "plan", "load", "check", "drop"] {
            home.run(&[command, "mine"]).ended(1).says(&[message]);
        }
    }
    write(
        &home,
        "mine",
        &[("workload.toml", &on("workload = 'tpcb-like'")), ("schema.sql", "create table t (a int);")],
    );
    home.run(&["run", "mine"])
        .ended(1)
        .says(&["mine/workload.toml: its data comes from tpcb-like, by [data]", "schema.sql"]);
    assert!(home.runs().is_empty());
}

#[test]
fn the_sensors_run_prepared_on_fresh_copies_of_a_private_server() {
    if !server::available("sensors on a private server") {
        return;
    }
    let home = Home::of_an_ordinary_user();
    for sensors in ["sensor-1", "sensor-2"] {
        let size = ["-D", "rows=100000", "-c", "4", "-t", "200"];
        let args = [&["run", sensors, "-q", "--from-template", "-M", "prepared"][..], &size].concat();
        home.run(&args).ok().prints(&["TPS"]);
        home.run(&["report", "last", "-v"]).ok().prints(&["sensor.sql", "select max(reading) from sensor_log"]);
        let run = home.runs().pop().unwrap();
        assert_eq!(run.number("/summary/committed"), 800.0);
        assert_eq!(run.checks_that_hold(), ["after the load", "after the run"]);
    }
    home.assert_clean();
}
