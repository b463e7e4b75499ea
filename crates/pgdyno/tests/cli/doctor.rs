//! `pgdyno doctor`: what it finds where the cause is known.

use serde_json::Value;

use crate::given_server::{Place, TRUST};
use crate::program::{Home, Ran};

/// The finding of a check.
fn finding<'a>(examination: &'a Value, check: &str) -> &'a Value {
    let places = examination["places"].as_array().unwrap();
    let mut findings = places.iter().flat_map(|place| place["findings"].as_array().unwrap());
    findings.find(|finding| finding["check"] == check).unwrap_or_else(|| panic!("no {check} in {examination}"))
}

fn examination(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn the_machine_is_examined_without_a_server() {
    let home = Home::new();
    let ran = home.run(&["doctor", "--format", "json"]);
    // What else runs on the machine decides between them.
    assert!([Some(0), Some(30)].contains(&ran.code), "{}{}", ran.stdout, ran.stderr);
    let examined = examination(&ran);
    assert_eq!(examined["places"].as_array().unwrap().len(), 1);
    assert!(finding(&examined, "disk-flush")["value"].as_f64().unwrap() > 0.0);
    assert!(finding(&examined, "clock")["figure"].as_str().unwrap().contains("ns a reading"));
    let text = home.run(&["doctor", "-v"]);
    assert!(text.stdout.contains("machine  ") && text.stdout.contains("open-files: "), "{}", text.stdout);
    assert!(text.stdout.lines().all(|line| line.chars().count() <= 80), "{}", text.stdout);
    home.run(&["doctor", "--target", "null"]).ended(1).says(&["a null server has no settings", "hint: "]);
}

#[test]
fn what_is_wrong_on_a_server_is_found() {
    let conf = "fsync = off\nlog_statement = all\nstatement_timeout = 30s\nmax_connections = 20\n";
    let Some(place) = Place::new("the doctor", conf, TRUST) else { return };
    place.execute("create table dead (a int) with (autovacuum_enabled = off)");
    place.execute("insert into dead select generate_series(1, 30000)");
    place.execute("delete from dead where a > 10000");
    place.execute("create role watcher login");
    // The right to create schemas is none to create tables in this one.
    place.execute("grant create on database postgres to watcher");
    place.execute("revoke create on schema public from public");
    // An index of the partitioned table alone is not valid until each partition has one.
    place.execute("create table parted (a int) partition by range (a)");
    place.execute("create table part partition of parted default");
    place.execute("create index on only parted (a)");
    let mut idle = place.server.admin();
    idle.execute("begin; select txid_current()").unwrap();
    let ran = place.run("doctor --format json").ended(31);
    let examined = examination(&ran);
    let of = |check: &str| finding(&examined, check).clone();
    let severity = |check: &str| of(check)["severity"].as_str().unwrap().to_owned();
    assert_eq!(
        [severity("fsync"), severity("log_statement"), severity("full_page_writes")],
        ["error", "warning", "passed"]
    );
    assert!(of("time-limits")["figure"] == "statement_timeout = 30s", "{examined}");
    assert!(of("other-sessions")["figure"].as_str().unwrap().contains("1 idle in transaction"), "{examined}");
    assert!(of("connections")["severity"] == "note", "{examined}");
    assert_eq!(of("rights")["figure"], "superuser");
    assert_eq!(of("indexes")["figure"], "all valid");
    assert!(of("round-trip")["value"].as_f64().unwrap() > 0.0);
    // The views of statistics may be a moment late.
    crate::program::eventually("dead rows", std::time::Duration::from_secs(30), || {
        let examined = examination(&place.run("doctor --format json"));
        finding(&examined, "dead-rows")["figure"].as_str().unwrap().starts_with("public.dead has 20,000 dead rows")
    });
    let target = place.target().replace("user=postgres", "user=watcher");
    let watcher = examination(&place.home.run(&["doctor", "--format", "json", "--target", &target]));
    let remedy = finding(&watcher, "rights")["remedy"].as_str().unwrap();
    for grant in ["GRANT pg_monitor TO watcher", "GRANT CREATE ON SCHEMA public TO watcher"] {
        assert!(remedy.contains(grant), "{remedy}");
    }
    // Commits are timed only where they wait for the disk.
    assert!(!ran.stdout.contains("\"commit\""), "{}", ran.stdout);
}
