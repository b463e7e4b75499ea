//! Transactions of another program, captured from the server's log, and executed on a copy as transactions.

use std::fs;
use std::path::Path;
use std::time::Duration;

use pgdyno_net::Admin;
use rustix::process::Signal;
use serde_json::Value;

use crate::given_server::{Place, TRUST};
use crate::postgres;
use crate::program::{eventually, json};

const TABLES: [&str; 10] = [
    "create table customers (id bigint primary key, email text unique, balance numeric not null)",
    "insert into customers select i, 'user' || i || '@secret.example', 100 from generate_series(1, 5000) i",
    "create table products (id int primary key, stock int not null)",
    "insert into products select i, 1000 from generate_series(1, 3000) i",
    "create table orders (id bigint primary key, customer_id bigint not null references customers, placed timestamptz not null)",
    "insert into orders select i, 1 + i % 5000, '2025-01-01' from generate_series(1, 20000) i",
    "create table lines (id bigserial primary key, order_id bigint not null references orders, product_id int not null)",
    "insert into lines (order_id, product_id) select 1 + i % 20000, 1 + i % 3000 from generate_series(1, 40000) i",
    "create table queue (id bigint primary key, payload text)",
    "insert into queue select i, 'payload ' || i from generate_series(1, 5000) i",
];

/// Half of the clients use the extended protocol, whose parameters the log has apart from the text; the others have constants in it.
const APPLICATION: &str = "
[data]
existing = true

[[values]]
name = \"hot\"
sql = \"select id as customer, email from customers where id % 7 = 0\"

[[script]]
file = \"buy.sql\"
weight = 3

[[script]]
file = \"look.sql\"
weight = 5

[[script]]
file = \"regret.sql\"

[[script]]
file = \"work.sql\"

[[group]]
name = \"extended\"
mode = \"extended\"
share = 0.5
scripts = [\"buy.sql\", \"look.sql\", \"regret.sql\", \"work.sql\"]

[[group]]
name = \"simple\"
mode = \"simple\"
share = 0.5
scripts = [\"buy.sql\", \"look.sql\", \"regret.sql\", \"work.sql\"]
";
const BUY: &str = "\\values hot
\\set new 1000000 * (:client_id + 1) + random(1, 1000000000)
\\set amount 1
\\set one random(1, 1500)
\\set two random(1501, 3000)
BEGIN;
SELECT id, balance FROM customers WHERE id = :customer;
INSERT INTO orders (id, customer_id, placed) VALUES (:new, :customer, now());
INSERT INTO lines (order_id, product_id) VALUES (:new, :one);
INSERT INTO lines (order_id, product_id) VALUES (:new, :two);
UPDATE customers SET balance = balance - :amount WHERE id = :customer;
COMMIT;
";
/// The same statement by itself, and one whose parameter is no number.
const LOOK: &str = "\\values hot
SELECT id, balance FROM customers WHERE id = :customer;
";
const REGRET: &str = "\\set product random(1, 3000)
BEGIN;
UPDATE products SET stock = stock - 1 WHERE id = :product;
ROLLBACK;
SELECT count(*) FROM customers WHERE email = 'user7@secret.example';
";
/// What a statement returns is what a later one needs: the log has no results.
const WORK: &str = "BEGIN;
SELECT id FROM queue ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED \\gset job_
DELETE FROM queue WHERE id = :job_id;
COMMIT;
";

/// The prefix of Amazon RDS and Aurora.
const RDS: &str = "%t:%r:%u@%d:[%p]:";

/// The prefixes of Azure's servers and of Google Cloud SQL.
const AZURE: &str = "%t-%c-";
const GOOGLE: &str = "%m [%p]: [%l-1] db=%d,user=%u ";

/// Other prefixes: PostgreSQL's own, those of services, another one that Azure's servers have, and one with everything.
const PREFIXES: [&str; 5] =
    ["%m [%p] ", AZURE, GOOGLE, "%m [%p] [user=%u,db=%d,app=%a] ", "%n|%8p|%c|%-6l|%v|%x|%e|%i|%Q|%q%u@%d/%a from %h "];

fn execute(place: &Place, sql: &str) {
    session(place).execute(sql).unwrap();
}

fn session(place: &Place) -> Admin {
    Admin::connect(&place.server.resolve(&place.target())).unwrap()
}

fn number(place: &Place, sql: &str) -> f64 {
    session(place).query_one(sql).unwrap().parse().unwrap()
}

/// A server with the tables and the application, and a copy of them.
fn shop(test: &str, format: &str) -> Option<Place> {
    let conf = format!(
        "fsync = off\nshared_preload_libraries = 'pg_stat_statements'\nautovacuum = off\nlogging_collector = on\n\
         log_directory = '%/logs'\nlog_destination = '{format}'\nlog_timezone = 'Asia/Kathmandu'\nlog_transaction_sample_rate = 1\n\
         lc_messages = 'C'\n"
    );
    let place = Place::new(test, &conf, TRUST)?;
    place.execute("create database shop");
    let place = place.into_database("shop");
    TABLES.iter().for_each(|sql| execute(&place, sql));
    execute(&place, "vacuum analyze");
    execute(&place, "create extension pg_stat_statements");
    execute(&place, "create role watcher login; grant pg_read_all_stats to watcher");
    place.execute("create database lab template shop");
    let application = place.home.join("app");
    fs::create_dir(&application).unwrap();
    for (file, text) in [
        ("workload.toml", APPLICATION),
        ("buy.sql", BUY),
        ("look.sql", LOOK),
        ("regret.sql", REGRET),
        ("work.sql", WORK),
    ] {
        fs::write(application.join(file), text).unwrap();
    }
    Some(place)
}

/// Captures the application, and returns what `capture show` prints as JSON.
fn capture(place: &Place) -> Value {
    let target = place.target().replace("user=postgres", "user=watcher");
    let log = place.server.dir().join("logs");
    let words = format!("capture -o shop.capture --window 1h --log {}", log.display());
    let mut running = place.home.start(&place.args(&target, &words));
    running.until_it_says("watching", 1);
    place.run("run ./app -c 2 -t 400 --ramp 0 --no-samples").ok();
    running.signal(Signal::INT);
    running.end().ok().prints(&["transactions in the log", "insert-orders", "$2 = $1 of 1"]);
    let shown = place.home.run(&["capture", "show", "shop.capture", "--format", "json"]).ok().stdout;
    assert!(!shown.contains("secret.example"), "values stay on the server");
    serde_json::from_str(&shown).unwrap()
}

/// The kind of transaction with most statements that orders something, each as the table that its text names and its mean calls. The run
/// that is captured asks the server, too: it is pgdyno's.
fn longest(captured: &Value) -> (&Value, Vec<(String, f64)>) {
    let text = |step: &Value| captured["statements"][step["statement"].as_u64().unwrap() as usize]["text"].to_string();
    let orders =
        |kind: &&Value| kind["steps"].as_array().unwrap().iter().any(|step| text(step).contains("INSERT INTO orders"));
    let kinds = captured["transactions"]["kinds"].as_array().unwrap();
    let kind = kinds.iter().filter(orders).max_by_key(|kind| kind["steps"].as_array().unwrap().len()).unwrap();
    let step = |step: &Value| {
        let text = captured["statements"][step["statement"].as_u64().unwrap() as usize]["text"].as_str().unwrap();
        let text = text.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
        (text, step["calls_mean"].as_f64().unwrap())
    };
    (kind, kind["steps"].as_array().unwrap().iter().map(step).collect())
}

fn calls(captured: &Value, text: &str) -> f64 {
    let all = captured["statements"].as_array().unwrap();
    all.iter().find(|one| one["text"].as_str().unwrap().contains(text)).unwrap()["calls"].as_f64().unwrap()
}

fn transactions_of_a_log_are_captured_and_executed(test: &str, format: &str) {
    let Some(place) = shop(test, format) else { return };
    if format == "stderr" {
        set_prefix(&place, RDS);
    }
    let captured = capture(&place);
    let (buy, steps) = longest(&captured);
    let steps: Vec<_> = steps.iter().map(|(text, calls)| (text.as_str(), *calls)).collect();
    let wanted = [
        ("SELECT id, balance", 1.0),
        ("INSERT INTO orders", 1.0),
        ("INSERT INTO lines", 2.0),
        ("UPDATE customers SET", 1.0),
    ];
    assert_eq!(steps, wanted, "{:#}", captured["transactions"]);
    let flow =
        |flow: &Value| ["step", "parameter", "from_step", "from_parameter"].map(|key| flow[key].as_u64().unwrap());
    let flows: Vec<_> = buy["flows"].as_array().unwrap().iter().map(flow).collect();
    // The customer of the order and of the update, and the order of the lines. The amount never varies.
    assert_eq!((flows.len(), flows[0], flows[1]), (3, [1, 2, 0, 1], [2, 1, 1, 1]), "{buy:#}");
    assert_eq!(flows[2][0..1], [3]);
    let bought = buy["count"].as_f64().unwrap();
    let ordered = calls(&captured, "INSERT INTO orders");
    assert!((bought - ordered).abs() <= 1.0, "all transactions are sampled: {bought} of {ordered} {captured:#}");
    assert!(captured["transactions"]["rolled_back"].as_f64().unwrap() > 1.0);

    let target = place.target().replace("dbname=shop", "dbname=lab");
    let fitted = place.home.run(&["fit", "shop.capture", "-o", "fitted", "--target", &target]).ok();
    fitted.prints(&["per s  transaction", "insert-lines × 2"]);
    let directory = place.home.join("fitted");
    for entry in fs::read_dir(&directory).unwrap() {
        assert!(
            !fs::read_to_string(entry.unwrap().path()).unwrap().contains("secret.example"),
            "values stay in the copy"
        );
    }
    let fidelity = json(&directory.join("fidelity.json"));
    let file = fidelity["transactions"][0]["script"].as_str().unwrap();
    let script = fs::read_to_string(directory.join(file)).unwrap();
    let lines: Vec<_> = script.lines().filter(|line| !line.starts_with('\\')).collect();
    assert_eq!((lines[0], lines[6], lines.len()), ("BEGIN;", "COMMIT;", 7), "{script}");
    // One of the statements draws the customer, for all of them.
    let customer = lines[1].strip_prefix("SELECT id, balance FROM customers WHERE id = ").unwrap();
    assert!(lines[2].starts_with("INSERT INTO orders"), "{script}");
    assert!(lines[2].contains(&format!(", {}, now()", customer.trim_end_matches(';'))), "{script}");
    assert!(lines[5].ends_with(&format!("WHERE id = {customer}")), "{script}");
    assert!(lines[3].contains("VALUES ((SELECT currval(") && lines[3].ends_with(":t3_p2);"), "{script}");
    assert!(lines[4].contains("VALUES ((SELECT currval(") && lines[4].ends_with(":t4_p2);"), "{script}");

    let scripts = fidelity["transactions"].as_array().unwrap().iter().map(|one| one["script"].as_str().unwrap());
    let mut scripts = scripts.map(|file| fs::read_to_string(directory.join(file)).unwrap());
    let work = scripts.find(|script| script.contains("FROM queue ORDER BY")).unwrap();
    assert!(work.contains(" \\aset r1_\n") && work.contains("WHERE id = :r1_id;"), "{work}");

    let copied = Place { database: "lab", ..place };
    execute(&copied, "select pg_stat_statements_reset()");
    copied.run("run ./fitted -c 2 -t 400 --ramp 0 --no-samples").ok();
    let share = |of: &dyn Fn(&str) -> f64| of("INSERT INTO orders") / of("SELECT id, balance FROM customers");
    let on_copy = |text: &str| {
        number(&copied, &format!("select coalesce(sum(calls), 0) from pg_stat_statements where query like '{text}%'"))
    };
    let (then, now) = (share(&|text| calls(&captured, text)), share(&on_copy));
    assert!((now / then - 1.0).abs() < 0.25, "{now} of {then}");
    // The run has some of its own.
    let own = on_copy("BEGIN") - on_copy("INSERT INTO orders") - on_copy("DELETE FROM queue");
    assert!((0.0..30.0).contains(&own), "orders are inserted in transactions alone: {own} more");
    let work = "select sum(calls) - sum(rows) from pg_stat_statements where query like 'DELETE FROM queue%'";
    assert!(number(&copied, work) < 3.0, "each job is the one that was locked");
    let incomplete = "select count(*) from orders o where id > 20000 and id < 100000 \
                and (select count(*) from lines where order_id = o.id) <> 2";
    assert!(
        number(&copied, incomplete) < 0.5 && on_copy("INSERT INTO lines") > 10.0,
        "the lines of an order have its key"
    );
}

#[test]
fn transactions_of_a_csvlog_are_captured_and_executed() {
    transactions_of_a_log_are_captured_and_executed("csvlog", "csvlog");
}

#[test]
fn transactions_of_a_log_of_stderr_are_captured_and_executed() {
    transactions_of_a_log_are_captured_and_executed("stderrlog", "stderr");
}

/// Sets the prefix of a server that runs. Escapes that its version does not know print nothing.
fn set_prefix(place: &Place, prefix: &str) {
    place.execute(&format!("alter system set log_line_prefix = '{prefix}'"));
    place.execute("select pg_reload_conf()");
    eventually("the prefix is set", Duration::from_secs(10), || place.ask("show log_line_prefix") == prefix);
}

/// Captures the application with the server's log, or with a file made of it at the end.
fn capture_with(place: &Place, log: &Path, at_end: impl FnOnce(&str)) -> Value {
    let words = format!("capture -o shop.capture --window 1h --log {}", log.display());
    let target = place.target();
    fs::remove_file(place.home.join("shop.capture")).ok();
    // Where times have whole seconds, what another run did in the first second of the window seems to be in it.
    if place.ask("show log_line_prefix").contains("%t") {
        std::thread::sleep(Duration::from_secs(1));
    }
    let mut running = place.home.start(&place.args(&target, &words));
    running.until_it_says("watching", 1);
    place.run("run ./app -c 2 -t 60 --ramp 0 --no-samples").ok();
    let log = || {
        let files = fs::read_dir(place.server.dir().join("logs")).unwrap().map(|entry| entry.unwrap().path());
        fs::read_to_string(files.max().unwrap()).unwrap()
    };
    // The server's logger is a process of its own. It writes lines in their order, but on a busy machine late.
    let end = format!("the end of {}", log().len());
    place.execute(&format!("select '{end}'"));
    eventually("the log is written", Duration::from_secs(10), || log().contains(&end));
    at_end(&log());
    running.signal(Signal::INT);
    running.end().ok().prints(&["transactions in the log", "insert-orders"]);
    serde_json::from_str(&place.home.run(&["capture", "show", "shop.capture", "--format", "json"]).ok().stdout).unwrap()
}

/// Returns the lines of a log, each with its further ones.
fn whole_lines(log: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in log.lines() {
        match lines.last_mut() {
            Some(last) if line.starts_with('\t') => *last += &format!("\n{line}"),
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

/// Returns the log as entries of Google Cloud Logging, the later of each ten first.
fn entries(log: &str) -> String {
    let entry = |line: &String| {
        let time = line.get(..23).unwrap_or_default().replace(' ', "T");
        format!(
            "{}\n",
            serde_json::json!({ "insertId": "x", "timestamp": format!("{time}Z"), "textPayload": line,
            "resource": { "type": "cloudsql_database" }, "logName": "projects/p/logs/cloudsql.googleapis.com%2Fpostgres.log" })
        )
    };
    whole_lines(log).chunks(10).flat_map(|chunk| chunk.iter().rev().map(entry)).collect()
}

/// Returns the log as records of Azure Monitor: each has a message with its detail.
fn azure_records(log: &str) -> String {
    let mut all: Vec<(String, String)> = Vec::new();
    for line in whole_lines(log) {
        match (line.split_once("-DETAIL:  "), all.last_mut()) {
            (Some((_, detail)), Some(last)) => last.1 = detail.to_owned(),
            _ => all.push((line, String::new())),
        }
    }
    let record = |(message, detail): (String, String)| {
        let time = message.get(..19).unwrap_or_default().replace(' ', "T");
        let properties = serde_json::json!({ "prefix": "", "message": message, "detail": detail, "errorLevel": "LOG" });
        format!(
            "{}\n",
            serde_json::json!({ "resourceId": "/SUBSCRIPTIONS/S/FLEXIBLESERVERS/SHOP", "time": format!("{time}Z"),
            "category": "PostgreSQLLogs", "operationName": "LogEvent", "properties": properties })
        )
    };
    all.into_iter().map(record).collect()
}

#[test]
fn a_log_of_stderr_has_any_prefix_that_names_time_and_session() {
    let Some(place) = shop("prefixes", "stderr") else { return };
    let logs = place.server.dir().join("logs");
    let buys = |captured: &Value| {
        let (kind, steps) = longest(captured);
        let steps: Vec<_> = steps.iter().map(|(text, calls)| (text.as_str(), *calls)).collect();
        assert_eq!((steps.len(), steps[2]), (4, ("INSERT INTO lines", 2.0)), "{captured:#}");
        assert!(kind["flows"].as_array().unwrap().len() == 3, "{kind:#}");
        let sampled = captured["transactions"]["committed"].as_f64().unwrap();
        assert!(kind["count"].as_f64().unwrap() > 5.0 && sampled > 80.0, "{kind:#}");
        assert_eq!(captured["transactions"]["incomplete"], 0, "{:#}", captured["transactions"]);
    };
    for prefix in PREFIXES {
        set_prefix(&place, prefix);
        buys(&capture_with(&place, &logs, |_| {}));
        let of_service: fn(&str) -> String = match prefix {
            GOOGLE => entries,
            AZURE => azure_records,
            _ => continue,
        };
        let exported = place.home.join("exported.json");
        fs::write(&exported, "").unwrap();
        buys(&capture_with(&place, &exported, |log| fs::write(&exported, of_service(log)).unwrap()));
    }
    set_prefix(&place, "%u@%d ");
    let words = format!("capture --window 1s -o no.capture --log {}", logs.display());
    place.run(&words).ended(1).says(&["log_line_prefix '%u@%d ' has no time", "--log-prefix names another one"]);
}

#[test]
fn transactions_of_a_jsonlog_are_captured_and_executed() {
    if postgres::major() < 15 {
        return pgdyno_testing::skipped::skipped("jsonlog needs PostgreSQL 15");
    }
    transactions_of_a_log_are_captured_and_executed("jsonlog", "jsonlog");
}

#[test]
fn a_log_of_no_use_is_reported() {
    let Some(place) = shop("log_of_no_use", "csvlog") else { return };
    place.run("capture --window 1s -o no.capture --log nowhere.csv").ended(1).says(&["nowhere.csv", "exists here"]);
    fs::write(place.home.join("old.csv"), "2020-01-01 10:00:00.000 UTC,\"a\",\"shop\"\n").unwrap();
    place.run("capture --window 1s -o shop.capture --log old.csv").ok().prints(&["no line of shop within the window"]);
    place.home.run(&["capture", "show", "shop.capture"]).ok().prints(&["HOLDS"]);
}
