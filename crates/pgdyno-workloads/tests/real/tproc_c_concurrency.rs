//! `tproc-c` with many clients on one warehouse: no deadlock, no lost update, retries where they belong.

use crate::by_hand::{FORMS, Form};
use crate::support::{Client, Connection, Server, assert_conditions_hold, tproc_c};
use pgdyno_wire::QueryMode;
use pgdyno_workload::{Rng, Workload};

const CLIENTS: u32 = 8;

/// Each client does `count` transactions; returns how often one had to be tried again.
fn hammer(server: &Server, database: &str, workload: &Workload, count: u32) -> u32 {
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|id| {
                scope.spawn(move || {
                    let mut client = Client::new(
                        server.connect(database),
                        workload,
                        QueryMode::Prepared,
                        id,
                        CLIENTS,
                        Rng::derive(1, "client", &[u64::from(id)]),
                    );
                    (0..count).map(|_| client.transact_with_retries().2).sum::<u32>()
                })
            })
            .collect();
        clients.into_iter().map(|c| c.join().unwrap()).sum()
    })
}

#[test]
fn eight_clients_on_one_warehouse() {
    let Some(server) = Server::with_warehouses("w1") else { return };
    let workload = tproc_c(&[]);
    let mut sql = server.connect("w1");

    let retries = hammer(&server, "w1", &workload, 500);
    assert_eq!(retries, 0, "deadlocks at READ COMMITTED");
    assert_conditions_hold(&mut sql, &workload);

    orders_of_the_same_items_do_not_deadlock(&server);
    assert_conditions_hold(&mut sql, &workload);

    // Under the stricter levels only 40001 may come out, and the retry must succeed.
    for level in ["repeatable read", "serializable"] {
        sql.run(&format!("alter database w1 set default_transaction_isolation = '{level}'"));
        let retries = hammer(&server, "w1", &workload, 100);
        assert!(retries > 0, "{level}: no conflict among {CLIENTS} clients");
        assert_conditions_hold(&mut sql, &workload);
    }
    assert_eq!(sql.value("select deadlocks from pg_stat_database where datname = 'w1'"), "0");
}

/// What other kits get wrong with several warehouses: lines supplied from home that claim to be remote, stock
/// that is taken from the wrong warehouse, counters that nobody keeps.
#[test]
fn remote_work_is_done_and_counted_where_it_belongs() {
    let Some(server) = Server::with_warehouses("w2") else { return };
    for form in FORMS {
        let workload = tproc_c(&[("warehouses", "2"), ("all-warehouses", "true"), ("call", form)]);
        let mut sql = server.copy("w2", form);
        assert_eq!(hammer(&server, form, &workload, 200), 0);
        assert_conditions_hold(&mut sql, &workload);
        remote_work_is_counted(&mut sql);
    }
}

fn remote_work_is_counted(sql: &mut Connection) {
    let taken = sql.rows(
        "select ol_supply_w_id, sum(ol_quantity), count(*), count(*) filter (where ol_w_id <> ol_supply_w_id)
           from order_line where ol_o_id > 3000 group by 1 order by 1",
    );
    let counted =
        sql.rows("select s_w_id, sum(s_ytd), sum(s_order_cnt), sum(s_remote_cnt) from stock group by 1 order by 1");
    assert_eq!(taken, counted);
    assert!(counted.iter().all(|w| w[3] != "0"), "no remote line: {counted:?}");
    assert_eq!(
        sql.value(
            "select count(*) from orders where o_id > 3000 and (o_all_local = 1) <> not exists (
               select from order_line where ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id
                  and ol_supply_w_id <> o_w_id)"
        ),
        "0"
    );
    assert_eq!(
        sql.value(
            "select count(*) from order_line
               join item on i_id = ol_i_id join stock on s_i_id = ol_i_id and s_w_id = ol_supply_w_id
              where ol_o_id > 3000 and (ol_amount <> ol_quantity * i_price or ol_dist_info <>
                (array[s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05,
                       s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10])[ol_d_id])"
        ),
        "0"
    );
    let remote_payments = "select count(*) from history where h_c_w_id <> h_w_id";
    assert_ne!(sql.value(remote_payments), "0");
    // Every payment is in the customer's own counters.
    assert_eq!(
        sql.value(
            "select count(*) from customer join (select h_c_w_id, h_c_d_id, h_c_id, count(*) as payments,
                    sum(h_amount) as amount from history group by 1, 2, 3) as h
                 on h_c_w_id = c_w_id and h_c_d_id = c_d_id and h_c_id = c_id
              where c_payment_cnt <> payments or c_ytd_payment <> amount"
        ),
        "0"
    );
}

/// The strongest test of the lock order: every order wants the same fifteen items, each order in another
/// sequence, in all call forms at once, and each client has a district of its own, so that nothing else makes them
/// wait.
fn orders_of_the_same_items_do_not_deadlock(server: &Server) {
    let mut sql = server.connect("w1");
    let stock = "select s_i_id, s_quantity, s_order_cnt from stock where s_i_id <= 15 order by 1";
    let before = sql.rows(stock);
    std::thread::scope(|scope| {
        for id in 1..=CLIENTS {
            scope.spawn(move || {
                let mut sql = server.connect("w1");
                let mut rng = Rng::derive(2, "client", &[u64::from(id)]);
                let form = Form::new(FORMS[id as usize % 3]);
                let mut lines: Vec<_> = (1..=15).map(|i| (i, 1, 15)).collect();
                for _ in 0..150 {
                    rng.shuffle(&mut lines);
                    assert!(form.new_order(&mut sql, [1, id as i32, 1], &lines).is_some());
                }
            });
        }
    });
    // 1200 orders of 15 each. The rule of clause 2.4.2.2 is subtraction modulo 91, from 10 on.
    let number = |text: &str| text.parse::<i32>().unwrap();
    for (b, a) in before.iter().zip(sql.rows(stock)) {
        assert_eq!(number(&a[2]) - number(&b[2]), 1_200, "item {}: an order was lost", a[0]);
        assert_eq!((number(&b[1]) - number(&a[1]) - 1_200 * 15) % 91, 0, "item {}: an update was lost", a[0]);
    }
}
