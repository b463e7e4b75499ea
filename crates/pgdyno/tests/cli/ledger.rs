//! Proven commits: what a server has of what it acknowledged, after a crash, a promotion, a wait that hangs.

use std::time::Duration;

use crate::disk_full::Disk;
use crate::given_server::{Place, TRUST};
use crate::program::{Run, Running, eventually};
use crate::server::TestServer;

/// Acknowledgements are flushed, as on a real server.
const DURABLE: &str = "fsync = on\nsynchronous_commit = on\n";
const SOON: Duration = Duration::from_secs(30);
/// A standby may stream.
const REPLICATION: &str = "local all all trust\nlocal replication all trust\nhost all all all trust\n";
const ROWS: &str = "select count(*) from pgdyno_ledger_1";

/// Returns a number of the ledger in the record.
#[track_caller]
fn of(run: &Run, name: &str) -> u64 {
    run.number(&format!("/ledger/{name}")) as u64
}

/// Waits until the clients have written so many rows.
fn until_rows(place: &Place, rows: u64) {
    let there = || place.ask("select count(*) from pg_class where relname = 'pgdyno_ledger_1'") == "1";
    eventually("the clients commit", SOON, || there() && place.ask(ROWS).parse::<u64>().unwrap() > rows);
}

/// Returns arguments for a run over both servers, of which one takes writes.
fn over_both(primary: &TestServer, standby: &TestServer, args: &str) -> Vec<String> {
    let target = format!(
        "host={},{} port={},{} user=postgres dbname=postgres target_session_attrs=read-write",
        primary.dir().display(),
        standby.dir().display(),
        primary.port,
        standby.port
    );
    args.split(' ').map(str::to_owned).chain(["--target".to_owned(), target]).collect()
}

fn start(place: &Place, args: &[String]) -> Running {
    place.home.start(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Waits until the standby streams.
fn until_streaming(place: &Place) {
    eventually("it streams", SOON, || {
        place.ask("select count(*) from pg_stat_replication where state = 'streaming'") == "1"
    });
}

#[test]
fn a_server_that_is_killed_has_all_that_it_acknowledged() {
    let Some(mut place) = Place::new("a killed server keeps its commits", DURABLE, TRUST) else { return };
    let running = place.start("run ledger -c 4 -T 8 --ramp 0 -R 400 --commit-timeout 5s");
    until_rows(&place, 400);
    place.server.kill();
    std::thread::sleep(Duration::from_secs(1));
    place.server.restart();
    let ran = running.end().ok().prints(&["LEDGER", " without commits; ", " acknowledged, none lost; "]);
    let run = place.home.the_run();
    assert_eq!(run.text("/status"), "complete", "{}", ran.stdout);
    assert_eq!((of(&run, "lost"), of(&run, "resurrected"), of(&run, "unrecorded")), (0, 0, 0));
    let acknowledged = of(&run, "acknowledged");
    // Each client waited for the answer to a commit, or for its turn.
    assert!(of(&run, "unknown") <= 4 && acknowledged > 400, "{}", run.at("/ledger"));
    assert_eq!(of(&run, "unknown"), of(&run, "unknown_present") + of(&run, "unknown_absent"));
    let rows: u64 = place.ask(ROWS).parse().unwrap();
    assert_eq!(rows, acknowledged + of(&run, "unknown_present"), "the server's own count");
    assert!(run.number("/ledger/outage_s") >= 1.0 && run.at("/ledger/is_over") == true, "{}", run.at("/ledger"));
    assert_eq!(run.at("/ledger/is_promised"), true);
    // Once more, and then with a row that is removed behind its back: the check can say no.
    let again = place.run("check ledger --run last").ok().prints(&["none lost"]);
    assert!(again.stdout.contains("read on"), "{}", again.stdout);
    place.execute("delete from pgdyno_ledger_1 where sequence = 3 and client < 2");
    let json = place.run("check ledger --run last --format json").ended(14);
    let form: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&form["ledger"]["lost"], &form["ledger"]["holes"]), (&2.into(), &2.into()), "{form}");
    place.run("check ledger --run last").ended(14).prints(&["2 of them LOST", "the settings promise"]);
}

#[test]
fn a_row_that_is_deleted_during_the_run_makes_it_invalid() {
    let Some(place) = Place::new("a lost commit", DURABLE, TRUST) else { return };
    let running = place.start("run ledger -D tables=2 -c 2 -T 5 --ramp 0 -R 200");
    until_rows(&place, 100);
    place.execute("delete from pgdyno_ledger_1 where sequence = 7");
    let ran = running.end().ended(14).prints(&["! invalid", "1 of them LOST", "1 acknowledged commit lost, although"]);
    let run = place.home.the_run();
    assert_eq!((run.text("/status"), of(&run, "lost"), of(&run, "holes")), ("invalid", 1, 1), "{}", ran.stdout);
}

#[test]
fn commits_that_an_asynchronous_standby_has_not_received_are_lost_by_its_promotion() {
    let Some(mut place) = Place::new("an asynchronous standby", DURABLE, REPLICATION) else { return };
    let standby = TestServer::standby_of(&place.server);
    until_streaming(&place);
    let args = over_both(&place.server, &standby, "run ledger -c 4 -T 9 --ramp 0 -R 400 --commit-timeout 3s");
    let running = start(&place, &args);
    until_rows(&place, 200);
    // Its receiver stops, and from here on nothing more arrives.
    let mut admin = standby.admin();
    admin.execute("alter system set primary_conninfo = ''").unwrap();
    admin.execute("select pg_reload_conf()").unwrap();
    let gone =
        |admin: &mut pgdyno_net::Admin| admin.query_one("select count(*) from pg_stat_wal_receiver").unwrap() == "0";
    eventually("its receiver stops", SOON, || gone(&mut admin));
    let before: u64 = place.ask(ROWS).parse().unwrap();
    eventually("more commits", SOON, || place.ask(ROWS).parse::<u64>().unwrap() > before + 200);
    place.server.crash();
    assert_eq!(admin.query_one("select pg_promote()").unwrap(), "t");
    let ran = running.end().ok().prints(&["LOST", "the settings do not promise"]);
    let run = place.home.the_run();
    let (acknowledged, lost) = (of(&run, "acknowledged"), of(&run, "lost"));
    assert!(lost >= 200 && run.number("/ledger/loss_window_s") > 0.0, "{}", ran.stdout);
    let rows: u64 = admin.query_one(ROWS).unwrap().parse().unwrap();
    assert_eq!(rows, acknowledged - lost + of(&run, "unknown_present"), "the server's own count");
    assert_eq!((run.text("/ledger/timeline_before"), run.text("/ledger/timeline_after")), ("00000001", "00000002"));
    assert_eq!(run.at("/ledger/endpoints").as_array().unwrap().len(), 2);
    assert!(run.at("/ledger").get("overlap_s").is_none(), "{}", run.at("/ledger"));
    // Where it was stopped, the old primary still has them.
    place.server.restart();
    let there = place.run("check ledger --run last").stdout;
    assert!(there.contains("LOST"), "it lacks those of the new one: {there}");
}

#[test]
fn what_an_asynchronous_standby_has_not_replayed_breaks_no_promise() {
    let Some(place) = Place::new("a standby that is behind", DURABLE, REPLICATION) else { return };
    place.run("load ledger").ok();
    let standby = TestServer::standby_of(&place.server);
    until_streaming(&place);
    let mut admin = standby.admin();
    eventually("it has the table", SOON, || {
        admin.query_one("select to_regclass('pgdyno_ledger_1') is not null").unwrap() == "t"
    });
    admin.query("select pg_wal_replay_pause()").unwrap();
    place.run("run ledger -c 2 -T 2 --ramp 0 -R 100").ok().prints(&["none lost"]);
    let run = place.home.the_run();
    let of_standby = place.target().replace(place.server.dir().to_str().unwrap(), standby.dir().to_str().unwrap());
    let of_standby = of_standby.replace(&place.server.port.to_string(), &standby.port.to_string());
    let check = || place.home.run(&["check", "ledger", "--run", "last", "--target", &of_standby]);
    check().ok().prints(&[&format!("{} of them LOST", of(&run, "acknowledged")), "the settings do not promise"]);
    admin.query("select pg_wal_replay_resume()").unwrap();
    check().ok().prints(&["none lost"]);
}

#[test]
fn a_ledger_whose_disk_was_full_proves_nothing() {
    let Some(place) = Place::new("a ledger on a full disk", DURABLE, TRUST) else { return };
    let Some(disk) = Disk::new("a ledger on a full disk", 32) else { return };
    let out = disk.path().join("results");
    let mut running =
        place.start(&format!("run ledger -c 2 -T 6 --ramp 0 -R 200 --no-samples --out {}", out.display()));
    running.until_it_says("progress:", 1);
    disk.fill();
    running.until_it_says("progress:", 3);
    disk.make_room();
    let ran = running.end().ended(2).prints(&["! invalid", "the ledger proves nothing: failed to write the ledger"]);
    assert!(ran.stderr.contains("commits are missing in it"), "{}", ran.stderr);
    place
        .run(&format!("check ledger --run last --out {}", out.display()))
        .ended(2)
        .prints(&["failed to write the ledger", "more commits may be lost"]);
}

#[test]
fn a_synchronous_standby_that_is_promoted_has_all_commits() {
    let Some(mut place) = Place::new("a synchronous standby", DURABLE, REPLICATION) else { return };
    let standby = TestServer::standby_of(&place.server);
    until_streaming(&place);
    place.execute("alter system set synchronous_standby_names = '*'");
    place.execute("select pg_reload_conf()");
    eventually("it is synchronous", SOON, || {
        place.ask("select count(*) from pg_stat_replication where sync_state = 'sync'") == "1"
    });
    let of_standby = place.target().replace(place.server.dir().to_str().unwrap(), standby.dir().to_str().unwrap());
    let of_standby = of_standby.replace(&place.server.port.to_string(), &standby.port.to_string());
    let refused = place.home.run(&["run", "ledger", "-c", "1", "-t", "1", "--target", &of_standby]);
    refused.ended(1).says(&["standby", "hint: "]);
    let args = over_both(&place.server, &standby, "run ledger -c 4 -T 9 --ramp 0 -R 400 --commit-timeout 3s");
    let running = start(&place, &args);
    until_rows(&place, 200);
    place.server.kill();
    let mut admin = standby.admin();
    assert_eq!(admin.query_one("select pg_promote()").unwrap(), "t");
    let ran = running.end().ok().prints(&["none lost"]);
    let run = place.home.the_run();
    assert_eq!((of(&run, "lost"), run.at("/ledger/is_promised")), (0, &true.into()), "{}", ran.stdout);
    assert_ne!(run.text("/ledger/timeline_before"), run.text("/ledger/timeline_after"));
    let rows: u64 = admin.query_one(ROWS).unwrap().parse().unwrap();
    assert_eq!(rows, of(&run, "acknowledged") + of(&run, "unknown_present"));
}

#[test]
fn a_commit_that_waits_for_a_standby_is_unknown_in_time_and_there_or_locally_only_if_it_is_cancelled() {
    let Some(place) = Place::new("commits that wait for a standby", DURABLE, TRUST) else { return };
    place.run("load ledger").ok();
    place.execute("alter system set synchronous_standby_names = 'nobody'");
    place.execute("select pg_reload_conf()");
    let running = place.start("run ledger -c 2 -T 4 --ramp 0 --commit-timeout 1s --no-samples");
    let waiting = "select count(*) from pg_stat_activity where wait_event = 'SyncRep' and query like 'insert into pgdyno_ledger%'";
    eventually("clients wait", SOON, || place.ask(waiting) != "0");
    let cancel = "select count(pg_cancel_backend(pid)) from pg_stat_activity where wait_event = 'SyncRep' and query like 'insert%' \
                  and state_change > now() - interval '500 ms'";
    eventually("one that waits is cancelled", SOON, || place.ask(cancel) != "0");
    let ran = running.end();
    let run = place.home.the_run();
    let (unknown, locally_only) = (of(&run, "unknown"), of(&run, "locally_only"));
    assert!(locally_only >= 1 && unknown >= 2 && of(&run, "hung") >= 2, "{}\n{}", run.at("/ledger"), ran.stderr);
    // Rows are not visible while their commit waits.
    assert!(of(&run, "still_waiting") >= 2 && of(&run, "acknowledged") == 0, "{}", run.at("/ledger"));
    ran.prints(&["on the server wait for a synchronous standby"]);
    place.execute("alter system reset synchronous_standby_names");
    place.execute("select pg_reload_conf()");
    eventually("nobody waits", SOON, || place.ask(waiting) == "0");
    let json = place.run("check ledger --run last --format json").ok();
    let form: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let ledger = &form["ledger"];
    assert_eq!((&ledger["unknown_present"], &ledger["unknown_absent"]), (&unknown.into(), &0.into()), "{form}");
    assert_eq!((&ledger["still_waiting"], &ledger["locally_only_absent"]), (&0.into(), &0.into()), "{form}");
    assert_eq!(place.ask(ROWS), (unknown + locally_only).to_string());
}

#[test]
fn new_orders_are_their_own_markers() {
    let Some(mut place) = Place::with_warehouse("New-Orders as markers", DURABLE, TRUST) else { return };
    let orders = "select count(*) from orders";
    for call in ["procedure", "client"] {
        let before: u64 = place.ask(orders).parse().unwrap();
        let args = format!("run tproc-c --ledger -c 4 -T 6 --ramp 0 -R 100 --call {call} --commit-timeout 5s");
        let running = place.start(&args);
        eventually("orders come in", SOON, || place.ask(orders).parse::<u64>().unwrap() > before + 50);
        place.server.kill();
        place.server.restart();
        let ran = running.end().ok().prints(&["LEDGER", "none lost"]);
        let run = place.home.runs().pop().unwrap();
        assert_eq!((of(&run, "lost"), of(&run, "resurrected"), of(&run, "unrecorded")), (0, 0, 0), "{}", ran.stdout);
        let after: u64 = place.ask(orders).parse().unwrap();
        assert_eq!(after - before, of(&run, "acknowledged") + of(&run, "unknown_present"), "{}", run.at("/ledger"));
    }
    // An order without one of its lines is not the order that was acknowledged.
    place.execute(
        "delete from order_line where ol_number = 1 and (ol_w_id, ol_d_id, ol_o_id) in \
         (select o_w_id, o_d_id, o_id from orders order by o_id desc limit 1)",
    );
    place.run("check ledger --run last").ended(14).prints(&["1 of them LOST"]);
}

#[test]
fn what_cannot_keep_a_ledger_is_refused() {
    let Some(place) = Place::new("no ledger", "", TRUST) else { return };
    place.run("run select-only --ledger -t 1").ended(1).says(&["has none", "run the workload ledger or tproc-c"]);
    place.run("run tpcb-like --commit-timeout 5s -t 1").ended(1).says(&["--commit-timeout is for a run with a ledger"]);
    place
        .run("run ledger --connections 1 -c 2 -t 1")
        .ended(1)
        .says(&["needs a connection each for its clients", "leave out --connections"]);
    place.execute("create role reader login; revoke create on schema public from public");
    let target = place.target().replace("user=postgres", "user=reader");
    let refused = place.home.run(&["run", "ledger", "-c", "1", "-t", "1", "--target", &target]);
    assert!([Some(1), Some(11)].contains(&refused.code), "{}", refused.stderr);
    refused.says(&["hint: "]);
    assert_eq!(place.ask("select count(*) from pg_class where relname like 'pgdyno%'"), "0");
    place.run("run select-only -s 1 -c 1 -t 1").ok();
    place.run("check ledger --run last").ended(1).says(&["has no ledger"]);
}

#[test]
fn a_run_that_is_killed_leaves_the_commits_up_to_its_last_batch() {
    let Some(place) = Place::new("a killed run", DURABLE, TRUST) else { return };
    let mut running = place.start("run ledger -c 2 -T 60 --ramp 0 -R 200");
    running.until_it_says("progress:", 2);
    until_rows(&place, 300);
    running.signal(rustix::process::Signal::KILL);
    drop(running);
    let json = place.run("check ledger --run last --format json").ok();
    let form: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let (acknowledged, lost) = (form["ledger"]["acknowledged"].as_u64().unwrap(), &form["ledger"]["lost"]);
    assert_eq!(lost, 0, "{form}");
    let rows: u64 = place.ask(ROWS).parse().unwrap();
    assert!(acknowledged > 100 && acknowledged <= rows, "{form}");
    assert_eq!(
        form["ledger"]["unrecorded"].as_u64().unwrap(),
        rows - acknowledged,
        "the rest are known as such: {form}"
    );
}
