-- Delivery, clause 2.7.4: the oldest undelivered order of each of the ten districts in one transaction;
-- a district that has none is skipped (clause 2.7.4.2).
--
-- The rows of new_order are locked district by district. A second Delivery waits at the first district that
-- both want and then finds the next order: none is delivered twice, and none is passed over. Because the
-- locks are held to the end, two Deliveries that go on together have no district, and so no customer, in
-- common. Of lines that HammerDB has entered the amount may be NULL. c_delivery_cnt starts again at 0 after 32767, as c_payment_cnt does.
CREATE OR REPLACE PROCEDURE pgdyno_delivery(
    in_w_id int, in_carrier_id int,
    INOUT out_d_ids int[] DEFAULT NULL, INOUT out_o_ids int[] DEFAULT NULL)
LANGUAGE plpgsql AS $$
BEGIN
    SELECT array_agg(d_id), array_agg(o_id) INTO out_d_ids, out_o_ids
      FROM (SELECT d.d_id, n.no_o_id AS o_id
              FROM generate_series(1, 10) AS d (d_id)
             CROSS JOIN LATERAL (
                   SELECT no_o_id FROM new_order
                    WHERE no_w_id = in_w_id AND no_d_id = d.d_id
                    ORDER BY no_o_id LIMIT 1 FOR UPDATE) AS n) AS oldest;

    WITH picked AS (
        SELECT d_id, o_id FROM unnest(out_d_ids, out_o_ids) AS p (d_id, o_id)
    ), gone AS (
        DELETE FROM new_order USING picked
         WHERE no_w_id = in_w_id AND no_d_id = d_id AND no_o_id = o_id
    ), carried AS (
        UPDATE orders SET o_carrier_id = in_carrier_id FROM picked
         WHERE o_w_id = in_w_id AND o_d_id = picked.d_id AND orders.o_id = picked.o_id
        RETURNING o_d_id, o_c_id
    ), delivered AS (
        UPDATE order_line SET ol_delivery_d = current_timestamp FROM picked
         WHERE ol_w_id = in_w_id AND ol_d_id = picked.d_id AND ol_o_id = picked.o_id
        RETURNING ol_d_id, ol_amount
    )
    UPDATE customer
       SET c_balance = c_balance + due.amount, c_delivery_cnt = (c_delivery_cnt + 1) & 32767
      FROM (SELECT o_d_id, o_c_id, coalesce(sum(ol_amount), 0) AS amount
              FROM carried JOIN delivered ON ol_d_id = o_d_id
             GROUP BY o_d_id, o_c_id) AS due
     WHERE c_w_id = in_w_id AND c_d_id = due.o_d_id AND c_id = due.o_c_id;
END $$;
