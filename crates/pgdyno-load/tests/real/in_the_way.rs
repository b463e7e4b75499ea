//! What is there already: found, refused, replaced, dropped.

use crate::sample::Sample;
use crate::server::{self, Server};
use crate::{CAPS, connect, how, load_with};
use pgdyno_load::{DataState, Dropped, LoadError, LoadOptions, drop_data, refresh_routines, shortcomings, state};
use pgdyno_net::Admin;

const NOTHING: [&str; 0] = [];

fn oids(admin: &mut Admin) -> String {
    let sql = "select coalesce(string_agg(relname || ' ' || oid, ', ' order by relname), '') from pg_class \
               where relnamespace = 'public'::regnamespace";
    admin.query_one(sql).unwrap()
}

#[test]
fn other_users_objects_are_refused_and_untouched() {
    if !server::available("other_users_objects_are_refused_and_untouched") {
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
    assert_eq!(state(&mut admin, &sample).unwrap(), DataState::Foreign { scale: Some(2), maker: None });
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

    // A table that a user makes in the place of ours is theirs, whatever the stamp says.
    admin
        .execute("alter table big drop constraint big_small_id_fkey; drop table small; create table small (id int)")
        .unwrap();
    assert_eq!(state(&mut admin, &sample).unwrap(), DataState::Foreign { scale: Some(1), maker: None });
    let error = load_with(&target, &sample, &how(1)).unwrap_err();
    assert!(error.to_string().starts_with("table small in schema public was not loaded by pgdyno"), "{error}");
    // And one that is missing makes the rest worthless.
    admin.execute("drop table small").unwrap();
    assert!(matches!(state(&mut admin, &sample).unwrap(), DataState::Partial { stamp: Some(_), .. }));
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
    assert!(text.ends_with(", and scale=1 seed=1 was asked for; --replace drops it and loads again"), "{text}");
    let text = load_with(&target, &two, &LoadOptions { force: true, ..how(2) }).unwrap_err().to_string();
    assert!(text.ends_with(" already; --replace drops it and loads again"), "{text}");
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

/// What another version of pgdyno has left: other arguments, another result, another kind.
#[test]
fn routines_of_another_version_give_way() {
    if !server::available("routines_of_another_version_give_way") {
        return;
    }
    let server = Server::start("");
    let target = server.database("versions");
    let mut admin = connect(&target);
    let sample = Sample::new(&[]);
    load_with(&target, &sample, &how(1)).unwrap();
    let mark = admin.query_one("select obj_description('big'::regclass)").unwrap();
    let list = "select string_agg(oid::regprocedure::text, ' ' order by 1) from pg_proc \
                where pronamespace = 'public'::regnamespace";
    let before = admin.query_one(list).unwrap();
    let others = [
        "create function sample_sum(a text) returns int language sql as 'select 1'; comment on routine sample_sum(text)",
        "drop function sample_sum; \
         create function sample_sum(a bigint, b char, c numeric[]) returns text language sql as 'select 1::text'; \
         comment on routine sample_sum(bigint, char, numeric[])",
        "drop function sample_sum; \
         create procedure sample_sum(a bigint, b char, c numeric[]) language sql as 'select 1'; \
         comment on routine sample_sum(bigint, char, numeric[])",
    ];
    for other in others {
        admin.execute(&format!("{other} is '{mark}'")).unwrap();
        refresh_routines(&mut admin, &sample, &CAPS).unwrap();
        assert_eq!(admin.query_one(list).unwrap(), before, "{other}");
        assert_eq!(admin.query_one("select sample_sum(5, 'x')").unwrap(), "5");
    }
    // One that is another user's stays, and so does one of ours that another run may use.
    admin.execute("create function sample_sum(text) returns int language sql as 'select 1'").unwrap();
    admin.execute(&format!("create function sample_other() returns int language sql as 'select 1'; comment on function sample_other() is '{mark}'")).unwrap();
    refresh_routines(&mut admin, &sample, &CAPS).unwrap();
    let after = admin.query_one(list).unwrap();
    assert!(after.contains("sample_sum(text)") && after.contains("sample_other()"), "{after}");
}

/// The nine tables as HammerDB has them, as far as names and columns go, and routines of its names.
#[test]
fn a_database_of_hammerdb_is_known_and_left_alone() {
    if !server::available("a_database_of_hammerdb_is_known_and_left_alone") {
        return;
    }
    let server = Server::start("");
    let target = server.database("hammer");
    let mut admin = connect(&target);
    let data = crate::data_of("tproc-c", [("warehouses", "3")]);
    for table in data.tables(&CAPS) {
        admin.execute(&table.ddl.replace(" NOT NULL", "")).unwrap();
    }
    admin.execute("insert into warehouse (w_id) values (1), (2), (3)").unwrap();
    let unknown = DataState::Foreign { scale: Some(3), maker: None };
    assert_eq!(state(&mut admin, &*data).unwrap(), unknown);
    for (nth, routine) in ["neword", "payment", "delivery", "ostat", "slev"].into_iter().enumerate() {
        assert_eq!(state(&mut admin, &*data).unwrap(), unknown);
        let kind = if nth == 0 { "function" } else { "procedure" };
        let returns = if nth == 0 { "returns numeric" } else { "" };
        admin.execute(&format!("create {kind} {routine}(int, int) {returns} language sql as 'select 1.0'")).unwrap();
    }
    assert_eq!(state(&mut admin, &*data).unwrap(), DataState::Foreign { scale: Some(3), maker: Some("HammerDB") });

    let before = oids(&mut admin);
    let tables: Vec<_> =
        ["customer", "district", "history", "item", "new_order", "order_line", "orders", "stock", "warehouse"]
            .iter()
            .map(|name| format!("table {name}"))
            .collect();
    let expected = format!(
        "schema public holds data loaded by HammerDB: {}; pgdyno leaves it alone, and `pgdyno run tproc-c` drives it \
         as it is; use another database or schema for pgdyno's own data, or drop this data with --force",
        tables.join(", ")
    );
    let replace = LoadOptions { replace: true, ..how(2) };
    assert_eq!(load_with(&target, &*data, &replace).unwrap_err().to_string(), expected);
    assert_eq!(drop_data(&mut admin, &*data, false).unwrap_err().to_string(), expected);
    assert_eq!(oids(&mut admin), before);
    // It is not whole: only the columns are there.
    let lacking = shortcomings(&mut admin, &*data, &CAPS).unwrap();
    assert_eq!(lacking.len(), 10, "{lacking:?}");
    assert!(lacking.contains(&"the unique key of stock (s_i_id, s_w_id) is missing".to_owned()), "{lacking:?}");

    // Whole it is known without the routines.
    admin
        .execute("drop routine neword, payment, delivery, ostat, slev; alter table item alter i_name type text")
        .unwrap();
    for sql in data.tables(&CAPS).iter().flat_map(|table| &table.indexes) {
        admin.execute(sql).unwrap();
    }
    assert_eq!(state(&mut admin, &*data).unwrap(), unknown);
    let lacking = shortcomings(&mut admin, &*data, &CAPS).unwrap();
    assert_eq!(lacking, ["column item.i_name is text instead of character varying(24)"]);
    admin.execute("alter table item alter i_name type varchar(24)").unwrap();
    assert_eq!(state(&mut admin, &*data).unwrap(), DataState::Foreign { scale: Some(3), maker: Some("HammerDB") });
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
    if !server.dump_and_restore("source", "copy") {
        return;
    }
    assert_eq!(state(&mut connect(&copy), &sample).unwrap(), DataState::Complete(report.stamp));
    assert_eq!(report.notes, NOTHING);
}
