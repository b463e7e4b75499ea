//! `tproc-c` through the whole life cycle: both profiles, every way to call.

use crate::given_server::{Place, TRUST};

#[test]
fn every_profile_by_every_call_form_leaves_every_condition_true() {
    let Some(place) = Place::with_warehouse("profiles and call forms", "fsync = off\nshared_buffers = 256MB\n", TRUST)
    else {
        return;
    };
    for profile in ["hammerdb", "spec"] {
        for call in ["procedure", "function", "client"] {
            let what = format!("run tproc-c --profile {profile} --call {call} --no-think --vu 6 -t 20");
            place.run(&what).ok().prints(&["NOPM", "TPM", "client and server counts match"]);
            let run = place.home.runs().pop().unwrap();
            assert_eq!([run.text("/plan/params/profile"), run.text("/plan/params/call")], [profile, call]);
            assert_eq!(run.checks_that_hold(), ["before the run", "after the run"], "{what}");
            assert_eq!(run.number("/summary/failed"), 0.0, "{what}");
            let orders = ["/summary/new_orders_by_server", "/summary/new_orders_by_client"].map(|at| run.number(at));
            assert!(orders[0] == orders[1] && orders[0] > 0.0, "{what}: {orders:?}");
            let share = run.number("/transactions/0/share_planned");
            assert!((share - if profile == "spec" { 0.45 } else { 10.0 / 23.0 }).abs() < 1e-9, "{share}");
            let grown = run.at("/server/tables").as_array().unwrap();
            let order_line = grown.iter().find(|table| table["name"] == "order_line").unwrap();
            assert!(order_line["bytes_after"].as_u64() > order_line["bytes_before"].as_u64(), "{order_line}");
            assert!(run.at("/tallies").as_array().unwrap().iter().any(|t| t["count"].as_u64() > Some(0)));
        }
    }
    place.home.run(&["report", "last", "--format", "time-profile"]).ok().prints(&[
        "transaction",
        "calls",
        "ratio %",
        "new-order",
        "stock-level",
        "all",
    ]);
    place.home.run(&["report", "last", "--format", "markdown"]).ok().prints(&["| 5.2.3 |", "NOT MET"]);
}
