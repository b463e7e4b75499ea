-- Stock-Level, clause 2.8.2: distinct items of the district's last twenty orders whose stock is below the
-- threshold. The stock is read by one scan of its key for all items, which the index takes once each however
-- often they were ordered.
CREATE OR REPLACE PROCEDURE pgdyno_stock_level(
    in_w_id int, in_d_id int, in_threshold int, INOUT out_low_stock int DEFAULT NULL)
LANGUAGE plpgsql AS $$
BEGIN
    SELECT count(*) INTO out_low_stock
      FROM stock
     WHERE s_w_id = in_w_id AND s_quantity < in_threshold
       AND s_i_id = ANY (ARRAY(
           SELECT ol_i_id
              FROM district
              JOIN order_line ON ol_w_id = d_w_id AND ol_d_id = d_id
                             AND ol_o_id < d_next_o_id AND ol_o_id >= d_next_o_id - 20
             WHERE d_w_id = in_w_id AND d_id = in_d_id));
END $$;
