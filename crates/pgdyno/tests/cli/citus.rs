//! On nodes of Citus, where it is installed beside the PostgreSQL of these tests.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use pgdyno_net::Admin;
use rustix::process::Signal;

use crate::postgres;
use crate::program::{Home, Ran, Run, Running, eventually};
use crate::samples::column;
use crate::server::{self, TestServer};
use crate::skipped::skipped;

const CONF: &str = "shared_preload_libraries = 'citus'\nwal_level = logical\nmax_prepared_transactions = 100\n\
                    citus.node_conninfo = 'sslmode=disable'\n\
                    citus.enable_stat_counters = on\n";
const TRUST: &str = "local all all trust\nhost all all all trust\n";

/// Whether the server's library directory has Citus; says so where it has not.
fn available(test: &str) -> bool {
    if !server::available(test) {
        return false;
    }
    // Debian's pg_config knows nothing of another PostgreSQL.
    if !postgres::bin().join("pg_config").exists() {
        skipped(&format!("{test}: no Citus for the PostgreSQL in {}", postgres::bin().display()));
        return false;
    }
    let reported = server::command("pg_config").arg("--pkglibdir").stderr(Stdio::inherit()).output().unwrap();
    let directory = String::from_utf8(reported.stdout).unwrap();
    let there = Path::new(directory.trim()).join("citus.so").exists();
    if !there {
        skipped(&format!("{test}: no citus.so in {}", directory.trim()));
    }
    there
}

/// A coordinator and workers, and a home to work on them from.
struct Nodes {
    home: Home,
    servers: Vec<TestServer>,
}

impl Nodes {
    /// So many workers, where there is Citus. Without any, the coordinator has the extension and nothing else.
    fn start(test: &str, workers: usize) -> Option<Self> {
        available(test).then(|| {
            let servers: Vec<_> = (0..=workers).map(|_| TestServer::start(CONF, TRUST)).collect();
            for server in &servers {
                server.admin().execute("create extension citus").unwrap();
            }
            if workers > 0 {
                let mut coordinator = servers[0].admin();
                let port = servers[0].port;
                coordinator.query(&format!("select citus_set_coordinator_host('127.0.0.1', {port})")).unwrap();
                for worker in &servers[1..] {
                    coordinator.query(&format!("select citus_add_node('127.0.0.1', {})", worker.port)).unwrap();
                }
            }
            Self { home: Home::new(), servers }
        })
    }

    /// A node by its socket.
    fn target(&self, node: usize, more: &str) -> String {
        let server = &self.servers[node];
        format!("host={} port={} {more}", server.dir().display(), server.port)
    }

    /// Runs the program on a node, the coordinator being 0.
    fn run_on(&self, node: usize, args: &str) -> Ran {
        let target = self.target(node, "user=postgres dbname=postgres");
        self.home.run(&args.split(' ').chain(["--target", &target]).collect::<Vec<_>>())
    }

    /// Starts it there.
    fn start_on(&self, node: usize, args: &str) -> Running {
        let target = self.target(node, "user=postgres dbname=postgres");
        self.home.start(&args.split(' ').chain(["--target", &target]).collect::<Vec<_>>())
    }

    fn run(&self, args: &str) -> Ran {
        self.run_on(0, args)
    }

    fn admin(&self) -> Admin {
        self.servers[0].admin()
    }

    /// One value, asked of a node.
    fn ask(&self, node: usize, sql: &str) -> String {
        self.servers[node].admin().query_one(sql).unwrap()
    }

    fn last_run(&self) -> Run {
        self.home.runs().pop().unwrap()
    }
}

#[test]
fn tables_are_spread_and_calls_sent_to_their_rows() {
    let Some(nodes) = Nodes::start("a run on Citus", 2) else { return };
    let loaded = nodes.run("load tproc-c -w 4 -D shard-count=8 --loaders 3").ok();
    assert!(!loaded.stderr.contains("coordinator"), "rows go to the nodes: {}", loaded.stderr);
    assert!(!loaded.stderr.contains("do not divide"), "{}", loaded.stderr);
    let spread = "select string_agg(partmethod || tables, ' ' order by partmethod) from \
                  (select partmethod::text, count(*)::text as tables from pg_dist_partition group by 1) t";
    assert_eq!(nodes.ask(0, spread), "h8 n1");
    let groups = "select count(distinct colocationid) from pg_dist_partition where partmethod = 'h'";
    assert_eq!(nodes.ask(0, groups), "1");
    let routines = "select count(*) from pg_dist_object where distribution_argument_index = 0";
    assert_eq!(nodes.ask(0, routines), "10");

    let run = "run tproc-c -D shard-count=8 -c 4 -T 2 --ramp 0";
    let ran = nodes.run(&format!("{run} -v")).ok().says(&["query mode simple"]);
    ran.prints(&["on c", "+2w", "calls delegated", "  delegated: CALL with literals: 1 of 1"]);
    let delegating = nodes.last_run();
    assert_driven(&delegating, "simple", Some(true));
    assert_nodes_are_of_the_server(&delegating);
    nodes.run(&format!("{run} --call function -v")).ok().prints(&["  delegated: a function call prepared", "8 of 8"]);
    assert_driven(&nodes.last_run(), "prepared", Some(true));
    nodes.run(&format!("{run} --call client -v")).ok().prints(&["calls not delegated", "warning: not delegated"]);
    let routing = nodes.last_run();
    assert_driven(&routing, "prepared", Some(false));
    // Citus counts what it sends to one shard, and not the calls that it delegates.
    let routed = column(&routing, "citus", "query_execution_single_shard");
    assert!(routed.len() > 1 && routed[routed.len() - 1] > routed[0], "{routed:?}");

    let bound = nodes.run(&format!("{run} -M prepared")).ended(1);
    bound.says(&["a CALL has bound parameters", "leave -M out", "--call function"]);
    nodes.run(&format!("{run} --from-template")).ended(1).says(&["--from-template cannot copy", "--replace"]);

    nodes.run("drop tproc-c").ok();
    for node in 0..3 {
        assert_eq!(nodes.ask(node, "select count(*) from pg_dist_partition"), "0", "node {node}");
        assert_eq!(nodes.ask(node, "select count(*) from pg_proc where proname like 'pgdyno%'"), "0", "node {node}");
    }
}

/// Processes of other nodes are no other programs, and the clients' time has no waits for the client.
#[track_caller]
fn assert_nodes_are_of_the_server(run: &Run) {
    let kinds = run.at("/server_machine/server_cpus").as_object().unwrap().clone();
    assert!(kinds["other node"].as_f64().unwrap() > 0.0, "{kinds:?}");
    let parts = run.at("/clients_time").to_string();
    assert!(parts.contains("waiting for other nodes") && !parts.contains("waiting for the client"), "{parts}");
}

#[test]
fn a_load_that_goes_on_puts_the_rest_beside_what_is_there() {
    let Some(nodes) = Nodes::start("a resumed load on Citus", 2) else { return };
    let load = "load tproc-c -w 4 --shard-count 4 --resumable --loaders 1";
    let entries = |table: &str| {
        let sql = format!("select count(*) from pgdyno_load_tproc_c where relation = '{table}'");
        nodes.admin().query_one(&sql).is_ok_and(|count| count != "0")
    };
    let running = nodes.start_on(0, load);
    // The largest tables come first, warehouse, which the others were put beside, among the last.
    eventually("a warehouse's stock", Duration::from_secs(120), || entries("stock"));
    running.signal(Signal::KILL);
    drop(running.end());
    assert!(!entries("warehouse"));
    nodes.run(load).ok().says(&["resuming"]);
    let groups = "select count(distinct colocationid) from pg_dist_partition where partmethod = 'h'";
    assert_eq!(nodes.ask(0, groups), "1");
    nodes.run("run tproc-c -c 2 -t 20").ok();
    assert!(nodes.last_run().checks_that_hold().contains(&"after the run"));
}

/// What a run must have left, wherever its transactions ran.
#[track_caller]
fn assert_driven(run: &Run, mode: &str, delegated: Option<bool>) {
    assert_eq!(run.text("/status"), "complete");
    assert!(run.checks_that_hold().contains(&"after the run"));
    assert_eq!(run.number("/summary/new_orders_by_server"), run.number("/summary/new_orders_by_client"));
    assert!(run.number("/summary/nopm") > 0.0);
    assert!(run.record.pointer("/summary/tpm").is_none(), "one node's counters are no server's");
    assert_eq!(run.text("/plan/mode"), mode);
    let cluster = run.at("/server/cluster");
    assert_eq!(cluster["delegated"].as_bool(), delegated, "{cluster}");
    let held: Vec<_> = cluster["nodes"].as_array().unwrap().iter().map(|node| node["warehouses"].as_u64()).collect();
    assert_eq!(held[0], Some(0), "the coordinator has no shards");
    assert_eq!(held.iter().flatten().sum::<u64>(), 4);
    let most = held.iter().flatten().max().unwrap();
    assert_eq!(cluster["skew"].as_f64(), Some(*most as f64 / 2.0));
    let label = cluster["label"].as_str().unwrap();
    assert!(label.starts_with('c') && label.contains("+2w"), "{label}");
}

#[test]
fn what_cannot_be_spread_is_refused_with_the_remedy() {
    let Some(nodes) = Nodes::start("what Citus cannot spread", 2) else { return };
    nodes
        .run("load tproc-c -w 1 -D shard-count=1")
        .ended(11)
        .says(&["1 shards cannot be spread over 2 nodes", "multiple"]);
    let port = nodes.servers[0].port;
    nodes.run_on(1, "load tproc-c -w 1").ended(11).says(&["only the coordinator", &format!("127.0.0.1:{port}")]);

    // A session's search_path is not sent along with a call.
    nodes.admin().execute("create schema elsewhere").unwrap();
    let server = &nodes.servers[0];
    let options = "options='-c search_path=elsewhere'";
    let target =
        format!("host={} port={} user=postgres dbname=postgres {options}", server.dir().display(), server.port);
    let refused = nodes.home.run(&["load", "tproc-c", "-w", "1", "--target", &target]).ended(11);
    refused.says(&["in schema elsewhere", "search_path", "ALTER ROLE"]);
    assert_eq!(nodes.ask(0, "select count(*) from pg_dist_partition"), "0");

    // Where it is the role's, every node has it.
    nodes.admin().execute("create role bench superuser login; alter role bench set search_path = elsewhere").unwrap();
    let target = nodes.target(0, "user=bench dbname=postgres");
    let run = ["run", "tproc-c", "-w", "1", "-D", "shard-count=3", "-c", "1", "-T", "1", "--ramp", "0"];
    let ran = nodes.home.run(&[&run[..], &["--target", &target]].concat()).ok();
    ran.says(&["3 shards do not divide over 2 nodes", "shard-count 2 or 4"]).prints(&["calls delegated"]);
}

#[test]
fn a_coordinator_alone_holds_all_rows() {
    let Some(nodes) = Nodes::start("Citus on one node", 0) else { return };
    let ran = nodes.run("run tproc-c -w 1 -D shard-count=2 -c 1 -T 1 --ramp 0 -v").ok();
    ran.prints(&["delegation not shown: all rows are on the node", "skew 1.00"]);
    assert_eq!(nodes.last_run().record.pointer("/server/cluster/delegated"), None);

    nodes.admin().execute("create database other").unwrap();
    let target = nodes.target(0, "user=postgres dbname=other");
    let ran = nodes.home.run(&["run", "select-only", "-s", "1", "-c", "1", "-t", "1", "--target", &target]).ok();
    ran.says(&["Citus is loaded, but database other does not have it", "CREATE EXTENSION citus"]);
}

#[test]
fn key_value_workloads_and_their_counts_hold() {
    let Some(nodes) = Nodes::start("ycsb and sysbench on Citus", 2) else { return };
    nodes.run("load ycsb-a --records 500 --fields 3 -D shard-count=4").ok();
    nodes.run("load oltp-read-write -s 500 --tables 2 -D shard-count=4").ok();
    let spread = "select string_agg(partmethod::text || ' ' || logicalrelid::text, ', ' order by logicalrelid::text) from pg_dist_partition";
    assert_eq!(nodes.ask(0, spread), "h sbtest1, h sbtest2, h usertable");
    let brief = "-D shard-count=4 -c 2 -t 50";
    let read = nodes.run(&format!("run ycsb-c --fields 3 {brief}")).ok();
    assert!(!read.stdout.contains("delegated"), "there is no call: {}", read.stdout);
    for id in ["ycsb-d --fields 3", "ycsb-e --fields 3", "oltp-insert --tables 2"] {
        nodes.run(&format!("run {id} {brief}")).ok().prints(&["inserts: client and server counts match"]);
    }
    nodes.run(&format!("run oltp-read-write --tables 2 {brief}")).ok();
    assert!(nodes.last_run().checks_that_hold().contains(&"after the run"));
}

#[test]
fn analytical_queries_run_or_are_named_before_the_first_one() {
    let Some(nodes) = Nodes::start("tproc-h on Citus", 2) else { return };
    // Newer versions run more queries: what this one cannot run is skipped by name, and every other answer holds.
    let loaded = nodes.run("load tproc-h -s 0.01 -D shard-count=8").ok();
    let spread = "select string_agg(partmethod || tables, ' ' order by partmethod) from \
                  (select partmethod::text, count(*)::text as tables from pg_dist_partition group by 1) t";
    assert_eq!(nodes.ask(0, spread), "h2 n6");
    let named = |ran: &Ran, verdict: &str| {
        let lines =
            ran.stdout.lines().filter_map(|line| line.strip_prefix(verdict)?.trim().strip_prefix("answer of q"));
        lines.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (held, skipped) = (named(&loaded, "holds "), named(&loaded, "skipped "));
    assert_eq!(held.len() + skipped.len(), 22, "{}", loaded.stdout);
    assert!(held.len() > skipped.len() && named(&loaded, "BROKEN ").is_empty(), "{}", loaded.stdout);
    let reasons = loaded.stdout.matches("the server cannot run this query: ERROR: ").count();
    assert_eq!(reasons, skipped.len(), "{}", loaded.stdout);
    assert!(!loaded.stdout.contains("from lineitem"), "a reason without the query: {}", loaded.stdout);
    let checked = nodes.run("check tproc-h -D shard-count=8").ok();
    assert_eq!([named(&checked, "holds "), named(&checked, "skipped ")], [held, skipped.clone()]);
    checked.prints(&["holds  digests"]);

    let mut run = "run tproc-h -D shard-count=8 --no-refresh".to_owned();
    if !skipped.is_empty() {
        let reported = format!("the server cannot run {} of 22 queries on these distributed tables:", skipped.len());
        let said = nodes.run(&run).ended(1).says(&[&reported]).stderr;
        assert!(skipped.iter().all(|query| said.contains(&format!("\n  q{query}: ERROR: "))), "{said}");
        assert!(!said.contains("from lineitem"), "a reason without the query: {said}");
        let others = said.split("--queries ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap();
        run += &format!(" --queries {others}");
    }
    nodes.run(&run).ok();
    let ran = nodes.last_run();
    assert_eq!(ran.number("/stages/0/groups/0/summary/committed"), (22 - skipped.len()) as f64);
    assert!(ran.record.get("query_costs").is_none(), "one node's memory is not that of a query");
    let cluster = ran.at("/server/cluster");
    assert_eq!((cluster["unit"].as_str(), cluster["skew"].as_f64()), (Some("shards"), Some(1.0)), "{cluster}");
}

#[test]
fn ch_benchmark_names_the_queries_that_move_rows_between_nodes() {
    let Some(nodes) = Nodes::start("ch-benchmark on Citus", 2) else { return };
    let run = "run ch-benchmark -w 1 -D shard-count=2 -c 2 --streams 1 --query-form citus --ramp 0";
    let refused = nodes.run(run).ended(1);
    refused.says(&["queries on these distributed tables:", "\n  q7: ERROR: ", "--queries 1,2,3,4,5,6,10,"]);
    let spread = "select string_agg(partmethod || tables, ' ' order by partmethod) from \
                  (select partmethod::text, count(*)::text as tables from pg_dist_partition group by 1) t";
    assert_eq!(nodes.ask(0, spread), "h8 n4", "item, supplier, nation and region are on every node");
    assert_eq!(nodes.ask(0, "select count(distinct colocationid) from pg_dist_partition where partmethod = 'h'"), "1");

    // A repartition may take longer than a whole short run.
    let with = "--analytics-set citus.enable_repartition_joins=on --queries 1,6,7";
    let ended = |seconds: &str| {
        let reported = nodes.run(&format!("{run} {with} -T {seconds}")).ok();
        let reported = reported.prints(&["q7 move rows between the nodes for a join (repartition)"]);
        let run = nodes.last_run();
        let completed = |query: &serde_json::Value| query["completed"].as_u64() > Some(0);
        let all =
            run.at("/analytics/stages/0/queries").as_array().unwrap().iter().filter(|q| completed(q)).count() == 3;
        all.then_some((reported, run))
    };
    let (reported, run) = ["5", "20", "80"].into_iter().find_map(ended).expect("each query ends within 80 s");
    reported.prints(&["geometric mean of medians", "s with them", "s without"]);
    assert_eq!(run.text("/analytics/repartitioned/0"), "q7");
    assert!(run.number("/metrics/nopm/value") > 0.0);
}
