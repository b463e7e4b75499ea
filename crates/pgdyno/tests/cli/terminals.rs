//! Clients that share connections, and terminals that think.

use crate::given_server::{Place, TRUST};
use crate::program::Home;

#[test]
fn thousands_of_clients_share_a_few_connections() {
    let home = Home::new();
    let args = "run select-only --target null -c 4000 --connections 6 -j 2 -T 2 --ramp 0";
    let args: Vec<_> = args.split(' ').collect();
    home.run(&args).ok().prints(&["4,000 clients sharing 6 connections", "service time"]);
    let run = home.the_run();
    assert_eq!((run.number("/plan/connections"), run.number("/client/threads")), (6.0, 2.0));
    assert!(run.number("/summary/committed") > 4000.0 && run.number("/summary/failed") == 0.0);
    // In a closed loop all are always due: they wait for each other, and that is part of the response time.
    let mean = |what: &str| run.number(&format!("/summary/{what}_ns/mean"));
    assert!(mean("response_latency") > 20.0 * mean("service_latency"));
    let sum = mean("schedule_lag") + mean("service_latency");
    assert!((mean("response_latency") - sum).abs() < 0.01 * sum);
}

#[test]
fn more_shared_connections_than_clients_are_refused() {
    let home = Home::new();
    home.run(&["run", "select-only", "--target", "null", "-c", "4", "--connections", "5"])
        .ended(1)
        .says(&["--connections 5 is more than the 4 clients", "lower --connections"]);
    home.run(&["run", "select-only", "--connections", "0"]).ended(1);
}

/// A server that has no room for a connection each.
#[test]
fn terminals_of_the_spec_profile_think_and_share_connections() {
    let Some(place) = Place::new("terminals", "max_connections = 12\nfsync = off\n", TRUST) else { return };
    let run = |args: &str| {
        place.run(&format!("run tproc-c --profile spec -w 2 {args}")).ok();
        place.home.runs().pop().unwrap()
    };
    place.run("run tproc-c --profile spec -w 2 -T 1").ended(1).says(&["you asked for 20 clients", "max_connections"]);
    let thinking = run("--connections 4 -T 14 --ramp 8");
    assert_eq!((thinking.number("/plan/clients"), thinking.number("/plan/connections")), (20.0, 4.0));
    // 20 terminals that wait 20 s on average: about one transaction a second.
    let committed = thinking.number("/summary/committed");
    assert!((2.0..60.0).contains(&committed), "{committed}");
    let rules = thinking.at("/rules").as_array().unwrap();
    let rule = |name: &str| rules.iter().find(|rule| rule["name"] == name).unwrap();
    assert_eq!(rule("5.5.2")["holds"], false, "{rules:?}");
    assert_eq!(thinking.checks_that_hold(), ["after the load", "after the run"]);
    // Without waits, terminals are clients as any other, and what the clauses say of New-Orders for each warehouse is broken.
    let hurried = run("--no-think -c 6 -T 1 --ramp 0");
    assert_eq!(hurried.text("/plan/params/think"), "off");
    assert!(hurried.number("/summary/committed") > committed);
    let warnings = hurried.at("/warnings").to_string();
    assert!(warnings.contains("12.86"), "{warnings}");
}
