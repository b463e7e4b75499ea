use super::*;
use crate::tproc_c::population::Seed;

fn with_draw<T>(warehouses: u32, f: impl FnOnce(&mut Draw<'_>) -> T) -> T {
    let mut rng = Rng::new(11);
    f(&mut Draw { rng: &mut rng, constants: Seed(1).run_constants(), warehouses })
}

/// Returns true if `count` of `total` is within four standard deviations of `share`.
fn is_share(count: usize, total: usize, share: f64) -> bool {
    let (total, count) = (total as f64, count as f64);
    (count - total * share).abs() < 4.0 * (total * share * (1.0 - share)).sqrt()
}

#[test]
fn new_orders_are_drawn_as_the_clause_says() {
    const N: usize = 40_000;
    let orders: Vec<NewOrder> = with_draw(5, |draw| (0..N).map(|_| NewOrder::draw(3, draw)).collect());
    let lines: usize = orders.iter().map(|o| o.items().len()).sum();
    assert!((9.9..10.1).contains(&(lines as f64 / N as f64)));
    for order in &orders {
        assert!((5..=15).contains(&order.items().len()));
        assert!((1..=10).contains(&order.d_id) && (1..=3000).contains(&order.c_id));
        assert!(order.quantities().iter().all(|q| (1..=10).contains(q)));
        let (last, others) = order.items().split_last().unwrap();
        assert!(others.iter().all(|i| (1..=100_000).contains(i)));
        assert!((1..=100_001).contains(last));
        assert_eq!(order.items().len(), order.supply_warehouses().len());
        assert_eq!(order.items().len(), order.quantities().len());
    }
    let unused = orders.iter().filter(|o| o.items().last() == Some(&100_001)).count();
    assert!(is_share(unused, N, 0.01), "{unused} unused items");
    // Remote lines come from each of the four other warehouses with equal probability, and never from home.
    let mut by_warehouse = [0; 6];
    for w in orders.iter().flat_map(|o| o.supply_warehouses()) {
        by_warehouse[*w as usize] += 1;
    }
    assert_eq!(by_warehouse[0], 0);
    for w in [1, 2, 4, 5] {
        assert!(is_share(by_warehouse[w], lines, 0.0025), "{by_warehouse:?}");
    }
}

#[test]
fn payments_are_drawn_as_the_clause_says() {
    const N: usize = 40_000;
    let payments: Vec<Payment> = with_draw(4, |draw| (0..N).map(|_| Payment::draw(1, draw)).collect());
    let count = |f: &dyn Fn(&Payment) -> bool| payments.iter().filter(|p| f(p)).count();
    assert!(is_share(count(&|p| matches!(p.customer, Customer::Name(_))), N, 0.6));
    assert!(is_share(count(&|p| p.c_w_id != 1), N, 0.15));
    for w in 2..=4 {
        assert!(is_share(count(&|p| p.c_w_id == w), N, 0.05), "{w}");
    }
    assert_eq!(count(&|p| p.c_w_id == 1 && p.c_d_id != p.d_id), 0);
    assert!(count(&|p| p.c_w_id != 1 && p.c_d_id != p.d_id) > 0);
    assert_eq!(count(&|p| !(100..=500_000).contains(&p.amount_cents)), 0);
    assert!(count(&|p| p.amount_cents % 100 != 0) > 0, "whole amounts");
}

#[test]
fn with_one_warehouse_nothing_is_remote() {
    with_draw(1, |draw| {
        for _ in 0..10_000 {
            let payment = Payment::draw(1, draw);
            assert_eq!((payment.c_w_id, payment.c_d_id), (1, payment.d_id));
            let order = NewOrder::draw(1, draw);
            assert!(order.supply_warehouses().iter().all(|w| *w == 1));
        }
    });
}

#[test]
fn a_remote_warehouse_is_any_but_home() {
    for home in 1..=3 {
        let drawn: std::collections::BTreeSet<i32> =
            with_draw(3, |draw| (0..200).map(|_| draw.remote_warehouse(home)).collect());
        let others: std::collections::BTreeSet<i32> = (1..=3).filter(|w| *w != home).collect();
        assert_eq!(drawn, others);
    }
}
