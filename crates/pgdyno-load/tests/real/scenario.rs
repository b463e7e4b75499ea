//! The isolation tests of tproc-c, and scenarios that come otherwise than they say.

use std::time::Duration;

use pgdyno_load::{Moment, ScenarioError, ScenarioOptions, ScenarioResult, check, default_level, play};
use pgdyno_net::{Admin, ConnectOptions, Stop};
use pgdyno_workload::{IsolationLevel, Scenario, ScenarioStep};

use crate::server::{self, Server};
use crate::{CAPS, await_alone, connect, how, load_with};

const RULES: ScenarioOptions = ScenarioOptions { level: None, limit: Duration::from_secs(60) };

fn played(target: &ConnectOptions, scenario: &Scenario, rules: &ScenarioOptions) -> ScenarioResult {
    play(target, scenario, rules, &Stop::new()).unwrap()
}

/// A scenario over these steps.
fn scenario(steps: Vec<ScenarioStep>) -> Scenario {
    Scenario { clause: "test", title: "a test", remark: None, steps, restore: Vec::new() }
}

/// A server with a table of two rows.
fn two_rows(test: &str) -> Option<(Server, ConnectOptions)> {
    if !server::available(test) {
        return None;
    }
    let server = Server::start("");
    let target = server.database("scenarios");
    connect(&target)
        .execute("create table pair (id int primary key, n int); insert into pair values (1, 0), (2, 0)")
        .unwrap();
    Some((server, target))
}

const ADD: &str = "update pair set n = n + 1 where id = 1 returning n";

#[test]
fn the_nine_tests_hold_at_every_level_and_leave_the_data_consistent() {
    if !server::available("the_nine_tests_hold_at_every_level_and_leave_the_data_consistent") {
        return;
    }
    let server = Server::start("max_wal_size = 2GB");
    let target = server.database("tprocc");
    let workload = pgdyno_workloads::registry::build("tproc-c", [("warehouses", "1")]).unwrap();
    let (data, audit) = (&workload.data[0], workload.audit.unwrap());
    load_with(&target, &**data, &how(2)).unwrap();
    let mut admin = connect(&target);
    let prices = "select md5(string_agg(i_price::text, ' ' order by i_id)) from item";
    let before = admin.query_one(prices).unwrap();
    assert_eq!(default_level(&mut admin).unwrap(), IsolationLevel::ReadCommitted);
    for level in IsolationLevel::ALL {
        let scenarios = audit.scenarios(level);
        let clauses: Vec<_> = scenarios.iter().map(|scenario| scenario.clause).collect();
        assert_eq!(clauses, (1..=9).map(|n| format!("3.4.2.{n}")).collect::<Vec<_>>());
        for scenario in &scenarios {
            let result = played(&target, scenario, &ScenarioOptions { level: Some(level), ..RULES });
            assert!(result.holds, "{} at {}: {result:?}", scenario.clause, level.name());
            // A transaction that waited for a commit that changed its row is rolled back by the stricter levels.
            let undone = ["3.4.2.3", "3.4.2.5", "3.4.2.7"].contains(&scenario.clause);
            let expected: &[&str] = if undone && level > IsolationLevel::ReadCommitted { &["T2"] } else { &[] };
            assert_eq!(result.tried_again, expected, "{} at {}", scenario.clause, level.name());
        }
    }
    assert_eq!(admin.query_one(prices).unwrap(), before, "the prices are as they were");
    await_alone(&mut admin);
    let report = check(&target, 2, &**data, &CAPS, Moment::AtRest, &|_| {}, &Stop::new()).unwrap();
    assert!(report.holds(), "{report:#?}");
    assert_eq!(report.checks.iter().filter(|check| check.name.starts_with("3.3.2.")).count(), 12);
}

/// Each is a way in which transactions could be wrong; the test of the clause sees it.
#[test]
fn transactions_that_are_not_isolated_are_found_out() {
    if !server::available("transactions_that_are_not_isolated_are_found_out") {
        return;
    }
    let server = Server::start("max_wal_size = 2GB");
    let target = server.database("tprocc");
    let workload = pgdyno_workloads::registry::build("tproc-c", [("warehouses", "1")]).unwrap();
    let (data, audit) = (&workload.data[0], workload.audit.unwrap());
    load_with(&target, &**data, &how(2)).unwrap();
    let scenarios = audit.scenarios(IsolationLevel::ReadCommitted);
    let mut copies = 0;
    let mut broken_by = |routine: &str, from: &str, to: &str, clause: &str| {
        // What a wrong transaction does to the data must not be what the next test sees.
        copies += 1;
        let name = format!("copy{copies}");
        connect(&server.options()).execute(&format!("create database {name} template tprocc")).unwrap();
        let copy = target.with_database(&name);
        let mut admin = connect(&copy);
        let right = admin.query_one(&format!("select pg_get_functiondef('{routine}'::regproc)")).unwrap();
        let wrong = right.replacen(from, to, 1);
        assert_ne!(wrong, right, "{routine} has no {from}");
        admin.execute(&wrong).unwrap();
        let scenario = scenarios.iter().find(|scenario| scenario.clause == clause).unwrap();
        let result = played(&copy, scenario, &RULES);
        println!("{clause}: {result:?}");
        assert!(!result.holds, "{clause} does not see that {routine} has {to}");
    };
    // Numbers without a lock: read, and written later.
    let number = "UPDATE district SET d_next_o_id = d_next_o_id + 1\n     WHERE d_w_id = in_w_id AND d_id = in_d_id\n    RETURNING d_next_o_id - 1, d_tax INTO STRICT out_o_id, out_d_tax;";
    let unlocked = "SELECT d_next_o_id, d_tax INTO STRICT out_o_id, out_d_tax FROM district WHERE d_w_id = in_w_id AND d_id = in_d_id;";
    broken_by("pgdyno_new_order", number, unlocked, "3.4.2.3");
    // A rollback that is none: the number is used up.
    broken_by("pgdyno_new_order", "ROLLBACK;", "NULL;", "3.4.2.4");
    // A payment that does not touch the customer, or writes a balance of its own.
    broken_by("pgdyno_payment", "c_balance = c_balance - in_amount", "c_balance = 0 - in_amount", "3.4.2.5");
    broken_by("pgdyno_delivery", "c_balance = c_balance + due.amount", "c_balance = c_balance", "3.4.2.5");
    // Prices that are read again, line by line, when the stock was got.
    broken_by(
        "pgdyno_new_order",
        "IF cardinality(numbers) IS DISTINCT FROM line_count",
        "out_i_prices := ARRAY(SELECT i_price FROM unnest(numbers) AS n JOIN item ON i_id = in_i_ids[n] ORDER BY n);\n    IF cardinality(numbers) IS DISTINCT FROM line_count",
        "3.4.2.7",
    );
    // A delivery that looks for new orders a second time.
    broken_by(
        "pgdyno_delivery",
        "END $procedure$",
        "SELECT array_agg(DISTINCT no_d_id) INTO out_d_ids FROM new_order WHERE no_w_id = in_w_id;\nEND $procedure$",
        "3.4.2.8",
    );
}

#[test]
fn what_comes_otherwise_is_reported_in_words() {
    let Some((_server, target)) = two_rows("what_comes_otherwise_is_reported_in_words") else { return };
    let found = |steps: Vec<ScenarioStep>, limit: Duration| {
        let result = played(&target, &scenario(steps), &ScenarioOptions { level: None, limit });
        await_alone(&mut connect(&target));
        assert_eq!(result.holds, result.found.is_none());
        result.found.unwrap_or_default()
    };
    let begun = |session| vec![ScenarioStep::Begin(session), ScenarioStep::run(session, ADD)];
    let with = |mut steps: Vec<ScenarioStep>, more: Vec<ScenarioStep>| {
        steps.extend(more);
        steps
    };
    let patient = RULES.limit;

    let kept = vec![
        ScenarioStep::Begin("T1"),
        ScenarioStep::fetch("T1", ADD, "t1"),
        ScenarioStep::waits("T2", "T1", ADD, "t2"),
        ScenarioStep::Commit("T1"),
        ScenarioStep::Ends("T2"),
        ScenarioStep::holds("two more", "select :t2.n::int = :t1.n::int + 1 and :t2.tries = '1'"),
    ];
    assert_eq!(found(kept, patient), "");

    let wrong = vec![
        ScenarioStep::look("one", "select 1 as n"),
        ScenarioStep::holds("one is two", "select :one.n = '2', :one.n as n"),
    ];
    assert_eq!(found(wrong, patient), "not so: one is two: n=1");
    assert_eq!(
        found(vec![ScenarioStep::holds("anything", "select true where false")], patient),
        "not so: anything: no row"
    );
    let absent = found(vec![ScenarioStep::run("T1", "select :none.n")], patient);
    assert!(absent.starts_with("no row returned none.n"), "{absent}");
    let refused = found(vec![ScenarioStep::run("T1", "select  1 / 0")], patient);
    assert!(refused.starts_with("T1: ") && refused.contains("division by zero"), "{refused}");

    // It should wait, and does not.
    let other = "update pair set n = n + 1 where id = 2";
    let free = found(with(begun("T1"), vec![ScenarioStep::waits("T2", "T1", other, "t2")]), patient);
    assert_eq!(free, format!("T2 did not wait for T1: {other}"));
    // It waits for another user.
    let elsewhere = with(
        begun("T1"),
        vec![ScenarioStep::Begin("T3"), ScenarioStep::run("T3", other), ScenarioStep::waits("T2", "T1", other, "t2")],
    );
    let elsewhere = found(elsewhere, Duration::from_millis(300));
    assert!(
        elsewhere.starts_with("T2 does not wait for T1, and has not ended after 0.3 s, and waits for T3"),
        "{elsewhere}"
    );
    // It should not wait, and does; nobody waits for the limit.
    let stuck = found(with(begun("T1"), vec![ScenarioStep::run("T2", ADD)]), patient);
    assert_eq!(stuck, format!("T2 waits for T1, but must not: {ADD}"));
    let stuck = vec![ScenarioStep::waits("T2", "T1", ADD, "t2"), ScenarioStep::Ends("T2")];
    assert_eq!(found(with(begun("T1"), stuck), patient), format!("T2 waits for T1, but must not: {ADD}"));
    // It never ends.
    let endless = found(vec![ScenarioStep::run("T1", "select pg_sleep(3600)")], Duration::from_millis(300));
    assert_eq!(endless, "T1 has not ended after 0.3 s: select pg_sleep(3600)");
    let endless =
        found(vec![ScenarioStep::holds("the end", "select pg_sleep(3600) is null")], Duration::from_millis(300));
    assert!(endless.contains("statement timeout"), "{endless}");

    // None of them left anything behind but what was committed.
    assert_eq!(connect(&target).query_one("select string_agg(n::text, ' ' order by id) from pair").unwrap(), "2 1");
}

#[test]
fn what_is_restored_is_restored_however_it_ended() {
    let Some((_server, target)) = two_rows("what_is_restored_is_restored_however_it_ended") else { return };
    let mut scenario = scenario(vec![
        ScenarioStep::look("before", "select n from pair where id = 2"),
        ScenarioStep::run("T1", "update pair set n = 17 where id = 2"),
        ScenarioStep::holds("that it fails", "select false"),
    ]);
    scenario.restore = vec![
        "update pair set n = :never.kept where id = 1".to_owned(),
        "update pair set n = :before.n where id = 2".to_owned(),
    ];
    assert!(!played(&target, &scenario, &RULES).holds);
    assert_eq!(connect(&target).query_one("select string_agg(n::text, ' ' order by id) from pair").unwrap(), "0 0");
}

#[test]
fn serialization_failures_are_tried_again() {
    let Some((_server, target)) = two_rows("serialization_failures_are_tried_again") else { return };
    let rules = ScenarioOptions { level: Some(IsolationLevel::RepeatableRead), ..RULES };
    let alone = scenario(vec![
        ScenarioStep::Begin("T1"),
        ScenarioStep::run("T1", ADD),
        ScenarioStep::waits("T2", "T1", ADD, "t2"),
        ScenarioStep::Commit("T1"),
        ScenarioStep::Ends("T2"),
        ScenarioStep::holds("T2 was sent twice", "select :t2.tries = '2', :t2.tries as tries"),
    ]);
    let result = played(&target, &alone, &rules);
    assert_eq!((result.found, result.tried_again), (None, vec!["T2"]));

    // In a transaction of several statements it undoes them all: the scenario is begun anew, and at last it counts.
    let together = scenario(vec![
        ScenarioStep::Begin("T2"),
        ScenarioStep::run("T2", "select from pair"),
        ScenarioStep::run("T1", ADD),
        ScenarioStep::run("T2", ADD),
    ]);
    let result = played(&target, &together, &rules);
    let words = result.found.unwrap();
    assert!(words.starts_with("T2: ") && words.contains("could not serialize access"), "{words}");
    let n = connect(&target).query_one("select n from pair where id = 1").unwrap();
    assert_eq!(n, "5", "two, and one for each of three attempts");
    assert!(played(&target, &together, &RULES).holds, "at read committed it goes on");
}

#[test]
fn a_stop_ends_a_scenario_that_waits() {
    let Some((_server, target)) = two_rows("a_stop_ends_a_scenario_that_waits") else { return };
    let steps =
        vec![ScenarioStep::Begin("T1"), ScenarioStep::run("T1", ADD), ScenarioStep::run("T1", "select pg_sleep(3600)")];
    let stop = Stop::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut admin = connect(&target);
            while admin.query_one("select count(*) from pg_stat_activity where wait_event = 'PgSleep'").unwrap() == "0"
            {
                std::thread::sleep(Duration::from_millis(10));
            }
            stop.cleanly();
        });
        let error = play(&target, &scenario(steps), &RULES, &stop).unwrap_err();
        assert!(matches!(error, ScenarioError::Interrupted), "{error}");
    });
    let mut admin = connect(&target);
    await_alone(&mut admin);
    assert_eq!(admin.query_one("select n from pair where id = 1").unwrap(), "0");
}

#[test]
fn what_a_scenario_changed_is_restored_over_a_new_connection_or_reported() {
    let test = "what_a_scenario_changed_is_restored_over_a_new_connection_or_reported";
    let Some((server, target)) = two_rows(test) else { return };
    let mut changes = scenario(vec![
        ScenarioStep::run("T1", "update pair set n = 17 where id = 2"),
        ScenarioStep::holds("that the server is there", "select true from pg_sleep(3600)"),
    ]);
    changes.restore = vec!["update pair set n = 0 where id = 2".to_owned()];
    let asleep = "from pg_stat_activity where wait_event = 'PgSleep'";
    let ended_by = |end: &mut dyn FnMut(&mut Admin)| {
        let mut admin = connect(&target);
        std::thread::scope(|scope| {
            let played = scope.spawn(|| play(&target, &changes, &RULES, &Stop::new()).unwrap_err());
            while admin.query_one(&format!("select count(*) {asleep}")).unwrap() == "0" {
                std::thread::sleep(Duration::from_millis(10));
            }
            end(&mut admin);
            played.join().unwrap()
        })
    };
    // The observer's session is lost.
    let error =
        ended_by(&mut |admin| drop(admin.query(&format!("select pg_terminate_backend(pid) {asleep}")).unwrap()));
    assert!(matches!(error, ScenarioError::Refused(_)), "{error}");
    assert_eq!(connect(&target).query_one("select n from pair where id = 2").unwrap(), "0");
    // The server is.
    let mut server = Some(server);
    let error = ended_by(&mut |_| drop(server.take()));
    let text = error.to_string();
    assert!(matches!(error, ScenarioError::Changed { .. }), "{text}");
    assert!(text.contains("; what a test had committed could not be undone: "), "{text}");
}
