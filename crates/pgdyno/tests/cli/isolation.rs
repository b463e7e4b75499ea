//! `pgdyno check --isolation`: the tests of clauses 3.4 and 3.5 from outside.

use std::time::Duration;

use rustix::process::Signal;

use crate::given_server::{Place, TRUST};
use crate::program::{Home, eventually};
use crate::server;

/// What is printed where all is well.
fn nine(stdout: &str) {
    for test in 1..=9 {
        let begins = format!("holds  3.4.2.{test} ");
        assert_eq!(stdout.lines().filter(|line| line.starts_with(&begins)).count(), 1, "{begins}:\n{stdout}");
    }
    for condition in 1..=12 {
        assert!(stdout.contains(&format!("holds  3.3.2.{condition} ")), "{condition}:\n{stdout}");
    }
    assert!(!stdout.contains("BROKEN"), "{stdout}");
}

#[test]
fn the_isolation_tests_are_carried_out_on_a_given_server() {
    let Some(place) = Place::with_warehouse("isolation tests", "max_wal_size = 4GB\n", TRUST) else { return };
    let ran = place.run("check tproc-c --isolation --quiet").ok();
    nine(&ran.stdout);
    assert_eq!(ran.stderr, "");
    ran.prints(&[
        "isolation level: read committed, as the server has it",
        "skipped 3.5 ",
        "pgdyno does not crash a server that it did not start",
    ]);
    place.execute("alter database postgres set default_transaction_isolation = 'repeatable read'");
    let ran = place.run("check tproc-c --isolation").ok();
    nine(&ran.stdout);
    ran.prints(&[
        "isolation level: repeatable read, as the server",
        "T2 was tried again after a serialization failure",
    ]);
    let ran = place.run("check tproc-c --isolation --isolation-level serializable").ok();
    nine(&ran.stdout);
    ran.prints(&["isolation level: serializable, as given"]);
    place.run("check tproc-c").ok();
    // What is left is data that can be driven.
    place.run("run tproc-c -c 2 -t 20").ok();

    // A payment that is lost.
    place.execute(
        "create function lose() returns trigger language plpgsql as $$ begin \
         new.c_balance = greatest(new.c_balance, old.c_balance); return new; end $$; \
         create trigger lose before update on customer for each row execute function lose()",
    );
    let ran = place.run("check tproc-c --isolation --isolation-level read-committed").ended(12);
    ran.prints(&[
        "BROKEN 3.4.2.5 ",
        "BROKEN 3.4.2.6 ",
        "not so: the balance is what it was",
        "paid=17.50",
        "holds  3.4.2.7 ",
    ]);
}

#[test]
fn what_cannot_be_tested_is_refused() {
    let Some(place) = Place::new("isolation tests that are refused", "", TRUST) else { return };
    place.run("check tproc-c --isolation").ended(1).says(&["no data of tproc-c", "pgdyno load tproc-c"]);
    place.run("check tproc-c --isolation --isolation-level snapshot").ended(1).says(&["repeatable-read, serializable"]);
    place.run("check tproc-c --isolation-level serializable").ended(1).says(&["--isolation"]);
    place.run("load tpcb-like -s 1").ok();
    place
        .run("check tpcb-like --isolation")
        .ended(1)
        .says(&["tpcb-like has no isolation tests", "leave --isolation out"]);
    // Tables of another program are not changed.
    place.execute("create table warehouse (w_id int); insert into warehouse values (1)");
    place.run("check tproc-c --isolation").ended(11).says(&["another program", "--target"]);
}

#[test]
fn ctrl_c_ends_a_test_that_waits_for_another_user() {
    let Some(place) = Place::with_warehouse("isolation tests that wait", "max_wal_size = 4GB\n", TRUST) else { return };
    // A statement of a test, a look at what it has done, and the routine that is missing when they begin.
    let routine =
        "select oid::regprocedure from pg_proc where pronamespace = 'public'::regnamespace order by oid limit 1";
    let name = place.ask(routine);
    let definition = place.ask(&format!("select pg_get_functiondef('{name}'::regprocedure)"));
    let steps = [
        ("", "lock table orders in exclusive mode"),
        ("", "lock table customer in access exclusive mode"),
        (&*format!("drop routine {name}"), &*definition),
    ];
    for (before, held) in steps {
        let mut other = place.server.admin();
        place.execute(before);
        other.execute("begin").unwrap();
        other.execute(held).unwrap();
        let running = place.start("check tproc-c --isolation");
        let waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'";
        eventually("a session waits", Duration::from_secs(30), || place.ask(waiting) == "1");
        running.signal(Signal::INT);
        running.end().ended(130).says(&["interrupted", "rolled back"]);
        eventually("nobody waits any more", Duration::from_secs(10), || place.ask(waiting) == "0");
        other.execute("rollback").unwrap();
    }
    place.run("check tproc-c --isolation").ok();
}

#[test]
fn what_is_committed_survives_a_crash_of_a_private_server() {
    if !server::available("durability of a private server") {
        return;
    }
    let home = Home::of_an_ordinary_user();
    home.run(&["server", "start"]).ok();
    home.run(&["load", "tproc-c", "-w", "1"]).ok();
    let ran = home.run(&["check", "tproc-c", "--isolation"]).ok().says(&["killing it with SIGKILL"]);
    nine(&ran.stdout);
    ran.prints(&[
        "holds  3.5 ",
        "fsync=on synchronous_commit=on full_page_writes=on",
        " were acknowledged",
        "all 21 conditions",
    ]);
    assert_eq!(home.instances(), Vec::<std::path::PathBuf>::new(), "the one that was crashed is gone");
    home.run(&["server", "stop", "--keep-data"]).ok();

    // A server that says so before it has written: the test finds it out.
    let lazy = ["synchronous_commit=off", "wal_writer_delay=10s", "wal_writer_flush_after=1GB", "wal_buffers=256MB"];
    home.run(&["server", "start", "--set", lazy[0], "--set", lazy[1], "--set", lazy[2], "--set", lazy[3]]).ok();
    // By chance a background process may just have written everything when the server is killed.
    let mut attempts = (0..3).map(|_| home.run(&["check", "tproc-c", "--isolation"]));
    let ran = attempts.find(|ran| ran.code == Some(12)).expect("one of three loses orders");
    ran.prints(&["holds  3.4.2.9 ", "BROKEN 3.5 ", "are lost", "d_id=", "synchronous_commit=off", "holds  3.3.2.12 "]);
    home.run(&["server", "stop"]).ok();
    home.assert_clean();
}
