//! Recipes: what is shown and planned of them, how the user's own words count, and what a report says beside them.

use std::path::Path;

use pgdyno_testing::directory::TestDirectory;
use serde_json::json;

use crate::program::{Home, json};
use crate::server;

/// A recipe of one's own, with a script of one's own beside it.
const MINE: &str = r#"
title = "mine"
workload = "mine.sql"
time = "90s"
clients = 4
params = { scale = 8, hot = 3 }

[source]
publisher = "we"
title = "our server"
date = "2026"

[steps]
restart = true
prewarm = true

[settings]
jit = "off"

[fit]
rule = "ours"
grows = { clients = "vcpus", scale = "memory" }

[[size]]
name = "small"
vcpus = 2
memory = "8GB"
published = { tps = 100 }
notes = ["it was warm"]
"#;

fn home_with_mine() -> Home {
    let home = Home::new();
    std::fs::create_dir(home.join("guides")).unwrap();
    std::fs::write(home.join("guides/mine.toml"), MINE).unwrap();
    std::fs::write(home.join("guides/mine.sql"), "select :hot * :scale;\n").unwrap();
    home
}

/// The names of all recipes and of their sizes.
fn listed(home: &Home) -> Vec<(String, Vec<String>)> {
    let text = home.run(&["list", "recipes"]).ok().stdout;
    let lines: Vec<_> = text.lines().collect();
    let recipe = |lines: &[&str]| {
        let sizes = lines[1].trim().strip_prefix("sizes: ").unwrap().split(", ").map(str::to_owned);
        (lines[0].split(' ').next().unwrap().to_owned(), sizes.collect())
    };
    lines.chunks(2).map(recipe).collect()
}

#[test]
fn every_recipe_is_shown_and_planned_at_every_size_and_fitted() {
    let home = Home::new();
    let recipes = listed(&home);
    assert!(recipes.len() > 20, "{recipes:?}");
    let workloads = home.run(&["list", "workloads"]).ok().stdout;
    let mut planned = 0;
    for (name, sizes) in &recipes {
        let shown = home.run(&["show", name]).ok().prints(&[name, "source ", "workload "]);
        let workload = shown.stdout.lines().find_map(|line| line.strip_prefix("workload")).unwrap().trim();
        let workload = workload.split(',').next().unwrap();
        // One that is not built in yet is no more than a name.
        if !workloads.lines().any(|line| line.split_whitespace().next() == Some(workload)) {
            home.run(&["plan", name, "--fit"]).ended(1).says(&["unknown workload", workload]);
            continue;
        }
        for size in sizes {
            let recipe = format!("recipe {name}, size {size}");
            let plan = home.run(&["plan", name, "--size", size]).ok().prints(&[&recipe, " measure ", " report "]);
            assert!(!plan.stdout.contains("fitted to") && !plan.stdout.contains("divided"), "{}", plan.stdout);
            planned += 1;
        }
        let fit = ["plan", name, "--fit", "--short", "--set", "shared_buffers=256MB"];
        // What ends when its work is done has no times.
        let short = if workload == "tproc-h" { "no time that --short could divide" } else { "times divided by 20" };
        home.run(&fit).ok().prints(&["fitted to", "1.0 GiB", short]);
    }
    assert!(planned > 20, "{planned}");
}

#[test]
fn a_plan_has_the_steps_of_the_guide_and_its_numbers() {
    let home = Home::new();
    let plan = home.run(&["plan", "alloydb/tpcc-full", "--size", "16vcpu"]).ok();
    let steps: Vec<_> = plan.stdout.lines().filter(|l| l.contains(". ") && !l.starts_with("note")).collect();
    let names: Vec<_> = steps.iter().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(
        names,
        ["prepare", "drop", "restart", "caches", "load", "check", "watch", "warm", "measure", "check", "report"],
        "{}",
        plan.stdout
    );
    plan.prints(&[
        "576 warehouses",
        "600 s, not counted",
        "3600 s: 256 clients",
        "published for AlloyDB, 16 vCPU, 128 GB: 428,316 NOPM, 974,264 TPM",
        "note: The guide has about 55 GB",
    ]);
    let fitted = ["plan", "alloydb/tpcc-partial", "--fit", "--short=10", "--set", "shared_buffers=1GB"];
    // More threads than CPUs are no use where one drives many clients.
    let crowd = ["plan", "alloydb/tpcb-full", "--fit", "--set", "shared_buffers=1GB"];
    home.run(&crowd).ok().prints(&["of these threads as many as this machine can spare"]);
    home.run(&fitted).ok().prints(&[
        "warehouses 3200 × 4/128 GB = 100",
        "of which 42 % fit in 4.0 GiB (the guide: 30 %)",
        "times divided by 10 (the guide: 60 min after 10 min of warm-up)",
        "360 s: ",
        "60 s, not counted",
    ]);
}

#[test]
fn what_the_user_says_counts_and_is_reported() {
    let home = home_with_mine();
    let plan = |args: &str| {
        let args: Vec<_> = ["plan", "guides/mine.toml"].into_iter().chain(args.split(' ')).collect();
        home.run(&args).ok()
    };
    let same = plan("--size small -c 4 -D hot=3 --set jit=off -T 90s");
    assert!(!same.stdout.contains("departs"), "{}", same.stdout);
    same.prints(&[
        "of mine.sql",
        "recipe guides/mine.toml, size small: we, \"our server\", 2026",
        " restart ",
        " settings jit = off",
        " prewarm ",
        "90 s: 4 clients",
        "published for 2 vCPU, 8 GB: 100 TPS",
        "note: it was warm",
    ]);
    plan("--size small -c 3 -s 5 --set jit=on -M prepared -t 7 --rate 9 -D cold=1").prints(&[
        "cold 1; scale 5 (the recipe: 8); jit on (the recipe: off); clients 3 (the recipe: 4); length 7 transactions of each \
         client (the recipe: 90 s); pace 9/s, Poisson (the recipe: closed loop); query mode prepared (the recipe: simple)",
        "7 transactions of each client: 3 clients",
        "query mode prepared",
        "scale = 5",
        "hot = 3",
    ]);
    plan("--fit --set shared_buffers=8GB").prints(&["scale 8 × 32/8 GB = 32", "scale = 32"]);
}

#[test]
fn a_variant_says_whether_a_run_begins_with_vacuum() {
    let home = Home::new();
    let plan = |args: &str| {
        let args = format!("plan polardb/rw --size polar.o.x4.large {args}");
        home.run(&args.split_whitespace().collect::<Vec<_>>()).ok()
    };
    let (before, none) = ("before the run: vacuum pgbench_branches", "neither VACUUM nor TRUNCATE before the run");
    let first = plan("").prints(&[before]);
    assert!(!first.stdout.contains(none), "{}", first.stdout);
    let second = plan("--variant 100M").prints(&[none]);
    assert!(!second.stdout.contains(before) && !second.stdout.contains("departs"), "{}", second.stdout);
    plan("-n").prints(&["departs from the recipe: no vacuum"]);
}

#[test]
fn what_cannot_be_meant_is_refused_with_a_remedy() {
    let home = home_with_mine();
    let rigid = MINE.replace("[fit]\nrule = \"ours\"\ngrows = { clients = \"vcpus\", scale = \"memory\" }", "");
    std::fs::write(home.join("rigid.toml"), rigid).unwrap();
    std::fs::write(home.join("slip.toml"), MINE.replace("clients = 4", "cleints = 4")).unwrap();
    std::fs::write(home.join("none.toml"), MINE.replace("mine.sql", "tpcb-lik")).unwrap();
    let cases: &[(&str, &[&str])] = &[
        (
            "plan alloydb/tpcc-full",
            &["choose one with --size", "16vcpu (AlloyDB, 16 vCPU, 128 GB)", "--size 16vcpu", "--fit"],
        ),
        ("run rigid.toml", &["choose one with --size", "--size small takes the numbers"]),
        ("plan rigid.toml --fit", &["no rule to scale its numbers", "small", "--size small"]),
        ("plan alloydb/tpcc-ful --fit", &["unknown recipe 'alloydb/tpcc-ful'", "did you mean alloydb/tpcc-full?"]),
        ("show alloydb/tpc", &["unknown recipe 'alloydb/tpc'", "pgdyno list recipes"]),
        ("plan guides/none.sql --fit", &["--fit is for recipes", "guides/none.sql"]),
        ("plan alloydb/tpcc-full --size 16cpu", &["no size '16cpu'", "did you mean 16vcpu?", "pgdyno show"]),
        ("plan alloydb/tpcc-full --size 16vcpu --fit", &["'--size <SIZE>' cannot be used with '--fit'"]),
        ("plan polardb/ro --size polar.o.x4.large --variant 1B", &["no variant '1B'", "50M, 100M"]),
        ("plan alloydb/tpcc-full --size 16vcpu --short=0.5", &["cannot be divided by 0.5"]),
        (
            "plan tpcb-like --size 16vcpu",
            &["--size is for recipes, and tpcb-like is not a recipe", "pgdyno list recipes"],
        ),
        ("plan --short", &["--short is for recipes"]),
        ("plan alloydb/tpcc-full polardb/ro --fit", &["follows one recipe", "alloydb/tpcc-full and polardb/ro"]),
        ("plan alloydb/tpcc-full guides/mine.sql --fit", &["has a workload of its own"]),
        (
            "plan none.toml --fit",
            &[
                "recipe none.toml needs a workload that does not exist",
                "unknown workload 'tpcb-lik'",
                "did you mean tpcb-like?",
            ],
        ),
        ("plan nowhere.toml --fit", &["failed to read recipe nowhere.toml"]),
        ("plan slip.toml --fit", &["line 5, column 1", "5 | cleints = 4", "^^^^^^^", "did you mean `clients`?"]),
        (
            "plan alloydb/tpcc-full --fit --target host=db1.invalid",
            &["CPUs and the memory of the server", "vcpus = 16", "pgdyno.toml", "--size"],
        ),
    ];
    for (args, words) in cases {
        home.run(&args.split(' ').collect::<Vec<_>>()).ended(1).says(words);
    }
    assert!(home.runs().is_empty());
}

#[test]
fn a_fitted_and_short_run_shows_the_guide_beside_what_was_measured() {
    if !server::available("a recipe on a private server") {
        return;
    }
    let home = Home::of_an_ordinary_user();
    let args = "run alloydb/tpcb-full --fit --short --set shared_buffers=16MB -c 2 -T 1 --ramp 0";
    home.run(&args.split(' ').collect::<Vec<_>>()).ok().prints(&[
        "recipe alloydb/tpcb-full, size 2vcpu: Google Cloud",
        "scale 500 × 0.06/16 GB = 2",
        "times divided by 20 (the guide: 3,900 s)",
        "departs from the recipe: shared_buffers 16MB; clients 2 (the recipe: ",
        "21,750",
        "published for AlloyDB, 16 vCPU, 128 GB",
        "cached: 100 % of the data is meant to fit; ",
        "neither figure is a pass mark",
    ]);
    let run = home.the_run();
    assert_eq!((run.text("/status"), run.text("/plan/recipe/name")), ("complete", "alloydb/tpcb-full"));
    assert_eq!((run.at("/plan/scale"), run.at("/plan/cycle/restart")), (&json!(2), &json!(true)));
    assert_eq!((run.at("/plan/recipe/shortened/by"), run.at("/plan/load")), (&json!(20.0), &json!("always")));
    assert_eq!(run.text("/plan/settings/shared_buffers"), "16MB");
    home.assert_clean();
}

#[test]
fn reports_of_a_record_have_the_published_figures() {
    let home = Home::new();
    let mut record = json(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json"));
    record["plan"]["recipe"] = json!({
        "name": "alloydb/tpcc-partial", "source": "a publisher, \"a guide\", 2023", "size": "16vcpu", "variant": "hot",
        "machine": "AlloyDB, 16 vCPU, 128 GB", "cached": 0.3,
        "published": [
            {"metric": "nopm", "value": 252_970.5}, {"metric": "tps", "value": 9706.0, "note": "once"},
            {"metric": "latency_ms_mean", "value": 4.947}, {"metric": "server_cpu_percent", "value": 94.0},
        ],
        "fitted": {"vcpus": 2, "memory_bytes": 1 << 30, "rule": "by a rule"},
        "shortened": {"by": 20.0, "time_s": 3900.0, "ramp_s": 600.0},
        "departures": ["4 clients (the recipe: 32)"],
    });
    record["summary"]["cache_hit_ratio"] = json!(0.9731);
    record["summary"]["os_cache_hit_ratio"] = json!(0.4);
    std::fs::write(home.join("run.json"), record.to_string()).unwrap();
    let report = |format: &str| home.run(&["report", "run.json", "--format", format]).ok().stdout;
    insta::assert_snapshot!("recipe_in_text", report("text"));
    insta::assert_snapshot!("recipe_in_markdown", report("markdown"));
}

#[test]
fn a_local_address_counts_as_this_machine_only_where_the_server_is_seen_here() {
    let Some(place) = crate::given_server::Place::new("--fit on a local server", "", crate::given_server::TRUST) else {
        return;
    };
    let fit = |dsn: &str| place.home.run(&["plan", "alloydb/tpcb-full", "--fit", "--target", dsn]);
    let port = place.server.port;
    for dsn in [place.target(), format!("host=127.0.0.1 port={port} user=postgres dbname=postgres")] {
        fit(&dsn).ok().prints(&["fitted to"]);
    }
    // A role that may not know where the data is.
    place.execute("create role reader login");
    fit(&format!("host=127.0.0.1 port={port} user=reader dbname=postgres")).ok().prints(&["fitted to"]);
    // What answers here, and has no processes here, as at the end of a tunnel.
    let sockets = TestDirectory::new("null");
    let _tunnel = place.home.start(&["server", "null", "--socket-dir", sockets.path().to_str().unwrap()]);
    crate::program::eventually("it answers", std::time::Duration::from_secs(30), || {
        sockets.path().join(".s.PGSQL.5432").exists()
    });
    let refused = fit(&format!("host={} user=postgres dbname=postgres", sockets.path().display())).ended(1);
    refused.says(&["its processes are not visible here", "[target.NAME]", "vcpus = 16"]);
    fit("host=127.0.0.1 port=1 user=postgres dbname=postgres").ended(1).says(&["it cannot be asked"]);
}
