//! Targets that have names in pgdyno.toml.

use serde_json::json;

use crate::given_server::{Place, TRUST};
use crate::program::Home;

const SHORT: [&str; 9] = ["run", "select-only", "-s", "1", "-c", "2", "-t", "20", "-q"];

#[test]
fn names_are_found_and_mistakes_are_reported_with_the_remedy() {
    let home = Home::new();
    let write = |name: &str, text: &str| std::fs::write(home.join(name), text).unwrap();
    home.run(&["plan", "--target", "db16"])
        .ended(1)
        .says(&["connection string is malformed", "a pgdyno.toml that has 'db16'"]);
    home.run(&["plan", "--target", "db16", "--config", "no.toml"])
        .ended(1)
        .says(&["failed to read no.toml", "--config"]);
    write("pgdyno.toml", "[target.db16]\ndsn = 'host=db16 dbname=bench'\n[target.here]\ndsn = 'embedded:18'\n");
    home.run(&["plan", "--target", "db16"]).ok().prints(&["connect to db16"]);
    home.run(&["plan", "--target", "bd16"]).ended(1).says(&["no target 'bd16'", "did you mean db16?"]);
    home.run(&["plan", "--target", "elsewhere"]).ended(1).says(&["no target 'elsewhere'", "it has db16, here"]);
    home.run(&["check", "--target", "elsewhere"]).ended(1).says(&["no target 'elsewhere'"]);
    home.run(&["run", "--target", "db16", "--tcp"]).ended(1).says(&["--tcp is for the private server"]);
    write("other.toml", "[target.db]\ndsn = 'host=x password=geheim'\n");
    let refused = home.run(&["plan", "--target", "db", "--config", "other.toml"]).ended(1);
    assert!(!refused.stderr.contains("geheim"), "{}", refused.stderr);
    refused.says(&["holds a password", "~/.pgpass"]);
    write("other.toml", "[target.db]\ndsn = ''\nvcpu = 4\n");
    home.run(&["plan", "--target", "db", "--config", "other.toml"]).ended(1).says(&["line 3", "did you mean `vcpus`?"]);
    // A mistake in the file does not matter to who names no target of it.
    write("pgdyno.toml", "[target");
    home.run(&["plan", "--target", "host=x"]).ok();
    assert!(!home.join("pgdyno-results").exists());
}

#[test]
fn a_plan_is_the_same_wherever_the_socket_of_a_suites_server_is() {
    let home = Home::new();
    let hash = |target: &str, shown: &str| {
        let order = json!({ "target": { "target": target, "shown_as": shown } });
        home.order("plan", &order).ok().stdout.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(hash("host=/tmp/one", "embedded:15"), hash("host=/tmp/two", "embedded:15"));
    assert_ne!(hash("host=/tmp/one", "embedded:15"), hash("host=/tmp/one", "embedded"));
}

#[test]
fn a_run_on_a_target_says_what_is_known_of_it_and_what_it_costs() {
    let Some(place) = Place::new("a target with a name", "", TRUST) else { return };
    let home = &place.home;
    let (dir, port) = (place.server.dir().display(), place.server.port);
    std::fs::write(
        home.join("pgdyno.toml"),
        format!(
            "[target.db16]\ndsn = 'host={dir} port={port} user=postgres dbname=postgres'\nkind = 'self-hosted'\nvcpus = 16\n\
             memory = '128GB'\nprice_per_hour = 3.6\ncurrency = 'EUR'\nlabels = {{ cluster = 'c4+2w8' }}\n"
        ),
    )
    .unwrap();
    let named = |args: &[&'static str]| [args, &["--target", "db16"]].concat();
    home.run(&named(&["load", "tpcb-like", "-s", "1"])).ok();
    let ran = home.run(&named(&SHORT)).ok();
    let run = home.the_run();
    assert_eq!((run.text("/plan/target"), run.text("/target/name")), ("db16", "db16"));
    assert_eq!((run.number("/target/vcpus"), run.number("/target/memory_bytes")), (16.0, f64::from(1 << 30) * 128.0));
    assert_eq!(run.text("/target/labels/cluster"), "c4+2w8");
    let cost = run.number("/cost/per_million_transactions");
    let expected = 3.6 / 3600.0 / run.number("/summary/tps") * 1e6;
    assert!((cost - expected).abs() < 1e-9 * expected, "{cost} {expected}");
    ran.prints(&["target db16", "COST    3.60 EUR an hour; "]);
    let facts = "target db16: self-hosted, 16 vCPU, 128.0 GiB, cluster c4+2w8";
    home.run(&["report", "last", "-v"]).ok().prints(&[facts]);
    home.run(&["report", "last", "--format", "markdown"]).ok().prints(&["- target db16: ", "- cost: 3.60 EUR"]);
    home.run(&named(&["check", "tpcb-like"])).ok();
    home.run(&named(&["drop", "tpcb-like"])).ok().prints(&["dropped table "]);
    // Its plan knows where it is, without the file with its name.
    assert_eq!(run.text("/plan/target_dsn"), format!("host={dir} port={port} dbname=postgres user=postgres"));
    std::fs::rename(home.join("pgdyno.toml"), home.join("gone.toml")).unwrap();
    home.run(&["run", "--again", run.text("/id"), "-q"]).ok();
    let again = home.runs().pop().unwrap();
    assert_eq!((again.at("/plan"), again.text("/plan_hash")), (run.at("/plan"), run.text("/plan_hash")));
    assert_eq!(again.at("/server/place"), run.at("/server/place"));
    std::fs::rename(home.join("gone.toml"), home.join("pgdyno.toml")).unwrap();
    home.run(&[&named(&["load", "tpcb-like", "-s", "1"])[..], &["--set", "work_mem=1MB"]].concat())
        .ended(1)
        .says(&["--set is for runs"]);

    // A suite's private server is called what it is, not where.
    let dsn = format!("host={dir} port={port} user=postgres dbname=postgres");
    let order = |shown: &str| {
        json!({
            "workload": { "names": ["select-only"], "scale": "1" },
            "drive": { "clients": 2, "time_s": 1.0, "ramp_s": 0.0 },
            "target": { "target": dsn, "shown_as": shown },
        })
    };
    home.order("run", &order("embedded:15")).ok();
    let last = home.runs().pop().unwrap();
    assert_eq!(last.text("/plan/target"), "embedded:15");
    assert_eq!(last.text("/server/origin"), "private, held by the suite");
    assert!(last.record.get("target").is_none() && last.record.get("cost").is_none());
    let here = "\n[target.here]\ndsn = 'embedded'\nprice_per_hour = 1.0\nsettings = { work_mem = '3MB' }\n";
    std::fs::write(home.join("pgdyno.toml"), here).unwrap();
    let mut by_name = order("here");
    by_name["cycle"] = json!({ "done": [["settings", "at its start"]] });
    home.order("run", &by_name).ended(1).says(&["work_mem is 4MB, and 3MB was asked for"]);
    by_name["target"]["settings"] = json!([["work_mem", "4096kB"]]);
    home.order("run", &by_name).ok();
    let last = home.runs().pop().unwrap();
    assert_eq!((last.text("/plan/target"), last.text("/target/name")), ("here", "here"));
    assert_eq!(last.text("/server/origin"), "private, held by the suite");
    assert_eq!((last.text("/settings_set/0/by"), last.text("/cycle/0/what")), ("start", "at its start"));
    assert!(last.number("/cost/price_per_hour") == 1.0);
}
