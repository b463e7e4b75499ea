//! The built-in workloads, loaded.

use crate::server::{self, Server};
use crate::{CAPS, connect, how, load_with};
use pgdyno_load::{DataState, LoadOptions, Moment, check, state};
use pgdyno_net::{Admin, Stop};

#[test]
fn tproc_c_meets_every_condition_after_its_load() {
    if !server::available("tproc_c_meets_every_condition_after_its_load") {
        return;
    }
    let server = Server::start("max_wal_size = 2GB");
    let target = server.database("tprocc");
    let data = crate::data_of("tproc-c", []);
    let report = load_with(&target, &*data, &how(2)).unwrap();
    let mut admin = connect(&target);
    assert_eq!(state(&mut admin, &*data).unwrap(), DataState::Complete(report.stamp));
    let asked = check(&target, 2, &*data, &CAPS, Moment::AfterLoad, &|_| {}, &Stop::new()).unwrap();
    let broken: Vec<_> = asked.checks.iter().filter(|check| !check.holds).collect();
    assert!(broken.is_empty(), "{broken:#?}");
    assert_eq!(asked.checks.len(), 9 + 13);
    let expected = data.bytes();
    assert!(
        asked.data_bytes.unwrap().abs_diff(expected) < expected / 10,
        "{} of {expected}",
        asked.data_bytes.unwrap()
    );
    admin.query("call pgdyno_stock_level(1, 1, 10)").unwrap();
}

fn columns(admin: &mut Admin) -> String {
    admin
        .query_one(
            "select string_agg(concat_ws(' ', c.relname, c.reloptions, a.attname, \
             format_type(a.atttypid, a.atttypmod), a.attnotnull), E'\\n' order by c.relname, a.attnum) \
             from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 \
             where c.relname like 'pgbench%'",
        )
        .unwrap()
}

fn rows(admin: &mut Admin) -> Vec<String> {
    ["accounts", "branches", "tellers", "history"]
        .map(|table| {
            format!("select coalesce(md5(string_agg(t::text, '|' order by t::text)), '') from pgbench_{table} t")
        })
        .map(|sql| admin.query_one(&sql).unwrap())
        .to_vec()
}

#[test]
fn pgbenchs_own_tables_are_known_as_foreign_and_are_the_same_as_ours() {
    if !server::available("pgbenchs_own_tables_are_known_as_foreign_and_are_the_same_as_ours") {
        return;
    }
    let server = Server::start("");
    let (ours, theirs) = (server.database("ours"), server.database("theirs"));
    let data = crate::data_of("tpcb-like", []);
    load_with(&ours, &*data, &how(2)).unwrap();
    server.pgbench_init("theirs");
    let (mut ours_admin, mut theirs_admin) = (connect(&ours), connect(&theirs));
    assert_eq!(columns(&mut ours_admin), columns(&mut theirs_admin));
    assert_eq!(rows(&mut ours_admin), rows(&mut theirs_admin));

    // Workloads of one data set share it.
    let select_only = crate::data_of("select-only", []);
    assert!(matches!(state(&mut ours_admin, select_only.as_ref()).unwrap(), DataState::Complete(_)));
    assert_eq!(state(&mut theirs_admin, &*data).unwrap(), DataState::Foreign { scale: Some(1), maker: None });
    load_with(&theirs, &*data, &how(2)).unwrap_err();
    load_with(&theirs, &*data, &LoadOptions { force: true, ..how(2) }).unwrap();

    // pgbench replaces our tables; our stamp must not be believed then.
    server.pgbench_init("ours");
    assert_eq!(state(&mut ours_admin, &*data).unwrap(), DataState::Foreign { scale: Some(1), maker: None });
}
