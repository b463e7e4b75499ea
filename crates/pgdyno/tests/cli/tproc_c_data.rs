//! The data of `tproc-c`: large loads that are killed, other layouts, and what HammerDB has made.

use std::time::Duration;

use rustix::process::Signal;

use crate::given_server::{Place, TRUST};
use crate::program::eventually;

/// Large enough to be loaded so that the next load goes on; nobody waits for its end.
const LARGE: &str = "load tproc-c -w 120";

#[test]
fn a_large_load_that_is_killed_goes_on_where_it_was() {
    let Some(place) = Place::new("a large load", "max_wal_size = 4GB\nautovacuum = off\n", TRUST) else { return };
    let others = "select count(*) from pg_stat_activity where application_name = 'pgdyno' and pid <> pg_backend_pid()";
    let kept = || place.ask("select coalesce(sum(rows), 0) from pgdyno_load_tproc_c");
    let mut running = place.start(LARGE);
    running.until_it_says("load: rows", 1);
    eventually("something is committed", Duration::from_secs(100), || {
        place.ask("select to_regclass('pgdyno_load_tproc_c') is not null") == "t" && kept() != "0"
    });
    running.signal(Signal::KILL);
    running.end();
    eventually("its sessions end", Duration::from_secs(30), || place.ask(others) == "0");
    let tables = ["warehouse", "district", "customer", "history", "new_order", "orders", "order_line", "item", "stock"];
    let there = tables.iter().filter(|table| place.ask(&format!("select to_regclass('{table}') is not null")) == "t");
    let counts = there.map(|table| format!("(select count(*) from {table})")).collect::<Vec<_>>().join(" + ");
    let rows = kept();
    assert_eq!(place.ask(&format!("select {counts}")), rows, "the ledger says what is there");

    let rows: u64 = rows.parse().unwrap();
    let words = |rows: u64| {
        let digits = rows.to_string();
        let groups: Vec<_> =
            digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap()).collect();
        groups.join(",")
    };
    place.run("check tproc-c").ended(1).says(&["an unfinished load of tproc-c", "pgdyno load tproc-c"]);
    let interrupted = format!("a load was interrupted at {} of ", words(rows));
    // Its size is the one that counts where none is asked for.
    place.run("run tproc-c --no-load -t 1").ended(11).says(&[&interrupted, "--no-load"]);
    // Another size throws nothing away unasked: both ways are named.
    for args in ["load tproc-c -w 1", "run tproc-c -w 1 -T 1"] {
        place.run(args).ended(11).says(&[
            "an unfinished load",
            "`pgdyno load tproc-c --warehouses 120` resumes it",
            "`pgdyno load tproc-c --warehouses 1 --replace` drops it",
        ]);
        assert_eq!(kept(), rows.to_string());
    }
    let mut running = place.start("load tproc-c");
    running.until_it_says(&format!("resuming: {} of ", words(rows)), 1);
    running.signal(Signal::INT);
    running.end().ended(130).says(&["what is committed stays", "goes on from there"]);
    eventually("its sessions end", Duration::from_secs(30), || place.ask(others) == "0");
    assert!(kept().parse::<u64>().unwrap() >= rows);

    place.run("load tproc-c -w 1 --loaders 2 --replace").ok().says(&["dropped what was there: table "]);
    assert_eq!(place.ask("select to_regclass('pgdyno_load_tproc_c') is null"), "t");
    place.run("check tproc-c").ok();
}

#[test]
fn partitions_and_foreign_keys_last_through_a_run() {
    let Some(place) = Place::new("partitions and foreign keys", "max_wal_size = 4GB\n", TRUST) else { return };
    place.run("run tproc-c -w 2 --partitions 2 --foreign-keys -c 4 -t 40").ok();
    let run = place.home.the_run();
    assert_eq!(run.checks_that_hold(), ["after the load", "after the run"]);
    assert_eq!(place.ask("select count(*) from pg_constraint where contype = 'f' and conparentid = 0"), "10");
    // What is loaded says how, where nothing is asked for.
    place.run("run tproc-c -c 2 -t 20").ok();
    place
        .run("run tproc-c --partitions 3 -c 2 -T 1")
        .ended(11)
        .says(&["with partitions=2; you asked for partitions=3", "--replace"]);
    place.run("drop tproc-c").ok();
    assert_eq!(place.ask("select count(*) from pg_class where relnamespace = 'public'::regnamespace"), "0");
}

/// What HammerDB leaves behind, on tables of its columns, types and keys: no marks of ours, routines of its names, and
/// its known deviations. Of the oldest order that is not delivered no line has an amount.
const AS_HAMMERDB: &str = "do $$ declare t text; r regprocedure; begin \
     foreach t in array '{warehouse,district,customer,history,new_order,orders,order_line,item,stock}'::text[] loop \
     execute format('comment on table %I is null', t); \
     end loop; \
     for r in select oid from pg_proc where proname like 'pgdyno%' loop execute 'drop routine ' || r; end loop; end $$; \
     drop table pgdyno_stamp; \
     update orders set o_c_id = 1 + o_c_id % 1500 where o_id <= 2100; \
     update order_line set ol_amount = 5.55 where ol_o_id <= 100; \
     update order_line set ol_amount = null, ol_dist_info = null where ol_o_id = 2101; \
     update customer set c_ytd_payment = 0 where c_id = 7";

/// Routines of HammerDB's names.
const ROUTINES_OF_HAMMERDB: &str = "do $$ declare t text; begin \
     foreach t in array '{neword,payment,delivery,ostat,slev}'::text[] loop \
     execute format('create procedure %I(int) language sql as ''select 1''', t); end loop; end $$";

/// Routines of the schema of the tables, each with a hash of its text.
const ROUTINES_THERE: &str = "select string_agg(oid::regprocedure || md5(prosrc), ',' order by oid) from pg_proc \
     where pronamespace = 'public'::regnamespace";

#[test]
fn a_database_of_hammerdb_is_driven_and_never_dropped() {
    let Some(place) = Place::with_warehouse("HammerDB's data", "max_wal_size = 4GB\n", TRUST) else { return };
    place.execute(AS_HAMMERDB);
    place.execute(ROUTINES_OF_HAMMERDB);
    let theirs = place.ask(ROUTINES_THERE);
    for args in ["load tproc-c -w 1", "load tproc-c -w 1 --replace", "run tproc-c -w 1 --replace", "drop tproc-c"] {
        let words = ["holds data loaded by HammerDB: table customer, ", "`pgdyno run tproc-c`", "--force"];
        place.run(args).ended(11).says(&words);
    }
    place.run("run tproc-c -w 2 -c 1").ended(11).says(&["HammerDB", "1 warehouse", "you asked for 2 warehouses"]);
    place.run("plan tproc-c -c 1").ok().prints(&[
        "nothing: 1 warehouse",
        "data loaded by HammerDB, is driven as it is",
        "in schema pgdyno, which is created",
        "routine-schema = pgdyno",
    ]);
    assert_eq!(place.ask("select to_regnamespace('pgdyno') is null"), "t", "a plan creates nothing");
    let words = ["holds  tables", "known  3.3.2.10", "known  3.3.2.12", "known deviation of HammerDB: "];
    place.run("check tproc-c").ok().prints(&words).says(&["data loaded by HammerDB"]);

    // In each call form; conditions that its data breaks are not the run's doing.
    for call in ["procedure", "function", "client"] {
        let before = place.ask("select count(*) from orders");
        place.run(&format!("run tproc-c -c 1 -t 20 --call {call}")).ok().says(&[
            "driving data loaded by HammerDB as it is",
            "condition 3.3.2.10 does not hold before the run",
            "known deviation of HammerDB",
        ]);
        let run = place.home.runs().pop().unwrap();
        assert_eq!((run.text("/status"), run.number("/exit_code")), ("complete", 0.0), "{call}");
        assert_eq!(run.number("/summary/failed"), 0.0, "{call}: {}", run.record["errors"]);
        assert_eq!(run.text("/data_from"), "HammerDB");
        assert_eq!(run.text("/plan/params/routine-schema"), "pgdyno");
        assert_ne!(place.ask("select count(*) from orders"), before, "{call}");
    }
    // Under ch-benchmark it is the same data: suppliers come beside it, and go without it.
    place
        .run("run ch-benchmark -c 1 --queries 1,6,16 -T 2 --ramp 0")
        .ok()
        .says(&["driving data loaded by HammerDB as it is", "loading ch-benchmark with 10,000 suppliers"]);
    let run = place.home.runs().pop().unwrap();
    assert_eq!((run.text("/status"), run.text("/data_from")), ("complete", "HammerDB"));
    assert!(run.number("/summary/committed") > 0.0 && run.number("/summary/failed") == 0.0);
    assert!(run.number("/stages/0/groups/1/summary/committed") > 0.0, "{}", run.at("/analytics"));
    assert_eq!(place.ask(ROUTINES_THERE), theirs, "nothing of HammerDB's is replaced, and nothing is added");
    let delivered = "select count(*) from orders where o_id = 2101 and o_carrier_id is not null";
    assert_eq!(place.ask(delivered), "10", "orders without amounts are delivered");
    place.run("check tproc-c").ok().prints(&["known  3.3.2.10"]);

    // A schema of that name that is not ours stays as it is.
    place.execute("comment on schema pgdyno is 'mine'");
    place.run("run tproc-c -c 1 -T 1").ended(11).says(&[
        "into schema pgdyno",
        "did not create the schema",
        "--call client",
    ]);
    place.run("run tproc-c -c 1 -t 5 --call client").ok();

    // Without routines the tables are known by columns, types and keys.
    place.execute("drop procedure neword, payment, delivery, ostat, slev");
    place.run("drop tproc-c").ended(11).says(&["holds data loaded by HammerDB"]);
    place.execute("drop index customer_i2");
    place.run("drop tproc-c").ended(11).says(&["not loaded by pgdyno"]);
    // A key that is missing is reported, and nothing is measured without it.
    place.execute(ROUTINES_OF_HAMMERDB);
    let key = "the unique key of customer (c_w_id, c_d_id, c_last, c_first, c_id) is missing";
    place.run("check tproc-c").ended(12).prints(&["BROKEN tables", key]);
    place.run("run tproc-c -c 1 -t 5 --call client").ended(12).says(&[key, "--no-check"]);
    place.run("drop tproc-c --force").ok().prints(&["table customer"]);
}

/// Tables of HammerDB's columns, types and keys, with `order_line` in two hash partitions by warehouse as its `pg_partition`
/// makes them: keys first, then the rows, taken from `ours`, then the two other indexes.
const PARTITIONED_BY_HAMMERDB: &str = "do $$ declare t text; begin \
     foreach t in array '{warehouse,district,customer,history,new_order,orders,item,stock}'::text[] loop \
     execute format('create table public.%I (like ours.%1$I)', t); end loop; end $$; \
     create table public.order_line (like ours.order_line) partition by hash (ol_w_id); \
     create table public.order_line_1 partition of public.order_line for values with (modulus 2, remainder 0); \
     create table public.order_line_2 partition of public.order_line for values with (modulus 2, remainder 1); \
     alter table public.warehouse add constraint warehouse_i1 primary key (w_id); \
     alter table public.district add constraint district_i1 primary key (d_w_id, d_id); \
     alter table public.customer add constraint customer_i1 primary key (c_w_id, c_d_id, c_id); \
     alter table public.new_order add constraint new_order_i1 primary key (no_w_id, no_d_id, no_o_id); \
     alter table public.orders add constraint orders_i1 primary key (o_w_id, o_d_id, o_id); \
     alter table public.order_line add constraint order_line_i1 primary key (ol_w_id, ol_d_id, ol_o_id, ol_number); \
     alter table public.item add constraint item_i1 primary key (i_id); \
     alter table public.stock add constraint stock_i1 primary key (s_i_id, s_w_id); \
     do $$ declare t text; begin \
     foreach t in array '{warehouse,district,customer,history,new_order,orders,order_line,item,stock}'::text[] loop \
     execute format('insert into public.%I select * from ours.%1$I', t); end loop; end $$; \
     create unique index customer_i2 on public.customer (c_w_id, c_d_id, c_last, c_first, c_id); \
     create unique index orders_i2 on public.orders (o_w_id, o_d_id, o_c_id, o_id); \
     drop schema ours cascade";

#[test]
fn a_database_of_hammerdb_with_partitions_is_driven() {
    let Some(place) = Place::new("HammerDB's partitions", "max_wal_size = 4GB\n", TRUST) else { return };
    place.execute("create schema ours");
    let ours = format!("{} options=-csearch_path=ours", place.target());
    place.home.run(&["load", "tproc-c", "-w", "2", "--target", &ours]).ok();
    place.execute(PARTITIONED_BY_HAMMERDB);
    place.run("drop tproc-c").ended(11).says(&["holds data loaded by HammerDB"]);
    place
        .run("plan tproc-c -c 1")
        .ok()
        .prints(&["nothing: 2 warehouses", "data loaded by HammerDB, is driven as it is"]);
    place.run("check tproc-c").ok().prints(&["holds  tables ", "holds  3.3.2.6 "]).says(&["data loaded by HammerDB"]);
    let lines =
        || place.ask("select count(*) from order_line_1") + " " + &place.ask("select count(*) from order_line_2");
    for call in ["procedure", "function", "client"] {
        let before = lines();
        place.run(&format!("run tproc-c -c 4 -t 40 --call {call} --no-check")).ok();
        let run = place.home.runs().pop().unwrap();
        assert_eq!((run.text("/status"), run.text("/data_from")), ("complete", "HammerDB"), "{call}");
        assert_eq!(run.number("/summary/failed"), 0.0, "{call}: {}", run.record["errors"]);
        assert_ne!(lines(), before, "{call}");
        // Its partitions are a table's size.
        let tables = run.at("/server/tables").as_array().unwrap().clone();
        let lines = tables.iter().find(|table| table["name"] == "order_line").unwrap();
        assert!(lines["bytes_before"].as_f64().unwrap() > 10e6, "{lines}");
    }
    place.run("check tproc-c").ok().prints(&["holds  tables ", "holds  3.3.2.6 "]);

    // The key of one partition is none of the whole table.
    place.execute(
        "alter table order_line drop constraint order_line_i1; \
         create unique index on order_line_1 (ol_w_id, ol_d_id, ol_o_id, ol_number)",
    );
    let key = "the unique key of order_line (ol_w_id, ol_d_id, ol_o_id, ol_number) is missing";
    place.execute(ROUTINES_OF_HAMMERDB);
    place.run("run tproc-c -c 1 -t 5").ended(12).says(&[key, "--no-check"]);
    place.run("drop tproc-c --force").ok().prints(&["table order_line"]);
    assert_eq!(place.ask("select count(*) from pg_class where relname like 'order_line%'"), "0");
}

/// Tables of ours with HammerDB's routines beside them: what its runs leave undone is reported, and anything else counts as broken.
#[test]
fn what_hammerdb_does_to_our_data_is_reported_as_its_own() {
    let Some(place) = Place::with_warehouse("HammerDB on our data", "max_wal_size = 4GB\n", TRUST) else { return };
    // A Delivery, and a New-Order of an unused item, as HammerDB does them.
    place.execute(
        "delete from new_order where no_o_id = 2101; update orders set o_carrier_id = 1 where o_id = 2101; \
         update order_line set ol_delivery_d = now() where ol_o_id = 2101; \
         update district set d_next_o_id = 3002; \
         insert into orders select now(), 3001, 1, 7, d, null, 1, 1 from generate_series(1, 10) d; \
         insert into new_order select 1, 3001, d from generate_series(1, 10) d; \
         insert into order_line select null, 3001, 1, 100001, 1, d, 1, 5, null, null from generate_series(1, 10) d",
    );
    place.run("check tproc-c").ended(12).prints(&["BROKEN 3.3.2.11"]);
    place.execute(ROUTINES_OF_HAMMERDB);
    place.run("check tproc-c").ok().prints(&["known  3.3.2.11", "known  stock-sold", "known deviation of HammerDB"]);
    place.run("run tproc-c -c 1 -t 20").ok().says(&["condition 3.3.2.11 does not hold before the run"]);
    assert!(place.home.the_run().text("/data_from").starts_with("pgdyno "));
    place.execute("delete from new_order where no_o_id = 2500");
    place.run("check tproc-c").ended(12).prints(&["BROKEN 3.3.2.3"]);
}
