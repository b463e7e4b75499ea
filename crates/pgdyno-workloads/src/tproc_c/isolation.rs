//! The isolation tests of clause 3.4.2 and the durability test of clause 3.5.
//!
//! The tests run the stored procedures of runs inside transactions that can be stopped before their end. Where a
//! clause stops a transaction in its middle, a lock of another session blocks the procedure there. The server draws
//! warehouse, district, customer and items.

mod conflicts;
mod dirty;
mod repeatable;

use pgdyno_workload::{Audit, Durability, IsolationLevel, Scenario, ScenarioStep};

/// Tests of atomicity, consistency, isolation and durability.
pub(super) struct Acid;

impl Audit for Acid {
    fn scenarios(&self, level: IsolationLevel) -> Vec<Scenario> {
        dirty::scenarios().into_iter().chain(conflicts::scenarios()).chain(repeatable::scenarios(level)).collect()
    }

    /// Each client enters orders in a district of its own, so that its order numbers are unique.
    fn durability(&self) -> Durability {
        Durability {
            clause: "3.5",
            title: "orders that were acknowledged are there, whole, after the server was killed",
            transaction: "CALL pgdyno_new_order(1, :client.number, 1 + floor(random() * 3000)::int, \
                          ARRAY[1 + floor(random() * 100000)::int, 1 + floor(random() * 100000)::int, \
                          1 + floor(random() * 100000)::int, 1 + floor(random() * 100000)::int, \
                          1 + floor(random() * 100000)::int], '{1,1,1,1,1}', '{1,2,3,4,5}')",
            clients: super::DISTRICTS,
            lost:
                "SELECT d_id, o_id FROM unnest(:acknowledged.clients::int[], :acknowledged.numbers::int[]) AS a (d_id, o_id)
 WHERE NOT EXISTS (SELECT FROM orders WHERE o_w_id = 1 AND o_d_id = a.d_id AND orders.o_id = a.o_id AND o_ol_cnt = 5)
    OR NOT EXISTS (SELECT FROM new_order WHERE no_w_id = 1 AND no_d_id = a.d_id AND no_o_id = a.o_id)
    OR 5 <> (SELECT count(*) FROM order_line WHERE ol_w_id = 1 AND ol_d_id = a.d_id AND ol_o_id = a.o_id)",
        }
    }
}

/// Random inputs, kept as `at`: a district and a customer of it, another district of the warehouse, and three orders
/// of five lines. In the first two, item `x` comes twice and `y` once, and the second has an unused item; the third,
/// for the other district, shares only the last stock. The items are so far apart that serializable transactions do
/// not share index pages.
fn draw() -> ScenarioStep {
    ScenarioStep::look(
        "at",
        "SELECT w, d, d % 10 + 1 AS other_d, c, x, y, ARRAY[x, y, x, x + 1, z] AS i_ids,
       ARRAY[x, y, x, z, 100001] AS i_ids_with_unused, ARRAY[z, z + 1, z, z + 2, z + 3] AS other_i_ids,
       array_fill(w, ARRAY[5]) AS w_ids
  FROM (SELECT w_id AS w, 1 + floor(random() * 10)::int AS d, 1 + floor(random() * 3000)::int AS c,
               1 + floor(random() * 30000)::int AS x, 40001 + floor(random() * 30000)::int AS y,
               80001 + floor(random() * 19990)::int AS z
          FROM warehouse ORDER BY random() LIMIT 1) AS drawn",
    )
}

/// New-Order for the drawn customer.
const NEW_ORDER: &str = "CALL pgdyno_new_order(:at.w, :at.d, :at.c, :at.i_ids, :at.w_ids, '{1,2,3,4,5}')";
/// New-Order in the other district.
const NEW_ORDER_ELSEWHERE: &str =
    "CALL pgdyno_new_order(:at.w, :at.other_d, :at.c, :at.other_i_ids, :at.w_ids, '{1,2,3,4,5}')";
/// New-Order with an unused item, which it rolls back.
const NEW_ORDER_UNUSED_ITEM: &str =
    "CALL pgdyno_new_order(:at.w, :at.d, :at.c, :at.i_ids_with_unused, :at.w_ids, '{1,2,3,4,5}')";
/// Order-Status for the drawn customer.
const ORDER_STATUS: &str = "CALL pgdyno_order_status(:at.w, :at.d, :at.c, NULL)";
const DELIVERY: &str = "CALL pgdyno_delivery(:at.w, 7)";
