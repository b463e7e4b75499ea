WITH picked AS (
    SELECT d_id, o_id FROM unnest($2, $3) AS p (d_id, o_id)
), carried AS (
    UPDATE orders SET o_carrier_id = $4 FROM picked
     WHERE o_w_id = $1 AND o_d_id = picked.d_id AND orders.o_id = picked.o_id
    RETURNING o_d_id, o_c_id
), delivered AS (
    UPDATE order_line SET ol_delivery_d = current_timestamp FROM picked
     WHERE ol_w_id = $1 AND ol_d_id = picked.d_id AND ol_o_id = picked.o_id
    RETURNING ol_d_id, ol_amount
)
UPDATE customer
   SET c_balance = c_balance + due.amount, c_delivery_cnt = (c_delivery_cnt + 1) & 32767
  FROM (SELECT o_d_id, o_c_id, coalesce(sum(ol_amount), 0) AS amount
          FROM carried JOIN delivered ON ol_d_id = o_d_id
         GROUP BY o_d_id, o_c_id) AS due
 WHERE c_w_id = $1 AND c_d_id = due.o_d_id AND c_id = due.o_c_id
