//! `tproc-c` in other layouts: the same rows.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::server::{self, Server};
use crate::{CAPS, await_alone, connect, how, load_with, thawed};
use pgdyno_load::{DataState, LoadError, LoadOptions, LoadProgress, Moment, check, drop_data, load, state};
use pgdyno_net::{Admin, ConnectOptions, Stop};
use pgdyno_workload::{CopyBuf, DataSet};

const TABLES: [&str; 9] =
    ["warehouse", "district", "customer", "history", "new_order", "orders", "order_line", "item", "stock"];

fn two_warehouses(more: &[(&'static str, &'static str)]) -> Arc<dyn DataSet> {
    crate::data_of("tproc-c", [("warehouses", "2")].into_iter().chain(more.iter().copied()))
}

/// A checksum of each table's rows.
fn print(target: &ConnectOptions) -> Vec<String> {
    let mut admin = connect(target);
    let sum = |table| format!("select sum(hashtext(t::text)) from {table} t");
    TABLES.map(|table| admin.query_one(&sum(table)).unwrap()).to_vec()
}

/// `slack` is the share of its size that the data may have more.
fn assert_right(target: &ConnectOptions, data: &dyn DataSet, admin: &mut Admin, slack: f64) {
    assert!(matches!(state(admin, data).unwrap(), DataState::Complete(_)));
    let asked = check(target, 3, data, &CAPS, Moment::AfterLoad, &|_| {}, &Stop::new()).unwrap();
    let broken: Vec<_> = asked.checks.iter().filter(|check| !check.holds).collect();
    assert!(broken.is_empty() && asked.checks.len() == 9 + 13, "{broken:#?}");
    let expected = data.bytes();
    let off = asked.data_bytes.unwrap() as f64 / expected as f64 - 1.0;
    assert!(off > -0.1 && off < slack, "{} of {expected}", asked.data_bytes.unwrap());
    assert_eq!(
        admin.query_opt("select string_agg(relname, ' ') from pg_class where relpersistence = 'u'").unwrap(),
        None
    );
}

#[test]
fn rows_are_the_same_in_every_layout_and_mode() {
    if !server::available("rows_are_the_same_in_every_layout_and_mode") {
        return;
    }
    let server = Server::start("max_wal_size = 4GB");
    let plain = two_warehouses(&[]);
    let one = server.database("one");
    load_with(&one, &*plain, &how(1)).unwrap();
    let expected = print(&one);

    // Stopped when stock begins to grow, and gone on with.
    let resumed = server.database("resumed");
    let stop = Stop::new();
    let progress = |progress: &LoadProgress<'_>| {
        if matches!(progress, LoadProgress::Table { name: "order_line", rows: 400_000.., .. }) {
            stop.cleanly();
        }
    };
    let resumable = |loaders| LoadOptions { resumable: true, ..how(loaders) };
    let error = load(&resumed, &*plain, &CAPS, &resumable(2), &progress, &stop, None).unwrap_err();
    assert!(matches!(error, LoadError::Suspended), "{error}");
    let mut admin = connect(&resumed);
    await_alone(&mut admin);
    let report = load_with(&resumed, &*plain, &resumable(8)).unwrap();
    assert!(report.rows_kept > 0 && report.notes.is_empty(), "{report:?}");
    assert_eq!(print(&resumed), expected, "resumed");
    // The space of rows that were not committed is free, not gone: up to a unit of each loader.
    assert_right(&resumed, &*plain, &mut admin, 0.5);

    // Partitions and foreign keys, with default options and with all others at once.
    let layout = two_warehouses(&[("partitions", "3"), ("foreign-keys", "true")]);
    for (database, how) in [("laid_out", how(2)), ("all_of_it", LoadOptions { unlogged: true, ..resumable(3) })] {
        let target = server.database(database);
        let report = load_with(&target, &*layout, &how).unwrap();
        assert_eq!(report.notes, [""; 0]);
        assert_eq!(print(&target), expected, "{database}");
        let mut admin = connect(&target);
        assert_right(&target, &*layout, &mut admin, 0.1);
        let keys = "select count(*) from pg_constraint where contype = 'f' and conparentid = 0";
        assert_eq!(admin.query_one(keys).unwrap(), "10");
        let parts = "select string_agg(inhrelid::regclass::text, ' ' order by 1) from pg_inherits \
                     where inhparent = 'order_line'::regclass";
        assert_eq!(admin.query_one(parts).unwrap(), "order_line_1 order_line_2 order_line_3");
        assert_eq!(thawed(&mut admin, "order_line"), "0");
        let analyzed = "select string_agg(relname, ' ') from pg_stat_user_tables where analyze_count > 1";
        assert_eq!(admin.query_opt(analyzed).unwrap(), None);
        drop_data(&mut admin, &*layout, false).unwrap();
        let left = "select string_agg(relname, ' ') from pg_class where relname ~ 'order_line|pgdyno'";
        assert_eq!(admin.query_opt(left).unwrap(), None);
    }
    parts_of_a_check_find_what_the_whole_finds(&one, &*plain);
}

/// Damage in one warehouse is found by whichever part it falls into, also beyond the last one.
fn parts_of_a_check_find_what_the_whole_finds(target: &ConnectOptions, data: &dyn DataSet) {
    let mut admin = connect(target);
    let orphan = "insert into orders select o_entry_d, o_id, 9, o_c_id, o_d_id, o_carrier_id, o_ol_cnt, o_all_local \
                  from orders where o_w_id = 1 and o_d_id = 1 and o_id = 7";
    // The statements of a group break conditions of their own each, so that none hides that another was not found.
    let damage: [&[(&str, &[&str])]; 3] = [
        &[
            ("update orders set o_ol_cnt = 99 where o_w_id = 2 and o_d_id = 2 and o_id = 2", &["3.3.2.4", "3.3.2.6"]),
            (
                "update orders set o_carrier_id = 1 where o_w_id = 2 and o_d_id = 1 and o_id = 3000",
                &["3.3.2.5", "3.3.2.7"],
            ),
            (
                "update history set h_amount = 11 where h_c_w_id = 1 and h_c_d_id = 7 and h_c_id = 7",
                &["3.3.2.8", "3.3.2.9", "3.3.2.10"],
            ),
            ("update customer set c_delivery_cnt = 1 where c_w_id = 1 and c_d_id = 7 and c_id = 7", &["3.3.2.11"]),
            ("update customer set c_ytd_payment = 0 where c_w_id = 2 and c_d_id = 8 and c_id = 7", &["3.3.2.12"]),
            ("update district set d_next_o_id = 1 where d_w_id = 2 and d_id = 5", &["3.3.2.2", "orders"]),
        ],
        &[
            (
                "update customer set c_balance = 0 where c_w_id = 2 and c_d_id = 7 and c_id = 7",
                &["3.3.2.10", "3.3.2.12"],
            ),
            (orphan, &["3.3.2.4", "3.3.2.6", "3.3.2.11", "orders"]),
            ("update warehouse set w_ytd = 1 where w_id = 2", &["3.3.2.1", "3.3.2.8"]),
        ],
        &[(
            "delete from new_order where no_w_id = 2 and no_d_id = 5 and no_o_id = 2200",
            &["3.3.2.3", "3.3.2.5", "3.3.2.11"],
        )],
    ];
    for (nth, group) in damage.into_iter().enumerate() {
        // Of other connections' damage only what is committed shows, so it is undone from copies of the tables.
        let tables: BTreeSet<_> = group
            .iter()
            .map(|(statement, _)| statement.split_whitespace().find(|word| TABLES.contains(word)).unwrap())
            .collect();
        for table in &tables {
            admin.execute(&format!("create table saved_{table} as table {table}")).unwrap();
        }
        for (statement, _) in group {
            admin.execute(statement).unwrap();
        }
        let expected: BTreeSet<_> = group.iter().flat_map(|(_, conditions)| conditions.iter().copied()).collect();
        // All of them for the first; then one each, in turns.
        let all = [1, 2, 5];
        for &connections in if nth == 0 { &all[..] } else { &all[nth..][..1] } {
            let asked = check(target, connections, data, &CAPS, Moment::AtRest, &|_| {}, &Stop::new()).unwrap();
            let broken: BTreeSet<_> = asked.checks.iter().filter(|c| !c.holds).map(|c| c.name.as_str()).collect();
            assert_eq!(broken, expected, "group {nth} over {connections} connections");
        }
        for table in tables {
            let undo = format!("truncate {table}; insert into {table} table saved_{table}; drop table saved_{table}");
            admin.execute(&undo).unwrap();
        }
    }
}

/// What goes in the binary form is what the text says.
#[test]
fn rows_are_the_same_in_either_form_of_copy() {
    if !server::available("rows_are_the_same_in_either_form_of_copy") {
        return;
    }
    let server = Server::start("max_wal_size = 4GB");
    let target = server.database("forms");
    let data = crate::data_of("tproc-c", []);
    load_with(&target, &*data, &how(2)).unwrap();
    let mut admin = connect(&target);
    for table in data.tables(&CAPS) {
        let name = table.name;
        assert!(!table.binary.is_empty(), "{name}");
        let source = table.source.unwrap();
        admin.execute(&format!("create table text_of (like {name})")).unwrap();
        let mut text = CopyBuf::new();
        (0..source.chunks()).for_each(|chunk| source.write(chunk, &mut text));
        let mut copy = admin.copy_in("copy text_of from stdin").unwrap();
        copy.write(text.bytes()).unwrap();
        assert_eq!(copy.finish().unwrap(), text.rows(), "{name}");
        for (these, others) in [(name, "text_of"), ("text_of", name)] {
            let only = format!("select count(*) from (table {these} except all table {others}) t");
            assert_eq!(admin.query_one(&only).unwrap(), "0", "{these} without {others}: {name}");
        }
        // A number's digits after the point show in its text alone.
        let texts = |table: &str| format!("select sum(hashtext(t::text)) from {table} t");
        assert_eq!(admin.query_one(&texts(name)).unwrap(), admin.query_one(&texts("text_of")).unwrap(), "{name}");
        admin.execute("drop table text_of").unwrap();
    }
}

#[test]
fn checks_go_on_with_the_connections_that_there_are() {
    if !server::available("checks_go_on_with_the_connections_that_there_are") {
        return;
    }
    let server = Server::start("");
    let target = server.database("narrow");
    let sample = crate::sample::Sample::new(&[]);
    load_with(&target, &sample, &how(1)).unwrap();
    let mut admin = connect(&target);
    admin
        .execute("create role narrow login connection limit 2; grant select on all tables in schema public to narrow")
        .unwrap();
    let narrow = server.as_role("narrow", "narrow");
    let most = Arc::new(std::sync::Mutex::new(0));
    let seen = Arc::clone(&most);
    let progress = move |_: &pgdyno_load::CheckProgress<'_>| {
        let count = "select count(*) from pg_stat_activity where usename = 'narrow'";
        let now = connect(&target).query_one(count).unwrap().parse::<usize>().unwrap();
        let mut most = seen.lock().unwrap();
        *most = now.max(*most);
        // Other connections are opened where one is not soon done.
        std::thread::sleep(std::time::Duration::from_millis(150));
    };
    let report = check(&narrow, 8, &sample, &CAPS, Moment::AfterLoad, &progress, &Stop::new()).unwrap();
    assert!(report.holds() && report.checks.len() == 4, "{report:?}");
    assert_eq!(*most.lock().unwrap(), 2);
}
