use pgdyno_workload::{ClientId, Rng};

use super::*;

fn built(given: &[(&str, &str)]) -> Workload {
    build(&Params::new(META.id, META.params, given.iter().copied()).unwrap())
}

fn client(workload: &Workload, group: &'static str, id: u32) -> Box<dyn ClientScript> {
    let context = ClientContext { stage: MIXED, group, id: ClientId(id), clients: 2, rng: Rng::new(1) };
    workload.drive.client(&context)
}

#[test]
fn transactions_are_those_of_tproc_c_and_streams_have_their_own_order_without_end() {
    let workload = built(&[("warehouses", "3"), ("streams", "2"), ("queries", "1,14,18")]);
    let txns = workload.drive.txns();
    assert_eq!((txns.len(), txns[0].name, txns[5].name, txns[26].name), (27, "new-order", "q1", "q22"));
    let order = |id| {
        let mut stream = client(&workload, QUERIES_GROUP, id);
        let names = std::iter::from_fn(|| stream.begin()).map(|begin| txns[usize::from(begin.txn.0)].name);
        names.take(4).collect::<Vec<_>>()
    };
    assert_eq!([order(0), order(1)], [["q18", "q14", "q1", "q18"], ["q14", "q18", "q1", "q14"]]);
    let mut terminal = client(&workload, TRANSACTIONS_GROUP, 0);
    assert!((0..50).all(|_| terminal.begin().unwrap().txn.0 < 5));
    assert_eq!((workload.scale, workload.data.len(), workload.data[0].meta().id), (3, 2, "tproc-c"));
    assert_eq!(workload.data[0].params().text("warehouses"), "3");
    let statements = workload.drive.statements(&Capabilities::default());
    let of_q22 = workload.drive.statement_use(statements.len() - 5);
    assert_eq!(of_q22.txn, Some(26));
    assert_eq!(workload.drive.statement_use(0).txn, Some(0));
    let growth = workload.drive.growth().unwrap();
    assert_eq!(txns[growth.txn].name, "new-order");
    assert_eq!(growth.unaffected.iter().map(|nth| txns[*nth].name).collect::<Vec<_>>(), ["q2", "q11", "q16"]);
}

#[test]
fn stages_are_of_both_sides_then_of_each_alone() {
    let stages = |given: &[(&str, &str)]| {
        let stages = built(given).drive.stages();
        stages.iter().map(|stage| (stage.name, stage.clients(16))).collect::<Vec<_>>()
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
        drive.counted().metrics.iter().map(|metric| metric.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&[]), ["nopm", "analytics-per-hour", "analytics-time"]);
    assert_eq!(names(&[("streams", "0")]), ["nopm"]);
    assert_eq!(names(&[("transactions", "false")]), ["analytics-per-hour-alone", "analytics-time-alone"]);
    assert_eq!(names(&[("alone", "true")]).len(), 6);
}

#[test]
fn what_a_query_cannot_show_is_told() {
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
    let drive = built(&[]).drive;
    assert!(drive.why_no_rows(26).is_some_and(|why| why.contains("always empty")));
    assert_eq!([drive.why_no_rows(0), drive.why_no_rows(5)], [None, None]);
}
