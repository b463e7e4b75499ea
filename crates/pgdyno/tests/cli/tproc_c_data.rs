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
    let mut running = place.start(LARGE);
    running.until_it_says(&format!("resuming: {} of ", words(rows)), 1);
    running.signal(Signal::INT);
    running.end().ended(130).says(&["what is committed stays", "goes on from there"]);
    eventually("its sessions end", Duration::from_secs(30), || place.ask(others) == "0");
    assert!(kept().parse::<u64>().unwrap() >= rows);

    // Another size begins anew.
    place.run("load tproc-c -w 1 --loaders 2").ok();
    assert_eq!(place.ask("select to_regclass('pgdyno_load_tproc_c') is null"), "t");
    place.run("check tproc-c").ok();
}

#[test]
fn partitions_and_foreign_keys_last_through_a_run() {
    let Some(place) = Place::new("partitions and foreign keys", "max_wal_size = 4GB\n", TRUST) else { return };
    place.run("run tproc-c -w 2 --partitions 2 --foreign-keys -c 4 -T 2 --ramp 0").ok();
    let run = place.home.the_run();
    assert_eq!(run.checks_that_hold(), ["after the load", "after the run"]);
    assert_eq!(place.ask("select count(*) from pg_constraint where contype = 'f' and conparentid = 0"), "10");
    // What is loaded says how, where nothing is asked for.
    place.run("run tproc-c -c 2 -T 1 --ramp 0").ok();
    place.run("run tproc-c --partitions 3 -c 2 -T 1").ended(11).says(&["other parameters", "--replace"]);
    place.run("drop tproc-c").ok();
    assert_eq!(place.ask("select count(*) from pg_class where relnamespace = 'public'::regnamespace"), "0");
}

/// Our own tables without our marks, and routines of HammerDB's names beside them.
#[test]
fn a_database_of_hammerdb_is_driven_and_never_dropped() {
    let Some(place) = Place::new("HammerDB's data", "max_wal_size = 4GB\n", TRUST) else { return };
    place.run("load tproc-c -w 1").ok();
    place.execute(
        "do $$ declare t text; begin \
         foreach t in array '{warehouse,district,customer,history,new_order,orders,order_line,item,stock}'::text[] loop \
         execute format('comment on table %I is null', t); \
         end loop; \
         foreach t in array '{neword,payment,delivery,ostat,slev}'::text[] loop \
         execute format('create procedure %I(int) language sql as ''select 1''', t); end loop; end $$; \
         drop table pgdyno_stamp; \
         update customer set c_ytd_payment = 0 where c_id = 7; \
         update customer set c_balance = c_balance + 1 where c_id = 8",
    );
    for args in ["load tproc-c -w 1", "load tproc-c -w 1 --replace", "run tproc-c -w 1 --replace", "drop tproc-c"] {
        let ran = place.run(args).ended(11).says(&["were made by HammerDB", "pgdyno run tproc-c --call client"]);
        assert!(!ran.stderr.contains("with --force"), "{}", ran.stderr);
    }
    // Conditions that its data breaks are not the run's doing.
    let words =
        ["not loaded by pgdyno but by HammerDB", "warning: ", "breaks condition 3.3.2.10", "breaks condition 3.3.2.12"];
    place.run("run tproc-c -c 1 -T 1 --ramp 0").ok().says(&words);
    let run = place.home.runs().pop().unwrap();
    assert_eq!((run.text("/status"), run.number("/exit_code")), ("complete", 0.0));
    let checks = run.record["checks"].as_array().unwrap();
    let asked = |nth: usize| checks[nth]["checks"].as_array().unwrap().len();
    assert_eq!((checks.len(), asked(0), asked(1)), (2, 12, 10));

    // Without routines of ours it can be driven only from the client.
    place.execute(
        "do $$ declare r regprocedure; begin for r in select oid from pg_proc where proname like 'pgdyno%' loop \
         execute 'drop routine ' || r; end loop; end $$",
    );
    place.run("run tproc-c -c 1 -T 1").ended(11).says(&[
        "were made by HammerDB",
        "lacks pgdyno's routine",
        "--call client",
    ]);
    let before = place.ask("select count(*) from orders");
    place.run("run tproc-c --call client -c 2 -T 1 --ramp 0").ok().says(&["not loaded by pgdyno but by HammerDB"]);
    assert_ne!(place.ask("select count(*) from orders"), before);
    assert_eq!(place.ask("select count(*) from pg_proc where proname like 'pgdyno%'"), "0", "it was left as it is");
    assert_eq!(place.ask("select count(*) from customer"), "30000");
}
