//! Packets between clients and their server that a run drops for a time.

use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::given_server::{Place, TRUST};
use crate::program::{Running, eventually};
use crate::skipped::skipped;

/// Acknowledgements are flushed, as on a real server.
const DURABLE: &str = "fsync = on\nsynchronous_commit = on\n";
const SOON: Duration = Duration::from_secs(60);

/// Returns the server by its address.
fn by_tcp(place: &Place) -> String {
    format!("host=127.0.0.1 port={} user=postgres dbname=postgres connect_timeout=2", place.server.port)
}

/// Returns why packets cannot be dropped here.
fn missing(place: &Place, target: &str) -> Option<String> {
    let listed = place.home.run(&["fault", "list", "--target", target, "--format", "json"]).ok();
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    let fault = listed["faults"].as_array().unwrap().iter().find(|fault| fault["name"] == "network-drop:TIME");
    fault.unwrap()["missing"].as_str().map(str::to_owned)
}

fn start(place: &Place, args: &str) -> Running {
    let target = by_tcp(place);
    place.home.start(&args.split(' ').chain(["--target", &target]).collect::<Vec<_>>())
}

/// Returns true if a process has left its table behind, or has not removed it yet.
fn has_table(pid: i32) -> bool {
    let listed = Command::new("nft").args(["list", "tables"]).output().unwrap();
    String::from_utf8(listed.stdout).unwrap().lines().any(|line| line == format!("table inet pgdyno_drop_{pid}"))
}

#[test]
fn packets_are_dropped_for_a_time_and_pass_again_also_if_pgdyno_is_killed() {
    let Some(place) = Place::new("dropped packets", DURABLE, TRUST) else { return };
    if let Some(why) = missing(&place, &by_tcp(&place)) {
        skipped(&format!("dropped packets: {why}"));
        return;
    }
    let args = "run ledger -c 2 -T 10 --ramp 0 -R 100 --commit-timeout 1s --fault network-drop:3s --fault-at 2s";
    let running = start(&place, args);
    let pid = running.pid();
    running.end().ok().prints(&["FAULT   network-drop:3s at 2", "packets dropped", "acknowledged, none lost"]);
    assert!(!has_table(pid));
    let run = place.home.the_run();
    let fault = run.at("/faults/0");
    let [began_s, ended_s] = ["began_s", "ended_s"].map(|name| fault[name].as_f64().unwrap());
    assert!(fault["outcome"] == "done" && fault["packets_dropped"].as_u64().unwrap() > 0, "{fault}");
    assert!(ended_s - began_s >= 3.0, "{fault}");
    assert_eq!(fault["server_before"]["started"], fault["server_after"]["started"], "the server noticed nothing");
    // No packet says that the server is away: only the time limit of a reply does.
    assert!(run.number("/ledger/hung") >= 1.0 && run.number("/ledger/outage_s") >= 1.0, "{}", run.at("/ledger"));

    let args = "run select-only -s 1 -c 1 -T 300 --ramp 0 --fault network-drop:2s --fault-at 1s";
    let mut killed = start(&place, args);
    killed.until_it_says("fault network-drop", 1);
    let pid = killed.pid();
    eventually("packets are dropped", SOON, || has_table(pid));
    killed.signal(Signal::KILL);
    drop(killed);
    let address = SocketAddr::from(([127, 0, 0, 1], place.server.port));
    eventually("packets pass again", SOON, || TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok());
    assert!(has_table(pid), "an empty table is left");
    start(&place, "run select-only -c 1 -T 2 --ramp 0 --fault network-drop:100ms").end().ok();
    assert!(!has_table(pid), "the next one removes it");
}

#[test]
fn packets_of_a_socket_cannot_be_dropped() {
    let Some(place) = Place::new("packets of a socket", "", TRUST) else { return };
    let words = "packets can be dropped only where the server is reached by TCP";
    assert_eq!(missing(&place, &place.target()).as_deref(), Some(words));
    assert_eq!(missing(&place, "embedded").as_deref(), Some(words));
    place.run("run select-only -s 1 -c 1 -T 2 --fault network-drop:1s").ended(1).says(&[words, "--tcp"]);
    let agents = "run select-only -s 1 -c 1 -T 2 --fault network-drop:1s --agents 1 --meet host=x";
    place.run(agents).ended(1).says(&["it drops packets of this machine, and agents run the clients"]);
    assert_eq!(place.ask("select count(*) from pg_class where relname like 'pgbench%'"), "0");
}
