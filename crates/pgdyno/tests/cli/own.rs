//! One's own scripts, and directories with tables, data and scripts of one's own.

use rustix::process::Signal;

use crate::given_server::{Place, TRUST};
use crate::program::{Home, Run};

const MANIFEST: &str = "\
summary = 'counters'
scale = 'thousands of counters that are used'
[params]
rows = { default = 1000, help = 'counters' }
[[script]]
file = 'count.sql'
weight = 3
[[script]]
file = 'look.sql'
[[check]]
name = 'sums'
condition = 'the journal holds every change'
sql = '''select (select sum(n) from counter) as counters, (select count(*) from journal) as changes
       where (select sum(n) from counter) <> (select count(*) from journal)'''
";

/// Names and texts.
type Files<'a> = [(&'a str, &'a str)];

const FILES: [(&str, &str); 5] = [
    ("workload.toml", MANIFEST),
    (
        "schema.sql",
        "create table counter (id int primary key, n bigint not null default 0);
         create table journal (id int references counter, at timestamptz default now());
         create view busiest as select * from counter order by n desc limit 10;
         create function counted() returns trigger language plpgsql as $$ begin
             insert into journal (id) values (new.id); return null; end; $$;",
    ),
    (
        "load.sql",
        "insert into counter select generate_series(1, :rows);
         create trigger counter_journal after update on counter for each row execute function counted();
         vacuum analyze counter;",
    ),
    ("count.sql", "\\set id random(1, 100 * :scale)\nupdate counter set n = n + 1 where id = :id;\n"),
    ("look.sql", "select * from busiest;\nselect count(*) from journal where id = :rows;\n"),
];

/// Writes files into a directory of the home.
pub(crate) fn write(home: &Home, directory: &str, files: &[(&str, &str)]) {
    std::fs::create_dir_all(home.join(directory)).unwrap();
    for (name, text) in files {
        std::fs::write(home.join(directory).join(name), text).unwrap();
    }
}

/// A server, and a home with the directory `mine`.
fn place(test: &str) -> Option<Place> {
    let place = Place::new(test, "", TRUST)?;
    write(&place.home, "mine", &FILES);
    Some(place)
}

/// The tables and views of a database, by name.
pub(crate) fn tables(place: &Place) -> String {
    place.ask(
        "select coalesce(string_agg(relname, ' ' order by relname), '') from pg_class \
         where relkind in ('r', 'v') and relnamespace = 'public'::regnamespace",
    )
}

fn databases(place: &Place) -> String {
    place.ask("select string_agg(datname, ' ' order by datname) from pg_database where datname !~ '^template'")
}

/// The names of the transactions, and how many were committed of each.
fn transactions(run: &Run) -> Vec<(String, f64)> {
    let txns = run.at("/transactions").as_array().unwrap();
    txns.iter().map(|t| (t["name"].as_str().unwrap().to_owned(), t["committed"].as_f64().unwrap())).collect()
}

#[test]
fn a_directory_that_is_gone_runs_again_on_its_data() {
    let Some(place) = place("a directory that is gone") else { return };
    place.run("run ./mine -s 2 -c 2 -t 20 -D rows=300 -q").ok();
    let first = place.home.the_run();
    std::fs::remove_dir_all(place.home.join("mine")).unwrap();
    place.run(&format!("run --again {} -q", first.text("/id"))).ok();
    let second = place.home.runs().pop().unwrap();
    assert_eq!((first.at("/plan"), first.text("/plan_hash")), (second.at("/plan"), second.text("/plan_hash")));
    assert_eq!((transactions(&first), second.record.get("load")), (transactions(&second), None));
    assert!(!second.checks_that_hold().is_empty());
}

#[test]
fn scripts_drive_what_is_there() {
    let Some(place) = place("scripts") else { return };
    place.execute("create table t as select g as id, 0 as n from generate_series(1, 30) g");
    let scripts = [
        ("up.sql", "\\set id random(1, 10 * :scale)\nupdate t set n = n + :step where id = :id;\nselect 1;"),
        ("look.sql", "select sum(n) from t;"),
        ("wrong.sql", "\\set id random(1, 1000)\nselect id from t\n where id = :id\n  and m = 1;"),
    ];
    write(&place.home, "s", &scripts);
    let ran = place.run("run s/up.sql -D step=5 -s 3 -c 2 -t 50 -v").ok();
    ran.prints(&["up.sql, scale 3", "simple", "update t set n = n + :step where id = :id;", "select 1;"]);
    assert_eq!(place.ask("select sum(n) / 5 || ' ' || (max(id) filter (where n > 0) > 20) from t"), "100 true");
    let run = place.home.the_run();
    assert_eq!((run.text("/plan/workload"), run.text("/plan/scripts/0/file")), ("up.sql", "s/up.sql"));
    assert_eq!((run.text("/plan/params/step"), run.text("/plan/params/scale")), ("5", "3"));
    assert_eq!(run.text("/plan/scripts/0/sha256").len(), 64);
    assert_eq!(run.at("/checks").as_array().unwrap().len(), 0);
    assert!(run.record.get("load").is_none());

    // The same seed makes the same choices, whatever the query mode.
    let sums: Vec<String> = ["simple", "extended", "prepared"]
        .iter()
        .map(|mode| {
            place.execute("update t set n = 0");
            place.run(&format!("run s/up.sql -D step=1 -c 2 -t 40 --random-seed 7 -M {mode}")).ok();
            place.ask("select string_agg(n::text, ' ' order by id) from t")
        })
        .collect();
    assert!(sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");

    // Weights, several files, names relative to the mix.
    place
        .run("run s/up.sql@3 s/look.sql@1 -D step=1 -c 2 -t 400 --random-seed 1")
        .ok()
        .prints(&["s/up.sql", "s/look.sql"]);
    let run = place.home.runs().pop().unwrap();
    let counts = transactions(&run);
    assert_eq!(counts[0].1 + counts[1].1, 800.0);
    assert!((0.70..0.80).contains(&(counts[0].1 / 800.0)), "{counts:?}");
    assert_eq!(run.text("/statements/3/transaction"), "s/look.sql");

    // An error names the line of the script, in whatever form the statement was sent.
    for mode in ["simple", "prepared"] {
        let ran = place.run(&format!("run s/wrong.sql -c 1 -t 1 -M {mode}"));
        ran.prints(&["error 42703 × 1: s/wrong.sql:4: ERROR: column \"m\" does not exist\n"]);
    }
    assert_eq!(place.home.runs().pop().unwrap().text("/errors/0/place"), "s/wrong.sql:4");
}

#[test]
fn a_script_that_cannot_be_is_reported_before_anything_is_touched() {
    let home = Home::new();
    let scripts = [
        ("bad.sql", "select 1;\n\\set x 1 + randm(1)\n"),
        ("good.sql", "select 1;"),
        ("open.sql", "\\if 1\nselect 1;"),
        ("typo.sql", "select 1;\nselect :adi;"),
    ];
    write(&home, "s", &scripts);
    write(&home, "mine", &FILES);
    write(&home, "mine", &[("look.sql", "\\sett x 1\n")]);
    write(&home, "theirs", &FILES);
    write(&home, "theirs", &[("look.sql", "select :rwos;\n")]);
    let nowhere = ["--target", "host=/nonexistent"];
    for command in ["run", "plan"] {
        for (args, words) in [
            (&["s/bad.sql"][..], &["s/bad.sql:2:12: ", "randm", " 2 | \\set x 1 + randm(1)", "^^^^^"][..]),
            (&["s/good.sql", "s/bad.sql@2"], &["s/bad.sql:2:12: "]),
            (&["s/open.sql"], &["s/open.sql", "\\if"]),
            (&["s/absent.sql"], &["failed to read s/absent.sql", "No such file"]),
            (&["s/good.sql@many"], &["'many' in s/good.sql@many is not a weight"]),
            (&["s/good.sql@0"], &["all scripts have weight 0"]),
            (&["s/good.sql", "select-only"], &["select-only is not a script file"]),
            (&["s/good.sql", "-D", "a-b=1"], &["'a-b' cannot be a variable"]),
            (&["s/good.sql", "-s", "0"], &["scale must be a whole number above 0"]),
            (&["s/good.sql", "-w", "1"], &["--warehouses is an option of tproc-c and ch-benchmark, not of good.sql"]),
            (&["./nowhere"], &["no file or directory ./nowhere"]),
            (&["s"], &["s has no workload.toml", "schema.sql"]),
            (&["mine"], &["look.sql:1:", "sett"]),
            (
                &["s/good.sql", "s/typo.sql", "-D", "aid=5", "-M", "prepared"],
                &[
                    "s/typo.sql:2:8: nothing sets the variable \"adi\"",
                    " 2 | select :adi;",
                    "^^^^",
                    "did you mean :aid?",
                ],
            ),
            (&["s/typo.sql"], &["s/typo.sql:2:8: ", "-D adi="]),
            (&["theirs"], &["look.sql:1:8: nothing sets the variable \"rwos\"", "did you mean :rows?"]),
            (&["s/good.sql", "--latency-percentiles=0"], &["'0' is no percentile"]),
        ] {
            let ran = home.run(&[&[command][..], args, &nowhere].concat()).ended(1);
            assert_eq!(ran.stdout, "");
            ran.says(words);
        }
    }
    assert!(home.runs().is_empty());
    home.run(&["plan", "s/good.sql", "-D", "x=1", "-c", "2"]).ok().prints(&[
        "of good.sql",
        "query mode simple",
        "x = 1",
    ]);
    home.run(&["load", "s/good.sql"]).ended(1).says(&["has no data"]);
    home.run(&["run", "noop", "--from-template"]).ended(1).says(&["noop measures pgdyno itself"]);
    home.run(&["run", "select-only", "--target", "null", "--from-template"]).ended(1).says(&["null server"]);
}

#[test]
fn a_directory_lives_the_whole_life_cycle() {
    let Some(place) = place("a directory") else { return };
    place.execute("create table theirs as select 1 as a");
    place.run("check mine").ended(1).says(&["holds no data of mine", "pgdyno load mine"]);
    place.run("run mine --no-load").ended(11).says(&["holds no data of mine", "--no-load"]);
    place.run("plan mine").ok().prints(&["mine with scale 1 on 1 connection", "rows = 1000", "count.sql weighs 3"]);
    assert_eq!(tables(&place), "theirs");

    let ran = place.run("run mine -c 2 -t 100 -s 5").ok();
    ran.prints(&["mine, scale 5", "count.sql", "ok 3 data checks passed"])
        .says(&["loading mine by mine/schema.sql and mine/load.sql", "loaded 1,000 rows"]);
    let run = place.home.runs().pop().unwrap();
    assert_eq!((run.text("/plan/workload"), run.number("/plan/scale")), ("mine", 5.0));
    assert_eq!(run.text("/load/tables/0/name"), "counter");
    assert_eq!(transactions(&run).iter().map(|t| t.1).sum::<f64>(), 200.0);
    assert_eq!(place.ask("select max(id) > 100 and max(id) <= 500 from journal"), "t");

    // What is loaded is used again, and what is not said is as it was loaded.
    place.run("load mine -D rows=600 --replace").ok().prints(&["holds  sums"]);
    place.run("run mine -c 2 -t 10").ok();
    let run = place.home.runs().pop().unwrap();
    assert!(run.record.get("load").is_none());
    assert_eq!((run.text("/plan/params/rows"), run.number("/plan/scale")), ("600", 1.0));
    place.run("check mine").ok().prints(&["holds  sums"]);
    place.run("load mine").ended(11).says(&["rows=600", "--replace"]);
    place.run("load mine -D rows=1000").ended(11).says(&["rows=600", "rows=1000", "--replace"]);
    place.run("run mine -D rows=700").ended(11).says(&["have changed since it was loaded", "rows=600", "--replace"]);
    place.run("run mine -D rows=many").ended(1).says(&["rows must be a whole number", "'many'"]);
    place.run("run mine -D row=1").ended(1).says(&["mine has no parameter 'row'; it has scale, rows"]);
    // Scripts may change, the data is the same still; files that made it may not.
    write(&place.home, "mine", &[("look.sql", "select 1;")]);
    place.run("run mine -c 1 -t 1 --no-load").ok();
    write(&place.home, "mine", &[("schema.sql", &format!("{} create table more (a int);", FILES[1].1))]);
    place.run("run mine -c 1 -t 1").ended(11).says(&["mine or its parameters have changed", "--replace"]);
    place.run("run mine -c 1 -t 1 --replace").ok();
    assert_eq!(tables(&place), "busiest counter journal more pgdyno_stamp theirs");

    // Rows that break a check are printed.
    place.execute(
        "update counter set n = n + 1 where id = 1; delete from journal where ctid = (select max(ctid) from journal)",
    );
    place.run("check mine").ended(12).prints(&["BROKEN sums", "counters="]);
    place.run("run mine -c 1 -t 1").ended(12).says(&["broken before the run", "sums"]);

    place.execute("create view mine as select * from counter");
    place.run("drop mine").ended(11).says(&["cannot drop", "view mine depends on table counter"]);
    place.execute("drop view mine");
    place.run("drop mine").ok().prints(&["dropped table counter, table journal, table more, view busiest, counted()"]);
    assert_eq!(tables(&place), "theirs");
    assert_eq!(place.ask("select count(*) from pg_proc where oid >= 16384"), "0");
    place.run("drop mine").ok().prints(&["nothing to drop"]);
}

#[test]
fn a_directory_that_cannot_be_loaded_leaves_nothing() {
    let Some(place) = place("a broken directory") else { return };
    let cases: [(&Files, i32, &[&str]); 6] = [
        (
            &[("workload.toml", "sumary = ''")],
            1,
            &["mine/workload.toml: TOML parse error at line 1, column 1", "sumary"],
        ),
        (&[("workload.toml", "summary = ''")], 1, &["mine/workload.toml: it names no script"]),
        (&[("load.sql", "insert into counter values ('x")], 1, &["mine/load.sql: line 1: a quote is never closed"]),
        (&[("load.sql", "\\copy counter from 'x'")], 1, &["mine/load.sql: line 1: \\copy is a command of psql"]),
        (
            &[("load.sql", "\n\ninsert into countr values (1);")],
            11,
            &["mine/load.sql:3: ERROR:  relation \"countr\"", "LINE 1: ", "^"],
        ),
        (
            &[("schema.sql", "create table theirs (a int);")],
            11,
            &["mine/schema.sql:1: ERROR:  relation \"theirs\" already exists"],
        ),
    ];
    place.execute("create table theirs as select 7 as a");
    for (changes, code, words) in cases {
        write(&place.home, "mine", &FILES);
        write(&place.home, "mine", changes);
        place.run("load mine").ended(code).says(words);
        place.run("run mine -t 1").ended(code).says(words);
        assert_eq!(tables(&place).replace(" pgdyno_stamp", "").replace("pgdyno_stamp ", ""), "theirs");
    }
    for file in ["schema.sql", "count.sql"] {
        write(&place.home, "mine", &FILES);
        std::fs::remove_file(place.home.join("mine").join(file)).unwrap();
        place.run("plan mine").ended(1).says(&[&format!("mine has no {file}")]);
    }
    write(&place.home, "mine", &FILES);
    place.run("run mine -c 1 -t 1").ok();
    assert_eq!(place.ask("select a from theirs"), "7");
}

#[test]
fn every_run_can_work_on_a_fresh_copy() {
    let Some(place) = place("fresh copies") else { return };
    let before = databases(&place);
    // The data is loaded where it lasts, once; what a run does to it lasts nowhere.
    for nth in 0..2 {
        let ran = place.run("run mine -c 2 -t 50 --from-template").ok();
        ran.prints(&["on a fresh copy of database postgres"])
            .says(&["copying database postgres", "dropping pgdyno_copy_"]);
        let run = place.home.runs().pop().unwrap();
        assert_eq!(run.record.get("load").is_some(), nth == 0);
        assert_eq!((run.text("/plan/from_template"), run.text("/copy/template")), ("postgres", "postgres"));
        assert!(run.number("/copy/seconds") > 0.0 && run.number("/copy/bytes") > 1e6);
        assert!(run.text("/copy/database").starts_with("pgdyno_copy_"));
        assert_eq!(run.checks_that_hold().last(), Some(&"after the run"));
        assert_eq!((place.ask("select sum(n) from counter"), databases(&place)), ("0".to_owned(), before.clone()));
    }
    // With scripts and built-in workloads; the template is another database than the target's.
    place.execute("create database other template postgres");
    place.run("run mine/count.sql -c 2 -t 10 --from-template other").ok();
    place.run("run tpcb-like -s 1 -c 2 -t 10 --from-template other").ok();
    assert_eq!(place.ask("select to_regclass('pgbench_accounts') is null"), "t", "it was loaded into the template");
    place.run("run tpcb-like -c 2 -t 10 --from-template other").ok();
    assert!(place.home.runs().pop().unwrap().record.get("load").is_none());
    place.execute("alter database other allow_connections false");
    place.run("run tpcb-like -s 1 -c 2 -t 10 --from-template other").ok();
    place
        .run("run mine/count.sql -t 1 --from-template absent")
        .ended(1)
        .says(&["no database absent", "--from-template takes"]);
    assert_eq!(databases(&place), "other postgres");
    // A run that fails drops its copy, too.
    write(&place.home, "s", &[("wrong.sql", "select * from nothing;")]);
    place.run("run s/wrong.sql -t 5 --from-template").ended(2);
    assert_eq!(databases(&place), "other postgres");
}

#[test]
fn an_interrupted_run_drops_its_copy_and_the_next_one_that_of_a_killed_run() {
    let Some(place) = place("interrupted copies") else { return };
    place.run("load mine").ok();
    let args = "run mine -c 2 -R 200 -T 1h --ramp 0 --from-template";
    let mut running = place.start(args);
    running.until_it_says("progress:", 1);
    running.signal(Signal::INT);
    running.end().ended(130).says(&["dropping pgdyno_copy_"]).prints(&["! interrupted"]);
    assert_eq!(databases(&place), "postgres");

    // In the midst of the copy.
    place.execute("create table large as select g, repeat('x', 100) from generate_series(1, 1500000) g");
    let mut running = place.start(args);
    running.until_it_says("copying database", 1);
    running.signal(Signal::INT);
    running.end().ended(130).says(&["interrupted"]);
    assert_eq!(databases(&place), "postgres");
    assert_eq!(place.home.runs().pop().unwrap().text("/status"), "interrupted");
    place.execute("drop table large");

    let mut running = place.start(args);
    running.until_it_says("progress:", 1);
    running.signal(Signal::KILL);
    drop(running);
    let left = databases(&place);
    assert!(left.starts_with("pgdyno_copy_"), "{left}");
    let sessions =
        "select count(*) from pg_stat_activity where application_name = 'pgdyno' and pid <> pg_backend_pid()";
    crate::program::eventually("its sessions end", crate::program::PATIENCE, || place.ask(sessions) == "0");
    place.execute("create database pgdyno_copy_mine");
    place.run("run mine -c 2 -t 10 --from-template").ok().says(&["dropped pgdyno_copy_", "a run left behind"]);
    assert_eq!(databases(&place), "pgdyno_copy_mine postgres");
}

const VALUES: &str = "\
summary = 'orders that are hot'
[params]
most = 100
[[script]]
file = 'order.sql'
[[values]]
name = 'orders'
sql = 'select id, customer, note from hot where id <= :most order by id'
[[values]]
name = 'tags'
sql = \"select 'a-' || 'secret-tag' as name\"
";

/// A directory whose script draws from lists of values.
const WITH_VALUES: [(&str, &str); 4] = [
    ("workload.toml", VALUES),
    (
        "schema.sql",
        "create table orders (id int primary key, customer text, uses int not null default 0);
         create table used (id int, customer text, note text, tag text);
         create view hot as select id, customer, case when id % 20 = 0 then 'even ''s' end as note
             from orders where id % 10 = 0;",
    ),
    ("load.sql", "insert into orders select g, 'customer ' || g from generate_series(1, 1000) g;"),
    (
        "order.sql",
        "\\values orders\n\\values tags t_\n\
         update orders set uses = uses + 1 where id = :id and customer = :customer;\n\
         insert into used values (:id, :customer, :note, :t_name);\n",
    ),
];

#[test]
fn scripts_draw_rows_from_lists_of_values() {
    let Some(place) = Place::new("lists of values", "", TRUST) else { return };
    write(&place.home, "hot", &WITH_VALUES);
    place.run("plan hot").ok().prints(&["most = 100"]);
    let drawn = || place.ask("select string_agg(id || ' ' || uses, ' ' order by id) from orders where uses > 0");
    let mut before = String::new();
    for mode in ["extended", "prepared"] {
        place
            .run(&format!("run hot -c 2 -t 100 -v --random-seed 3 --replace -M {mode}"))
            .ok()
            .says(&["values orders: 10 rows", "values tags: 1 row"]);
        // Only values of the list are used, each row as a whole, and a NULL is a NULL.
        let wrong = "select count(*) from used u left join hot h using (id) where h.id is null \
                     or h.customer is distinct from u.customer or h.note is distinct from u.note or tag <> 'a-secret-tag'";
        assert_eq!(place.ask(wrong), "0");
        let kinds = "select count(*) || ' ' || count(distinct id) || ' ' || count(distinct note) || ' ' || \
                     (count(*) > count(note)) from used";
        assert_eq!(place.ask(kinds), "200 10 1 true");
        assert_eq!(place.ask("select sum(uses) from orders"), "200");
        // The same seed draws the same rows.
        let drawn = drawn();
        assert!(before.is_empty() || before == drawn, "{before}\n{drawn}");
        before = drawn;
    }
    // No value is in what a run writes.
    for run in place.home.runs() {
        crate::program::assert_nowhere("a-secret-tag", &run.path);
        crate::program::assert_nowhere("customer 50", &run.path);
    }

    // Parameters are in the SQL of lists; a copy of the database has its own values.
    place.run("run hot -c 1 -t 50 -D most=20 --replace -M extended").ok();
    assert_eq!(place.ask("select string_agg(distinct id::text, ' ' order by id::text) from used"), "10 20");
    place.execute("truncate used");
    place.run("run hot -c 1 -t 20 -M prepared -v --from-template").ok().says(&["values orders: 10 rows"]);
    assert_eq!(place.ask("select count(*) from used"), "0");
}

#[test]
fn a_wrong_list_of_values_is_reported_before_clients_begin() {
    let Some(place) = Place::new("wrong lists of values", "", TRUST) else { return };
    let run = |changes: &Files, more: &[&str]| {
        write(&place.home, "hot", &WITH_VALUES);
        write(&place.home, "hot", changes);
        place.home.run(&[&["run", "hot", "-c", "2", "-t", "1"], more].concat()).ended(1)
    };
    let target = place.target();
    let list = |sql: &str| VALUES.replace("select id, customer, note from hot where id <= :most order by id", sql);
    // Before anything is connected.
    let nowhere = ["--target", "host=/nonexistent"];
    let two = VALUES.replace("'tags'", "'orders'");
    let [several, insert] = ["select 1; select 2", "insert into orders values (1) returning id"].map(list);
    let cases: [(&Files, &[&str]); 6] = [
        (&[("workload.toml", &two)], &["hot/workload.toml: two lists of values are called 'orders'"]),
        (&[("workload.toml", &several)], &["hot/workload.toml, values orders: a list is one query, but there are 2"]),
        (&[("workload.toml", &insert)], &["values orders: a list is one query, which begins with", "'insert'"]),
        (
            &[("order.sql", "\\values ordres\nselect 1;")],
            &["order.sql:1:9: unknown list (ordres)", "did you mean orders?"],
        ),
        (&[("order.sql", "select 1;\n\\values")], &["order.sql:2:8: missing argument", "\\values orders o_"]),
        (&[("order.sql", "\\values orders o_\nselect :id;")], &["order.sql:2:8: nothing sets the variable \"id\""]),
    ];
    for (changes, words) in cases {
        run(changes, &nowhere).says(words);
    }
    run(&[], &["--target", "host=x", "--agents", "2", "--meet", "host=x"])
        .says(&["the lists of values of hot are read on this machine: it needs one driver", "leave out --agents"]);
    assert!(place.home.runs().is_empty());
    run(&[], &["--target", "null"]).says(&["hot/workload.toml, values orders", "a null server has no values"]);

    // What the server knows.
    for (sql, words) in [
        ("select id from absent", &["hot/workload.toml, values orders: its query failed: ERROR:", "\"absent\""][..]),
        ("select id from hot where false", &["values orders: its query returns no rows", "load the rows"]),
        ("select from hot", &["values orders: its query returns no columns"]),
        ("select id, customer, id as id from hot", &["two columns with the name \"id\"", "AS name"]),
        (
            "select id, customer, count(*) as \"n-1\" from hot group by 1, 2",
            &["order.sql:1:1: the column \"n-1\"", "AS name"],
        ),
        ("select id, customer from hot", &["order.sql:4:42: nothing sets the variable \"note\""]),
        ("select g as id from generate_series(1, 1000001) g", &["returns more than 1,000,000 rows", "LIMIT"]),
    ] {
        run(&[("workload.toml", &list(sql))], &["--target", &target]).says(words);
    }
    assert_eq!(place.ask("select count(*) from used"), "0");

    // pgbench has no such command, and neither have script files.
    let refused = place.run("run hot/order.sql").ended(1);
    refused.says(&["hot/order.sql:1:2: invalid command in command \"values\""]);
    let drop_in = place.home.run(&["pgbench", "-n", "-f", "hot/order.sql", "-h", "/nonexistent"]).ended(1);
    drop_in.says(&["hot/order.sql:1: invalid command in command \"values\""]);
}

#[test]
fn transactions_are_logged_as_pgbench_logs_them() {
    let home = Home::new();
    let log = |args: &[&str]| {
        home.run(&[&["run", "noop", "-q", "--log"], args].concat()).ok();
        let run = home.runs().pop().unwrap();
        let files: Vec<_> = std::fs::read_dir(&run.path).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(
            files.iter().filter(|name| name.to_string_lossy().starts_with("transactions")).count(),
            1,
            "{files:?}"
        );
        let text = std::fs::read_to_string(run.path.join("transactions.log")).unwrap();
        let number = |word: &str| word.parse::<i64>().unwrap();
        text.lines().map(|line| line.split(' ').map(number).collect()).collect::<Vec<Vec<_>>>()
    };
    let lines = log(&["-c", "3", "-j", "3", "-t", "200"]);
    assert_eq!(lines.len(), 600);
    // As with pgbench's --max-tries there is a column of retries: built-in workloads have a thousand.
    assert!(lines.iter().all(|line| line.len() == 7 && line[3] == 0 && line[6] == 0));
    assert!(lines.is_sorted_by_key(|line| (line[4], line[5])), "by their ends");
    for client in 0..3 {
        let numbers: Vec<_> = lines.iter().filter(|line| line[0] == client).map(|line| line[1]).collect();
        assert_eq!(numbers, (1..=200).collect::<Vec<_>>());
    }
    let lines = log(&["-c", "2", "-t", "20", "-R", "1000", "--max-tries", "3"]);
    assert!(lines.len() == 40 && lines.iter().all(|line| line.len() == 8), "a lag and retries");
}

#[test]
fn percentiles_that_are_asked_for_are_in_every_report() {
    let home = Home::new();
    let ran = home.run(&["run", "noop", "-t", "1000", "-q", "-v", "--latency-percentiles=99.99,75,50"]).ok();
    ran.prints(&["p50 ms  p75 ms  p90 ms  p95 ms  p99 ms  p99.9 ms  p99.99 ms  max ms"]);
    let run = home.the_run();
    for place in ["/summary/response_latency_ns", "/transactions/0/service_latency_ns"] {
        let found = run.at(place)["percentiles"].as_array().unwrap();
        let percents: Vec<_> = found.iter().map(|p| p["percent"].as_f64().unwrap()).collect();
        assert_eq!(percents, [50.0, 75.0, 99.99]);
        assert_eq!(found[0]["latency_ns"], run.at(place)["p50"]);
        assert!(found[2]["latency_ns"].as_u64() <= run.at(place)["max"].as_u64());
    }
    home.run(&["report", "last", "--format", "markdown"]).ok().prints(&["| p75 ms |", "| p99.99 ms |"]);
    let csv = home.run(&["report", "last", "--format", "csv"]).ok().stdout;
    let lines: Vec<Vec<_>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{csv}");
    assert!(lines[0].ends_with(&[
        "response_latency_ns_p75",
        "response_latency_ns_p99_99",
        "service_latency_ns_p75",
        "service_latency_ns_p99_99"
    ]));
    home.run(&["run", "noop", "-t", "10", "-q", "--latency-percentiles"]).ok();
    let run = home.runs().pop().unwrap();
    assert_eq!(run.at("/plan/percentiles").to_string(), "[50.0,95.0,99.0]");
}
