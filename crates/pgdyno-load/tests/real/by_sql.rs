//! Data that SQL files make: marked, found again, dropped to the last object and no further.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use pgdyno_load::{DataState, LoadError, LoadOptions, LoadProgress, Moment, check, drop_data, load, state};
use pgdyno_net::{Admin, Stop};
use pgdyno_workload::{DataSet, Params};
use pgdyno_workloads::own::WorkloadDirectory;
use pgdyno_workloads::registry;

use crate::server::{self, Server};
use crate::{CAPS, await_alone, connect, how, load_with};

const MANIFEST: &str = "name = 'iot'\n[params]\nrows = 1000\n[[script]]\nfile = 'a.sql'\n\
                        [[check]]\nname = 'rows'\nsql = 'select count(*) as found from reading having count(*) <> :rows'\n";

/// Of every kind that a schema usually has.
const SCHEMA: &str = "
create schema side;
create type mood as enum ('calm', 'busy');
create domain percent as int check (value between 0 and 100);
create table place (place_id serial primary key, name text not null);
comment on table place is 'where it is';
create table reading (
    reading_id bigint generated always as identity primary key,
    place_id int references place, mood mood, level percent, at timestamp not null default now());
create table side.\"Odd Name\" (a int references reading);
create index on reading (place_id);
create table event (at date not null, what text) partition by range (at);
create table event_1 partition of event for values from ('2026-01-01') to ('2027-01-01');
create sequence ticket;
create view latest as select distinct on (place_id) * from reading order by place_id, at desc;
create materialized view busy as select * from reading where mood = 'busy';
create function newest(p int) returns setof latest language sql as $$ select * from latest where place_id = p; $$;
create function stamped() returns trigger language plpgsql as $$ begin new.at = now(); return new; end; $$;
create procedure tidy(in days int) language sql as 'delete from reading where level > days';
create aggregate total(int) (sfunc = int4pl, stype = int, initcond = '0');
create trigger reading_stamped before update on reading for each row execute function stamped();
create trigger theirs_stamped before update on theirs for each row execute function stamped();
create index theirs_at on theirs (at);
create statistics reading_both on place_id, mood from reading;
create temp table scratch (a int);
";

const LOAD: &str = "
begin;
insert into place (name) select 'place ' || i from generate_series(1, 10) i;
insert into reading (place_id, mood, level) select 1 + i % 10, 'calm', i % 100 from generate_series(1, :rows) i;
commit;
analyze place;
";

/// The workload of these files.
fn own(schema: &str, load: &str, given: &[(&str, &str)]) -> Arc<dyn DataSet> {
    let text = |file: &str| match file {
        "workload.toml" => Some(MANIFEST),
        "schema.sql" => Some(schema),
        "load.sql" => Some(load),
        "a.sql" => Some("select 1;"),
        _ => None,
    };
    let directory = WorkloadDirectory::read("iot", &mut |file| Ok(text(file).map(|t| t.as_bytes().to_vec()))).unwrap();
    let meta = directory.meta();
    let params = Params::new(meta.id, meta.params, given.iter().copied()).unwrap();
    let noop = registry::build("noop", []).unwrap();
    directory.build(&params, noop.drive).unwrap().data.swap_remove(0)
}

/// All that is no part of PostgreSQL, nor temporary.
fn objects(admin: &mut Admin) -> String {
    admin
        .query_one(
            "select coalesce(string_agg(o, e'\\n' order by o), '') from ( \
             select 'class ' || oid::regclass from pg_class where oid >= 16384 and relpersistence <> 't' \
             union all select 'proc ' || oid::regprocedure from pg_proc where oid >= 16384 \
             union all select 'type ' || oid::regtype from pg_type where oid >= 16384 and typnamespace::regnamespace::text !~ '^pg_(toast_)?temp' \
             union all select 'trigger ' || tgname from pg_trigger \
             union all select 'schema ' || nspname from pg_namespace where oid >= 16384 and nspname !~ '^pg_(toast_)?temp' \
             union all select 'extension ' || extname from pg_extension \
             union all select 'statistics ' || stxname from pg_statistic_ext) as found (o)",
        )
        .unwrap()
}

#[test]
fn what_sql_made_is_dropped_to_the_last_object_and_nothing_else() {
    if !server::available("what_sql_made_is_dropped_to_the_last_object_and_nothing_else") {
        return;
    }
    let server = Server::start("");
    let target = server.database("exact");
    let mut admin = connect(&target);
    admin
        .execute(
            "create table theirs (at timestamp); create function theirs_too() returns int language sql as 'select 1'",
        )
        .unwrap();
    let before = objects(&mut admin);
    let own = own(SCHEMA, LOAD, &[]);
    assert_eq!(state(&mut admin, &*own).unwrap(), DataState::Absent);
    assert!(drop_data(&mut admin, &*own, false).unwrap().is_empty());

    let report = load_with(&target, &*own, &how(4)).unwrap();
    await_alone(&mut admin);
    let rows: Vec<_> = report.tables.iter().map(|t| (t.name.as_str(), t.rows)).collect();
    assert_eq!(rows, [("event", 0), ("place", 10), ("reading", 1000), ("side.\"Odd Name\"", 0)]);
    assert_eq!((report.loaders, report.notes.len()), (1, 0), "{:?}", report.notes);
    assert!(report.data_bytes.unwrap() > 0);
    assert_eq!(state(&mut admin, &*own).unwrap(), DataState::Complete(report.stamp.clone()));
    let params: Vec<_> = report.stamp.load_params().collect();
    assert_eq!(params, [("rows", "1000".to_owned())]);
    let comment = admin.query_one("select obj_description('place'::regclass)").unwrap();
    assert!(comment.starts_with("where it is\nloaded by pgdyno: iot "), "{comment}");
    let checked = check(&target, 1, &*own, &CAPS, Moment::AtRest, &|_| {}, &Stop::new()).unwrap();
    assert!(checked.holds() && checked.checks.len() == 2);
    let error = load_with(&target, &*own, &how(1)).unwrap_err().to_string();
    assert!(error.contains(" already; --replace"), "{error}");

    // What another user makes of it keeps it, all of it.
    admin.execute("create view mine as select * from reading; create table side.mine (a int)").unwrap();
    let marked = objects(&mut admin);
    for blocker in ["drop view mine", "drop table side.mine"] {
        let error = drop_data(&mut admin, &*own, true).unwrap_err();
        assert!(matches!(error, LoadError::Needed { .. }), "{error}");
        assert_eq!(admin.query_one("select count(*) from reading").unwrap(), "1000");
        admin.execute(blocker).unwrap();
    }
    assert_ne!(objects(&mut admin), marked);

    let dropped = drop_data(&mut admin, &*own, false).unwrap();
    assert_eq!(objects(&mut admin), before);
    assert!(dropped.relations.contains(&"table place".to_owned()), "{dropped:?}");
    assert!(
        dropped.relations.contains(&"trigger theirs_stamped on theirs".to_owned()) || !dropped.relations.is_empty()
    );
    assert!(dropped.stamp);
    assert_eq!(state(&mut admin, &*own).unwrap(), DataState::Absent);
}

#[test]
fn what_others_make_meanwhile_is_not_taken_for_ours() {
    if !server::available("what_others_make_meanwhile_is_not_taken_for_ours") {
        return;
    }
    let server = Server::start("");
    let target = server.database("meanwhile");
    let own =
        own("create table reading (a int);", "insert into reading select generate_series(1, :rows); select 1;", &[]);
    // Between the statements of the load, as the progress reports.
    let other = std::sync::Mutex::new(connect(&target));
    let n = std::sync::atomic::AtomicUsize::new(0);
    let received = |step: &LoadProgress<'_>| {
        if let LoadProgress::Step { .. } = step {
            let n = n.fetch_add(1, Ordering::Relaxed);
            other.lock().unwrap().execute(&format!("create table theirs_{n} (a int)")).unwrap();
        }
    };
    load(&target, &*own, &CAPS, &how(1), &received, &Stop::new(), None).unwrap();
    let mut admin = connect(&target);
    drop_data(&mut admin, &*own, false).unwrap();
    let left = admin.query_one("select string_agg(relname, ' ' order by relname) from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace");
    assert_eq!(left.unwrap(), "theirs_0 theirs_1 theirs_2");
}

#[test]
fn other_files_or_parameters_are_other_data() {
    if !server::available("other_files_or_parameters_are_other_data") {
        return;
    }
    let server = Server::start("");
    let target = server.database("other");
    let mut admin = connect(&target);
    let (schema, fill) = ("create table reading (a int);", "insert into reading select generate_series(1, :rows);");
    load_with(&target, &*own(schema, fill, &[("rows", "5")]), &how(1)).unwrap();
    let same = own(schema, fill, &[("rows", "5"), ("scale", "9")]);
    assert!(matches!(state(&mut admin, &*same).unwrap(), DataState::Complete(_)), "the scale is the run's alone");
    for other in [own(schema, fill, &[]), own(schema, &format!("{fill} "), &[("rows", "5")])] {
        assert!(matches!(state(&mut admin, &*other).unwrap(), DataState::Other(_)));
        let error = load_with(&target, &*other, &how(1)).unwrap_err().to_string();
        assert!(error.starts_with("the database holds data set iot with files="), "{error}");
        assert!(error.contains(" rows=5 ") && error.contains("was asked for; --replace"), "{error}");
    }
    load_with(&target, &*own(schema, fill, &[]), &LoadOptions { replace: true, ..how(1) }).unwrap();
    assert_eq!(admin.query_one("select count(*) from reading").unwrap(), "1000");
    // Another role may own what was made, and empty the search path.
    admin.execute("create role app; grant all on schema public to app").unwrap();
    let as_app =
        own(&format!("set role app; {schema} set search_path = '';"), &fill.replace("reading", "public.reading"), &[]);
    let report = load_with(&target, &*as_app, &LoadOptions { replace: true, ..how(1) }).unwrap();
    assert_eq!(state(&mut admin, &*as_app).unwrap(), DataState::Complete(report.stamp));
    assert_eq!(admin.query_one("select tableowner from pg_tables where tablename = 'reading'").unwrap(), "app");
    // In another schema it is another data set.
    admin.execute("create schema elsewhere; set search_path = elsewhere").unwrap();
    assert_eq!(state(&mut admin, &*same).unwrap(), DataState::Absent);
    assert!(drop_data(&mut admin, &*same, true).unwrap().is_empty());
}

#[test]
fn a_load_that_fails_leaves_nothing_and_names_the_place() {
    if !server::available("a_load_that_fails_leaves_nothing_and_names_the_place") {
        return;
    }
    let server = Server::start("");
    let target = server.database("fails");
    let mut admin = connect(&target);
    admin.execute("create table theirs (a int); insert into theirs values (7)").unwrap();
    let good = "create table reading (a int);";
    let cases: [(&str, &str, &[&str]); 6] = [
        (
            good,
            "insert into reading values (1);\n\ninsert into\nreding values (1);",
            &["iot/load.sql:3: ERROR:  ", "\"reding\"", "LINE 2: reding", "        ^"],
        ),
        (
            "create table theirs (a int);",
            "",
            &["iot/schema.sql:1: ERROR:  relation \"theirs\" already exists", "left alone"],
        ),
        ("set role nobody_here;", "", &["iot/schema.sql:1: ERROR:  role \"nobody_here\" does not exist"]),
        (good, "rollback;", &["iot/load.sql:1: ROLLBACK is not allowed here"]),
        (good, "copy reading from stdin;", &["iot/load.sql:1: "]),
        ("select 1;", "insert into theirs values (8);", &["iot/schema.sql created nothing"]),
    ];
    for (schema, fill, words) in cases {
        let own = own(schema, fill, &[]);
        let error = load_with(&target, &*own, &how(1)).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
        assert!(matches!(state(&mut admin, &*own).unwrap(), DataState::Partial { stamp: Some(_), .. }));
        assert!(drop_data(&mut admin, &*own, false).unwrap().stamp);
        let left = admin.query_one("select string_agg(relname, ' ') from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace");
        assert_eq!(left.unwrap(), "theirs");
        assert_eq!(admin.query_one("select sum(a) from theirs").unwrap(), "7");
    }
}

#[test]
fn a_statement_that_must_stand_alone_divides_the_load() {
    if !server::available("a_statement_that_must_stand_alone_divides_the_load") {
        return;
    }
    let server = Server::start("");
    let target = server.database("divided");
    let mut admin = connect(&target);
    let before = objects(&mut admin);
    let schema = "create table reading (a int);
                  create procedure fill(n int) language plpgsql as $$ begin
                      for i in 1..n loop insert into reading values (i); commit; end loop; end; $$;";
    let alone = "call fill(5); create index concurrently on reading (a); vacuum analyze reading;";
    let broken = own(schema, &format!("{alone} create table late (a int); select 1/0;"), &[]);
    let error = load_with(&target, &*broken, &how(1)).unwrap_err().to_string();
    assert!(error.contains("iot/load.sql:1: ERROR:  division by zero"), "{error}");
    // Objects from before the division are there, and known as ours.
    assert!(matches!(state(&mut admin, &*broken).unwrap(), DataState::Partial { stamp: Some(_), .. }));
    assert_eq!(admin.query_one("select count(*) from reading").unwrap(), "5");

    let whole = own(schema, &format!("{alone} create table late (a int);"), &[]);
    let report = load_with(&target, &*whole, &how(1)).unwrap();
    let rows: Vec<_> = report.tables.iter().map(|t| (t.name.as_str(), t.rows)).collect();
    assert_eq!(rows, [("late", 0), ("reading", 5)]);
    assert_eq!(admin.query_one("select count(*) from pg_index where indrelid = 'reading'::regclass").unwrap(), "1");
    drop_data(&mut admin, &*whole, false).unwrap();
    assert_eq!(objects(&mut admin), before);
}

#[test]
fn an_interrupted_load_leaves_nothing() {
    if !server::available("an_interrupted_load_leaves_nothing") {
        return;
    }
    let server = Server::start("");
    let target = server.database("interrupted");
    let own = own("create table reading (a int);", "insert into reading values (1); select pg_sleep(600);", &[]);
    let stop = Stop::new();
    let done = std::thread::scope(|scope| {
        let loading = scope.spawn(|| load(&target, &*own, &CAPS, &how(1), &|_| {}, &stop, None));
        let mut admin = connect(&target);
        let asleep =
            "select count(*) from pg_stat_activity where query like '%pg_sleep(600)%' and pid <> pg_backend_pid()";
        while admin.query_one(asleep).unwrap() == "0" {
            assert!(!loading.is_finished());
            std::thread::sleep(Duration::from_millis(10));
        }
        stop.cleanly();
        loading.join().unwrap()
    });
    assert!(matches!(done, Err(LoadError::Stopped(_))), "{done:?}");
    let mut admin = connect(&target);
    await_alone(&mut admin);
    assert!(matches!(state(&mut admin, &*own).unwrap(), DataState::Partial { stamp: Some(_), .. }));
    assert_eq!(admin.query_one("select to_regclass('reading') is null").unwrap(), "t");
}

#[test]
fn the_marks_survive_a_dump() {
    if !server::available("the_marks_of_what_sql_made_survive_a_dump") {
        return;
    }
    let server = Server::start("");
    let target = server.database("source");
    let schema = SCHEMA.replace("create trigger theirs_stamped before update on theirs for each row execute function stamped();\ncreate index theirs_at on theirs (at);\n", "");
    let own = own(&schema, LOAD, &[]);
    let report = load_with(&target, &*own, &how(1)).unwrap();
    let copy = server.database("copy");
    if !server.dump_and_restore("source", "copy") {
        return;
    }
    let mut admin = connect(&copy);
    assert_eq!(state(&mut admin, &*own).unwrap(), DataState::Complete(report.stamp));
    drop_data(&mut admin, &*own, false).unwrap();
    let left = admin.query_one("select count(*) from pg_class where oid >= 16384");
    assert_eq!(left.unwrap(), "0");
}
