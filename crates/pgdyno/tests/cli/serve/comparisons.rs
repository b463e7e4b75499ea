//! Runs held against each other, and runs that cannot be.

use serde_json::Value;

use super::serve;
use crate::compare::{store, store_intervals};
use crate::program::Home;

#[test]
fn runs_that_cannot_be_compared_are_refused_with_the_reason_and_the_remedy() {
    let home = Home::new();
    store(&home, "good", 1000.0, |_| {});
    store(&home, "cut", 900.0, |record| {
        record["status"] = "interrupted".into();
        record["reason"] = "ended by <the user>".into();
    });
    store(&home, "idle", 0.0, |record| record["summary"]["committed"] = 0.into());
    store(&home, "unmeasured", 900.0, |record| record["summary"] = Value::Null);
    let server = serve(&home);
    for (query, why) in [
        ("base=good&new=cut", "NEW has no run that counts: cut is interrupted (ended by &lt;the user&gt;)"),
        ("base=cut&new=good", "BASE has no run that counts: cut is interrupted"),
        ("base=good&new=idle&new=unmeasured", "idle committed nothing; unmeasured committed nothing"),
    ] {
        let answer = server.get(&format!("/compare?{query}"));
        assert_eq!(answer.status, 422, "{query}: {}", answer.body);
        for part in [why, "<h1>These runs cannot be compared</h1>", "/assets/report.css", "href=\"/?status=complete\""]
        {
            assert!(answer.body.contains(part), "{query}: no {part} in {}", answer.body);
        }
    }
    // The remedy leads to runs that can be.
    let remedy = server.get("/?status=complete").body;
    assert!(remedy.contains("href=\"/runs/good\"") && !remedy.contains("href=\"/runs/cut\""), "{remedy}");
    // Beside one that counts it is left out.
    let answer = server.get("/compare?base=good&new=good&new=cut");
    assert!(answer.status == 200 && answer.body.contains("cut is interrupted"), "{}", answer.status);
}

#[test]
fn runs_of_different_work_are_shown_without_a_verdict() {
    let home = Home::new();
    store(&home, "one", 1000.0, |_| {});
    store(&home, "other", 900.0, |record| {
        record["plan"]["workload"] = "select-only".into();
        record["summary"]["nopm"] = Value::Null;
    });
    let answer = serve(&home).get("/compare?base=one&new=other");
    assert_eq!(answer.status, 200, "{}", answer.body);
    for part in ["not comparable", "workload tproc-c → select-only", "1,000", "900"] {
        assert!(answer.body.contains(part), "no {part} in {}", answer.body);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_no_fault_of_the_choice() {
    let home = Home::new();
    for id in ["one", "other"] {
        store(&home, id, 1000.0, |_| {});
        store_intervals(&home, id, 1000, 20);
    }
    std::fs::write(home.join("pgdyno-results/other/intervals.csv"), "a,b\n1,2\n").unwrap();
    let answer = serve(&home).get("/compare?base=one&new=other");
    assert_eq!(answer.status, 500, "{}", answer.body);
    assert!(answer.body.contains("other/intervals.csv: it has no column phase"), "{}", answer.body);
}
