//! Readers: what only reads runs on a standby, and the record has the figures of both servers and the distance between them.

use std::time::Duration;

use crate::given_server::{Place, TRUST};
use crate::program::{Home, Ran, Run, eventually};
use crate::server::{self, TestServer};

const HBA: &str = "local all all trust\nlocal replication all trust\nhost all all all trust\n";
const CONF: &str = "fsync = off\nautovacuum = off\n";
const SOON: Duration = Duration::from_secs(30);
const SCANS: &str = "select coalesce(sum(idx_scan), 0) from pg_stat_user_tables where relname = 'pgbench_accounts'";

/// A place whose server has a standby.
struct Pair {
    place: Place,
    standby: TestServer,
}

impl Pair {
    /// Where there is a PostgreSQL; `load` is the data.
    fn new(test: &str, load: &str) -> Option<Self> {
        let place = Place::new(test, CONF, HBA)?;
        if !load.is_empty() {
            place.run(&format!("load {load}")).ok();
        }
        Some(Self::of(place))
    }

    fn of(place: Place) -> Self {
        let standby = TestServer::standby_of(&place.server);
        Self { place, standby }
    }

    /// Runs it with the standby as the reader.
    fn run(&self, args: &str) -> Ran {
        self.place.run(&format!("run {args} --reader {}", uri(&self.standby)))
    }

    /// The last run.
    fn last(&self) -> Run {
        self.place.home.runs().pop().unwrap()
    }

    /// Sets a parameter of the standby.
    fn set(&self, setting: &str) {
        let mut admin = self.standby.admin();
        admin.execute(&format!("alter system set {setting}")).unwrap();
        admin.execute("select pg_reload_conf()").unwrap();
    }
}

/// A server as command lines can name it without quotes.
fn uri(server: &TestServer) -> String {
    format!("postgresql:///postgres?host={}&port={}&user=postgres", server.dir().display(), server.port)
}

/// A number of a server.
fn number(server: &TestServer, sql: &str) -> f64 {
    server.admin().query_one(sql).unwrap().parse().unwrap()
}

/// The work of the target and of the first reader: transactions without an error, and failed ones.
#[track_caller]
fn work(run: &Run) -> [(f64, f64); 2] {
    ["/readers/target", "/readers/readers/0"]
        .map(|of| (run.number(&format!("{of}/completed")), run.number(&format!("{of}/failed"))))
}

#[test]
fn the_two_transactions_of_tproc_c_that_only_read_run_on_the_standby() {
    let Some(place) = Place::with_warehouse("TPROC-C with a reader", CONF, HBA) else { return };
    let pair = Pair::of(place);
    for call in ["procedure", "client"] {
        let executed = "select xact_commit from pg_stat_database where datname = 'postgres'";
        let before = number(&pair.standby, executed);
        let ran = pair.run(&format!("tproc-c -c 3 -R 100 -T 3 --ramp 0 --no-check --call {call}")).ok();
        let text = ["endpoint", "reader 1", "order-status, stock-level on the readers", "behind by p50"];
        ran.prints(&text);
        let run = pair.last();
        assert_eq!((run.text("/status"), run.number("/summary/failed")), ("complete", 0.0), "{call}");
        let ended = |name: &str| {
            let all = run.at("/transactions").as_array().unwrap();
            let of = all.iter().find(|txn| txn["name"] == name).unwrap();
            of["committed"].as_f64().unwrap() + of["rolled_back"].as_f64().unwrap_or_default()
        };
        let reads = ended("order-status") + ended("stock-level");
        let writes = ended("new-order") + ended("payment") + ended("delivery");
        let [target, reader] = work(&run);
        assert_eq!([target, reader], [(writes, 0.0), (reads, 0.0)], "{call}");
        assert!(reads > 0.0 && writes > reads, "{reads} {writes}");
        // The standby's own count, which is reported a little later.
        eventually("the standby has counted them", SOON, || number(&pair.standby, executed) - before >= reads);
        assert!(run.number("/readers/readers/0/staleness/markers") >= 15.0, "{}", run.at("/readers"));
        assert_eq!(run.at("/readers/readers/0/standby"), true);
        assert_eq!(run.number("/readers/readers/0/clients"), 3.0);
    }
    let [page, markdown] = ["html", "markdown"]
        .map(|format| pair.place.home.run(&["report", "last", "--format", format, "-o", "-"]).ok().stdout);
    assert!(page.contains("<section id=\"readers\">") && markdown.contains("| reader 1 |"), "{markdown}");
    // Without a reader the standby has nothing to do.
    let before = number(&pair.standby, SCANS.replace("pgbench_accounts", "stock").as_str());
    pair.place.run("run tproc-c -c 2 -t 20 --no-check").ok();
    assert_eq!(number(&pair.standby, SCANS.replace("pgbench_accounts", "stock").as_str()), before);
    assert!(pair.last().at("").get("readers").is_none());
}

#[test]
fn select_only_leaves_the_primary_alone() {
    let Some(pair) = Pair::new("select-only with a reader", "select-only -s 1") else { return };
    // As libpq finds a standby among several servers.
    let hosts = format!(
        "postgresql:///postgres?host={},{}&port={},{}&user=postgres&target_session_attrs=prefer-standby",
        pair.place.server.dir().display(),
        pair.standby.dir().display(),
        pair.place.server.port,
        pair.standby.port
    );
    let scans = || [&pair.place.server, &pair.standby].map(|server| number(server, SCANS));
    let before = scans();
    let args = format!("run select-only -c 3 -j 2 -R 500 -T 2 --ramp 0 -n --no-check --reader {hosts}");
    pair.place.run(&args).ok();
    let run = pair.last();
    let [target, reader] = work(&run);
    assert_eq!((target.0, reader.0), (0.0, run.number("/summary/committed")));
    assert!(reader.0 > 0.0);
    eventually("the standby has counted them", SOON, || scans()[1] - before[1] >= reader.0);
    assert_eq!(scans()[0], before[0], "the primary looked up no account");

    // An address that leads to both servers is reported.
    let both = hosts.replace("target_session_attrs=prefer-standby", "load_balance_hosts=random");
    let ran = pair.place.run(&format!("run select-only -c 24 -R 500 -T 1 --ramp 0 -n --no-check --reader {both}")).ok();
    ran.says(&["leads to 2 servers: ", "its figures are those of all of them"]);
    assert_eq!(pair.last().at("/readers/readers/0/endpoints").as_array().unwrap().len(), 2);
}

#[test]
fn a_standby_that_replays_late_is_behind_by_as_much() {
    let Some(pair) = Pair::new("a reader that is behind", "simple-update -s 1") else { return };
    let mixed = pair.place.home.join("mixed");
    std::fs::create_dir(&mixed).unwrap();
    let manifest =
        "[data]\nexisting = true\n[[script]]\nfile = 'w.sql'\n[[script]]\nfile = 'r.sql'\nread_only = true\n";
    std::fs::write(mixed.join("workload.toml"), manifest).unwrap();
    std::fs::write(mixed.join("w.sql"), "update pgbench_branches set bbalance = bbalance + 1;\n").unwrap();
    std::fs::write(mixed.join("r.sql"), "select abs(bbalance) from pgbench_branches;\n").unwrap();
    let behind = |figure: &str| pair.last().number(&format!("/readers/readers/0/staleness/{figure}_ms"));
    pair.run("./mixed -c 2 -R 100 -T 3 --ramp 1").ok();
    // On a busy machine a single marker may be late.
    assert!(behind("p50") < 400.0 && behind("p50") <= behind("p95") && behind("p95") <= behind("max"));
    pair.set("recovery_min_apply_delay = '500ms'");
    pair.run("./mixed -c 2 -R 100 -T 4 --ramp 1")
        .ok()
        .prints(&["a client may read data older than its own last commit"]);
    assert!(behind("p50") >= 500.0, "{}", pair.last().at("/readers"));
    pair.place.run("plan ./mixed --reader host=r").ok().prints(&["what only reads goes to host=r"]);
}

#[test]
fn reads_of_ycsb_run_on_the_reader() {
    let Some(pair) = Pair::new("YCSB with a reader", "ycsb-a --records 1000") else { return };
    pair.run("ycsb-a --records 1000 -c 2 -R 500 -T 2 --ramp 0 --no-check").ok();
    let run = pair.last();
    let committed = |nth: usize| run.number(&format!("/transactions/{nth}/committed"));
    assert_eq!((run.text("/transactions/0/name"), run.text("/transactions/1/name")), ("read", "update"));
    assert_eq!(work(&run).map(|(completed, _)| completed), [committed(1), committed(0)]);
}

#[test]
fn a_script_that_is_marked_and_writes_is_refused_by_the_reader() {
    let Some(pair) = Pair::new("a script that lies", "") else { return };
    pair.place.execute("create table t (a int); create function f() returns int language sql as 'select 1'");
    let script = |text: &str| std::fs::write(pair.place.home.join("s.sql"), text).unwrap();
    script("-- pgdyno: read_only\nselect f() from generate_series(1, 2);\n");
    pair.run("./s.sql -c 1 -t 20").ok();
    assert_eq!(work(&pair.last()), [(0.0, 0.0), (20.0, 0.0)]);
    script("-- pgdyno: read_only\ninsert into t values (1);\n");
    let ran = pair.run("./s.sql -c 1 -t 20").ended(2);
    ran.says(&["a script that writes went to a reader: remove its mark"]);
    let run = pair.last();
    assert_eq!(run.text("/errors/0/sqlstate"), "25006");
    assert_eq!(work(&run)[0], (0.0, 0.0));
    assert_eq!(pair.place.ask("select count(*) from t"), "0");
}

#[test]
fn another_server_is_a_reader_with_a_warning_and_only_if_it_has_the_tables() {
    let Some(place) = Place::new("a reader with other data", CONF, HBA) else { return };
    place.run("load select-only -s 1").ok();
    let foreign = TestServer::start_unlike_others(CONF, TRUST);
    let run = |reader: &str| place.run(&format!("run select-only -c 1 -t 10 -n --no-check --reader {reader}"));
    let lacking = run(&uri(&foreign)).ended(1);
    lacking.says(&["it is another server than the target or its standbys", "has no table pgbench_"]);
    place.home.run(&["load", "select-only", "-s", "1", "--target", &uri(&foreign)]).ok();
    run(&uri(&foreign)).ok().says(&["it is another server than the target or its standbys"]);
    let record = place.home.runs().pop().unwrap();
    assert!(record.text("/readers/readers/0/staleness_unknown").contains("system identifier"));
    run(&uri(&place.server)).ok().says(&["it is the target itself, which runs all transactions then"]);
}

#[test]
fn a_run_that_has_nothing_for_a_reader_is_refused_with_the_reason() {
    let Some(place) = Place::new("readers that are refused", CONF, TRUST) else { return };
    let refused = |args: &str, words: &[&str]| {
        place.run(&format!("run {args}")).ended(1).says(words);
    };
    refused("simple-update -s 1 --reader host=x", &["simple-update has none", "-- pgdyno: read_only"]);
    refused("select-only --reader host=x --connections 1", &["gives each client two connections of its own"]);
    refused("select-only --reader embedded", &["--reader embedded is no server that could have the same data"]);
    refused("select-only --reader standby", &["standby"]);
    refused("select-only -s 1 --reader host=/nowhere", &["reader host=/nowhere", "name a standby of the target"]);
    let agents = "select-only -s 1 --reader host=x --agents 1 --meet host=x";
    refused(agents, &["are those of one driver", "leave out --agents or --reader"]);
    let null = place.home.run(&["run", "select-only", "--target", "null", "--reader", "host=x"]).ended(1);
    null.says(&["this run drives no PostgreSQL"]);
}

#[test]
fn a_reader_that_ends_its_sessions_gets_them_back() {
    let Some(pair) = Pair::new("a reader whose sessions end", "select-only -s 1") else { return };
    let args = format!("run select-only -c 2 -R 200 -T 5 --ramp 0 -n --no-check --reader {}", uri(&pair.standby));
    let running = pair.place.start(&args);
    let clients = "from pg_stat_activity where application_name like 'pgdyno%' and query like 'SELECT abalance%'";
    eventually("they read", SOON, || number(&pair.standby, &format!("select count(*) {clients}")) == 2.0);
    std::thread::sleep(Duration::from_secs(1));
    pair.standby
        .admin()
        .query(&format!("select pg_terminate_backend(pid) {clients} and pid <> pg_backend_pid()"))
        .unwrap();
    running.end().says(&["a client lost its connection: reader 1: "]);
    let run = pair.last();
    assert_eq!(run.number("/readers/readers/0/connections_lost"), 2.0, "{}", run.at("/readers"));
    assert_eq!(run.number("/summary/reconnected"), 2.0);
    // The last row is of the time after the window, when a rate leaves nothing in flight.
    let last = run.intervals().into_iter().rfind(|row| row["phase"] == "measure").unwrap();
    assert!(last["committed"].parse::<u64>().unwrap() > 0, "{last:?}");
}

#[test]
fn reads_that_replay_cancels_are_counted_by_their_kind() {
    let Some(pair) = Pair::new("a reader whose reads are cancelled", "select-only -s 1") else { return };
    pair.set("max_standby_streaming_delay = 0");
    let mixed = pair.place.home.join("mixed");
    std::fs::create_dir(&mixed).unwrap();
    let manifest = "[data]\nexisting = true\n[[script]]\nfile = 'w.sql'\n[[script]]\nfile = 'r.sql'\n";
    std::fs::write(mixed.join("workload.toml"), manifest).unwrap();
    std::fs::write(mixed.join("w.sql"), "update pgbench_tellers set tbalance = 1;\nvacuum pgbench_tellers;\n").unwrap();
    let read = "begin isolation level repeatable read;\nselect sum(tbalance) from pgbench_tellers;\n\
                \\sleep 300 ms\nselect sum(tbalance) from pgbench_tellers;\nend;\n";
    std::fs::write(mixed.join("r.sql"), read).unwrap();
    pair.run("./mixed -c 4 -T 4 --ramp 0").says(&["set hot_standby_feedback = on at the reader"]);
    let run = pair.last();
    let reader = run.at("/readers/readers/0");
    assert!(reader["failed_by_class"]["serialization"].as_u64() > Some(0), "{reader}");
    assert!(reader["conflicts"]["snapshot"].as_u64() > Some(0), "{reader}");
    assert_eq!(run.number("/readers/target/failed"), 0.0);
}

#[test]
fn the_standby_of_a_private_pair_is_a_reader_and_a_server_of_queries() {
    if !server::available("a private pair with readers") {
        return;
    }
    let home = Home::of_an_ordinary_user();
    let run = |args: &str| home.run(&args.split(' ').collect::<Vec<_>>());
    run("run select-only -s 1 -c 2 -R 200 -T 2 --ramp 0 --no-check --target embedded:ha --reader standby")
        .ok()
        .prints(&["reader 1 (standby): behind by p50"]);
    let record = home.runs().pop().unwrap();
    assert_eq!((work(&record)[0].0, record.text("/readers/readers/0/name")), (0.0, "standby"));
    run("run ch-benchmark -w 1 -c 2 -R 50 -T 2 --ramp 0 --queries 6 --no-check --target embedded:ha --analytics-target standby")
        .ok()
        .prints(&["age of the answers: p50"]);
    let record = home.runs().pop().unwrap();
    assert_eq!(record.at("/analytics/server/place/standby"), true);
    assert!(record.number("/analytics/stages/0/freshness/queries") > 0.0);
    run("frontier ch-benchmark -w 1 -c 1 -T 1 --ramp 0 --queries 6 --no-check --max-streams 1 --budget 1 --target embedded:ha --analytics-target standby")
        .ok();
    assert_eq!(home.runs().pop().unwrap().at("/analytics/server/place/standby"), true);
    home.assert_clean();
}

#[test]
fn each_run_of_a_suite_reads_from_the_standby_of_its_private_pair() {
    if !server::available("a suite with readers") {
        return;
    }
    let home = Home::of_an_ordinary_user();
    // The data of the second run has a database of its own on the pair.
    let suite = "name = 'readers'\ntargets = ['embedded:ha']\n[[run]]\nwhat = 'select-only'\nclients = 2\nrate = 100\ntime = '2s'\nramp = '0s'\n\
                 reader = ['standby']\nmatrix.scale = [1, 2]\n";
    std::fs::write(home.join("suite.toml"), suite).unwrap();
    home.run(&["suite", "run", "suite.toml"]).ok();
    let runs = home.runs();
    assert_eq!(runs.len(), 2);
    for run in runs {
        let [(by_target, _), (by_reader, _)] = work(&run);
        assert!(by_target == 0.0 && by_reader > 0.0, "{}", run.at("/readers"));
        assert!(run.number("/readers/readers/0/staleness/p50_ms") >= 0.0);
    }
    home.assert_clean();
}
