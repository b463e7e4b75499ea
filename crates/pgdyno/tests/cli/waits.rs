//! Waits for the server outside the measured window: what is said of them, and how they end. Each is caused on a real
//! server: by a synchronous standby that does not exist, or by another session's lock.

use std::time::Duration;

use pgdyno_net::Admin;
use rustix::process::Signal;

use crate::given_server::{Place, TRUST};
use crate::program::{Running, eventually, finish};

/// What is said of a commit that waits for the standby.
const STANDBY: [&str; 2] = ["waits for a synchronous standby (IPC/SyncRep)", "synchronous_standby_names is 'nosuch'"];

impl Place {
    /// From now on each commit waits for a standby that does not exist.
    fn await_standby(&self) {
        let mut admin = self.server.admin();
        admin.execute("alter system set synchronous_standby_names = 'nosuch'").unwrap();
        admin.query("select pg_reload_conf()").unwrap();
        eventually("the setting", Duration::from_secs(30), || {
            self.server.admin().query_one("show synchronous_standby_names").unwrap() == "nosuch"
        });
    }

    /// The standby is no longer waited for; commits that wait end.
    fn await_no_standby(&self) {
        let mut admin = self.server.admin();
        admin.execute("alter system reset synchronous_standby_names").unwrap();
        admin.query("select pg_reload_conf()").unwrap();
    }

    /// A session of `psql` that has locked a table.
    fn locker(&self, table: &str) -> Admin {
        let mut admin = self.server.admin();
        admin.execute("set application_name = 'psql of a friend'").unwrap();
        admin.execute(&format!("begin; lock table {table} in access exclusive mode")).unwrap();
        admin
    }

    fn count(&self, table: &str) -> String {
        self.ask(&format!("select count(*) from pg_class where relname = '{table}'"))
    }
}

/// Interrupts it once it has said what it waits for.
fn interrupted_while_it_waits(mut running: Running, words: &[&str]) -> crate::program::Ran {
    running.until_it_says("waiting: ", 1);
    running.signal(Signal::INT);
    running.end().ended(130).says(words)
}

#[test]
fn a_wait_for_a_missing_standby_is_named_and_what_an_interrupt_left_is_looked_up() {
    let Some(place) = Place::new("a missing standby", "", TRUST) else { return };
    place.run("load tpcb-like -s 1").ok();
    place.await_standby();

    // The TRUNCATE before a run.
    interrupted_while_it_waits(place.start("run tpcb-like -c 1 -T 1"), &STANDBY);
    // The commit of the drop that is interrupted has happened.
    let ran = interrupted_while_it_waits(place.start("drop tpcb-like"), &STANDBY);
    let ran = ran.says(&["COMMIT has taken ", "everything was dropped"]);
    assert!(!ran.stderr.contains("nothing was dropped"), "{}", ran.stderr);
    assert_eq!(place.count("pgbench_accounts"), "0");
    // The load of nothing: its first commit.
    let ran = interrupted_while_it_waits(place.start("load tpcb-like -s 1"), &STANDBY);
    ran.says(&["interrupted; "]);
    // The drop-in.
    let mut command = place.home.command(["pgbench", "-i", "-s", "1"]);
    command.env("PGHOST", place.server.dir()).env("PGPORT", place.server.port.to_string());
    command.env("PGUSER", "postgres").env("PGDATABASE", "postgres");
    let mut init = Running::new(command);
    init.until_it_says("waiting: ", 1);
    place.await_no_standby();
    init.end().ok().says(&STANDBY).says(&["pgbench: waiting: "]);
}

#[test]
fn data_to_be_replaced_is_not_called_lost_before_it_is() {
    let Some(place) = Place::new("an interrupted replacement", "", TRUST) else { return };
    place.run("load tpcb-like -s 1").ok();
    let locker = place.locker("pgbench_accounts");
    let held =
        ["on pgbench_accounts (Lock/relation)", "(psql of a friend), idle in transaction", "its last statement from"];
    let ran = interrupted_while_it_waits(place.start("load tpcb-like -s 2 --replace"), &held);
    let ran = ran.says(&["the database holds ", ", complete"]);
    assert!(!ran.stderr.contains("unusable"), "{}", ran.stderr);
    // The same if it loses its connection before.
    let mut load = place.start("load tpcb-like -s 2 --replace");
    load.until_it_says("waiting: ", 1);
    place.ask(
        "select pg_terminate_backend(pid) from pg_locks where not granted and relation = 'pgbench_accounts'::regclass",
    );
    let ran = load.end().ended(11).says(&["terminating connection", "the database holds ", ", complete"]);
    assert!(!ran.stderr.contains("unusable") && !ran.stderr.contains("load again"), "{}", ran.stderr);
    let ran = interrupted_while_it_waits(place.start("drop tpcb-like"), &held);
    ran.says(&["nothing was dropped"]);
    drop(locker);
    assert_eq!(place.ask("select count(*) from pgbench_accounts"), "100000");

    // Every command waits as it says, and goes on when the lock is gone.
    let locker = place.locker("pgbench_history");
    let mut run = place.start("run tpcb-like -c 1 -t 10");
    run.until_it_says("waiting: ", 1);
    drop(locker);
    run.end().ok().says(&["on pgbench_history (Lock/relation)", "(psql of a friend)"]);
    let locker = place.locker("pgbench_branches");
    let mut check = place.start("check tpcb-like");
    check.until_it_says("waiting: ", 1);
    drop(locker);
    check.end().ok().says(&["on pgbench_branches (Lock/relation)"]);
}

#[test]
fn a_blocking_session_that_the_role_may_not_see_is_said_to_be_hidden() {
    let Some(place) = Place::new("a hidden blocker", "", TRUST) else { return };
    place.execute("create role plain login; grant all on schema public to plain");
    let target = place.target().replace("user=postgres", "user=plain");
    place.home.run(&["load", "tpcb-like", "-s", "1", "--target", &target]).ok();
    let locker = place.locker("pgbench_history");
    let mut drops = place.home.start(&["drop", "tpcb-like", "--target", &target]);
    drops.until_it_says("waiting: ", 1);
    drop(locker);
    drops.end().ok().says(&["whose state role plain may not see (GRANT pg_read_all_stats)"]);
}

#[test]
fn the_doctor_names_a_missing_standby_and_ends() {
    let Some(place) = Place::new("the doctor without a standby", "", TRUST) else { return };
    place.await_standby();
    let ran = place.run("doctor --format json").ended(31);
    let examined: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let findings = examined["places"][1]["findings"].as_array().unwrap();
    let commit = findings.iter().find(|finding| finding["check"] == "commit").unwrap();
    assert_eq!(commit["severity"], "error");
    let figure = commit["figure"].as_str().unwrap();
    assert!(figure.contains("not connected: synchronous_standby_names is 'nosuch'"), "{figure}");
    assert!(commit["remedy"].as_str().unwrap().contains("Start that standby"), "{commit}");
    // The other checks have run.
    assert!(findings.iter().any(|finding| finding["check"] == "rights"), "{examined}");
}

#[test]
fn a_check_of_the_doctor_that_hangs_is_a_finding_and_the_others_run() {
    let Some(place) = Place::new("a check that hangs", "", TRUST) else { return };
    // The session finds this view first, as that of a superuser would not.
    place.execute(
        "create view public.pg_replication_slots as \
         select slots.* from pg_sleep(3600) sleep, pg_catalog.pg_replication_slots slots",
    );
    place.execute("create role plain login in role pg_monitor; grant select on public.pg_replication_slots to plain");
    place.execute("alter role plain set search_path = public, pg_catalog");
    let target = place.target().replace("user=postgres", "user=plain");
    let ran = finish(place.home.command(["doctor", "-v", "--target", &target]));
    let ran = ran.prints(&["replication", "did not end within 10 s", "rights"]);
    ran.says(&["waiting: SELECT has taken ", "Timeout/PgSleep"]);
    // Nothing of it is left on the server.
    let sleeping = "select count(*) from pg_stat_activity where wait_event = 'PgSleep'";
    eventually("the check is cancelled", Duration::from_secs(30), || place.ask(sleeping) == "0");
}
