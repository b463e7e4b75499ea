//! Loads that do not come to their end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use crate::sample::Sample;
use crate::server::{self, Server};
use crate::{CAPS, await_alone, connect, how, load_with};
use pgdyno_load::{DataState, LoadError, LoadPhase, LoadProgress, load, state};
use pgdyno_net::{Admin, ConnectOptions, Stop};

/// What was begun must be reported, must not count as complete, and must be replaced by the next load.
fn assert_partial_and_loads_again(target: &ConnectOptions, loaders: usize) {
    let sample = Sample::new(&[]);
    let mut admin = connect(target);
    await_alone(&mut admin);
    match state(&mut admin, &sample).unwrap() {
        DataState::Partial { stamp: Some(stamp), kept: None, .. } => {
            assert_eq!((stamp.params.as_str(), stamp.loaded_at), ("scale=1 seed=1", None))
        }
        other => panic!("{other:?}"),
    }
    load_with(target, &sample, &how(loaders)).unwrap();
    assert!(matches!(state(&mut admin, &sample).unwrap(), DataState::Complete(_)));
    assert_eq!(admin.query_one("select count(*) from big").unwrap(), "100000");
}

#[test]
fn a_stop_while_rows_are_copied_leaves_no_stamp_and_no_query() {
    if !server::available("a_stop_while_rows_are_copied_leaves_no_stamp_and_no_query") {
        return;
    }
    let server = Server::start("");
    for loaders in [1, 4] {
        let target = server.database(&format!("rows{loaders}"));
        let stop = Arc::new(Stop::new());
        let at_30 = Arc::clone(&stop);
        let sample = Sample::with_hook(
            &[],
            Arc::new(move |chunk| {
                if chunk == 30 {
                    at_30.cleanly();
                }
            }),
        );
        let error = load(&target, &sample, &CAPS, &how(loaders), &|_: &LoadProgress<'_>| {}, &stop, None).unwrap_err();
        assert!(matches!(error, LoadError::Stopped(_)), "{error}");
        assert!(sample.written.load(Ordering::Relaxed) < 100, "it did not go on to the end");
        assert_partial_and_loads_again(&target, loaders);
    }
}

#[test]
fn a_stop_cancels_a_statement_that_waits_on_the_server() {
    if !server::available("a_stop_cancels_a_statement_that_waits_on_the_server") {
        return;
    }
    let server = Server::start("");
    for phase in [LoadPhase::Indexes, LoadPhase::ForeignKeys] {
        let target = server.database(&format!("phase{}", phase as u8));
        let stop = Stop::new();
        let locker: Mutex<Option<Admin>> = Mutex::new(None);
        // From here on the statement waits for this lock, for ever if nobody cancels it.
        let progress = |progress: &LoadProgress<'_>| {
            if *progress == LoadProgress::Phase(phase) {
                let mut admin = connect(&target.with_application_name("locker"));
                admin.execute("begin; lock table big in access share mode").unwrap();
                *locker.lock().unwrap() = Some(admin);
                stop.cleanly();
            }
        };
        let error = load(&target, &Sample::new(&[]), &CAPS, &how(1), &progress, &stop, None).unwrap_err();
        assert!(matches!(error, LoadError::Stopped(_)), "{error}");
        drop(locker);
        assert_partial_and_loads_again(&target, 1);
    }
}

#[test]
fn a_backend_that_is_terminated_ends_the_load_with_the_tables_name() {
    if !server::available("a_backend_that_is_terminated_ends_the_load_with_the_tables_name") {
        return;
    }
    let server = Server::start("");
    for loaders in [1, 4] {
        let target = server.database(&format!("killed{loaders}"));
        let admin = Mutex::new(connect(&target));
        let hook = move |chunk| {
            if chunk == 30 {
                let kill = "select pg_terminate_backend(pid) from pg_stat_activity \
                            where query like 'copy \"big\"%' and pid <> pg_backend_pid() limit 1";
                admin.lock().unwrap().query(kill).unwrap();
            }
        };
        let error = load_with(&target, &Sample::with_hook(&[], Arc::new(hook)), &how(loaders)).unwrap_err();
        match &error {
            LoadError::Lost { phase: LoadPhase::Rows, table: Some(table), .. } => assert_eq!(table, "big"),
            other => panic!("{other}"),
        }
        assert!(error.to_string().contains("terminating connection due to administrator command"), "{error}");
        assert!(
            error.to_string().contains("; what was loaded so far is unusable, and the next load removes it"),
            "{error}"
        );
        assert_partial_and_loads_again(&target, loaders);
    }
}

#[test]
fn rows_that_are_refused_end_the_load_with_the_servers_words() {
    if !server::available("rows_that_are_refused_end_the_load_with_the_servers_words") {
        return;
    }
    let server = Server::start("");
    let target = server.database("refused");
    // The statement that adds the primary key finds a row twice.
    let sample = Sample::new(&[("seed", "13")]);
    let error = load_with(&target, &sample, &how(4)).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("failed to build the indexes of table big: ") && text.contains("(id)=(1)"), "{text}");
    let mut admin = connect(&target);
    await_alone(&mut admin);
    assert!(matches!(state(&mut admin, &sample).unwrap(), DataState::Partial { stamp: Some(_), .. }));

    // And one that brings more rows than it announces.
    for loaders in [1, 4] {
        let error = load_with(&target, &Sample::new(&[("seed", "14")]), &how(loaders)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "table big got 100002 rows and should have 100000 to 100001; this is a bug of the workload"
        );
    }
}

#[test]
fn a_row_source_that_panics_leaves_nothing_waiting() {
    if !server::available("a_row_source_that_panics_leaves_nothing_waiting") {
        return;
    }
    let server = Server::start("");
    let target = server.database("panicked");
    let sample = Sample::with_hook(&[], Arc::new(|chunk| assert!(chunk != 40, "a mistake")));
    let load = || load_with(&target, &sample, &how(4));
    assert!(catch_unwind(AssertUnwindSafe(load)).is_err());
    assert_partial_and_loads_again(&target, 4);
}

#[test]
fn two_loads_at_once_do_not_meet() {
    if !server::available("two_loads_at_once_do_not_meet") {
        return;
    }
    let server = Server::start("");
    let target = server.database("twice");
    let second = Arc::new(Mutex::new(None));
    let (result, other) = (Arc::clone(&second), target.clone());
    let hook = move |chunk| {
        if chunk == 30 {
            let error = load_with(&other, &Sample::new(&[]), &how(1)).unwrap_err();
            *result.lock().unwrap() = Some(error);
        }
    };
    load_with(&target, &Sample::with_hook(&[], Arc::new(hook)), &how(2)).unwrap();
    let second = second.lock().unwrap().take().unwrap();
    assert!(matches!(&second, LoadError::Busy { dataset } if dataset == "sample"), "{second}");
}

/// A file system of 16 MiB, unmounted with its value.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    fn mount(path: &'a Path) -> Option<Self> {
        std::fs::create_dir(path).unwrap();
        let mut mount = Command::new("mount");
        let done = mount.args(["-t", "tmpfs", "-o", "size=16m", "tmpfs"]).arg(path).output();
        done.is_ok_and(|output| output.status.success()).then_some(Self(path))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        // Lazily: the server still has files there.
        drop(Command::new("umount").arg("-l").arg(self.0).output());
    }
}

#[test]
fn a_full_disk_is_reported_with_the_remedy() {
    const TEST: &str = "a_full_disk_is_reported_with_the_remedy";
    if !server::available(TEST) {
        return;
    }
    let server = Server::start("");
    let path = server.dir().join("small");
    let Some(_disk) = SmallDisk::mount(&path) else {
        crate::skipped::skipped(&format!("{TEST}: no file system can be mounted here"));
        return;
    };
    server::hand_over(&path);
    let mut admin = connect(&server.options());
    admin.execute(&format!("create tablespace small location '{}'", path.display())).unwrap();
    let target = server.database("crammed");
    admin.execute("alter database crammed set default_tablespace = small").unwrap();
    for loaders in [1, 4] {
        let error = load_with(&target, &Sample::new(&[("scale", "8")]), &how(loaders)).unwrap_err();
        let LoadError::DiskFull { table: Some(table), .. } = &error else { panic!("{error}") };
        assert_eq!(table, "big");
        let text = error.to_string();
        assert!(text.starts_with("the server's disk is full: failed to load the rows of table big: "), "{text}");
        assert!(text.contains("free space there or ask for a smaller size"), "{text}");
    }
    // What they took is free again for a smaller one.
    drop(admin);
    let mut admin = connect(&target);
    await_alone(&mut admin);
    let sample = Sample::new(&[]);
    assert!(matches!(state(&mut admin, &sample).unwrap(), DataState::Partial { stamp: Some(_), .. }));
    load_with(&target, &sample, &how(4)).unwrap();
}
