//! Data of other workloads, and sizes that are ranges of keys.

use crate::given_server::{Place, TRUST};
use crate::program::finish;

/// The tables of the place's database, and its stamps.
fn tables(place: &Place) -> String {
    place.ask(
        "select coalesce(string_agg(relname, ' ' order by relname), '') from pg_class \
         where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')",
    )
}

fn stamps(place: &Place) -> String {
    place.ask("select string_agg(dataset, ' ' order by dataset) from pgdyno_stamp")
}

#[test]
fn data_of_another_workload_is_named_and_goes_whole_or_not_at_all() {
    let Some(place) = Place::with_warehouse("data of another workload", "fsync = off\n", TRUST) else { return };
    let before = tables(&place);
    for command in [
        "load tproc-h -s 0.01 -q",
        "load tproc-h -s 0.01 -q --replace",
        "run tproc-h -s 0.01 -q",
        "run tproc-h -s 0.01 -q --no-load",
    ] {
        let refused = place.run(command).ended(11);
        assert!(!refused.stderr.contains("not loaded by pgdyno"), "{}", refused.stderr);
        refused.says(&[
            "tproc-c, loaded by pgdyno, has table customer, table orders in schema public",
            "`pgdyno drop tproc-c`",
        ]);
    }
    place.run("check tproc-h").ended(11).says(&["tproc-c, loaded by pgdyno,", "`pgdyno drop tproc-c`"]);
    for command in ["drop tproc-h", "drop tproc-h --force"] {
        place.run(command).ended(11).says(&["tproc-c, loaded by pgdyno,", "`pgdyno drop tproc-c`"]);
    }
    assert_eq!(tables(&place), before, "nothing was dropped");
    place.run("check tproc-c").ok();

    // Both data sets of ch-benchmark are in the way, and belong to it.
    place.run("load ch-benchmark -w 1 -q --replace").ended(0);
    place.run("load tproc-h -s 0.01 -q").ended(11).says(&["loaded by pgdyno,", "table customer", "table supplier"]);
    let forced = place.run("load tproc-h -s 0.01 --force");
    forced.ok().says(&[
        "dropping what conflicts: data set ch-suppliers of ch-benchmark: table ch_markers, table nation",
        "data set tproc-c of tproc-c: table customer, table district",
        "routine pgdyno_new_order, ",
    ]);
    assert_eq!(stamps(&place), "tproc-h");
    let left = place.ask("select count(*) from pg_proc where pronamespace = 'public'::regnamespace");
    assert_eq!(left, "0", "no routine of tproc-c is left");
    assert_eq!(tables(&place), "customer lineitem nation orders part partsupp pgdyno_stamp region supplier");

    // The other way round.
    place.run("load tproc-c -w 1 -q").ended(11).says(&["tproc-h, loaded by pgdyno, has table customer, table orders"]);
    place.run("load ch-benchmark -w 1 -q").ended(11).says(&["tproc-h, loaded by pgdyno,"]);

    // Tables of a directory of the user's.
    let mine = place.home.join("mine");
    std::fs::create_dir(&mine).unwrap();
    for (file, text) in [
        ("workload.toml", "[[script]]\nfile = 'x.sql'\n"),
        ("schema.sql", "CREATE TABLE customer (a int);"),
        ("x.sql", "SELECT count(*) FROM customer;"),
    ] {
        std::fs::write(mine.join(file), text).unwrap();
    }
    place
        .run("load mine -q")
        .ended(11)
        .says(&["tproc-h, loaded by pgdyno, has table customer", "mine needs these names"]);
    place.run("drop tproc-h -q").ok();
    place.run("load mine -q").ok();
    place.run("load tproc-h -s 0.01 -q").ended(11).says(&["mine, loaded by pgdyno, has table customer"]);
}

#[test]
fn sizes_of_sysbench_tables_are_ranges_of_keys() {
    let Some(place) = Place::new("ranges of keys", "fsync = off\n", TRUST) else { return };
    let run = |line: &str| place.run(&format!("{line} -c 2 -j 1 -t 20 -q"));
    // Its own tables after deletes: healthy, and not checkable.
    place.run("load oltp-delete -s 2000 -q").ok();
    run("run oltp-delete").ok();
    assert_ne!(place.ask("select count(*) from sbtest1"), "2000");
    run("run oltp-read-write").ok();
    let healthy = place.home.runs().pop().unwrap();
    assert_eq!(healthy.text("/status"), "complete");
    assert!(healthy.at("/checks").to_string().contains("keys lack their rows"), "{}", healthy.at("/checks"));
    place.run("check oltp-read-write").ok().prints(&["keys lack their rows"]);
    assert_eq!(place.ask("select max(id) from sbtest1"), "2000", "no key beyond the range");

    // Tables without a stamp, as sysbench makes them: keys, not rows, are the size.
    place.execute("comment on table sbtest1 is null; drop table pgdyno_stamp; delete from sbtest1 where id % 3 = 0");
    run("run oltp-read-write").ok();
    let by_default = place.home.runs().pop().unwrap();
    assert_eq!(by_default.number("/plan/scale"), place.ask("select max(id) from sbtest1").parse::<f64>().unwrap());
    place.execute("insert into sbtest1 (id, k, c, pad) select 2000 + n, n, rpad('c', 119, 'c'), rpad('p', 59, 'p') from generate_series(1, 500) n");
    place
        .run("run oltp-read-write -s 1000 -c 2 -j 1 -t 20")
        .ok()
        .says(&["driving data loaded by sysbench as it is: scale 1,000, the first of 2,500 keys"]);
    assert_eq!(place.ask("select max(id) from sbtest1"), "2500");
    run("run oltp-read-only -s 3000").ended(11).says(&["sysbench loaded scale 2500; you asked for scale 3000"]);

    // YCSB's table after inserts.
    place.run("load ycsb-d --records 1000 -q").ok();
    run("run ycsb-d").ok();
    place.execute("comment on table usertable is null; drop table pgdyno_stamp");
    run("run ycsb-a --records 1000").ok();
    assert_eq!(place.home.runs().pop().unwrap().number("/plan/scale"), 1000.0);
    run("run ycsb-a").ok();
}

#[test]
fn tables_that_sysbench_has_emptied_in_part_have_the_range_that_it_prepared() {
    let Some(place) = Place::new("sysbench's own tables", "fsync = off\n", TRUST) else { return };
    let sysbench = |script: &str, what: &[&str]| {
        let mut command = std::process::Command::new("sysbench");
        let target =
            [format!("--pgsql-host={}", place.server.dir().display()), format!("--pgsql-port={}", place.server.port)];
        command.args([
            script,
            "--db-driver=pgsql",
            "--pgsql-user=postgres",
            "--pgsql-db=postgres",
            "--table-size=2000",
        ]);
        command.args(target).args(what);
        command
    };
    if sysbench("oltp_delete", &["help"]).output().is_err() {
        return crate::skipped::skipped("sysbench, whose tables are driven, is not installed");
    }
    finish(sysbench("oltp_delete", &["prepare"])).ok();
    let theirs = finish(sysbench("oltp_delete", &["--events=600", "--time=0", "run"])).ok().stdout.clone();
    assert_ne!(place.ask("select count(*) from sbtest1"), "2000");
    let args = "run oltp-read-write -s 2000 -c 2 -j 1 -t 20 -q";
    // Its largest key may be gone.
    place.execute("insert into sbtest1 (id) values (2000) on conflict do nothing");
    place.run(args).ok();
    let run = place.home.the_run();
    assert_eq!((run.text("/status"), run.number("/plan/scale")), ("complete", 2000.0));
    // A program that reads the one block reads the other.
    let report = place.home.run(&["report", "last", "--format", "sysbench"]).ok().stdout.clone();
    let labels = |text: &str| {
        let block = text.lines().skip_while(|line| *line != "SQL statistics:");
        let labels = block.filter_map(|line| line.split_once(':')).map(|(label, _)| label.to_owned());
        labels.collect::<Vec<_>>()
    };
    let missing: Vec<_> = labels(&theirs).into_iter().filter(|label| !labels(&report).contains(label)).collect();
    assert!(labels(&theirs).len() > 15 && missing.is_empty(), "{missing:?}\n{theirs}\n{report}");
}
