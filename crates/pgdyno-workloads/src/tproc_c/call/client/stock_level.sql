WITH next AS MATERIALIZED (
    SELECT d_next_o_id AS o_id FROM district WHERE d_w_id = $1 AND d_id = $2
)
SELECT count(*)
  FROM stock
 WHERE s_w_id = $1 AND s_quantity < $3
   AND s_i_id = ANY (ARRAY(
       SELECT ol_i_id
         FROM order_line
        WHERE ol_w_id = $1 AND ol_d_id = $2
          AND ol_o_id < (SELECT o_id FROM next) AND ol_o_id >= (SELECT o_id - 20 FROM next)))
