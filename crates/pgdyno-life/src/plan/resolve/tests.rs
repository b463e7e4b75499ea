//! Orders and the plans that they resolve to, as a table.

use pgdyno_plan::RateOrder;
use pgdyno_workload::Cluster;

use super::*;

/// A row: the workload, the other options, the facts, and the expected values of the plan.
type Row = (&'static str, fn(&mut Order), fn(&mut Facts), &'static str);

const NOTHING: fn(&mut Order) = |_| {};
const UNKNOWN: fn(&mut Facts) = |_| {};

fn request(workload: &str, say: fn(&mut Order)) -> RunRequest {
    let mut order = Order::of(workload);
    say(&mut order);
    RunRequest { seed: 7, ..RunRequest::read(order).unwrap_or_else(|failure| panic!("{workload}: {}", failure.text())) }
}

fn facts(know: fn(&mut Facts)) -> Facts {
    let mut facts = Facts { driver_cpus: 16, ..Facts::unknown() };
    know(&mut facts);
    facts
}

/// Size, clients, connections, threads, mode, tries, length and warm-up.
fn shape(plan: &Plan) -> String {
    let shared = plan.drive.connections.map_or_else(String::new, |n| format!("/{n}"));
    let length = match (plan.drive.time_s, plan.drive.transactions) {
        (Some(seconds), _) => format!("{seconds}s"),
        (None, transactions) => format!("{}t", transactions.unwrap_or_default()),
    };
    format!(
        "scale {} clients {}{shared} threads {} {} tries {} {length}+{}s",
        plan.scale,
        plan.drive.clients,
        plan.drive.threads,
        plan.drive.mode.name(),
        plan.drive.max_tries,
        plan.drive.ramp_s
    )
}

fn loaded(size: u64, params: &[(&str, &str)]) -> Option<Loaded> {
    let params = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Some(Loaded { size, complete: true, params, ..Loaded::default() })
}

fn pooled(pooling: Pooling) -> Option<Capabilities> {
    Some(Capabilities { pooling: Some(pooling), ..Capabilities::default() })
}

fn spread() -> Option<Capabilities> {
    let cluster = Some(Cluster { version: "13.0.0".to_owned(), ..Cluster::default() });
    Some(Capabilities { distributed_tables: true, cluster, ..Capabilities::default() })
}

/// Orders and facts, and the plans that follow.
const PLANS: [Row; 17] = [
    ("tpcb-like", NOTHING, UNKNOWN, "scale 10 clients 32 threads 4 prepared tries 1000 30s+5s"),
    ("tpcb-like", NOTHING, |f| f.driver_cpus = 1, "scale 4 clients 4 threads 4 prepared tries 1000 30s+5s"),
    ("tpcb-like", NOTHING, |f| f.target.is_local = false, "scale 10 clients 32 threads 16 prepared tries 1000 30s+5s"),
    ("tpcb-like", |o| o.drive.clients = Some(3), UNKNOWN, "scale 3 clients 3 threads 3 prepared tries 1000 30s+5s"),
    ("tpcb-like", NOTHING, |f| f.loaded = loaded(50, &[]), "scale 50 clients 32 threads 4 prepared tries 1000 30s+5s"),
    (
        "tpcb-like",
        |o| drop(o.workload.options.insert("scale".to_owned(), "2".to_owned())),
        |f| f.loaded = loaded(50, &[]),
        "scale 2 clients 32 threads 4 prepared tries 1000 30s+5s",
    ),
    (
        "tpcb-like",
        |o| o.drive.transactions = Some(9),
        UNKNOWN,
        "scale 10 clients 32 threads 4 prepared tries 1000 9t+0s",
    ),
    (
        "tpcb-like",
        |o| (o.drive.connections, o.drive.threads) = (Some(2), Some(8)),
        UNKNOWN,
        "scale 10 clients 32/2 threads 2 prepared tries 1000 30s+5s",
    ),
    (
        "tpcb-like",
        NOTHING,
        |f| f.server = pooled(Pooling::Transaction { prepared: false }),
        "scale 10 clients 32 threads 4 extended tries 1000 30s+5s",
    ),
    (
        "tpcb-like",
        NOTHING,
        |f| f.server = pooled(Pooling::Transaction { prepared: true }),
        "scale 10 clients 32 threads 4 prepared tries 1000 30s+5s",
    ),
    (
        "tpcb-like",
        NOTHING,
        |f| f.server = pooled(Pooling::Session),
        "scale 10 clients 32 threads 4 prepared tries 1000 30s+5s",
    ),
    ("tproc-c", NOTHING, |f| f.server = spread(), "scale 10 clients 32 threads 4 simple tries 1000 30s+5s"),
    (
        "tproc-c",
        |o| drop(o.workload.options.insert("call".to_owned(), "function".to_owned())),
        |f| f.server = spread(),
        "scale 10 clients 32 threads 4 prepared tries 1000 30s+5s",
    ),
    (
        "tproc-c",
        |o| drop(o.workload.options.insert("profile".to_owned(), "spec".to_owned())),
        |f| f.loaded = loaded(3, &[]),
        "scale 3 clients 30/30 threads 4 prepared tries 1000 30s+5s",
    ),
    ("tpcb-like", NOTHING, |f| f.server = spread(), "scale 10 clients 32 threads 4 prepared tries 1000 30s+5s"),
    ("sensor-1", NOTHING, UNKNOWN, "scale 1 clients 32 threads 4 simple tries 1000 30s+5s"),
    ("noop", NOTHING, UNKNOWN, "scale 0 clients 32 threads 4 prepared tries 1000 30s+5s"),
];

#[test]
fn an_order_and_facts_become_a_plan() {
    for (workload, say, know, expected) in PLANS {
        let resolved = request(workload, say).resolve(&facts(know)).unwrap_or_else(|e| panic!("{}", e.text()));
        assert_eq!(shape(&resolved.plan), expected, "{workload}");
        assert_eq!(resolved.plan.seed, 7);
        let decided = resolved.plan.drive.mode != request(workload, say).source.default_mode();
        assert_eq!(resolved.notes.len(), usize::from(decided), "{:?}", resolved.notes);
    }
}

#[test]
fn the_same_order_and_facts_become_the_same_plan() {
    let (order, facts) = (request("tproc-c", NOTHING), facts(|f| f.loaded = loaded(7, &[("partitions", "4")])));
    let (first, second) = (order.resolve(&facts).ok().unwrap().plan, order.resolve(&facts).ok().unwrap().plan);
    assert_eq!(first, second);
    assert_eq!((first.scale, first.params["partitions"].as_str()), (7, "4"));
}

#[test]
fn what_is_loaded_by_another_program_is_in_the_plan() {
    let facts = Facts {
        loaded: Some(Loaded {
            size: 5,
            complete: true,
            of_run: vec![("routine-schema".to_owned(), "pgdyno".to_owned())],
            maker: Some("HammerDB".to_owned()),
            ..Loaded::default()
        }),
        ..Facts::unknown()
    };
    let plan = request("tproc-c", NOTHING).resolve(&facts).ok().unwrap().plan;
    assert_eq!((plan.scale, plan.data_from.as_deref()), (5, Some("HammerDB")));
    assert_eq!(plan.params["routine-schema"], "pgdyno");
}

#[test]
fn a_null_server_holds_no_data() {
    let facts = facts(|f| f.target.name = "null".into());
    let plan = request("tpcb-like", |o| o.replace = true).resolve(&facts).ok().unwrap().plan;
    assert_eq!((plan.load.choice, plan.load.checks), (LoadWhen::Never, false));
}

#[test]
fn what_the_target_says_counts_where_the_order_is_silent() {
    let mut facts = facts(UNKNOWN);
    facts.target.settings.insert("jit".to_owned(), "off".to_owned());
    (facts.target.database, facts.target.os) = ("bench".to_owned(), Some("ssh db1".to_owned()));
    let resolve = |say: fn(&mut Order)| request("tpcb-like", say).resolve(&facts).ok().unwrap().plan;
    let plan = resolve(|o| o.from_template = Some(String::new()));
    assert_eq!((plan.from_template.as_deref(), plan.settings["jit"].as_str()), (Some("bench"), "off"));
    assert_eq!(plan.watch.os.as_deref(), Some("ssh db1"));
    let plan = resolve(|o| {
        o.from_template = Some("other".to_owned());
        o.watch.os_metrics = Some("ssh -p 22 me@db2".to_owned());
    });
    assert_eq!((plan.from_template.as_deref(), plan.watch.os.as_deref()), (Some("other"), Some("ssh me@db2")));
    assert_eq!(resolve(|o| o.watch.no_samples = true).watch.os, None);
}

#[test]
fn what_the_server_cannot_do_is_refused() {
    let standby = |f: &mut Facts| f.server = Some(Capabilities { standby: true, ..Capabilities::default() });
    let table: [Row; 9] = [
        ("tpcb-like", NOTHING, standby, "is a standby, and tpcb-like writes"),
        ("select-only", |o| o.replace = true, standby, "--replace loads again"),
        ("select-only", |o| o.from_template = Some("t".to_owned()), standby, "--from-template copies a database"),
        ("tpcb-like", NOTHING, |f| f.server = pooled(Pooling::Statement), "a connection for each statement"),
        (
            "tpcb-like",
            |o| o.replace = true,
            |f| f.server = pooled(Pooling::Transaction { prepared: true }),
            "--replace, which loads, needs sessions",
        ),
        (
            "tpcb-like",
            |o| o.drive.mode = Some(QueryMode::Prepared),
            |f| f.server = pooled(Pooling::Transaction { prepared: false }),
            "query mode prepared cannot be used",
        ),
        (
            "tproc-c",
            |o| o.drive.mode = Some(QueryMode::Extended),
            |f| f.server = spread(),
            "in query mode extended a CALL has bound parameters",
        ),
        ("tproc-c", |o| o.from_template = Some("t".to_owned()), |f| f.server = spread(), "spread over nodes"),
        ("tpcb-like", |o| o.drive.connections = Some(40), UNKNOWN, "--connections 40 is more than"),
    ];
    for (workload, say, know, words) in table {
        let refused = request(workload, say).resolve(&facts(know)).err().unwrap_or_else(|| panic!("{words}")).text();
        assert!(refused.contains(words), "{refused}");
    }
}

#[test]
fn nothing_departs_from_a_recipe_because_of_the_server() {
    let sized = |o: &mut Order| o.recipe.size = Some("16vcpu".to_owned());
    let spread = facts(|f| (f.server, f.loaded) = (spread(), loaded(3, &[("partitions", "8")])));
    let departures = |say| request("alloydb/tpcc-full", say).resolve(&spread).ok().and_then(|r| r.plan.recipe);
    let departures = |say| departures(say).map(|recipe| recipe.departures);
    assert_eq!(departures(sized), Some(Vec::new()));
    let few = departures(|o| (o.recipe.size, o.drive.clients) = (Some("16vcpu".to_owned()), Some(3)));
    assert!(few.is_some_and(|few| few.len() == 1 && few[0].starts_with("clients 3 (the recipe: ")));
}

#[test]
fn what_only_the_server_knows_is_named() {
    let left = |workload, say, know| request(workload, say).left_to_server(&facts(know)).ok().unwrap();
    assert_eq!(left("tpcb-like", NOTHING, UNKNOWN), ["scale", "query mode"]);
    assert_eq!(
        left("tpcb-like", |o| drop(o.workload.options.insert("scale".to_owned(), "5".to_owned())), UNKNOWN),
        ["query mode"]
    );
    let spec = |o: &mut Order| {
        drop(o.workload.options.insert("profile".to_owned(), "spec".to_owned()));
        o.drive.mode = Some(QueryMode::Extended);
    };
    assert_eq!(left("tproc-c", spec, UNKNOWN)[..2], ["warehouses", "clients"]);
    for know in
        [|f: &mut Facts| f.target.name = "null".into(), |f: &mut Facts| f.server = Some(Capabilities::default())]
    {
        assert_eq!(left("tpcb-like", NOTHING, know), [""; 0]);
    }
    assert_eq!(left("noop", NOTHING, UNKNOWN), [""; 0]);
}

#[test]
fn a_length_or_rate_that_no_stage_follows_is_reported() {
    let reported = |workload: &str, say: fn(&mut Order)| {
        without_effect(&request(workload, say).resolve(&facts(UNKNOWN)).unwrap().plan).join("; ")
    };
    assert_eq!(reported("tproc-h", NOTHING), "");
    let both: fn(&mut Order) = |order| (order.drive.time, order.drive.rate) = (Some(10.0), Some(RateOrder::PerS(5.0)));
    let expected = "-T or -t has no effect on tproc-h: its stages end when their work is done; --rate has no effect on \
                    this run of tproc-h: none of its clients follows it";
    assert_eq!(reported("tproc-h", both), expected);
    assert_eq!(reported("select-only", both), "");
    assert_eq!(reported("ch-benchmark", both), "");
    let queries: fn(&mut Order) = |order| {
        (order.drive.time, order.drive.rate) = (Some(10.0), Some(RateOrder::PerS(5.0)));
        order.workload.params.push(("transactions".to_owned(), "false".to_owned()));
    };
    let expected = "--rate has no effect on this run of ch-benchmark: none of its clients follows it";
    assert_eq!(reported("ch-benchmark", queries), expected);
}
