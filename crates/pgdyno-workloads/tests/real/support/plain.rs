//! The twelve consistency conditions of `tproc-c`, written once more, in plain SQL.

use super::Connection;

/// The conditions of clause 3.3.2 from the side of a single row: correlated subqueries over the indexes
/// instead of joins of aggregates. Each counts the rows that break it. Conditions 2 and 3 without the
/// districts that have no new order; condition 11 with the deliveries since the load.
const PLAIN: [(&str, &str); 12] = [
    (
        "1",
        "select count(*) from warehouse w where w_ytd <>
           (select sum(d_ytd) from district where d_w_id = w.w_id)",
    ),
    (
        "2",
        "select count(*) from district d
          where d_next_o_id - 1 not in (select o_id from orders where o_w_id = d_w_id and o_d_id = d.d_id)
             or exists (select from orders where o_w_id = d_w_id and o_d_id = d.d_id and o_id >= d_next_o_id)
             or exists (select from new_order where no_w_id = d_w_id and no_d_id = d.d_id and no_o_id >= d_next_o_id)
             or not exists (select from new_order where no_w_id = d_w_id and no_d_id = d.d_id and no_o_id = d_next_o_id - 1)
            and exists (select from new_order where no_w_id = d_w_id and no_d_id = d.d_id)",
    ),
    (
        "3",
        "select count(*) from new_order n
          where not exists (select from new_order p where p.no_w_id = n.no_w_id
                               and p.no_d_id = n.no_d_id and p.no_o_id = n.no_o_id - 1)
            and exists (select from new_order p where p.no_w_id = n.no_w_id
                           and p.no_d_id = n.no_d_id and p.no_o_id < n.no_o_id)",
    ),
    (
        "4",
        "select count(*) from district d
          where (select sum(o_ol_cnt) from orders where o_w_id = d_w_id and o_d_id = d_id)
             <> (select count(*) from order_line where ol_w_id = d_w_id and ol_d_id = d_id)",
    ),
    (
        "5",
        "select count(*) from orders
          where (o_carrier_id is null) <> exists (select from new_order
                 where no_w_id = o_w_id and no_d_id = o_d_id and no_o_id = o_id)",
    ),
    (
        "6",
        "select count(*) from orders where o_ol_cnt <>
           (select count(*) from order_line where ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id)",
    ),
    (
        "7",
        "select count(*) from order_line where (ol_delivery_d is null) <>
           (select o_carrier_id is null from orders
             where o_w_id = ol_w_id and o_d_id = ol_d_id and o_id = ol_o_id)",
    ),
    (
        "8",
        "select count(*) from warehouse where w_ytd <> (select sum(h_amount) from history where h_w_id = w_id)",
    ),
    (
        "9",
        "select count(*) from district where d_ytd <>
           (select sum(h_amount) from history where h_w_id = d_w_id and h_d_id = d_id)",
    ),
    // The history has no index, so the next two look at a sample of customers: those who paid most.
    (
        "10",
        "with paid as (select h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) as amount from history
                        group by 1, 2, 3 order by count(*) desc limit 500)
         select count(*) from paid join customer on c_w_id = h_c_w_id and c_d_id = h_c_d_id and c_id = h_c_id
          where c_balance <> -amount + coalesce(
            (select sum(l.ol_amount) from orders o join order_line l
                 on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id and ol_delivery_d is not null
              where o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id), 0)",
    ),
    (
        "11",
        "select count(*) from district d
          where (select count(*) from orders where o_w_id = d_w_id and o_d_id = d_id)
              - (select count(*) from new_order where no_w_id = d_w_id and no_d_id = d_id)
              - (select sum(c_delivery_cnt) from customer where c_w_id = d_w_id and c_d_id = d_id) <> 2100",
    ),
    (
        "12",
        "select count(*) from customer where c_balance + c_ytd_payment <> coalesce(
            (select sum(l.ol_amount) from orders o join order_line l
                 on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id and ol_delivery_d is not null
              where o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id), 0)",
    ),
];

/// Asks each of them.
pub(crate) fn assert_plain_conditions_hold(sql: &mut Connection) {
    for (condition, query) in PLAIN {
        assert_eq!(sql.value(query), "0", "condition {condition}");
    }
}
