-- New-Order, clause 2.4.2.
--
-- Lines are passed as three arrays in the order in which they were entered. Stock is updated once for each
-- (warehouse, item) of the order, in ascending order, so that two orders never wait for each other in a
-- circle. Lines of one order that name the same stock are summed for that update: with s_quantity in 10..100
-- the rule of clause 2.4.2.2 (subtract, and add 91 where less than 10 would be left) is subtraction modulo
-- 91, so applying it line by line or to the sum gives the same.
CREATE OR REPLACE PROCEDURE pgdyno_new_order(
    in_w_id int, in_d_id int, in_c_id int,
    in_i_ids int[], in_supply_w_ids int[], in_quantities int[],
    INOUT out_o_id int DEFAULT NULL, INOUT out_entry_d timestamptz DEFAULT NULL,
    INOUT out_c_last varchar DEFAULT NULL, INOUT out_c_credit char DEFAULT NULL,
    INOUT out_c_discount numeric DEFAULT NULL,
    INOUT out_w_tax numeric DEFAULT NULL, INOUT out_d_tax numeric DEFAULT NULL,
    INOUT out_total numeric DEFAULT NULL,
    INOUT out_i_names varchar[] DEFAULT NULL, INOUT out_s_quantities int[] DEFAULT NULL,
    INOUT out_brand_generic text DEFAULT NULL,
    INOUT out_i_prices numeric[] DEFAULT NULL, INOUT out_amounts numeric[] DEFAULT NULL)
LANGUAGE plpgsql AS $$
DECLARE
    line_count int := cardinality(in_i_ids);
    found_items int;
    found_stock int;
BEGIN
    UPDATE district SET d_next_o_id = d_next_o_id + 1
     WHERE d_w_id = in_w_id AND d_id = in_d_id
    RETURNING d_next_o_id - 1, d_tax INTO STRICT out_o_id, out_d_tax;

    SELECT c_last, c_credit, c_discount, w_tax
      INTO STRICT out_c_last, out_c_credit, out_c_discount, out_w_tax
      FROM customer, warehouse
     WHERE c_w_id = in_w_id AND c_d_id = in_d_id AND c_id = in_c_id AND w_id = in_w_id;

    out_entry_d := current_timestamp;
    INSERT INTO orders (o_entry_d, o_id, o_w_id, o_c_id, o_d_id, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (out_entry_d, out_o_id, in_w_id, in_c_id, in_d_id, NULL, line_count,
            (in_w_id = ALL (in_supply_w_ids))::int);
    INSERT INTO new_order (no_w_id, no_o_id, no_d_id) VALUES (in_w_id, out_o_id, in_d_id);

    WITH line AS (
        SELECT l.i_id, l.supply_w_id, l.quantity, l.number, i_price, i_name,
               i_data LIKE '%ORIGINAL%' AS is_original
          FROM unnest(in_i_ids, in_supply_w_ids, in_quantities)
               WITH ORDINALITY AS l (i_id, supply_w_id, quantity, number)
          JOIN item ON item.i_id = l.i_id
    ), taken AS (
        UPDATE stock
           SET s_quantity = (s_quantity + 172 - t.quantity) % 91 + 10,
               s_ytd = s_ytd + t.quantity,
               s_order_cnt = (s_order_cnt + t.lines) & 32767,
               s_remote_cnt = CASE WHEN t.supply_w_id = in_w_id THEN s_remote_cnt
                                   ELSE (s_remote_cnt + t.lines) & 32767 END
          FROM (SELECT supply_w_id, i_id, sum(quantity)::int AS quantity, count(*)::int AS lines
                  FROM line GROUP BY supply_w_id, i_id ORDER BY supply_w_id, i_id) AS t
         WHERE s_i_id = t.i_id AND s_w_id = t.supply_w_id
        RETURNING s_i_id, s_w_id, s_quantity,
                  CASE in_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
                               WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
                               WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09
                               ELSE s_dist_10 END AS dist_info,
                  s_data LIKE '%ORIGINAL%' AS is_original
    ), filled AS (
        SELECT line.number, line.i_id, line.supply_w_id, line.quantity, line.i_name, line.i_price,
               line.quantity * line.i_price AS amount, taken.s_quantity, taken.dist_info,
               CASE WHEN line.is_original AND taken.is_original THEN 'B' ELSE 'G' END AS brand_generic
          FROM line JOIN taken ON s_i_id = line.i_id AND s_w_id = line.supply_w_id
    ), added AS (
        INSERT INTO order_line (ol_delivery_d, ol_o_id, ol_w_id, ol_i_id, ol_supply_w_id, ol_d_id,
                                ol_number, ol_quantity, ol_amount, ol_dist_info)
        SELECT NULL, out_o_id, in_w_id, i_id, supply_w_id, in_d_id, number, quantity, amount, dist_info
          FROM filled
    )
    SELECT (SELECT count(*) FROM line), count(*),
           sum(amount) * (1 - out_c_discount) * (1 + out_w_tax + out_d_tax),
           array_agg(i_name ORDER BY number), array_agg(s_quantity ORDER BY number),
           string_agg(brand_generic, '' ORDER BY number),
           array_agg(i_price ORDER BY number), array_agg(amount ORDER BY number)
      INTO found_items, found_stock, out_total,
           out_i_names, out_s_quantities, out_brand_generic, out_i_prices, out_amounts
      FROM filled;

    IF found_items < line_count THEN
        -- An unused item number: everything is undone (clause 2.4.2.3).
        ROLLBACK;
        out_o_id := NULL;
    ELSIF found_stock < line_count THEN
        RAISE no_data_found USING MESSAGE =
            format('stock is missing for items %s in warehouses %s', in_i_ids, in_supply_w_ids);
    END IF;
END $$;
