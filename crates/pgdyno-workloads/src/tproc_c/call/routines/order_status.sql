-- Order-Status, clause 2.6.2. One statement reads balance, order and lines, so they are of one moment.
CREATE OR REPLACE PROCEDURE pgdyno_order_status(
    in_w_id int, in_d_id int, INOUT io_c_id int, in_c_last varchar,
    INOUT out_c_first varchar DEFAULT NULL, INOUT out_c_middle char DEFAULT NULL,
    INOUT out_c_last varchar DEFAULT NULL, INOUT out_c_balance numeric DEFAULT NULL,
    INOUT out_o_id int DEFAULT NULL, INOUT out_entry_d timestamptz DEFAULT NULL,
    INOUT out_carrier_id int DEFAULT NULL,
    INOUT out_i_ids int[] DEFAULT NULL, INOUT out_supply_w_ids int[] DEFAULT NULL,
    INOUT out_quantities int[] DEFAULT NULL, INOUT out_amounts numeric[] DEFAULT NULL,
    INOUT out_delivery_ds timestamptz[] DEFAULT NULL)
LANGUAGE plpgsql AS $$
DECLARE
    named int[];
BEGIN
    IF in_c_last IS NOT NULL THEN
        -- The row at n/2, rounded up, of those with this name, by first name (clause 2.6.2.2).
        named := ARRAY(SELECT c_id FROM customer
                        WHERE c_w_id = in_w_id AND c_d_id = in_d_id AND c_last = in_c_last
                        ORDER BY c_first, c_id);
        io_c_id := named[(cardinality(named) + 1) / 2];
    END IF;

    SELECT c_first, c_middle, c_last, c_balance, o_id, o_entry_d, o_carrier_id,
           l.i_ids, l.supply_w_ids, l.quantities, l.amounts, l.delivery_ds
      INTO STRICT out_c_first, out_c_middle, out_c_last, out_c_balance, out_o_id, out_entry_d,
           out_carrier_id, out_i_ids, out_supply_w_ids, out_quantities, out_amounts, out_delivery_ds
      FROM customer
      LEFT JOIN LATERAL (
           SELECT o_id, o_entry_d, o_carrier_id FROM orders
            WHERE o_w_id = in_w_id AND o_d_id = in_d_id AND o_c_id = io_c_id
            ORDER BY o_id DESC LIMIT 1) AS o ON true
      LEFT JOIN LATERAL (
           SELECT array_agg(ol_i_id) AS i_ids, array_agg(ol_supply_w_id) AS supply_w_ids,
                  array_agg(ol_quantity::int) AS quantities, array_agg(ol_amount) AS amounts,
                  array_agg(ol_delivery_d) AS delivery_ds
             FROM order_line
            WHERE ol_w_id = in_w_id AND ol_d_id = in_d_id AND ol_o_id = o.o_id) AS l ON true
     WHERE c_w_id = in_w_id AND c_d_id = in_d_id AND c_id = io_c_id;
END $$;
