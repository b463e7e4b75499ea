SELECT c_first, c_middle, c_last, c_balance, o_id, o_entry_d, o_carrier_id,
       l.i_ids, l.supply_w_ids, l.quantities, l.amounts, l.delivery_ds
  FROM customer
  LEFT JOIN LATERAL (
       SELECT o_id, o_entry_d, o_carrier_id FROM orders
        WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3
        ORDER BY o_id DESC LIMIT 1) AS o ON true
  LEFT JOIN LATERAL (
       SELECT array_agg(ol_i_id) AS i_ids, array_agg(ol_supply_w_id) AS supply_w_ids,
              array_agg(ol_quantity) AS quantities, array_agg(ol_amount) AS amounts,
              array_agg(ol_delivery_d) AS delivery_ds
         FROM order_line
        WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = o.o_id) AS l ON true
 WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3
