//! Data of other workloads.

use crate::given_server::{Place, TRUST};

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
    let Some(place) = Place::new("data of another workload", "fsync = off\n", TRUST) else { return };
    place.run("load tproc-c -w 1 -q").ok();
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
        "dropping what is in the way: data set ch-suppliers of ch-benchmark: table ch_markers, table nation",
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
