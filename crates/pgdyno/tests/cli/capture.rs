//! A workload of another program, captured from the server's counters, fitted on a copy, and run there.

use std::path::Path;
use std::time::Duration;

use pgdyno_net::Admin;
use rustix::process::Signal;
use serde_json::Value;

use crate::given_server::{Place, TRUST};
use crate::postgres;
use crate::program::{Ran, Running, eventually, finish, json};

const CONF: &str = "fsync = off\nshared_preload_libraries = 'pg_stat_statements'\nautovacuum = off\n";

/// A shop whose orders are nearly all done, while its application asks for those that are open.
const SHOP: [&str; 13] = [
    "create table customers (id bigint primary key, name text not null, email text unique, profile jsonb)",
    "insert into customers select i, 'name ' || md5(i::text), 'user' || i || '@secret.example', '{\"level\": 1}' \
     from generate_series(1, 20000) i",
    "create table products (id int primary key, title text not null, stock int not null)",
    "insert into products select i, 'product ' || md5(i::text), 1000 from generate_series(1, 3000) i",
    "create table orders (id bigint primary key, customer_id bigint not null references customers, status text not null, \
     placed timestamptz not null, total numeric)",
    "insert into orders select i, 1 + i * 7919 % 20000, case when i > 59400 then 'open' when i % 50 = 1 then 'paid' \
     else 'done' end, '2025-01-01'::timestamptz + i * interval '1 min', i % 500 from generate_series(1, 60000::bigint) i",
    "create index on orders (customer_id)",
    "create index on orders (placed)",
    "create index on orders (status)",
    "create table queue (id bigserial primary key, payload text)",
    "insert into queue (payload) select 'paid' from generate_series(1, 5)",
    "create function note() returns trigger language plpgsql as \
     $$ begin insert into queue (payload) values (new.status); return new; end $$",
    "create trigger noted after update of status on orders for each row execute function note()",
];

/// Its application: statements of all kinds, whose values have other distributions than the tables.
const APPLICATION: &str = "
[data]
existing = true

[[values]]
name = \"hot\"
sql = \"select id as customer, email from customers where id % 97 = 0\"

[[values]]
name = \"times\"
sql = \"select placed as since, placed + interval '10 hours' as until from orders where id % 61 = 0\"

[[values]]
name = \"titles\"
sql = \"select left(title, 10) || '%' as title from products where id % 13 = 0\"

[[values]]
name = \"lists\"
sql = \"select array[id, id + 1, id + 2]::text as products, id as product from products where id % 7 = 0\"

[[script]]
file = \"reads.sql\"
weight = 5

[[script]]
file = \"writes.sql\"

[[group]]
name = \"application\"
scripts = [\"reads.sql\", \"writes.sql\"]
mode = \"extended\"
";
const READS: &str = "\\values hot
\\values times
\\values titles
\\values lists
\\set few 5
SELECT * FROM customers WHERE id = :customer;
SELECT id FROM customers WHERE email = :email;
SELECT id, total FROM orders WHERE customer_id = :customer ORDER BY placed DESC LIMIT :few;
SELECT count(*), sum(total) FROM orders WHERE status = 'open';
SELECT count(*) FROM orders WHERE placed >= :since AND placed < :until;
SELECT id FROM products WHERE title LIKE :title;
SELECT id, stock FROM products WHERE id = ANY (:products);
SELECT profile FROM customers WHERE profile @> '{\"level\": 1}' AND id < :customer LIMIT 1;
SELECT c.id, o.id FROM customers c JOIN orders o ON o.customer_id = c.id WHERE c.id = :customer AND o.status = 'done';
";
const WRITES: &str = "\\values hot
\\values lists
\\set order random(1, 60000)
\\set new 1000000 * (:client_id + 1) + random(1, 1000000000)
BEGIN;
INSERT INTO orders (id, customer_id, status, placed, total) VALUES (:new, :customer, 'open', now(), 5);
UPDATE products SET stock = stock - 1 WHERE id = :product;
SELECT id FROM queue ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
COMMIT;
UPDATE orders SET status = 'paid' WHERE id = :order;
";

/// A session in the place's database.
fn session(place: &Place) -> Admin {
    Admin::connect(&place.server.resolve(&place.target())).unwrap()
}

pub(crate) fn execute(place: &Place, sql: &str) {
    session(place).execute(sql).unwrap();
}

/// A server with the shop, its application's directory, and a role that may read statistics and no table.
pub(crate) fn shop(test: &str) -> Option<Place> {
    let place = Place::new(test, CONF, TRUST)?;
    place.execute("create database shop");
    let place = place.into_database("shop");
    SHOP.iter().for_each(|sql| execute(&place, sql));
    execute(&place, "vacuum analyze");
    execute(&place, "create extension pg_stat_statements");
    execute(&place, "create role watcher login; grant pg_read_all_stats to watcher");
    let application = place.home.join("app");
    std::fs::create_dir(&application).unwrap();
    for (file, text) in [("workload.toml", APPLICATION), ("reads.sql", READS), ("writes.sql", WRITES)] {
        std::fs::write(application.join(file), text).unwrap();
    }
    Some(place)
}

/// Starts a capture by the role that may read no table. Its window has begun.
pub(crate) fn capturing(place: &Place, more: &str) -> Running {
    let target = place.target().replace("user=postgres", "user=watcher");
    let mut capture = place.home.start(&place.args(&target, &format!("capture -o shop.capture {more}")));
    capture.until_it_says("watching", 1);
    capture
}

/// Captures what the application does meanwhile, and fits it to a copy.
pub(crate) fn captured_and_fitted(place: &Place, copied: &str, application: impl FnOnce()) {
    let capture = capturing(place, "--window 1h");
    application();
    capture.signal(Signal::INT);
    capture.end().ok();
    place.home.run(&["fit", "shop.capture", "-o", "fitted", "--target", copied]).ok();
}

/// A database `shop` with what `sql` makes, whose statements are counted.
fn counted(test: &str, sql: &str) -> Option<Place> {
    let place = Place::new(test, CONF, TRUST)?;
    place.execute("create database shop");
    let place = place.into_database("shop");
    execute(&place, sql);
    execute(&place, "vacuum analyze");
    execute(
        &place,
        "create extension pg_stat_statements; create role watcher login; grant pg_read_all_stats to watcher",
    );
    Some(place)
}

/// A copy of the place's database.
pub(crate) fn copy(place: &Place, name: &str) -> String {
    place.execute(&format!("create database {name} template shop"));
    place.target().replace("dbname=shop", &format!("dbname={name}"))
}

/// Tables of the applications.
pub(crate) const SHOP_TABLES: [&str; 4] = ["customers", "products", "orders", "queue"];
const PGBENCH_TABLES: [&str; 1] = ["pgbench_"];
const TPROC_C_TABLES: [&str; 9] =
    ["warehouse", "district", "customer", "history", "new_order", "orders", "order_line", "item", "stock"];

/// The share of the application's time that is representative, of a fit or of a run. Those of other statements depend on the machine.
#[track_caller]
pub(crate) fn assert_representative(fidelity: &Value, tables: &[&str]) {
    let all = fidelity["statements"].as_array().unwrap();
    let is_of_application = |one: &&Value| tables.iter().any(|table| one["text"].as_str().unwrap().contains(table));
    let time = |one: &Value| one["time_share"].as_f64().or(one["time_percent"].as_f64()).unwrap();
    let (mut near, mut all_time) = (0.0, 0.0);
    for one in all.iter().filter(is_of_application) {
        all_time += time(one);
        near += if one["is_representative"] == true { time(one) } else { 0.0 };
    }
    assert!(near >= 0.95 * all_time && all_time > 0.0, "{near} of {all_time}: {fidelity:#}");
}

/// Runs the fitted directory on its copy, and asserts that the run shows the captured load.
#[track_caller]
pub(crate) fn assert_run_is_representative(copied: &Place, args: &str, tables: &[&str]) {
    copied.run(&format!("run ./fitted --ramp 0 -R none {args}")).ok();
    let record = json(&copied.home.runs().last().unwrap().path.join("run.json"));
    assert_representative(&record["fidelity"], tables);
}

fn statement<'a>(fidelity: &'a Value, text: &str) -> &'a Value {
    let all = fidelity["statements"].as_array().unwrap();
    all.iter()
        .find(|one| one["text"].as_str().unwrap().contains(text))
        .unwrap_or_else(|| panic!("{text}: {fidelity:#}"))
}

#[test]
fn a_captured_load_is_fitted_on_a_copy_and_runs_there() {
    let Some(place) = shop("capture") else { return };
    let target = copy(&place, "lab");
    let capture = capturing(&place, "--window 1h");
    // A connection that is lost is opened again: the window may have taken hours.
    execute(&place, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pgdyno capture'");
    place.run("run ./app -c 2 -t 800 --ramp 0 --no-samples").ok();
    // Ctrl-C ends the window, and what was captured is kept.
    capture.signal(Signal::INT);
    capture.end().ok().prints(&["USABLE", "shop.capture"]);

    let shown = place.home.run(&["capture", "show", "shop.capture", "--format", "json"]).ok().stdout;
    let captured: Value = serde_json::from_str(&shown).unwrap();
    let texts: Vec<_> =
        captured["statements"].as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap()).collect();
    assert!(texts.iter().any(|text| text.contains("WHERE status = $1")) && texts.contains(&"COMMIT"), "{texts:?}");
    assert!(texts.iter().all(|text| !text.contains("pgdyno capture")), "{texts:?}");
    assert!(!shown.contains("secret.example") && !shown.contains("watcher"), "values and roles stay on the server");
    assert_eq!(captured["relations"].as_array().unwrap().len(), 4 + usize::from(shown.contains("pgdyno_stamp")));

    // Ctrl-C leaves no values: the next fit begins as this one did.
    let fit = place.home.start(&["fit", "shop.capture", "-o", "fitted", "--target", &target]);
    let mut in_copy = Admin::connect(&place.server.resolve(&target)).unwrap();
    let schemas = "select count(*) from pg_namespace where nspname = 'pgdyno_values'";
    eventually("the fit", Duration::from_secs(30), || in_copy.query_one(schemas).unwrap() == "1");
    fit.signal(Signal::INT);
    fit.end().says(&["interrupted"]);
    assert_eq!(in_copy.query_one(schemas).unwrap(), "0");
    place.home.run(&["fit", "shop.capture", "-o", "fitted", "--target", &target]).ok().prints(&["representative"]);
    let directory = place.home.join("fitted");
    let fidelity = json(&directory.join("fidelity.json"));
    assert_representative(&fidelity, &SHOP_TABLES);
    assert!(fidelity["representative_calls_share"].as_f64().unwrap() >= 0.95, "{fidelity:#}");
    // Nothing shows how unevenly these keys are used.
    for (text, key, why) in [
        ("FROM orders WHERE customer_id", "public.orders(customer_id)", "the key is not that of a unique index"),
        ("FROM customers c JOIN orders", "public.customers(id)", "several tables or partitions are read"),
        ("WHERE email", "public.customers(email)", "blocks"),
    ] {
        let one = statement(&fidelity, text);
        let has = |name: &str, part: &str| one["keys"][name].as_str().is_some_and(|text| text.contains(part));
        // Values that were chosen otherwise have another skew.
        let is_any = one["values"].as_str().unwrap().starts_with("sampled rows");
        assert!(!is_any || has("undetermined", why) && has("key", key), "{one:#}");
    }
    // Of a hundred orders one is open, and these are the last: values by their frequency would read all the others.
    let open = statement(&fidelity, "WHERE status = $1");
    assert!(open["values"].as_str().unwrap().contains("one common value of status"), "{open:#}");
    assert_no_values(&directory);

    let copied = Place { database: "lab", ..place };
    execute(&copied, "select pg_stat_statements_reset()");
    copied.run("run ./fitted -c 2 -T 2 --ramp 0 --no-samples").ok();
    let blocks = blocks_per_call(&copied, "sum(total) FROM orders WHERE status");
    let captured = open["captured_blocks_per_call"].as_f64().unwrap();
    assert!((0.5..2.0).contains(&(blocks / captured)), "{blocks} of {captured}");
    let record = std::fs::read_to_string(copied.home.runs().last().unwrap().path.join("run.json")).unwrap();
    assert!(!record.contains("secret.example"), "values are in no record");
}

/// Blocks that a call of the statement accessed in the place's database since the counters were reset.
fn blocks_per_call(place: &Place, text: &str) -> f64 {
    let sql = format!(
        "select sum(shared_blks_hit + shared_blks_read) / sum(calls) from pg_stat_statements where query like '%{text}%' \
         and dbid = (select oid from pg_database where datname = current_database()) and query not like '%pg_stat_statements%'"
    );
    session(place).query_one(&sql).unwrap().parse().unwrap()
}

/// Values of parameters are in no file of the directory.
fn assert_no_values(directory: &Path) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("secret.example"), "{}", path.display());
    }
}

#[test]
fn what_cannot_be_captured_or_fitted_is_refused_with_the_remedy() {
    let Some(place) = shop("refusals") else { return };
    let target = place.target();
    let stranger = target.replace("user=postgres", "user=stranger");
    execute(&place, "create role stranger login; select count(*) from orders");
    let hidden = place.home.run(&["capture", "--window", "1min", "-o", "no.capture", "--target", &stranger]);
    hidden.ended(1).says(&["may not read the statements of other roles", "GRANT pg_read_all_stats TO \"stranger\""]);
    assert!(!place.home.join("no.capture").exists());

    place.home.run(&["capture"]).ended(1).says(&["none is named", "--target"]);
    place.home.run(&["capture", "--window", "0s", "--target", &target]).ended(1).says(&["from 1s to 30d"]);
    place.run("capture --window 1s -o shop.capture").ok();
    place
        .run("fit shop.capture -o fitted")
        .ended(1)
        .says(&["the server and the database that were captured", "name a copy"]);
    let elsewhere = target.replace("dbname=shop", "dbname=postgres");
    execute(&place, "select count(*) from products");
    let mut window = place.start("capture --window 3s -o load.capture");
    window.until_it_says("watching", 1);
    execute(&place, "select count(*) from products where id = 5");
    window.end().ok();
    // What failed leaves no values of a fit behind.
    for _ in 0..2 {
        place
            .home
            .run(&["fit", "load.capture", "-o", "fitted", "--target", &elsewhere])
            .ended(1)
            .says(&["no statement of the capture can be executed here", "search_path"]);
    }
    place.home.run(&["fit", "load.capture", "-o", "app", "--target", &elsewhere]).ended(1).says(&["app has files"]);

    let bytes = std::fs::read(place.home.join("load.capture")).unwrap();
    std::fs::write(place.home.join("cut.capture"), &bytes[..bytes.len() / 2]).unwrap();
    place.home.run(&["capture", "show", "cut.capture"]).ended(1).says(&["no capture, or a damaged one"]);
    place.home.run(&["capture", "show", "none.capture"]).ended(1).says(&["No such file"]);

    place.execute("alter system set pg_stat_statements.track = none");
    place.execute("select pg_reload_conf()");
    eventually("the reload", Duration::from_secs(30), || place.ask("show pg_stat_statements.track") == "none");
    place.run("capture --window 1s").ended(1).says(&["pg_stat_statements.track is none", "track = top"]);
    execute(&place, "drop extension pg_stat_statements");
    place
        .run("capture --window 1s")
        .ended(1)
        .says(&["does not have the extension", "CREATE EXTENSION pg_stat_statements"]);
}

/// A captured server with the tables of TPROC-C, and a copy of them.
fn with_warehouse(test: &str) -> Option<(Place, String)> {
    let place = Place::with_warehouse(test, CONF, TRUST)?;
    // The database that is copied must have no sessions.
    let mut admin = Admin::connect(&place.server.options().with_database("template1")).unwrap();
    admin.execute("create database shop template postgres").unwrap();
    let place = place.into_database("shop");
    execute(&place, "create extension pg_stat_statements");
    execute(&place, "create role watcher login; grant pg_read_all_stats to watcher");
    let lab = copy(&place, "lab");
    Some((place, lab))
}

#[test]
fn statements_whose_types_only_the_client_knows_are_fitted() {
    let Some((place, lab)) = with_warehouse("types") else { return };
    let load = place.start("run tproc-c -D call=client -c 2 -R 300 -T 6 --ramp 0 --no-samples --no-check");
    eventually("the load", Duration::from_secs(30), || {
        session(&place).query_one("select count(*) from history").unwrap().parse::<u64>().unwrap() > 30_100
    });
    capturing(&place, "--window 2s").end().ok();
    load.end().ok();
    place.home.run(&["fit", "shop.capture", "-o", "fitted", "--target", &lab]).ok();
    let fidelity = json(&place.home.join("fitted/fidelity.json"));
    assert_representative(&fidelity, &TPROC_C_TABLES);
    // Seven kinds of rows are inserted, updated and deleted, and parallel arrays have the elements of one row.
    let all = fidelity["statements"].as_array().unwrap();
    let left_out: Vec<_> = all.iter().filter(|one| one["left_out"].is_string()).collect();
    assert!(all.len() >= 15 && left_out.is_empty(), "{left_out:#?}");
    let lines = statement(&fidelity, "INSERT INTO order_line");
    assert!(lines["values"].as_str().unwrap().contains("arrays of"), "{lines:#}");
    let copied = Place { database: "lab", ..place };
    execute(&copied, "create extension if not exists pg_stat_statements");
    // Orders and their lines are not inserted together without a log: after some thousand transactions the last orders have few lines.
    assert_run_is_representative(&copied, "-c 2 -t 400", &TPROC_C_TABLES);
    let lines = "select count(*) from order_line where ol_o_id > 3000";
    assert!(
        session(&copied).query_one(lines).unwrap().parse::<u64>().unwrap() > 100,
        "a run inserts lines of new orders"
    );
}

#[test]
fn an_index_that_is_dropped_costs_a_fitted_statement_what_it_costs_the_application() {
    let Some(place) = shop("what if") else { return };
    let lab = copy(&place, "lab");
    captured_and_fitted(&place, &lab, || drop(place.run("run ./app -c 2 -t 300 --ramp 0 --no-samples").ok()));
    let text = "FROM orders WHERE customer_id";
    let application = |place: &Place| {
        place.run("run ./app -c 2 -t 200 --ramp 0 --no-samples").ok();
        blocks_per_call(place, text)
    };
    let fitted = |place: &Place| {
        place.run("run ./fitted -c 2 -T 1 --ramp 0 --no-samples").ok();
        blocks_per_call(place, text)
    };
    let drop = "drop index orders_customer_id_idx; select pg_stat_statements_reset()";
    let with_index = blocks_per_call(&place, text);
    execute(&place, drop);
    let without_index = application(&place);
    let copied = Place { database: "lab", ..place };
    execute(&copied, "select pg_stat_statements_reset()");
    let fitted_with_index = fitted(&copied);
    execute(&copied, drop);
    let fitted_without_index = fitted(&copied);
    let is_near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.2;
    let figures = (with_index, without_index, fitted_with_index, fitted_without_index);
    assert!(without_index > 50.0 * with_index, "{figures:?}");
    assert!(is_near(fitted_with_index, with_index) && is_near(fitted_without_index, without_index), "{figures:?}");
}

/// Partitions by time, and tables whose rows are inserted or updated.
const EVENTS: [&str; 8] = [
    "create table events (tenant int, at timestamptz, n int) partition by range (at)",
    "create table events_1 partition of events for values from ('2025-01-01') to ('2025-02-01')",
    "create table events_2 partition of events for values from ('2025-02-01') to ('2025-03-01')",
    "create table events_3 partition of events for values from ('2025-03-01') to ('2025-04-01')",
    "insert into events select i % 50, '2025-01-01'::timestamptz + i * interval '1 min', i from generate_series(1, 120000) i",
    "create index on events (tenant, at)",
    "create table counts (id int primary key, n int); insert into counts select i, 0 from generate_series(1, 10000) i",
    "create table once (id bigint primary key, at timestamptz); insert into once select i, now() from generate_series(1, 10000) i",
];

/// Their application: of four keys one is new.
const EVENTS_APPLICATION: [(&str, &str); 2] = [
    (
        "workload.toml",
        "[data]\nexisting = true\n[[values]]\nname = \"times\"\n\
         sql = \"select at as since, at + interval '1 day' as until from events where tenant = 7\"\n\
         [[script]]\nfile = \"a.sql\"\n[[group]]\nname = \"a\"\nscripts = [\"a.sql\"]\nmode = \"extended\"\n",
    ),
    (
        "a.sql",
        "\\values times\n\\set tenant random(0, 49)\n\\set id random(1, 10000)\n\\set dice random(1, 4)\n\
         \\if :dice = 1\n\\set id random(1000000, 2000000000)\n\\endif\n\
         SELECT count(*), sum(n) FROM events WHERE tenant = :tenant AND at >= :since AND at < :until;\n\
         SELECT at FROM events WHERE tenant = :tenant AND at >= :since AND at < :until;\n\
         INSERT INTO counts (id, n) VALUES (:id, 1) ON CONFLICT (id) DO UPDATE SET n = counts.n + 1;\n\
         INSERT INTO once (id, at) VALUES (:id, now()) ON CONFLICT DO NOTHING;\n",
    ),
];

#[test]
fn ranges_of_partitions_and_the_share_of_new_keys_are_fitted() {
    let Some(place) = Place::new("events", CONF, TRUST) else { return };
    place.execute("create database shop");
    let place = place.into_database("shop");
    EVENTS.iter().for_each(|sql| execute(&place, sql));
    execute(&place, "vacuum analyze");
    execute(&place, "create extension pg_stat_statements");
    execute(&place, "create role watcher login; grant pg_read_all_stats to watcher");
    std::fs::create_dir(place.home.join("app")).unwrap();
    for (file, text) in EVENTS_APPLICATION {
        std::fs::write(place.home.join("app").join(file), text).unwrap();
    }
    let lab = copy(&place, "lab");
    captured_and_fitted(&place, &lab, || drop(place.run("run ./app -c 2 -t 500 --ramp 0 --no-samples").ok()));
    let fidelity = json(&place.home.join("fitted/fidelity.json"));
    for text in ["count(*), sum(n) FROM events", "SELECT at FROM events", "INTO counts", "INTO once"] {
        assert_eq!(statement(&fidelity, text)["is_representative"], true, "{fidelity:#}");
    }
    // Values are of all partitions.
    let copied = Place { database: "lab", ..place };
    let partitions =
        "select count(distinct extract(month from p2::timestamptz)) from pgdyno_values.s1 where p2 like '2025%'";
    let list = partitions.replace("s1", &values_of(&fidelity, "SELECT at FROM events"));
    assert_eq!(session(&copied).query_one(&list).unwrap(), "3");
    execute(&copied, "select pg_stat_statements_reset()");
    copied.run("run ./fitted -c 2 -T 2 --ramp 0 --no-samples").ok();
    let figure = |sql: &str| session(&copied).query_one(sql).unwrap().parse::<f64>().unwrap();
    for table in ["counts", "once"] {
        let calls =
            figure(&format!("select sum(calls) from pg_stat_statements where query like 'INSERT INTO {table}%'"));
        let new = (figure(&format!("select count(*) from {table}")) - 10_000.0) / calls;
        assert!((0.15..0.35).contains(&new), "{table}: {new}");
    }
}

/// The table of a statement's values.
fn values_of(fidelity: &Value, text: &str) -> String {
    let script = statement(fidelity, text)["script"].as_str().unwrap();
    format!("s{}", script[..2].trim_start_matches('0'))
}

#[test]
fn the_load_of_pgbench_is_representative() {
    let Some(place) = Place::new("pgbench_captured", CONF, TRUST) else { return };
    let Some(pgbench) = postgres::installed(&["pgbench"]).map(|bin| bin.join("pgbench")) else {
        return pgdyno_testing::skipped::skipped("no pgbench");
    };
    place.execute("create database shop");
    let place = place.into_database("shop");
    execute(
        &place,
        "create extension pg_stat_statements; create role watcher login; grant pg_read_all_stats to watcher",
    );
    let target = place.target();
    let pgbench = |args: &[&str]| {
        let ended = std::process::Command::new(&pgbench).args(args).arg(&target).output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    };
    pgbench(&["-i", "-q", "-s", "2"]);
    let lab = copy(&place, "lab");
    captured_and_fitted(&place, &lab, || pgbench(&["-n", "-c", "2", "-t", "400", "-M", "prepared"]));
    let fidelity = json(&place.home.join("fitted/fidelity.json"));
    assert_representative(&fidelity, &PGBENCH_TABLES);
    assert!(fidelity["representative_calls_share"].as_f64().unwrap() >= 0.95, "{fidelity:#}");
    assert_run_is_representative(&Place { database: "lab", ..place }, "-c 2 -t 400", &PGBENCH_TABLES);
}

/// A tree of 2,000 nodes, of which the first have most of the others below them, and its application.
const TREE: &str = "create table tree (id int primary key, parent int, name text); \
    insert into tree select i, nullif(i / 5, 0), 'node ' || i from generate_series(1, 2000) i; create index on tree (parent)";
const TREE_APPLICATION: [(&str, &str); 2] = [
    (
        "workload.toml",
        "[data]\nexisting = true\n[[script]]\nfile = \"a.sql\"\n[[group]]\nname = \"a\"\nscripts = [\"a.sql\"]\nmode = \"extended\"\n",
    ),
    (
        "a.sql",
        "\\set id random(5, 30)\n\\set first random(1, 100)\n\\set last :first + 30\n\
         WITH RECURSIVE below AS (SELECT id FROM tree WHERE id = :id UNION ALL \
           SELECT t.id FROM tree t JOIN below ON t.parent = below.id) SELECT id FROM below;\n\
         WITH RECURSIVE two AS (SELECT id, 1 AS depth FROM tree WHERE parent = :id UNION ALL \
           SELECT t.id, depth + 1 FROM tree t JOIN two ON t.parent = two.id WHERE depth < 2) SELECT id FROM two;\n\
         WITH RECURSIVE counted(n) AS (SELECT :first::int UNION ALL SELECT n + 1 FROM counted WHERE n < :last) \
           SELECT n FROM counted, (SELECT count(*) FROM tree) t;\n",
    ),
];

#[test]
fn recursive_statements_are_fitted() {
    let Some(place) = counted("recursion", TREE) else { return };
    std::fs::create_dir(place.home.join("app")).unwrap();
    for (file, text) in TREE_APPLICATION {
        std::fs::write(place.home.join("app").join(file), text).unwrap();
    }
    let lab = copy(&place, "lab");
    captured_and_fitted(&place, &lab, || drop(place.run("run ./app -c 2 -t 200 --ramp 0 --no-samples").ok()));
    let fidelity = json(&place.home.join("fitted/fidelity.json"));
    for text in ["below AS", "two AS", "counted(n)"] {
        assert_eq!(statement(&fidelity, text)["is_representative"], true, "{fidelity:#}");
    }
    assert_run_is_representative(&Place { database: "lab", ..place }, "-c 2 -t 3000", &["tree"]);
}

/// One of sixteen parents has 300 children, one of fifty has 70, and the others have one.
const FAMILIES: &str = "create table parents (id int primary key, name text); create table children (id serial, parent int, note text); \
    insert into parents select i, 'parent ' || i from generate_series(1, 1000) i; \
    insert into children (parent, note) select id, 'child' from parents, \
    generate_series(1, case when id % 16 = 0 then 300 when id % 50 = 1 then 70 else 1 end); create index on children (parent)";

#[test]
fn values_that_a_few_executions_find_by_chance_are_not_taken() {
    let Some(place) = counted("families", FAMILIES) else { return };
    let columns = ["c.id", "c.parent", "c.note", "p.id", "p.name", "c.ctid"];
    let query =
        |column| format!("SELECT {column} FROM parents p JOIN children c ON c.parent = p.id WHERE p.id = :id;\n");
    let script = format!("\\set id 1 + 50 * random(0, 19)\n{}", columns.map(query).concat());
    std::fs::create_dir(place.home.join("app")).unwrap();
    std::fs::write(place.home.join("app/a.sql"), script).unwrap();
    std::fs::write(place.home.join("app/workload.toml"), TREE_APPLICATION[0].1).unwrap();
    let lab = copy(&place, "lab");
    captured_and_fitted(&place, &lab, || drop(place.run("run ./app -c 2 -t 100 --ramp 0 --no-samples").ok()));
    assert_run_is_representative(&Place { database: "lab", ..place }, "-c 2 -t 2000", &["parents", "children"]);
}

#[test]
fn counters_that_do_not_last_through_the_window_are_said() {
    let conf = format!("{CONF}pg_stat_statements.max = 100\n");
    let Some(mut place) = Place::new("counters", &conf, TRUST) else { return };
    execute(&place, "create extension pg_stat_statements");
    execute(&place, "select 1");
    let within = |place: &Place, file: &str| {
        let mut capture = place.start(&format!("capture --window 1h -o {file}"));
        capture.until_it_says("watching", 1);
        capture
    };
    let capture = within(&place, "evicted.capture");
    let mut session = session(&place);
    for columns in 1..=300 {
        session.execute(&format!("select {}", vec!["1"; columns].join(", "))).unwrap();
    }
    capture.signal(Signal::INT);
    capture.end().ok().prints(&["the server has evicted statements", "raise pg_stat_statements.max (100)"]);

    let capture = within(&place, "reset.capture");
    execute(&place, "select pg_stat_statements_reset()");
    capture.signal(Signal::INT);
    capture
        .end()
        .ended(1)
        .says(&["counters of pg_stat_statements were reset within the window", "take the capture again"]);

    let capture = within(&place, "restarted.capture");
    drop(session);
    place.server.crash();
    place.server.restart();
    capture.signal(Signal::INT);
    capture.end().ended(1).says(&["of two servers, or of one that was started again", "not a balancer"]);
    for file in ["reset.capture", "restarted.capture"] {
        assert!(!place.home.join(file).exists(), "{file}");
    }
    // As a snapshot of the server that was captured before, started by itself.
    place.run("fit evicted.capture -o fitted").ended(1).says(&[
        "the system identifier of the captured one",
        "physical copy",
        "give --captured-server",
    ]);
}

/// Captures what is executed for some seconds.
fn captured_while(place: &Place, sql: &str) -> Ran {
    let mut window = place.start("capture --window 3s -o shop.capture");
    window.until_it_says("watching", 1);
    execute(place, sql);
    window.end().ok()
}

#[test]
fn statements_on_foreign_tables_are_left_out() {
    let Some(place) = Place::new("foreign", CONF, TRUST) else { return };
    if place.ask("select count(*) from pg_available_extensions where name = 'file_fdw'") == "0" {
        return pgdyno_testing::skipped::skipped("no file_fdw");
    }
    place.execute("create database shop");
    let place = place.into_database("shop");
    execute(
        &place,
        "create extension pg_stat_statements; create extension file_fdw; create server far foreign data wrapper file_fdw; \
         create table near (a int); create table parts (a int) partition by list (a); \
         create foreign table parts_1 partition of parts for values in (1) server far options (filename '/dev/null')",
    );
    let lab = copy(&place, "lab");
    captured_while(&place, "select count(*) from near where a = 1; select count(*), 1 from parts where a = 1");
    let fitted = place.home.run(&["fit", "shop.capture", "-o", "fitted", "--target", &lab]).ok();
    fitted.prints(&["left out: it uses the foreign table public.parts_1, whose rows are on another server"]);
    let fidelity = json(&place.home.join("fitted/fidelity.json"));
    assert!(statement(&fidelity, "from parts").get("executed").is_none(), "{fidelity:#}");
    assert!(statement(&fidelity, "from near").get("left_out").is_none(), "{fidelity:#}");
}

#[test]
fn an_extension_that_is_older_than_its_server_has_times_and_a_warning() {
    let Some(place) = Place::new("old extension", CONF, TRUST) else { return };
    execute(&place, "create extension pg_stat_statements version '1.7'; create table orders (a int)");
    let captured = captured_while(&place, "select count(*) from orders where a = 5");
    captured.prints(&["version 1.7 of the extension is older than the server", "UPDATE"]);
    let shown = place.home.run(&["capture", "show", "shop.capture", "--format", "json"]).ok().stdout;
    let captured: Value = serde_json::from_str(&shown).unwrap();
    assert!(statement(&captured, "from orders")["exec_time_ms"].as_f64().unwrap() > 0.0, "{captured:#}");
}

/// A statement with a constant, prepared once.
const CONSTANT: [(&str, &str); 2] = [
    (
        "workload.toml",
        "[data]\nexisting = true\n[[script]]\nfile = \"a.sql\"\n[[group]]\nname = \"a\"\nscripts = [\"a.sql\"]\nmode = \"prepared\"\n",
    ),
    ("a.sql", "SELECT count(*) FROM users WHERE email = 'user7@secret.example';\n"),
];

#[test]
fn constants_that_the_server_left_in_texts_are_said_and_become_parameters() {
    let Some(place) = Place::new("constants", CONF, TRUST) else { return };
    execute(&place, "create extension pg_stat_statements; create table users (email text)");
    std::fs::create_dir(place.home.join("app")).unwrap();
    for (file, text) in CONSTANT {
        std::fs::write(place.home.join("app").join(file), text).unwrap();
    }
    let load = place.start("run ./app -c 1 -T 30 -R 50 --ramp 0 --no-samples");
    let calls = "select coalesce(sum(calls), 0) from pg_stat_statements where query like '%FROM users%' and query not like '%sum(calls)%'";
    let executed = || session(&place).query_one(calls).unwrap().parse::<f64>().unwrap() > 20.0;
    eventually("the load", Duration::from_secs(30), executed);
    // The statement stays prepared, and its text is stored as it was written.
    execute(&place, "select pg_stat_statements_reset()");
    eventually("the load", Duration::from_secs(30), executed);
    place.run("capture --window 1s -o plain.capture").ok().prints(&["1 text has constants", "--anonymise"]);
    let shown = |file: &str| place.home.run(&["capture", "show", file, "--format", "json"]).ok().stdout;
    assert!(shown("plain.capture").contains("user7@secret.example"));
    let anonymous = place.run("capture --anonymise --window 1s -o anonymous.capture").ok();
    assert!(!anonymous.stdout.contains("has constants"), "{}", anonymous.stdout);
    let anonymous = shown("anonymous.capture");
    assert!(!anonymous.contains("secret.example") && anonymous.contains("WHERE email = $1"), "{anonymous}");
    load.signal(Signal::INT);
    load.end();
}

/// Data that the program may have, in KiB.
const LIMIT_KIB: u32 = 300_000;

#[test]
fn five_thousand_statements_take_little_memory() {
    let conf = format!("{CONF}pg_stat_statements.max = 6000\n");
    let Some(place) = Place::new("five thousand", &conf, TRUST) else { return };
    place.execute("create database shop");
    let place = place.into_database("shop");
    execute(&place, "create extension pg_stat_statements");
    let columns: Vec<_> = (0..71).map(|nth| format!("c{nth} int")).collect();
    execute(&place, &format!("create table wide ({})", columns.join(", ")));
    let lab = copy(&place, "lab");
    let target = place.target();
    let limited = |args: &str| place.home.shell(&format!("ulimit -d {LIMIT_KIB}; exec \"$0\" {args}"));
    let mut capture = Running::new(limited(&format!("capture --window 1h -o shop.capture --target '{target}'")));
    capture.until_it_says("watching", 1);
    let mut session = session(&place);
    for nth in 0..5000 {
        // Each hundredth has a text of 60 KiB.
        let more = if nth % 100 == 0 { " and c0 is not null".repeat(3200) } else { String::new() };
        session.execute(&format!("select c{}, c{} from wide where c1 = {nth}{more}", nth % 71, nth / 71)).unwrap();
    }
    capture.signal(Signal::INT);
    capture.end().ok().prints(&["USABLE", "of 5,0"]);
    let bytes = std::fs::metadata(place.home.join("shop.capture")).unwrap().len();
    assert!(bytes < 4 << 20, "{bytes}");
    finish(limited("capture show shop.capture")).ok().prints(&["of 5,0"]);
    finish(limited(&format!("fit shop.capture -o fitted --time-share 0.01 --target '{lab}'")))
        .ok()
        .prints(&["01-select-wide"]);
}
