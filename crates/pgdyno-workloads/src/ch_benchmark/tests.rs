use pgdyno_workload::{ClientId, Rng};

use super::*;

fn built(given: &[(&str, &str)]) -> Workload {
    build(&Params::new(META.id, META.params, given.iter().copied()).unwrap())
}

fn client(workload: &Workload, group: &'static str, id: u32) -> Box<dyn ClientScript> {
    let context = ClientContext {
        stage: MIXED,
        group,
        id: ClientId(id),
        clients: 2,
        rng: Rng::new(1),
        seed: 1,
        has_ledger: false,
    };
    (workload.drive.numbered(&Capabilities::default()).scripts_of(group).unwrap().client)(&context)
}

#[test]
fn transactions_are_those_of_tproc_c_and_streams_have_their_own_order_without_end() {
    let workload = built(&[("warehouses", "3"), ("streams", "2"), ("queries", "1,14,18")]);
    let txns = workload.drive.txns();
    assert_eq!((txns.len(), txns[0].name, txns[5].name, txns[26].name), (27, "new-order", "q1", "q22"));
    let order = |id| {
        let mut stream = client(&workload, QUERIES_GROUP, id);
        let queries = workload.drive.scripts[1].txns.iter();
        let queries: Vec<_> = queries.map(|txn| txn.name).collect();
        let names = std::iter::from_fn(|| stream.begin()).map(|begin| queries[usize::from(begin.txn.0)]);
        names.take(4).collect::<Vec<_>>()
    };
    assert_eq!([order(0), order(1)], [["q18", "q14", "q1", "q18"], ["q14", "q18", "q1", "q14"]]);
    let mut terminal = client(&workload, TRANSACTIONS_GROUP, 0);
    assert!((0..50).all(|_| terminal.begin().unwrap().txn.0 < 5));
    assert_eq!((workload.scale, workload.data.len(), workload.data[0].meta().id), (3, 2, "tproc-c"));
    assert_eq!(workload.data[0].params().text("warehouses"), "3");
    let statements = workload.drive.numbered(&Capabilities::default()).statements;
    let of_q22 = statements.iter().rposition(|statement| statement.txn.is_some()).unwrap();
    assert_eq!((statements[of_q22].txn, statements.len() - of_q22), (Some(26), 4));
    assert_eq!(statements[0].txn, Some(0));
    let growth = workload.drive.growth.unwrap();
    let named = std::iter::once(&growth.txn).chain(growth.unaffected);
    assert!(named.into_iter().all(|name| txns.iter().any(|txn| txn.name == *name)), "{growth:?}");
}

#[test]
fn markers_are_written_by_one_statement_after_those_of_tproc_c() {
    let statements = |given: &[(&str, &str)]| {
        let numbered = built(given).drive.numbered(&Capabilities::default());
        let numbers = &numbered.scripts_of(TRANSACTIONS_GROUP).unwrap().numbers;
        let texts = numbered.statements[numbers.statements.clone()].iter();
        texts.map(|statement| statement.statement.sql().to_owned()).collect::<Vec<_>>()
    };
    let (plain, marked) = (statements(&[]), statements(&[(MARKERS, "true")]));
    assert_eq!((plain.len(), marked.len(), &plain[..]), (5, 6, &marked[..5]));
    assert!(marked[5].starts_with("insert into ch_markers"), "{}", marked[5]);
}

#[test]
fn stages_are_of_both_sides_then_of_each_alone() {
    let stages = |given: &[(&str, &str)]| {
        let drive = built(given).drive;
        drive.stages.iter().map(|stage| (stage.name, stage.clients(16))).collect::<Vec<_>>()
    };
    assert_eq!(stages(&[]), [("mixed", 17)]);
    let alone = [("mixed", 18), ("olap-alone", 2), ("oltp-alone", 16)];
    assert_eq!(stages(&[("streams", "2"), ("alone", "true")]), alone);
    assert_eq!(stages(&[("streams", "0")]), [("oltp-alone", 16)]);
    assert_eq!(stages(&[("transactions", "false")]), [("olap-alone", 1)]);
    assert_eq!(stages(&[("transactions", "false"), ("streams", "0")]), [("oltp-alone", 16)]);
}

#[test]
fn a_run_has_metrics_of_its_sides_only() {
    let names = |given: &[(&str, &str)]| {
        let drive = built(given).drive;
        drive.metrics.iter().map(|metric| metric.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&[]), ["nopm", "analytics-per-hour", "analytics-time"]);
    assert_eq!(names(&[("streams", "0")]), ["nopm"]);
    assert_eq!(names(&[("transactions", "false")]), ["analytics-per-hour-alone", "analytics-time-alone"]);
    assert_eq!(names(&[("alone", "true")]).len(), 6);
}

#[test]
fn what_a_query_cannot_show_is_reported() {
    let advice = |given: &[(&str, &str)]| built(given).drive.advice(1).join("; ");
    assert!(advice(&[("warehouses", "1")]).contains("q19 names warehouses 1 to 5"));
    assert!(!advice(&[("warehouses", "5")]).contains("q19"));
    assert!(!advice(&[("warehouses", "1"), ("queries", "1")]).contains("q19"));
    let none = advice(&[("streams", "0"), ("queries", "1"), ("timeout", "5"), ("transactions", "false")]);
    assert!(none.contains("--queries and --timeout have no effect with --streams 0"), "{none}");
    assert!(none.contains("-D transactions=false has no effect"), "{none}");
    assert!(!advice(&[("streams", "0")]).contains("no effect"));
    for one_side in [("streams", "0"), ("transactions", "false")] {
        assert!(advice(&[one_side, ("alone", "true")]).contains("--alone has no effect on a run of one side"));
        assert!(!advice(&[one_side]).contains("--alone"));
    }
    let why_no_rows: Vec<_> = built(&[]).drive.txns().iter().map(|txn| txn.why_no_rows).collect();
    assert!(why_no_rows[26].is_some_and(|why| why.contains("always empty")));
    assert_eq!([why_no_rows[0], why_no_rows[5]], [None, None]);
}
