//! The closed loop, in virtual time.

use pgdyno_workload::Rng;

use crate::truth::agrees;
use crate::{Delays, MS, Run, S};

#[test]
fn every_percentile_of_a_closed_loop_is_the_servers_own() {
    for delays in Delays::ALL {
        for clients in [1, 16] {
            let (mut service, mut truth) = (delays.service(), Vec::new());
            let part = Run::of(clients).simulate(5 * S, |_, at| {
                truth.push(service(at));
                truth[truth.len() - 1]
            });
            agrees(&format!("{delays:?}, {clients} clients"), &part.txns[0].service, &truth);
            assert_eq!(part.txns[0].response, None, "without a schedule the two are the same");
        }
    }
}

/// Coordinated omission: a client that waits asks for nothing meanwhile, so that a second in which nobody was served is as
/// many slow transactions as there are clients, however many there would have been.
#[test]
fn a_stall_is_one_slow_transaction_for_each_client_of_a_closed_loop() {
    for clients in [1, 16] {
        let mut service = Delays::Stall.service();
        let part = Run::of(clients).simulate(10 * S, |_, at| service(at));
        let histogram = part.txns[0].service.histogram().unwrap();
        assert_eq!(histogram.count_between(500 * MS, 2 * S), clients as u64);
        assert!(part.txns[0].service.quantile_ns(0.999).unwrap() < 2 * MS, "and no percentile knows of it");
    }
}

#[test]
fn a_transactions_latency_is_the_sum_of_its_statements_and_each_has_its_own() {
    let mut rng = Rng::new(3);
    let (mut asked, mut statements, mut transactions) = (vec![0; 4], vec![Vec::new(); 3], Vec::new());
    let mut so_far = [0; 4];
    let part = Run { statements: 3, ..Run::of(4) }.simulate(10 * S, |client, _| {
        let nth = asked[client] % 3;
        asked[client] += 1;
        let ns = rng.uniform(1, 20 * (nth as i64 + 1)) as u64 * MS / 2;
        statements[nth].push(ns);
        so_far[client] += ns;
        if nth == 2 {
            transactions.push(std::mem::take(&mut so_far[client]));
        }
        ns
    });
    agrees("transactions", &part.txns[0].service, &transactions);
    for (nth, truth) in statements.iter().enumerate() {
        agrees(&format!("statement {nth}"), &part.stmts[nth].latency, truth);
    }
}

#[test]
fn thinking_is_in_no_latency_and_makes_the_load_smaller() {
    let (mut service, mut truth) = (Delays::Jitter.service(), Vec::new());
    let mut ends = [0; 8];
    let think_ns = 40 * MS;
    let part = Run { think_ns, ..Run::of(8) }.simulate(20 * S, |client, at| {
        assert_eq!(at, ends[client] + think_ns, "a client thinks for as long as it should");
        truth.push(service(at));
        ends[client] = at + truth[truth.len() - 1];
        truth[truth.len() - 1]
    });
    agrees("thinking clients", &part.txns[0].service, &truth);
    let late = &part.timer_lateness;
    assert_eq!(
        (late.count(), late.max_ns()),
        (truth.len() as u64, 0),
        "a thought for each, and in virtual time no timer is late"
    );
}
