//! What is there already: found, refused, replaced, dropped.

use crate::sample::Sample;
use crate::server::{self, Server};
use crate::{CAPS, connect, how, load_with};
use pgdyno_load::{DataState, Dropped, LoadError, LoadOptions, drop_data, refresh_routines, state};
use pgdyno_net::Admin;

const NOTHING: [&str; 0] = [];

fn oids(admin: &mut Admin) -> String {
    let sql = "select coalesce(string_agg(relname || ' ' || oid, ', ' order by relname), '') from pg_class \
               where relnamespace = 'public'::regnamespace";
    admin.query_one(sql).unwrap()
}

#[test]
fn somebody_elses_objects_are_refused_and_untouched() {
    if !server::available("somebody_elses_objects_are_refused_and_untouched") {
        return;
    }
    let server = Server::start("");
    let target = server.database("theirs");
    let mut admin = connect(&target);
    let sample = Sample::new(&[]);
    assert_eq!(state(&mut admin, &sample).unwrap(), DataState::Absent);

    admin
        .execute("create table big as select g from generate_series(1, 200000) g; create view small as select 1 id")
        .unwrap();
    admin
        .execute("create function sample_sum(bigint, char, numeric[]) returns int language sql as 'select 1'")
        .unwrap();
    assert_eq!(state(&mut admin, &sample).unwrap(), DataState::Foreign { scale: Some(2) });
    let before = oids(&mut admin);
    let expected = "table big, view small, routine sample_sum(bigint, character, numeric[]) in schema public were \
                    not loaded by pgdyno and would be dropped; use another database or schema, or drop them with --force";
    let replace = LoadOptions { replace: true, ..how(2) };
    assert_eq!(load_with(&target, &sample, &replace).unwrap_err().to_string(), expected);
    assert_eq!(drop_data(&mut admin, &sample, false).unwrap_err().to_string(), expected);
    assert!(matches!(refresh_routines(&mut admin, &sample, &CAPS), Err(LoadError::Foreign { .. })));
    assert_eq!(oids(&mut admin), before);

    load_with(&target, &sample, &LoadOptions { force: true, ..how(2) }).unwrap();
    assert!(matches!(state(&mut admin, &sample).unwrap(), DataState::Complete(_)));
    assert_eq!(admin.query_one("select sample_sum(5, 'x')").unwrap(), "5");

    // A table that somebody makes in the place of ours is theirs, whatever the stamp says.
    admin
        .execute("alter table big drop constraint big_small_id_fkey; drop table small; create table small (id int)")
        .unwrap();
    assert_eq!(state(&mut admin, &sample).unwrap(), DataState::Foreign { scale: Some(1) });
    let error = load_with(&target, &sample, &how(1)).unwrap_err();
    assert!(error.to_string().starts_with("table small in schema public was not loaded by pgdyno"), "{error}");
    // And one that is missing makes the rest worthless.
    admin.execute("drop table small").unwrap();
    assert!(matches!(state(&mut admin, &sample).unwrap(), DataState::Partial(Some(_))));
}

#[test]
fn other_data_of_ours_is_replaced_only_on_demand() {
    if !server::available("other_data_of_ours_is_replaced_only_on_demand") {
        return;
    }
    let server = Server::start("");
    let target = server.database("other");
    let mut admin = connect(&target);
    let (two, one) = (Sample::new(&[("scale", "2")]), Sample::new(&[("mood", "9")]));
    load_with(&target, &two, &how(2)).unwrap();
    let before = oids(&mut admin);
    match state(&mut admin, &one).unwrap() {
        DataState::Other(stamp) => assert_eq!((stamp.scale, stamp.params.as_str()), (2, "scale=2 seed=1")),
        other => panic!("{other:?}"),
    }
    let text = load_with(&target, &one, &how(2)).unwrap_err().to_string();
    assert!(
        text.starts_with("the database holds data set sample with scale=2 seed=1 (version 1 of its rows), loaded 20"),
        "{text}"
    );
    assert!(text.ends_with(", and scale=1 seed=1 was asked for; --replace drops it and loads anew"), "{text}");
    let text = load_with(&target, &two, &LoadOptions { force: true, ..how(2) }).unwrap_err().to_string();
    assert!(text.ends_with(" already; --replace drops it and loads anew"), "{text}");
    assert_eq!(oids(&mut admin), before);

    load_with(&target, &one, &LoadOptions { replace: true, ..how(2) }).unwrap();
    // A parameter of the run does not make it other data.
    assert!(matches!(state(&mut admin, &Sample::new(&[])).unwrap(), DataState::Complete(_)));
    assert_eq!(admin.query_one("select count(*) from big").unwrap(), "100000");
}

#[test]
fn what_was_loaded_is_dropped_and_nothing_else() {
    if !server::available("what_was_loaded_is_dropped_and_nothing_else") {
        return;
    }
    let server = Server::start("");
    let target = server.database("dropped");
    let mut admin = connect(&target);
    let sample = Sample::new(&[]);
    assert!(drop_data(&mut admin, &sample, false).unwrap().is_empty());
    admin.execute("create table mine (a int)").unwrap();
    let before = oids(&mut admin);
    load_with(&target, &sample, &how(1)).unwrap();
    admin.execute("insert into pgdyno_stamp select 'another', workload, version, scale, params, identity, tables, rows, pgdyno from pgdyno_stamp").unwrap();

    // What depends on our tables keeps them, all of them.
    admin.execute("create view total as select count(*) from big").unwrap();
    let error = drop_data(&mut admin, &sample, true).unwrap_err();
    assert!(matches!(error, LoadError::Needed { .. }) && error.to_string().contains("depends"), "{error}");
    assert!(matches!(state(&mut admin, &sample).unwrap(), DataState::Complete(_)));
    admin.execute("drop view total").unwrap();

    // Another scale is asked for, and what is there is dropped all the same.
    let dropped = drop_data(&mut admin, &Sample::new(&[("scale", "3")]), false).unwrap();
    let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        dropped,
        Dropped {
            relations: names(&["table big", "table journal", "table small"]),
            routines: names(&["sample_sum(bigint, character, numeric[])"]),
            stamp: true,
        }
    );
    assert_eq!(admin.query_one("select string_agg(dataset, ' ') from pgdyno_stamp").unwrap(), "another");
    admin.execute("drop table pgdyno_stamp").unwrap();
    assert_eq!(oids(&mut admin), before);

    // The table of the stamps goes with the last one.
    load_with(&target, &sample, &how(1)).unwrap();
    drop_data(&mut admin, &sample, false).unwrap();
    assert_eq!(oids(&mut admin), before);
}

#[test]
fn outdated_routines_are_replaced() {
    if !server::available("outdated_routines_are_replaced") {
        return;
    }
    let server = Server::start("");
    let target = server.database("routines");
    let mut admin = connect(&target);
    let sample = Sample::new(&[]);
    let report = load_with(&target, &sample, &how(1)).unwrap();
    admin.execute("create or replace function sample_sum(a bigint, b char, c numeric[] default null) returns bigint language sql as 'select 99'").unwrap();
    refresh_routines(&mut admin, &sample, &CAPS).unwrap();
    assert_eq!(admin.query_one("select sample_sum(5, 'x')").unwrap(), "5");
    admin.execute("drop function sample_sum").unwrap();
    refresh_routines(&mut admin, &sample, &CAPS).unwrap();
    assert_eq!(state(&mut admin, &sample).unwrap(), DataState::Complete(report.stamp));
    assert_eq!(drop_data(&mut admin, &sample, false).unwrap().routines.len(), 1);
}

#[test]
fn the_marks_survive_a_dump() {
    if !server::available("the_marks_survive_a_dump") {
        return;
    }
    let server = Server::start("");
    let target = server.database("source");
    let sample = Sample::new(&[]);
    let report = load_with(&target, &sample, &how(1)).unwrap();
    let copy = server.database("copy");
    server.dump_and_restore("source", "copy");
    assert_eq!(state(&mut connect(&copy), &sample).unwrap(), DataState::Complete(report.stamp));
    assert_eq!(report.notes, NOTHING);
}
