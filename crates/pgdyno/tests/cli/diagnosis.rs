//! What a run says of itself: events on its time line, and what held the server back.

use serde_json::Value;

use crate::given_server::{Place, TRUST};
use crate::program::Run;

/// The elements of a list in the record whose `key` is `value`.
fn of<'a>(run: &'a Run, list: &str, key: &str, value: &str) -> Vec<&'a Value> {
    let all = run.record.get(list).and_then(Value::as_array).into_iter().flatten();
    all.filter(|element| element[key] == value).collect()
}

#[test]
fn a_checkpoint_and_a_stall_are_marked_on_the_time_line() {
    let Some(place) = Place::new("events of a run", "checkpoint_timeout = 1h\n", TRUST) else { return };
    place.run("load simple-update -s 1").ok();
    let mut running = place.start("run simple-update -s 1 -c 4 -T 14 --ramp 0");
    running.until_it_says("progress:", 3);
    place.execute("CHECKPOINT");
    running.until_it_says("progress:", 6);
    place.execute("DO $$ BEGIN LOCK TABLE pgbench_accounts; PERFORM pg_sleep(3.5); END $$");
    let ran = running.end().ok();
    let run = place.home.the_run();

    let [checkpoint] = of(&run, "events", "kind", "checkpoint")[..] else { panic!("{}", run.at("/events")) };
    let time = |event: &Value, edge: &str| event[edge].as_f64().unwrap();
    assert!(checkpoint["text"].as_str().unwrap().starts_with("requested checkpoint, "), "{checkpoint}");
    assert!(
        time(checkpoint, "from_s") < time(checkpoint, "until_s") && time(checkpoint, "until_s") <= 14.5,
        "{checkpoint}"
    );
    let warnings: Vec<_> = run.at("/warnings").as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(!warnings.iter().any(|warning| warning.contains("no checkpoint")), "{warnings:?}");

    // Of three and a half seconds at least two are whole intervals; a busy machine may have others.
    let stalls = of(&run, "events", "kind", "stall");
    let longest = stalls.iter().map(|stall| time(stall, "until_s") - time(stall, "from_s")).fold(0.0, f64::max);
    assert!(longest >= 2.0 - 1e-3, "{stalls:?}");
    assert!(warnings.iter().any(|warning| warning.starts_with("no transaction succeeded for ")), "{warnings:?}");

    let [locks] = of(&run, "findings", "rule", "table-locks")[..] else { panic!("{}", run.record["findings"]) };
    assert!(
        locks["weight"].as_f64().unwrap() > 0.1 && locks["evidence"][1].as_str().unwrap().contains("pgbench_accounts")
    );
    let words = ["events: ", "requested checkpoint, ", "stall: ", "LIMIT", "waiting for locks on tables"];
    ran.prints(&["LIMIT"]);
    place.home.run(&["report", "last", "-v"]).ok().prints(&words);
}

#[test]
fn clients_that_update_one_row_are_reported_that_they_wait_for_it() {
    let Some(place) = Place::new("findings of a run", "", TRUST) else { return };
    place.run("run tpcb-like -s 1 -c 16 -T 8 --ramp 0").ok().prints(&["LIMIT "]);
    let run = place.home.the_run();
    let first = run.at("/findings/0");
    // Where the disk is slow enough, it is that which holds them up behind the one who has the row.
    assert!(matches!(first["rule"].as_str(), Some("row-locks" | "wal-flush")), "{}", run.at("/findings"));
    let [rows] = of(&run, "findings", "rule", "row-locks")[..] else { panic!("{}", run.at("/findings")) };
    assert!(rows["weight"].as_f64().unwrap() > 0.2, "{rows}");
    assert!(rows["text"].as_str().unwrap().starts_with("16 clients waited for each other"), "{rows}");
    assert!(rows["evidence"][1].as_str().unwrap().contains("Lock:t"), "{rows}");

    // Who is not watched is not judged.
    place.run("run tpcb-like -s 1 -c 2 -T 2 --ramp 0 --no-samples").ok();
    let run = place.home.runs().pop().unwrap();
    assert_eq!((run.record.get("findings"), run.record.get("events")), (None, None));
}
