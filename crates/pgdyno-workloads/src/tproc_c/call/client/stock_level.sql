SELECT count(*)
  FROM stock
 WHERE s_w_id = $1 AND s_quantity < $3
   AND s_i_id = ANY (ARRAY(
       SELECT ol_i_id
         FROM district
         JOIN order_line ON ol_w_id = d_w_id AND ol_d_id = d_id
                        AND ol_o_id < d_next_o_id AND ol_o_id >= d_next_o_id - 20
        WHERE d_w_id = $1 AND d_id = $2))
