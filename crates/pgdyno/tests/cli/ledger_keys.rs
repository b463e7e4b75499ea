//! Scripts of the user that name the key of the row which they insert.

use std::time::Duration;

use crate::given_server::{Place, TRUST};
use crate::own::write;
use crate::program::{Run, eventually};

const SOON: Duration = Duration::from_secs(30);
/// One chooses its key, and the other one learns it from the answer.
const SCRIPTS: [(&str, &str); 2] = [
    (
        "order.sql",
        "-- pgdyno ledger: orders.id = :id\n\\set n :n + 1\n\\set id :client_id * 1000000 + :n\nBEGIN;\n\
         INSERT INTO orders VALUES (:id);\nUPDATE total SET n = n + 1 WHERE id = :client_id;\nEND;\n",
    ),
    (
        "item.sql",
        "-- pgdyno ledger: shop.\"Item\".id = :item_id\nINSERT INTO shop.\"Item\" (n) VALUES (1) RETURNING id AS item_id \\gset\n",
    ),
];

/// A server with the tables of the scripts, which keeps what it acknowledged.
fn place(test: &str) -> Option<Place> {
    let place = Place::new(test, "fsync = on\nsynchronous_commit = on\n", TRUST)?;
    place.execute(
        "create table orders (id bigint primary key); create table total as select g as id, 0 as n from generate_series(0, 9) g; \
         create schema shop; create table shop.\"Item\" (id int generated always as identity primary key, n int)",
    );
    write(&place.home, "s", &SCRIPTS);
    Some(place)
}

/// Returns a number of the ledger in the record.
#[track_caller]
fn of(run: &Run, name: &str) -> u64 {
    run.number(&format!("/ledger/{name}")) as u64
}

#[test]
fn rows_of_scripts_are_looked_for_by_their_keys() {
    let Some(mut place) = place("keys of scripts") else { return };
    let running =
        place.start("run s/order.sql s/item.sql -D n=0 --ledger -c 4 -T 6 --ramp 0 -R 400 --commit-timeout 5s");
    let rows = "select (select count(*) from orders) + (select count(*) from shop.\"Item\")";
    eventually("the clients commit", SOON, || place.ask(rows).parse::<u64>().unwrap() > 300);
    place.server.kill();
    // A server that is back within a moment makes no outage.
    std::thread::sleep(Duration::from_secs(1));
    place.server.restart();
    let ran = running.end().ok().prints(&["LEDGER", " without commits; ", " acknowledged, none lost; "]);
    let run = place.home.the_run();
    assert_eq!((run.text("/status"), run.text("/ledger/transaction")), ("complete", "s/order.sql, s/item.sql"));
    assert_eq!((of(&run, "lost"), of(&run, "resurrected")), (0, 0), "{}", ran.stdout);
    assert!(run.at("/ledger").get("unmarked").is_none(), "each answer had its key: {}", run.at("/ledger"));
    let nameless = run.at("/ledger").get("unknown_unmarked").map_or(0, |n| n.as_u64().unwrap());
    assert_eq!(of(&run, "unknown"), of(&run, "unknown_present") + of(&run, "unknown_absent") + nameless);
    let (there, known) =
        (place.ask(rows).parse::<u64>().unwrap(), of(&run, "acknowledged") + of(&run, "unknown_present"));
    assert!((known..=known + nameless).contains(&there), "the server's own count {there}: {}", run.at("/ledger"));
    // Rows that are removed behind its back: the check can say no, and takes the scripts from the record.
    std::fs::remove_dir_all(place.home.join("s")).unwrap();
    place.run("check ledger --run last").ok().prints(&["none lost"]);
    place
        .execute("delete from orders where id % 1000000 = 5 and id < 2000000; delete from shop.\"Item\" where id = 20");
    let json = place.run("check ledger --run last --format json").ended(14);
    let form: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(form["ledger"]["lost"], 3, "{form}");
}

#[test]
fn a_key_that_cannot_be_looked_for_is_refused_before_the_clients_begin() {
    let Some(place) = place("keys that cannot be looked for") else { return };
    place.execute("create table plain (id int, at date)");
    let script = |line: &str, rest: &str| {
        write(&place.home, "s", &[("own.sql", &format!("{line}\n\\set id random(1, 1000000000)\n{rest}"))]);
        place.run("run s/own.sql --ledger -c 2 -t 20")
    };
    let insert = "insert into plain values (:id);\n";
    for (line, words) in [
        ("", "--ledger needs a marker in each commit, and own.sql has none"),
        ("-- pgdyno ledger: plain = :id", "this line names no key"),
        ("-- pgdyno ledger: plain.id = :idd", "nothing sets the variable \"idd\""),
        ("-- pgdyno ledger: nowhere.id = :id", "line 1 of s/own.sql: there is no table \"nowhere\""),
        ("-- pgdyno ledger: plain.it = :id", "line 1 of s/own.sql: the table \"plain\" has no column it"),
        ("-- pgdyno ledger: plain.at = :id", "the ledger cannot look for \"plain\".\"at\" of type date"),
    ] {
        script(line, insert).ended(1).says(&[words, "hint: "]);
    }
    let key = "-- pgdyno ledger: plain.id = :id";
    script(key, &insert.repeat(2)).ended(1).says(&["the script has 2 that write", "write BEGIN and END around them"]);
    assert_eq!(place.ask("select count(*) from plain"), "0");
    script(key, insert).ok().prints(&["no unique index has \"plain\".\"id\" alone", "40 acknowledged, none lost"]);
    // A comment is no part of what pgbench runs.
    place.run("run s/own.sql -c 1 -t 1").ok();
    let ran = script("-- pgdyno ledger: plain.id = :id", "insert into plain values (:id) returning 'x' as id \\gset\n");
    assert!(ran.code != Some(0), "nothing is proven: {}", ran.stdout);
    ran.prints(&["invalid input syntax for type bigint: \"x\""]);
    let ran =
        script("-- pgdyno ledger: plain.id = :id", "insert into plain values (:id) returning null as id \\gset\n");
    assert!(ran.code != Some(0), "nothing is proven: {}", ran.stdout);
    ran.prints(&["no transaction set the variable of its key"]);
}

#[test]
fn a_key_may_be_a_uuid_or_a_text() {
    let Some(place) = place("keys that are texts") else { return };
    place.execute("create table by_uuid (id uuid primary key); create table by_name (name text primary key)");
    let scripts = [
        (
            "uuid.sql",
            // PostgreSQL writes it in small letters.
            "-- pgdyno ledger: by_uuid.id = :id\nselect upper(gen_random_uuid()::text) as id \\gset\nBEGIN;\n\
             INSERT INTO by_uuid VALUES (:id::uuid);\nEND;\n",
        ),
        (
            "name.sql",
            "-- pgdyno ledger: by_name.name = :name\n\
             INSERT INTO by_name VALUES ('{a, \"b\" \\''c'' %} ' || random()) RETURNING name \\gset\n",
        ),
    ];
    write(&place.home, "s", &scripts);
    place
        .run("run s/uuid.sql s/name.sql --mode extended --ledger -c 3 -t 60")
        .ok()
        .prints(&["180 acknowledged, none lost"]);
    let run = place.home.the_run();
    assert!(run.at("/ledger").get("unmarked").is_none(), "{}", run.at("/ledger"));
    place.execute(
        "delete from by_uuid where id in (select id from by_uuid limit 2); delete from by_name where name in (select name from by_name limit 1)",
    );
    let json = place.run("check ledger --run last --format json").ended(14);
    let form: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&form["ledger"]["lost"], &form["ledger"]["duplicated"]), (&3.into(), &0.into()), "{form}");
}

#[test]
fn a_directory_names_its_keys_in_its_scripts() {
    let Some(place) = place("keys of a directory") else { return };
    let manifest =
        "[data]\nexisting = true\n[params]\nn = 0\n[[script]]\nfile = 'order.sql'\n[[script]]\nfile = 'look.sql'\n";
    write(
        &place.home,
        "mine",
        &[("workload.toml", manifest), SCRIPTS[0], ("look.sql", "select count(*) from orders;")],
    );
    place.run("run ./mine --ledger -c 2 -t 50").ok().prints(&["none lost"]);
    let run = place.home.the_run();
    let orders: u64 = place.ask("select count(*) from orders").parse().unwrap();
    assert_eq!((of(&run, "acknowledged"), run.text("/ledger/transaction")), (orders, "order.sql"));
    place.execute("delete from orders where id in (select max(id) from orders)");
    place.run("check ledger --run last").ended(14).prints(&["1 of them LOST"]);
}
