//! Targets that cannot be written, or not all of it: a standby, a role with SELECT alone, one with DML and no CREATE.

use std::time::Duration;

use crate::given_server::Place;
use crate::program::{Ran, eventually};
use crate::server::TestServer;

const HBA: &str = "local all all trust\nlocal replication all trust\n";
const REPLAYED: Duration = Duration::from_secs(60);

/// A streaming standby of a place, and the target that leads to it.
struct Standby<'a> {
    place: &'a Place,
    server: TestServer,
}

impl Standby<'_> {
    fn run(&self, args: &str) -> Ran {
        let server = &self.server;
        let target = format!("host={} port={} user=postgres dbname=postgres", server.dir().display(), server.port);
        let args: Vec<_> = args.split(' ').chain(["--target", &target]).collect();
        self.place.home.run(&args)
    }

    /// Waits until it has all that the primary has.
    fn catch_up(&self) {
        let position = self.place.ask("select pg_current_wal_lsn()");
        let asked = format!("select pg_last_wal_replay_lsn() >= '{position}'");
        eventually("the standby has it all", REPLAYED, || self.server.admin().query_one(&asked).unwrap() == "t");
    }
}

#[test]
fn what_only_reads_runs_on_a_standby() {
    let Some(place) = Place::new("a standby", "", HBA) else { return };
    place.run("load select-only -s 1").ok();
    let standby = Standby { place: &place, server: TestServer::standby_of(&place.server) };
    standby.catch_up();

    let ran = standby.run("run select-only -c 4 -t 100 --checkpoint --prewarm -v").ok();
    ran.prints(&["a standby", "left out before the run: vacuum pgbench_branches", "checks after the run: all"]);
    let run = place.home.runs().pop().unwrap();
    assert_eq!((run.text("/status"), run.at("/server/standby").as_bool()), ("complete", Some(true)));
    assert!(run.checks_that_hold().contains(&"after the run"));
    assert!(run.number("/summary/tps") > 0.0 && run.number("/summary/tpm") > 0.0);

    // Asked for, it is left out without a word.
    let ran = standby.run("run select-only -n -c 2 -t 20").ok();
    assert!(!ran.stdout.contains("left out before"), "{}", ran.stdout);
    assert_eq!(place.home.runs().pop().unwrap().at("/plan/no_vacuum").as_bool(), Some(true));

    standby.run("run polardb-ro -c 2 -t 5").ok().prints(&["a standby"]);
    std::fs::write(place.home.join("count.sql"), "select count(*) /* update */ from pgbench_branches;\n").unwrap();
    standby.run("run ./count.sql -c 2 -t 20").ok().prints(&["a standby"]);
    standby.run("check select-only").ok();
}

#[test]
fn what_writes_is_refused_on_a_standby_before_anything_is_done() {
    let Some(place) = Place::new("writing on a standby", "", HBA) else { return };
    place.run("load tpcb-like -s 1").ok();
    let standby = Standby { place: &place, server: TestServer::standby_of(&place.server) };
    standby.catch_up();
    std::fs::write(place.home.join("add.sql"), "update pgbench_branches set bbalance = 1;\n").unwrap();
    for args in ["run tpcb-like -T 1", "run tproc-c -w 1 -T 1", "run ./add.sql -T 1", "run polardb-rw -T 1"] {
        standby.run(args).ended(1).says(&["is a standby, and", "writes", "name the primary"]);
    }
    standby.run("run select-only -T 1 --replace").ended(1).says(&["is a standby", "on the primary"]);
    standby.run("drop tpcb-like").ended(1).says(&["is a standby", "drop changes data", "primary"]);
    standby.run("load tproc-c -w 1").says(&["the server is a standby", "load on the primary"]);
    assert!(place.home.runs().is_empty(), "nothing was begun");
}

#[test]
fn a_role_that_may_only_read_runs_what_only_reads() {
    let Some(place) = Place::new("a role with SELECT alone", "", HBA) else { return };
    place.run("load tpcb-like -s 1").ok();
    place.execute("create role reader login");
    let target = place.target().replace("user=postgres", "user=reader");
    let run = |args: &str| {
        let args: Vec<_> = args.split(' ').chain(["--target", &target]).collect();
        place.home.run(&args)
    };
    place.execute("grant select on pgbench_accounts to reader");
    run("run select-only -c 2 -t 20").says(&["pgdyno_stamp", "GRANT SELECT ON pgdyno_stamp"]);

    place.execute("grant select on all tables in schema public to reader");
    run("run select-only -c 2 -t 20 -v").ok().prints(&[
        "before the run, vacuum pgbench_branches",
        "left out: empty the history",
        "permission denied for table pgbench_history",
        "checks after the run: all",
    ]);
    let ran = run("run polardb-ro --no-vacuum -c 2 -t 5").ok();
    assert!(!ran.stdout.contains("before the run,"), "{}", ran.stdout);
    // The owner's history is as it was.
    place.execute("insert into pgbench_history values (1, 1, 1, 0, now(), null)");
    place.run("run select-only -n -c 2 -t 20").ok();
    assert_eq!(place.ask("select count(*) from pgbench_history"), "1");
    place.run("run select-only -c 2 -t 20").ok();
    assert_eq!(place.ask("select count(*) from pgbench_history"), "0");
}

#[test]
fn a_role_without_create_calls_installed_routines() {
    let Some(place) = Place::with_warehouse("a role with DML alone", "", HBA) else { return };
    place.execute(
        "create role clerk login; grant select, insert, update, delete on all tables in schema public to clerk",
    );
    let target = place.target().replace("user=postgres", "user=clerk");
    let run = |call: &str| {
        let args = ["run", "tproc-c", "-c", "2", "-t", "20", "--call", call, "--target", &target];
        place.home.run(&args)
    };
    let routines = "select string_agg(xmin::text, ' ' order by proname) from pg_proc where proname like 'pgdyno%'";
    let before = place.ask(routines);
    for call in ["procedure", "function", "client"] {
        run(call).ok().prints(&["data checks passed"]);
    }
    assert_eq!(place.ask(routines), before, "routines that are as they should be are not written again");

    // Those of another version must be replaced, by who may.
    place.execute(
        "update pg_proc set prosrc = prosrc || ' ' where proname = 'pgdyno_delivery'; \
         update pgdyno_stamp set layout = null",
    );
    run("procedure").says(&["may not replace them", "as their owner"]);
    place.run("run tproc-c -c 2 -t 20").ok();
    assert_ne!(place.ask(routines), before);
    run("procedure").ok();
}
