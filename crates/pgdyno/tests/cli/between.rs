//! What ends idle sessions, and what leads to several servers.

use std::time::Duration;

use pgdyno_testing::proxy::{Proxy, WhenIdle};

use crate::given_server::{Place, TRUST};
use crate::program::eventually;
use crate::server::TestServer;

const SOON: Duration = Duration::from_secs(30);
/// Sessions that mark the server as one that a run measures.
const MARKS: &str = "select count(*) from pg_locks where locktype = 'advisory' and classid = 1885824121";

fn target(port: u16, user: &str) -> String {
    format!("host=127.0.0.1 port={port} user={user} dbname=postgres")
}

#[test]
fn a_time_limit_on_idle_sessions_ends_none_of_ours() {
    let Some(place) = Place::new("idle_session_timeout", "", TRUST) else { return };
    if crate::postgres::major() < 14 {
        return;
    }
    place.execute("create role app login; grant create on schema public to app");
    place.execute("alter role app set idle_session_timeout = '3s'");
    let target = target(place.server.port, "app");
    let run = |args: &str| place.home.start(&args.split(' ').chain(["--target", &target]).collect::<Vec<_>>());
    run("load select-only -s 1").end().ok();
    let mut running = run("run select-only -c 2 -R 100 -T 7 --ramp 0");
    running.until_it_says("progress:", 5);
    assert_eq!(place.ask(MARKS), "1", "the run is marked for all of its time");
    let ran = running.end().ok();
    assert!(!ran.stderr.contains("no longer answers") && !ran.stderr.contains("was lost"), "{}", ran.stderr);
    let record = place.home.runs().pop().unwrap();
    assert!(record.checks_that_hold().contains(&"after the run"));
    assert!(record.number("/summary/tpm") > 0.0);

    // The first session has nothing to do while others copy rows.
    place.execute("alter role app set idle_session_timeout = '1500ms'");
    run("run select-only -s 10 -c 2 -T 1 --ramp 0 --replace").end().ok();
    place.home.run(&["pgbench", "-i", "-q", "-s", "10", "--init-jobs=2", &target]).ok();
}

#[test]
fn a_session_that_is_dropped_is_opened_again() {
    let Some(place) = Place::new("a proxy that drops idle connections", "", TRUST) else { return };
    place.run("load select-only -s 1").ok();
    let args = ["run", "select-only", "-c", "2", "-R", "100", "-T", "8", "--ramp", "0", "--target"];
    // Looks at sessions without work keep them.
    let proxy = Proxy::start(&[place.server.port], WhenIdle::Closes(Duration::from_secs(6)));
    let target = target(proxy.port(), "postgres");
    let ran = place.home.run(&[&args[..], &[target.as_str()]].concat()).ok();
    assert!(!ran.stderr.contains("was lost") && !ran.stderr.contains("no longer answers"), "{}", ran.stderr);

    let mut running = place.home.start(&[&args[..], &[target.as_str()]].concat());
    running.until_it_says("progress:", 1);
    let marked = "select pid from pg_locks where locktype = 'advisory' and classid = 1885824121";
    let first = place.ask(marked);
    place.execute(&format!("select pg_terminate_backend({first})"));
    eventually("the run is marked again", SOON, || {
        place.server.admin().query_opt(marked).unwrap().is_some_and(|pid| pid != first)
    });
    let ran = running.end().ok().says(&["pgdyno's own session was lost once", "and opened again"]);
    assert!(!ran.stderr.contains("no longer answers") && !ran.stderr.contains("at the same time"), "{}", ran.stderr);
    let record = place.home.runs().pop().unwrap();
    assert!(record.checks_that_hold().contains(&"after the run"));
    assert!(record.number("/summary/tpm") > 0.0);
}

#[test]
fn figures_of_one_of_several_servers_are_left_out() {
    let hba = format!("{TRUST}local replication all trust\n");
    let Some(place) = Place::new("a balancer before two servers", "", &hba) else { return };
    place.run("load select-only -s 1").ok();
    let standby = TestServer::standby_of(&place.server);
    let loaded = "select count(*) from pg_class where relname = 'pgbench_accounts'";
    eventually("the standby has the data", SOON, || standby.admin().query_one(loaded).unwrap() == "1");
    let ports = [place.server.port, standby.port];
    let listed = format!(
        "host=127.0.0.1,127.0.0.1 port={},{} user=postgres dbname=postgres load_balance_hosts=random",
        ports[0], ports[1]
    );
    let proxy = Proxy::start(&ports, WhenIdle::Stays);
    for target in [target(proxy.port(), "postgres"), listed] {
        let args = ["run", "select-only", "-c", "16", "-R", "200", "-T", "2", "--ramp", "0", "--target", &target];
        let ran = place.home.run(&args).ok().says(&["the clients are on 2 servers: ", "name one server in --target"]);
        let ran = ran.prints(&["clients on 2 servers"]);
        assert!(!ran.stdout.contains("other programs"), "{}", ran.stdout);
        let run = place.home.runs().pop().unwrap();
        let clients: Vec<_> = run.at("/server/endpoints").as_array().unwrap().to_vec();
        assert_eq!(clients.iter().map(|server| server["clients"].as_u64().unwrap()).sum::<u64>(), 16);
        assert_eq!(clients.iter().map(|server| server["standby"] == true).collect::<Vec<_>>(), [false, true]);
        for figure in ["tpm", "cache_hit_ratio", "wal_bytes"] {
            assert!(run.record["summary"].get(figure).is_none_or(serde_json::Value::is_null), "{figure}");
        }
        assert!(run.record.get("server_machine").is_none_or(serde_json::Value::is_null));
        assert_eq!(run.text("/samples/left_out/0/source"), "all statistics");
    }
    // Through a proxy before one server, nothing is left out.
    let proxy = Proxy::start(&ports[..1], WhenIdle::Stays);
    let target = target(proxy.port(), "postgres");
    let args = ["run", "select-only", "-c", "4", "-R", "100", "-T", "2", "--ramp", "0", "--target", &target];
    place.home.run(&args).ok();
    let run = place.home.runs().pop().unwrap();
    assert!(run.number("/summary/tpm") > 0.0 && run.record["server"].get("endpoints").is_none());
}
