//! Loads that go on where another one was interrupted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::sample::{Hook, Sample};
use crate::server::{self, Server};
use crate::{CAPS, await_alone, connect, how, load_with, thawed};
use pgdyno_load::{
    DataState, LoadError, LoadOptions, LoadPhase, LoadProgress, ResumableLoad, Shared, drop_data, help, load, state,
};
use pgdyno_net::{Admin, ConnectOptions, Stop};

/// Eight units of a hundred chunks.
const SCALE: &[(&str, &str)] = &[("scale", "5")];

fn resumable(loaders: usize) -> LoadOptions {
    LoadOptions { resumable: true, ..how(loaders) }
}

fn kept(admin: &mut Admin, sample: &Sample) -> Option<ResumableLoad> {
    match state(admin, sample).unwrap() {
        DataState::Partial { stamp: Some(_), kept, .. } => kept,
        other => panic!("{other:?}"),
    }
}

/// Everything that a load leaves, but the numbers that the server gives.
fn print(admin: &mut Admin) -> Vec<String> {
    [
        "select (select count(*) || ' ' || sum(hashtextextended(b::text, 0)::numeric) from big b) || \
         (select md5(string_agg(s::text, '|' order by id)) from small s)",
        "select string_agg(concat_ws(' ', relname, relkind, relpersistence), ', ' order by relname) from pg_class \
         where relnamespace = 'public'::regnamespace",
        "select string_agg(conname, ' ' order by conname) from pg_constraint where connamespace = 'public'::regnamespace",
        "select string_agg(p.proname, ' ') from pg_proc p where pronamespace = 'public'::regnamespace",
    ]
    .map(|sql| admin.query_one(sql).unwrap())
    .to_vec()
}

/// A hook that sets a flag at a chunk.
fn at(chunk: u64, stop: &Arc<Stop>) -> Hook {
    let stop = Arc::clone(stop);
    Arc::new(move |n| {
        if n == chunk {
            stop.cleanly();
        }
    })
}

fn begin_and_stop(target: &ConnectOptions, loaders: usize, chunk: u64) -> LoadError {
    let stop = Arc::new(Stop::new());
    let sample = Sample::with_hook(SCALE, at(chunk, &stop));
    load(target, &sample, &CAPS, &resumable(loaders), &|_: &LoadProgress<'_>| {}, &stop, None).unwrap_err()
}

#[test]
fn a_load_goes_on_after_a_stop_and_ends_as_if_there_had_been_none() {
    if !server::available("a_load_goes_on_after_a_stop_and_ends_as_if_there_had_been_none") {
        return;
    }
    let server = Server::start("");
    let whole = server.database("whole");
    load_with(&whole, &Sample::new(SCALE), &how(1)).unwrap();
    let expected = print(&mut connect(&whole));
    for loaders in [1, 4] {
        let target = server.database(&format!("stopped{loaders}"));
        let mut admin = connect(&target);
        let error = begin_and_stop(&target, loaders, 450);
        assert!(matches!(error, LoadError::Suspended), "{error}");
        await_alone(&mut admin);
        let sample = Sample::new(SCALE);
        let far = kept(&mut admin, &sample).unwrap();
        assert!(far.rows >= 100_000 && far.rows < 500_000 && far.rows_expected == Some(500_010), "{far:?}");
        // The ten rows of the small table may be among them.
        let big = far.rows / 100_000 * 100_000;
        assert!([big, big + 10].contains(&far.rows), "whole units: {far:?}");
        assert_eq!(admin.query_one("select count(*) from big").unwrap(), big.to_string());

        let reported = Mutex::new((0, 0));
        let progress = |progress: &LoadProgress<'_>| match *progress {
            LoadProgress::Plan { rows_kept, .. } => reported.lock().unwrap().0 = rows_kept,
            LoadProgress::Table { name: "big", rows, .. } => {
                let mut reported = reported.lock().unwrap();
                reported.1 = rows.max(reported.1);
            }
            _ => {}
        };
        // Whether it is to be resumable or not: there is something to go on with.
        let report = load(&target, &sample, &CAPS, &how(loaders), &progress, &Stop::new(), None).unwrap();
        assert_eq!(*reported.lock().unwrap(), (far.rows, 500_000 - big));
        assert_eq!(sample.written.load(Ordering::Relaxed), (500_000 - big) / 1000);
        assert_eq!((report.rows_kept, report.notes.len()), (far.rows, 0), "{:?}", report.notes);
        assert_eq!(report.stamp.rows[1], ("big".to_owned(), 500_000));
        assert_eq!(state(&mut admin, &sample).unwrap(), DataState::Complete(report.stamp));
        assert_eq!(print(&mut admin), expected);
        assert_eq!(thawed(&mut admin, "big"), "0");
    }
}

/// A loader locks the logbook before it writes rows. What drops the tables meanwhile waits for it, in the same order.
#[test]
fn what_drops_a_table_waits_for_a_loader_and_does_not_end_in_a_deadlock() {
    if !server::available("what_drops_a_table_waits_for_a_loader_and_does_not_end_in_a_deadlock") {
        return;
    }
    let server = Server::start("deadlock_timeout = 100ms");
    let target = server.database("dropped");
    begin_and_stop(&target, 1, 150);
    let mut admin = connect(&target);
    await_alone(&mut admin);
    let logbook =
        admin.query_one("select relname from pg_class where relname ~ '^pgdyno_load_' and relkind = 'r'").unwrap();
    let mut loader = connect(&target);
    loader.execute(&format!("begin; lock table {logbook} in row exclusive mode")).unwrap();
    std::thread::scope(|scope| {
        let dropping = scope.spawn(|| drop_data(&mut connect(&target), &Sample::new(SCALE), false));
        let waits = "select count(*) from pg_locks where not granted";
        while admin.query_one(waits).unwrap() == "0" {
            std::thread::sleep(Duration::from_millis(5));
        }
        loader.execute("insert into big values (-1, 1, null)").unwrap();
        loader.execute("commit").unwrap();
        assert!(dropping.join().unwrap().unwrap().relations.contains(&"table big".to_owned()));
    });
}

#[test]
fn a_load_goes_on_after_its_connection_is_lost() {
    if !server::available("a_load_goes_on_after_its_connection_is_lost") {
        return;
    }
    let server = Server::start("");
    let target = server.database("lost");
    let killer = Mutex::new(connect(&target));
    let hook = move |chunk| {
        if chunk == 250 {
            let kill = "select pg_terminate_backend(pid) from pg_stat_activity \
                        where query like 'copy \"big\"%' and pid <> pg_backend_pid() limit 1";
            killer.lock().unwrap().query(kill).unwrap();
        }
    };
    let error = load_with(&target, &Sample::with_hook(SCALE, Arc::new(hook)), &resumable(2)).unwrap_err();
    assert!(
        error.to_string().contains("what is committed stays, and the next load of the same data goes on"),
        "{error}"
    );
    let mut admin = connect(&target);
    await_alone(&mut admin);
    let sample = Sample::new(SCALE);
    let far = kept(&mut admin, &sample).unwrap();
    let report = load_with(&target, &sample, &resumable(2)).unwrap();
    assert!(far.rows > 0 && report.rows_kept == far.rows, "{far:?}");
    assert_eq!(admin.query_one("select count(*) from big").unwrap(), "500000");
}

#[test]
fn indexes_and_foreign_keys_that_are_there_are_not_made_again() {
    if !server::available("indexes_and_foreign_keys_that_are_there_are_not_made_again") {
        return;
    }
    let server = Server::start("");
    let whole = server.database("whole");
    load_with(&whole, &Sample::new(&[]), &how(1)).unwrap();
    let expected = print(&mut connect(&whole));
    for phase in
        [LoadPhase::Freeze, LoadPhase::Indexes, LoadPhase::Analyze, LoadPhase::ForeignKeys, LoadPhase::Routines]
    {
        let target = server.database(&format!("phase{}", phase as u8));
        let stop = Stop::new();
        let progress = |progress: &LoadProgress<'_>| {
            if *progress == LoadProgress::Phase(phase) {
                stop.cleanly();
            }
        };
        let error = load(&target, &Sample::new(&[]), &CAPS, &resumable(1), &progress, &stop, None).unwrap_err();
        assert!(matches!(error, LoadError::Suspended), "{error}");
        let mut admin = connect(&target);
        await_alone(&mut admin);
        let indexes =
            "select string_agg(indexrelid::text, ' ' order by 1) from pg_index where indrelid = 'big'::regclass";
        let before = admin.query_opt(indexes).unwrap().unwrap_or_default();
        assert_eq!(before.split_whitespace().count() == 2, phase > LoadPhase::Indexes, "{phase}: {before}");
        let sample = Sample::new(&[]);
        let report = load_with(&target, &sample, &resumable(2)).unwrap();
        assert_eq!((sample.written.load(Ordering::Relaxed), report.rows_kept), (0, 100_010), "{phase}");
        assert_eq!(print(&mut admin), expected, "{phase}");
        let after = admin.query_one(indexes).unwrap();
        assert!(before.split_whitespace().all(|oid| after.contains(oid)), "{phase}: {before}, then {after}");
    }
}

#[test]
fn only_a_load_of_the_same_data_goes_on() {
    if !server::available("only_a_load_of_the_same_data_goes_on") {
        return;
    }
    let server = Server::start("");
    let target = server.database("other");
    let mut admin = connect(&target);
    begin_and_stop(&target, 1, 250);
    await_alone(&mut admin);
    let (same, other) = (Sample::new(SCALE), Sample::new(&[("scale", "5"), ("seed", "2")]));
    assert!(kept(&mut admin, &same).is_some());
    assert_eq!(kept(&mut admin, &other).unwrap().rows_expected, None);
    // Rows that are there for good are not thrown away for others.
    let rows = || connect(&target).query_one("select count(*) from big").unwrap();
    let before = rows();
    let error = load_with(&target, &other, &how(1)).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, LoadError::Unfinished { .. }), "{text}");
    for word in
        ["`pgdyno load sample --scale 5` resumes it", "`pgdyno load sample --scale 5 -D seed=2 --replace` drops"]
    {
        assert!(text.contains(word), "{text}");
    }
    assert_eq!((rows(), other.written.load(Ordering::Relaxed)), (before, 0));
    let replace = LoadOptions { replace: true, ..how(1) };
    let report = load_with(&target, &other, &replace).unwrap();
    assert_eq!((report.rows_kept, other.written.load(Ordering::Relaxed)), (0, 500));
    assert_eq!(admin.query_opt("select to_regclass('pgdyno_load_sample')").unwrap(), None);
    drop_data(&mut admin, &other, false).unwrap();

    // A table that a user drops, or that is to be replaced, is no part to go on with.
    begin_and_stop(&target, 1, 250);
    await_alone(&mut admin);
    let report = load_with(&target, &same, &replace).unwrap();
    assert_eq!(report.rows_kept, 0);
    drop_data(&mut admin, &same, false).unwrap();
    begin_and_stop(&target, 1, 250);
    await_alone(&mut admin);
    admin.execute("drop table big").unwrap();
    assert_eq!(kept(&mut admin, &same), None);
    let error = load_with(&target, &same, &resumable(1)).unwrap_err();
    let (text, remedy) = (error.to_string(), error.remedy().unwrap_or_default());
    assert!(text.contains("damaged: table big is missing"), "{text}");
    assert!(remedy.contains("`pgdyno load sample --scale 5 --replace`"), "{remedy}");
    load_with(&target, &same, &LoadOptions { replace: true, ..resumable(1) }).unwrap();
    drop_data(&mut admin, &same, false).unwrap();

    // And what is dropped is dropped whole.
    begin_and_stop(&target, 1, 250);
    await_alone(&mut admin);
    let dropped = drop_data(&mut admin, &same, false).unwrap();
    assert!(dropped.relations.contains(&"table pgdyno_load_sample".to_owned()), "{dropped:?}");
    assert_eq!(state(&mut admin, &same).unwrap(), DataState::Absent);
}

#[test]
fn unlogged_tables_are_logged_in_the_end_and_a_crash_before_that_begins_anew() {
    if !server::available("unlogged_tables_are_logged_in_the_end_and_a_crash_before_that_begins_anew") {
        return;
    }
    let server = Server::start("");
    let whole = server.database("whole");
    load_with(&whole, &Sample::new(SCALE), &how(1)).unwrap();
    let expected = print(&mut connect(&whole));
    for (nth, resumable) in [false, true].into_iter().enumerate() {
        let target = server.database(&format!("unlogged{nth}"));
        let watcher = Mutex::new(connect(&target.with_application_name("watcher")));
        let seen = Arc::new(Mutex::new(String::new()));
        let note = Arc::clone(&seen);
        let hook = move |chunk| {
            if chunk == 250 {
                let persistence = "select relpersistence from pg_class where relname = 'big'";
                *note.lock().unwrap() = watcher.lock().unwrap().query_opt(persistence).unwrap().unwrap_or_default();
            }
        };
        let how = LoadOptions { unlogged: true, resumable, ..how(4) };
        let report = load_with(&target, &Sample::with_hook(SCALE, Arc::new(hook)), &how).unwrap();
        assert_eq!((seen.lock().unwrap().as_str(), report.notes.len()), ("u", 0), "{:?}", report.notes);
        assert!(report.phases.iter().any(|p| p.phase == LoadPhase::Log), "{:?}", report.phases);
        let mut admin = connect(&target);
        assert_eq!(print(&mut admin), expected);
        assert_eq!(thawed(&mut admin, "big"), "0");
    }

    // The next load goes on, whatever its options are; but not after a crash of the server, which empties such tables.
    let target = server.database("suspended");
    let begin = || {
        let stop = Arc::new(Stop::new());
        let sample = Sample::with_hook(SCALE, at(250, &stop));
        let unlogged = LoadOptions { unlogged: true, ..resumable(1) };
        load(&target, &sample, &CAPS, &unlogged, &|_: &LoadProgress<'_>| {}, &stop, None).unwrap_err();
        let mut admin = connect(&target);
        await_alone(&mut admin);
        admin
    };
    let mut admin = begin();
    assert!(kept(&mut admin, &Sample::new(SCALE)).is_some());
    server.crash(admin);
    let mut admin = connect(&target);
    assert_eq!(kept(&mut admin, &Sample::new(SCALE)), None);
    let report = load_with(&target, &Sample::new(SCALE), &resumable(1)).unwrap();
    assert_eq!(report.rows_kept, 0);
    assert_eq!(print(&mut admin), expected);
    drop_data(&mut admin, &Sample::new(SCALE), false).unwrap();
    drop(admin);

    let mut admin = begin();
    let persistence =
        "select string_agg(relpersistence, '') from pg_class where relname in ('big', 'pgdyno_load_sample')";
    assert_eq!(admin.query_one(persistence).unwrap(), "uu");
    let report = load_with(&target, &Sample::new(SCALE), &resumable(1)).unwrap();
    assert!(report.rows_kept > 0);
    assert_eq!(print(&mut admin), expected);
}

/// Other machines: each stops when the rows of its chunk are made, as one does that dies.
struct Helpers<'s, 'e> {
    scope: &'s std::thread::Scope<'s, 'e>,
    target: &'e ConnectOptions,
    stop_at: &'e [u64],
    rows: &'e AtomicU64,
}

impl Shared for Helpers<'_, '_> {
    fn begun(&self, schema: &str) {
        for chunk in self.stop_at {
            let (schema, target, chunk, rows) = (schema.to_owned(), self.target.clone(), *chunk, self.rows);
            self.scope.spawn(move || {
                let stop = Arc::new(Stop::new());
                let sample = Sample::with_hook(SCALE, at(chunk, &stop));
                let helped = help(&target, &sample, &CAPS, &schema, 2, &|_| {}, &stop);
                rows.fetch_add(helped.unwrap_or_default(), Ordering::Relaxed);
            });
        }
    }
}

#[test]
fn several_machines_load_together_and_what_one_leaves_others_do() {
    if !server::available("several_machines_load_together_and_what_one_leaves_others_do") {
        return;
    }
    let server = Server::start("");
    let whole = server.database("whole");
    load_with(&whole, &Sample::new(SCALE), &how(1)).unwrap();
    let expected = print(&mut connect(&whole));
    let never = u64::MAX;
    for (nth, stop_at) in [vec![never, never], vec![150, 350, never], vec![10, 110, 210, 310, 450]].iter().enumerate() {
        let target = server.database(&format!("shared{nth}"));
        let (sample, rows) = (Sample::new(SCALE), AtomicU64::new(0));
        let report = std::thread::scope(|scope| {
            let helpers = Helpers { scope, target: &target, stop_at, rows: &rows };
            load(&target, &sample, &CAPS, &how(1), &|_| {}, &Stop::new(), Some(&helpers))
        });
        let report = report.unwrap();
        let mut admin = connect(&target);
        assert_eq!(report.stamp.rows[1], ("big".to_owned(), 500_000));
        assert_eq!(print(&mut admin), expected, "{stop_at:?}");
        assert_eq!(thawed(&mut admin, "big"), "0");
        if !stop_at.contains(&150) && stop_at.contains(&never) {
            let own = sample.written.load(Ordering::Relaxed) * 1000;
            assert_eq!(own + rows.load(Ordering::Relaxed), 500_000, "each part is made once");
        }
    }
}

#[test]
fn a_shared_load_whose_machine_dies_goes_on_and_its_helpers_find_nothing_more() {
    if !server::available("a_shared_load_whose_machine_dies_goes_on_and_its_helpers_find_nothing_more") {
        return;
    }
    let server = Server::start("");
    let target = server.database("orphaned");
    let (stop, rows) = (Arc::new(Stop::new()), AtomicU64::new(0));
    let sample = Sample::with_hook(SCALE, at(350, &stop));
    let error = std::thread::scope(|scope| {
        let helpers = Helpers { scope, target: &target, stop_at: &[300], rows: &rows };
        load(&target, &sample, &CAPS, &how(1), &|_| {}, &stop, Some(&helpers)).unwrap_err()
    });
    assert!(matches!(error, LoadError::Suspended), "{error}");
    let mut admin = connect(&target);
    await_alone(&mut admin);
    let sample = Sample::new(SCALE);
    let far = kept(&mut admin, &sample).unwrap();
    assert!(far.rows.is_multiple_of(100_000) && far.rows < 500_000, "{far:?}");
    let report = load_with(&target, &sample, &how(2)).unwrap();
    assert_eq!((report.rows_kept, sample.written.load(Ordering::Relaxed)), (far.rows, (500_000 - far.rows) / 1000));
    assert_eq!(admin.query_one("select count(distinct id) from big").unwrap(), "500000");
}

/// Rows that outgrow memory or the WAL between two checkpoints are frozen while others still copy.
#[test]
fn a_large_table_is_vacuumed_more_than_once_and_all_of_it_is_frozen() {
    if !server::available("a_large_table_is_vacuumed_more_than_once_and_all_of_it_is_frozen") {
        return;
    }
    let server = Server::start("max_wal_size = 32MB\nmin_wal_size = 32MB\nautovacuum = off");
    let target = server.database("behind");
    let sample = Sample::new(&[("scale", "8")]);
    let reported = Mutex::new(String::new());
    let progress = |progress: &LoadProgress<'_>| {
        if let LoadProgress::Way(way) = progress {
            (*reported.lock().unwrap()).push_str(way);
        }
    };
    let report = load(&target, &sample, &CAPS, &resumable(2), &progress, &Stop::new(), None).unwrap();
    assert_eq!(report.notes, [""; 0]);
    let reported = reported.into_inner().unwrap();
    assert_eq!(reported, "big: 2 connections commit parts, VACUUM freezes them meanwhile");
    let mut admin = connect(&target);
    assert_eq!(thawed(&mut admin, "big"), "0");
    let counted = "select vacuum_count from pg_stat_user_tables where relname = 'big'";
    // Before PostgreSQL 15, statistics arrive later.
    let deadline = Instant::now() + Duration::from_secs(30);
    while admin.query_one(counted).unwrap().parse::<u64>().unwrap() < 2 {
        assert!(Instant::now() < deadline, "{:?}", admin.query_one(counted));
        std::thread::sleep(Duration::from_millis(100));
    }
}
