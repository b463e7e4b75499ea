-- Stock-Level, clause 2.8.2: distinct items of the district's last twenty orders whose stock is below the
-- threshold. The stock is read by one scan of its key for all items, which the index takes once each however
-- often they were ordered.
--
-- The district is not joined but read first. Between vacuums its few rows take many pages, so the planner expects
-- several where there is one, and for a join with several it reads all lines of the district. The number of the
-- next order as a value keeps the range scan of the lines' key, whatever the statistics of district say.
CREATE OR REPLACE PROCEDURE pgdyno_stock_level(
    in_w_id int, in_d_id int, in_threshold int, INOUT out_low_stock int DEFAULT NULL)
LANGUAGE plpgsql AS $$
BEGIN
    WITH next AS MATERIALIZED (
        SELECT d_next_o_id AS o_id FROM district WHERE d_w_id = in_w_id AND d_id = in_d_id
    )
    SELECT count(*) INTO out_low_stock
      FROM stock
     WHERE s_w_id = in_w_id AND s_quantity < in_threshold
       AND s_i_id = ANY (ARRAY(
           SELECT ol_i_id
             FROM order_line
            WHERE ol_w_id = in_w_id AND ol_d_id = in_d_id
              AND ol_o_id < (SELECT o_id FROM next) AND ol_o_id >= (SELECT o_id - 20 FROM next)));
END $$;
