//! Checks that hold, that do not, and that the server cannot run.

use std::sync::Mutex;

use crate::sample::Sample;
use crate::server::{self, Server};
use crate::{CAPS, await_alone, connect, how, load_with};
use pgdyno_load::{Baseline, CheckError, CheckProgress, CheckReport, Moment, check};
use pgdyno_net::{ConnectOptions, Stop};
use pgdyno_workload::{Check, CheckCost, CheckParts, Expect, Screen};

fn ask(target: &ConnectOptions, moment: Moment<'_>) -> Result<CheckReport, CheckError> {
    check(target, 2, &Sample::new(&[]), &CAPS, moment, &|_| {}, &Stop::new())
}

fn names(report: &CheckReport) -> Vec<&str> {
    report.checks.iter().map(|check| check.name.as_str()).collect()
}

#[test]
fn what_breaks_a_condition_is_reported_by_its_rows() {
    if !server::available("what_breaks_a_condition_is_reported_by_its_rows") {
        return;
    }
    let server = Server::start("");
    let target = server.database("checked");
    load_with(&target, &Sample::new(&[]), &how(2)).unwrap();
    let mut admin = connect(&target);

    let report = ask(&target, Moment::AfterLoad).unwrap();
    assert!(report.holds(), "{report:?}");
    assert_eq!(names(&report), ["rows of journal", "rows of big", "rows of small", "notes"]);
    assert!(report.data_bytes.unwrap() > 5_000_000, "{}", report.data_bytes.unwrap());
    assert_eq!(report.baseline, Baseline::default());

    let before = ask(&target, Moment::BeforeRun).unwrap();
    assert_eq!(names(&before), [""; 0], "no verdict before the run");
    assert_eq!(before.baseline.figures().collect::<Vec<_>>(), [("totals", vec!["totals=0".to_owned()])]);
    let at_rest = ask(&target, Moment::AtRest).unwrap();
    let always = ["schema", "rows of big", "rows of small", "notes"];
    assert_eq!((names(&at_rest), at_rest.baseline == before.baseline), (always.to_vec(), true));
    let after = ask(&target, Moment::AfterRun(&before.baseline)).unwrap();
    assert_eq!((names(&after), after.holds()), ([&always[..], &["totals"]].concat(), true));

    admin
        .execute("update big set note = null where id <= 2; update big set note = 'x' where id between 11 and 17")
        .unwrap();
    admin.execute("update small set total = 5 where id = 3; insert into journal values (now(), 'one')").unwrap();
    let after = ask(&target, Moment::AfterRun(&before.baseline)).unwrap();
    let (notes, totals) = (&after.checks[3], &after.checks[4]);
    assert!(!after.holds() && !notes.holds && !totals.holds);
    let mut rows = notes.violations.clone();
    rows.sort();
    assert!(notes.more && rows.len() == 5 && rows[0].starts_with("id=1") && rows[0].ends_with("note=x"), "{rows:?}");
    assert_eq!((totals.violations.as_slice(), totals.more), (&["was totals=0, is totals=5".to_owned()][..], false));
    let after_load = ask(&target, Moment::AfterLoad).unwrap();
    assert_eq!(after_load.checks[0].condition, "count(*) = 0");
    assert_eq!(after_load.checks[0].violations, ["count=1"]);
    assert!(after_load.checks[2].holds);

    // A check that was never asked before the run is not taken for unchanged.
    let unasked = ask(&target, Moment::AfterRun(&Baseline::default())).unwrap();
    assert!(!unasked.checks[4].holds);

    // A limit of the database's does not count.
    admin.execute("alter database checked set statement_timeout = '1ms'").unwrap();
    ask(&target, Moment::AfterLoad).unwrap();
    admin.execute("alter database checked reset statement_timeout").unwrap();

    admin.execute("alter table big rename column note to remark").unwrap();
    let error = ask(&target, Moment::AfterLoad).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("failed to check notes: ") && text.contains("note"), "{text}");
    await_alone(&mut admin);
}

#[test]
fn an_answer_that_the_server_cannot_compute_is_reported_and_the_others_are_compared() {
    if !server::available("an_answer_that_the_server_cannot_compute_is_reported_and_the_others_are_compared") {
        return;
    }
    let server = Server::start("");
    let target = server.database("refused");
    load_with(&target, &Sample::new(&[]), &how(1)).unwrap();
    let check_of = |name, sql: &str, expect| Check {
        name,
        condition: "",
        sql: sql.to_owned().into(),
        parts: None,
        screen: None,
        expect,
        cost: CheckCost::Cheap,
    };
    // PostgreSQL has no way to execute this join.
    let unsupported = "select a.id from small a full join small b on a.id < b.id";
    let answers = [
        check_of("before", "select id from small where id < 0", Expect::Answer),
        check_of("unsupported", unsupported, Expect::Answer),
        check_of("right", "select id from small where id < 0", Expect::Answer),
        check_of("wrong", "select id from small order by id limit 1", Expect::Answer),
    ];
    for connections in [1, 3] {
        let ask = |checks: &[Check]| {
            check(&target, connections, &Sample::new(&[]), &CAPS, Moment::Only(checks), &|_| {}, &Stop::new())
        };
        let report = ask(&answers).unwrap();
        let holds: Vec<_> = report.checks.iter().map(|check| (check.name.as_str(), check.holds)).collect();
        assert_eq!(holds, [("before", true), ("unsupported", false), ("right", true), ("wrong", false)]);
        let why = report.checks[1].refused.as_ref().unwrap();
        assert!(why.contains("FULL JOIN is only supported with") && why.contains("0A000"), "{why}");
        assert!(!why.contains("select") && report.checks[3].refused.is_none(), "{report:?}");
        assert!(!report.holds() && ask(&answers[..3]).unwrap().holds());
        // A condition of the data must be checked.
        let error = ask(&[check_of("condition", unsupported, Expect::NoRow)]).unwrap_err().to_string();
        assert!(error.starts_with("failed to check condition: ERROR: FULL JOIN"), "{error}");
    }
}

/// What one query shows of several checks is not asked again; if it finds a row, or cannot be asked, each check is.
#[test]
fn checks_that_share_a_screen_are_asked_where_it_finds_something() {
    if !server::available("checks_that_share_a_screen_are_asked_where_it_finds_something") {
        return;
    }
    let server = Server::start("");
    let target = server.database("screened");
    load_with(&target, &Sample::new(&[]), &how(1)).unwrap();
    let screened = |name, sql: &str, screen: &str| Check {
        name,
        condition: "",
        sql: sql.to_owned().into(),
        parts: None,
        screen: Some(Screen { name: "both", parts: CheckParts { sql: screen.to_owned(), keys: 1..=2, most: 1 } }),
        expect: Expect::NoRow,
        cost: CheckCost::Cheap,
    };
    let (none, one) = ("select id from small where id < 0", "select min(id) from small");
    for connections in [1, 3] {
        let ask = |checks: &[Check]| {
            let asked = Mutex::new(Vec::new());
            let note = |progress: &CheckProgress<'_>| asked.lock().unwrap().push(progress.check.to_owned());
            let stop = Stop::new();
            let report = check(&target, connections, &Sample::new(&[]), &CAPS, Moment::Only(checks), &note, &stop);
            let holds = report.map(|report| report.checks.into_iter().map(|check| check.holds).collect::<Vec<_>>());
            (holds.unwrap(), asked.into_inner().unwrap())
        };
        let between = screened("between", none, one);
        let between = Check { screen: None, ..between };
        let of = |first, second, screen| [screened("a", first, screen), between.clone(), screened("b", second, screen)];
        // Their own queries would find something.
        let (holds, asked) = ask(&of(one, one, none));
        assert_eq!((holds, asked), (vec![true; 3], ["between", "both", "both"].map(str::to_owned).to_vec()));
        let (holds, asked) = ask(&of(none, one, one));
        assert_eq!(holds, [true, true, false]);
        assert_eq!(asked[asked.len() - 2..], ["a", "b"]);
        let unsupported = "select a.id from small a full join small b on a.id < b.id";
        assert_eq!(ask(&of(none, one, unsupported)).0, [true, true, false]);
        // One alone costs less without it.
        assert_eq!(ask(&[screened("a", none, one)]), (vec![true], vec!["a".to_owned()]));
    }
}

/// What one part of a check finds is reported, although the server refuses another part for a reason that will pass.
#[test]
fn a_part_that_is_refused_hides_no_violation() {
    if !server::available("a_part_that_is_refused_hides_no_violation") {
        return;
    }
    let server = Server::start("");
    let target = server.database("refused_in_part");
    load_with(&target, &Sample::new(&[]), &how(1)).unwrap();
    connect(&target)
        .execute(
            "create function public.conflict() returns boolean language plpgsql as \
             $$ begin raise exception using errcode = '40001', message = 'a conflict'; end $$",
        )
        .unwrap();
    let in_parts = |name, sql: &str| {
        let parts = CheckParts { sql: sql.to_owned(), keys: 1..=2, most: 1 };
        let (sql, parts) = (parts.whole().into(), Some(parts));
        Check { name, condition: "", sql, parts, screen: None, expect: Expect::NoRow, cost: CheckCost::Cheap }
    };
    let found = "select id from (values (1)) part (id) where case when {range:id} then true else conflict() end";
    let refused = "select id from (values (1)) part (id) where {range:id} is null or conflict()";
    let checks = [in_parts("found in part", found), in_parts("refused", refused)];
    let ask = |checks: &[Check]| {
        check(&target, 1, &Sample::new(&[]), &CAPS, Moment::Only(checks), &|_| {}, &Stop::new()).unwrap()
    };
    let report = ask(&checks);
    let [in_part, whole] = &report.checks[..] else { panic!("{report:?}") };
    assert!(!in_part.holds && in_part.refused.is_none() && in_part.violations == ["id=1"], "{report:?}");
    assert!(!whole.holds && whole.refused.as_ref().is_some_and(|why| why.contains("a conflict")), "{report:?}");
    assert!(!report.holds() && ask(&checks[1..]).holds());
}

#[test]
fn a_stop_cancels_a_check_that_waits() {
    if !server::available("a_stop_cancels_a_check_that_waits") {
        return;
    }
    let server = Server::start("");
    let target = server.database("stopped");
    load_with(&target, &Sample::new(&[]), &how(1)).unwrap();
    let (stop, locker) = (Stop::new(), Mutex::new(None));
    let progress = |progress: &CheckProgress<'_>| {
        if progress.check == "rows of big" {
            let mut admin = connect(&target.with_application_name("locker"));
            admin.execute("begin; lock table big in access exclusive mode").unwrap();
            *locker.lock().unwrap() = Some(admin);
            stop.cleanly();
        }
    };
    let error = check(&target, 1, &Sample::new(&[]), &CAPS, Moment::AfterLoad, &progress, &stop).unwrap_err();
    assert_eq!(error.to_string(), "interrupted during check rows of big");
    await_alone(&mut connect(&target.with_application_name("witness")));
}
