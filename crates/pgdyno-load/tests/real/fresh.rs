//! Copies for one run: made, dropped, found when they were left behind; nothing else is ever dropped.

use std::time::{Duration, Instant};

use pgdyno_load::{Fresh, FreshError, TemplateDatabase};
use pgdyno_net::{Admin, ConnectOptions, Stop};

use crate::connect;
use crate::server::{self, Server};

const RUN: &str = "20260101T000000Z-Own Thing-abc123";

fn make(options: &ConnectOptions, template: &str) -> Result<Fresh, FreshError> {
    Fresh::make(&TemplateDatabase::find(options, template)?, RUN, &Stop::new())
}

/// The databases that are there, templates of PostgreSQL apart.
fn databases(admin: &mut Admin) -> String {
    admin
        .query_one("select string_agg(datname, ' ' order by datname) from pg_database where datname !~ '^template'")
        .unwrap()
}

#[test]
fn a_copy_lives_as_long_as_its_value() {
    if !server::available("a_copy_lives_as_long_as_its_value") {
        return;
    }
    let server = Server::start("");
    let target = server.database("mine");
    connect(&target).execute("create table t as select 7 as a").unwrap();
    let mut admin = connect(&server.options());

    // The target's own database, another one, and one that the target is not: each is copied from beside it.
    for (options, template) in
        [(&target, "mine"), (&server.options(), "mine"), (&target.with_database("absent"), "mine")]
    {
        let fresh = make(options, template).unwrap();
        assert!(fresh.name().starts_with("pgdyno_copy_20260101t000000z_own_thing_abc123_"), "{}", fresh.name());
        assert!(fresh.seconds > 0.0 && fresh.bytes.unwrap() > 1_000_000);
        let mut inside = connect(&fresh.options());
        assert_eq!(inside.query_one("select a from t").unwrap(), "7");
        inside.execute("update t set a = 8").unwrap();
        // A user who is still connected does not keep it.
        fresh.remove().unwrap();
        assert!(inside.query("select 1").is_err());
        assert_eq!(databases(&mut admin), "mine postgres");
    }
    assert_eq!(connect(&target).query_one("select a from t").unwrap(), "7");
    drop(make(&target, "mine").unwrap());
    assert_eq!(databases(&mut admin), "mine postgres");
    // The database that one usually stands in can be copied, too.
    drop(admin);
    make(&server.options(), "postgres").unwrap().remove().unwrap();
}

#[test]
fn what_cannot_be_copied_is_refused_with_the_remedy() {
    if !server::available("what_cannot_be_copied_is_refused_with_the_remedy") {
        return;
    }
    let server = Server::start("");
    let target = server.database("mine");
    let refusal = |options: &ConnectOptions, name: &str| match make(options, name) {
        Ok(_) => panic!("it was copied"),
        Err(error) => error.to_string(),
    };
    assert_eq!(refusal(&target, "nobody's"), "there is no database nobody's to copy");
    let busy = connect(&target);
    let error = refusal(&target, "mine");
    assert!(error.contains("failed to copy database mine") && error.contains("end the sessions"), "{error}");
    drop(busy);
    connect(&server.options()).execute("create role poor login").unwrap();
    let error = refusal(&server.as_role("poor", "postgres"), "mine");
    assert!(error.contains("permission denied") && error.contains("CREATEDB"), "{error}");

    let mut admin = connect(&server.options());
    admin.execute("alter database mine allow_connections false").unwrap();
    let template = TemplateDatabase::find(&target.with_database("postgres"), "mine").unwrap();
    assert!(template.options().is_none());
    let fresh = Fresh::make(&template, RUN, &Stop::new()).unwrap();
    connect(&fresh.options());
    drop(fresh);
    assert!(matches!(Fresh::make(&template, RUN, &Stop::requested()), Err(FreshError::Interrupted { .. })));
    assert_eq!(databases(&mut admin), "mine postgres");
}

#[test]
fn copies_that_were_left_behind_are_dropped_and_nothing_else() {
    if !server::available("copies_that_were_left_behind_are_dropped_and_nothing_else") {
        return;
    }
    let server = Server::start("");
    server.database("mine");
    let options = server.options();
    let mut admin = connect(&options);
    let live = make(&options, "mine").unwrap();
    let live_name = live.name().to_owned();
    let copy = |run: &str| {
        let template = TemplateDatabase::find(&options, "mine").unwrap();
        let fresh = Fresh::make(&template, run, &Stop::new()).unwrap();
        let name = fresh.name().to_owned();
        fresh.remove().unwrap();
        name
    };
    // As a pgdyno leaves them that was killed; one is looked at, and others only look like them.
    let (dead, watched) = (copy("dead"), copy("watched"));
    let others = ["pgdyno_copy_mine", "pgdyno_copy_20260101t000000z_x_00000000", "xpgdyno_copy_dead"];
    for name in others.iter().copied().chain([dead.as_str(), &watched]) {
        admin.execute(&format!("create database \"{name}\"")).unwrap();
    }
    let watcher = connect(&options.with_database(&watched));
    let next = Fresh::make(&TemplateDatabase::find(&options, "mine").unwrap(), "next", &Stop::new()).unwrap();
    assert_eq!(next.notes.len(), 2, "{:?}", next.notes);
    assert_eq!(next.notes[0], format!("dropped {dead}, a copy that a run left behind"));
    assert!(next.notes[1].starts_with(&format!("{watched}, a copy that a run left behind, is still there: ")));
    next.remove().unwrap();
    let mut expected = others.to_vec();
    expected.extend(["mine", "postgres", &live_name, &watched]);
    expected.sort_unstable();
    assert_eq!(databases(&mut admin), expected.join(" "));
    drop(watcher);
    drop(live);
}

#[test]
fn a_stop_ends_whatever_a_copy_waits_for() {
    if !server::available("a_stop_ends_whatever_a_copy_waits_for") {
        return;
    }
    let server = Server::start("");
    server.database("mine");
    let options = server.options();
    let mut admin = connect(&options);
    let left = make(&options, "mine").unwrap();
    let name = left.name().to_owned();
    left.remove().unwrap();
    admin.execute(&format!("create database \"{name}\"")).unwrap();
    let waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'";
    // The copy that is to be dropped first, and the template itself.
    for locked in [name.as_str(), "mine"] {
        let mut other = connect(&options);
        other.execute(&format!("begin; comment on database \"{locked}\" is 'somebody is at it'")).unwrap();
        let stop = Stop::new();
        let ended = std::thread::scope(|scope| {
            let template = TemplateDatabase::find(&options, "mine").unwrap();
            let making = scope.spawn({
                let stop = &stop;
                move || Fresh::make(&template, "next", stop).err()
            });
            let mut eventually = |what: &str, holds: &mut dyn FnMut() -> bool| {
                let deadline = Instant::now() + Duration::from_secs(60);
                while !holds() && Instant::now() < deadline {
                    std::thread::sleep(Duration::from_millis(20));
                }
                // Nobody is left to wait for a lock when this fails.
                assert!(holds() || other.execute("rollback").is_err(), "{what}");
            };
            eventually("it waits", &mut || admin.query_one(waiting).unwrap() == "1");
            stop.cleanly();
            eventually("it ends", &mut || making.is_finished());
            making.join().unwrap()
        });
        assert!(matches!(ended, Some(FreshError::Interrupted { .. })), "{ended:?}");
        assert_eq!(admin.query_one(waiting).unwrap(), "0");
        other.execute("rollback").unwrap();
        if locked == name {
            admin.execute(&format!("drop database \"{name}\"")).unwrap();
        }
    }
    assert_eq!(databases(&mut admin), "mine postgres");
}

#[test]
fn a_copy_is_dropped_after_the_server_was_started_again() {
    if !server::available("a_copy_is_dropped_after_the_server_was_started_again") {
        return;
    }
    let server = Server::start("");
    let options = server.options();
    server.database("mine");
    let fresh = make(&options, "mine").unwrap();
    // All sessions end, as if by a restart.
    let mut admin = connect(&options);
    admin.query("select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()").unwrap();
    fresh.remove().unwrap();
    assert_eq!(databases(&mut admin), "mine postgres");
}
