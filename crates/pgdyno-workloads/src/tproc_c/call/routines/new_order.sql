-- New-Order, clause 2.4.2.
--
-- Lines are passed as three arrays in the order in which they were entered. One UPDATE does the stock of all of
-- them, in ascending order of (warehouse, item), so that two orders never wait for each other in a circle.
--
-- Where several lines of one order name the same stock, that UPDATE does the first of them only (a statement
-- changes a row once), and a second one does the rest, whose rows are locked by then. It sums them: with
-- s_quantity in 10..100 the rule of clause 2.4.2.2 (subtract, and add 91 where less than 10 would be left) is
-- subtraction modulo 91, so applying it line by line or to the sum gives the same.
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
    numbers int[];
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

    WITH taken AS (
        UPDATE stock
           SET s_quantity = (s_quantity + 172 - line.quantity) % 91 + 10,
               s_ytd = s_ytd + line.quantity,
               s_order_cnt = (s_order_cnt + 1) & 32767,
               s_remote_cnt = CASE WHEN line.supply_w_id = in_w_id THEN s_remote_cnt
                                   ELSE (s_remote_cnt + 1) & 32767 END
          FROM (SELECT l.i_id, l.supply_w_id, l.quantity, l.number, i_price, i_name, i_data
                  FROM unnest(in_i_ids, in_supply_w_ids, in_quantities)
                       WITH ORDINALITY AS l (i_id, supply_w_id, quantity, number)
                  JOIN item ON item.i_id = l.i_id
                 ORDER BY l.supply_w_id, l.i_id) AS line
         WHERE s_i_id = line.i_id AND s_w_id = line.supply_w_id
        RETURNING line.number, line.i_id, line.supply_w_id, line.quantity, line.i_name, line.i_price,
                  line.quantity * line.i_price AS amount, s_quantity,
                  CASE in_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
                               WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
                               WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09
                               ELSE s_dist_10 END AS dist_info,
                  CASE WHEN line.i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%'
                       THEN 'B' ELSE 'G' END AS brand_generic
    ), added AS (
        INSERT INTO order_line (ol_delivery_d, ol_o_id, ol_w_id, ol_i_id, ol_supply_w_id, ol_d_id,
                                ol_number, ol_quantity, ol_amount, ol_dist_info)
        SELECT NULL, out_o_id, in_w_id, i_id, supply_w_id, in_d_id, number, quantity, amount, dist_info
          FROM taken
    )
    SELECT array_agg(number), sum(amount), array_agg(i_name), array_agg(s_quantity),
           string_agg(brand_generic, ''), array_agg(i_price), array_agg(amount)
      INTO numbers, out_total, out_i_names, out_s_quantities, out_brand_generic, out_i_prices, out_amounts
      FROM (SELECT * FROM taken ORDER BY number) AS entered;

    IF cardinality(numbers) IS DISTINCT FROM line_count THEN
        IF (SELECT count(*) FROM unnest(in_i_ids) AS l (id) JOIN item ON i_id = l.id) < line_count THEN
            -- An unused item number: everything is undone (clause 2.4.2.3).
            ROLLBACK;
            out_o_id := NULL;
            RETURN;
        END IF;

        -- What the first statement has read of items is not read again: it may have changed.
        WITH entered AS (
            SELECT in_i_ids[n] AS i_id, in_supply_w_ids[n] AS supply_w_id, i_name, i_price, s_quantity, brand_generic
              FROM unnest(numbers, out_i_names, out_i_prices, out_s_quantities,
                          string_to_array(out_brand_generic, NULL))
                   AS e (n, i_name, i_price, s_quantity, brand_generic)
        ), line AS (
            SELECT *, quantity * i_price AS amount
              FROM unnest(in_i_ids, in_supply_w_ids, in_quantities)
                   WITH ORDINALITY AS l (i_id, supply_w_id, quantity, number)
              JOIN entered USING (i_id, supply_w_id)
        ), late AS (
            SELECT * FROM line WHERE number <> ALL (numbers)
        ), taken AS (
            UPDATE stock
               SET s_quantity = (stock.s_quantity + 172 - t.quantity) % 91 + 10,
                   s_ytd = s_ytd + t.quantity,
                   s_order_cnt = (s_order_cnt + t.lines) & 32767,
                   s_remote_cnt = CASE WHEN t.supply_w_id = in_w_id THEN s_remote_cnt
                                       ELSE (s_remote_cnt + t.lines) & 32767 END
              FROM (SELECT supply_w_id, i_id, sum(quantity)::int AS quantity, count(*)::int AS lines
                      FROM late GROUP BY supply_w_id, i_id) AS t
             WHERE s_i_id = t.i_id AND s_w_id = t.supply_w_id
            RETURNING s_i_id, s_w_id, stock.s_quantity
        ), added AS (
            INSERT INTO order_line (ol_delivery_d, ol_o_id, ol_w_id, ol_i_id, ol_supply_w_id, ol_d_id,
                                    ol_number, ol_quantity, ol_amount, ol_dist_info)
            SELECT NULL, out_o_id, in_w_id, i_id, supply_w_id, in_d_id, number, quantity, amount, twin.ol_dist_info
              FROM late
              JOIN order_line AS twin
                   ON twin.ol_w_id = in_w_id AND twin.ol_d_id = in_d_id AND twin.ol_o_id = out_o_id
                  AND twin.ol_i_id = i_id AND twin.ol_supply_w_id = supply_w_id
        )
        SELECT array_agg(number), sum(amount), array_agg(i_name), array_agg(quantity_left),
               string_agg(brand_generic, ''), array_agg(i_price), array_agg(amount)
          INTO numbers, out_total, out_i_names, out_s_quantities, out_brand_generic, out_i_prices, out_amounts
          FROM (SELECT line.*, coalesce(taken.s_quantity, line.s_quantity) AS quantity_left
                  FROM line LEFT JOIN taken ON s_i_id = i_id AND s_w_id = supply_w_id
                 ORDER BY number) AS entered;

        IF cardinality(numbers) IS DISTINCT FROM line_count THEN
            RAISE no_data_found USING MESSAGE =
                format('stock is missing for items %s in warehouses %s', in_i_ids, in_supply_w_ids);
        END IF;
    END IF;
    out_total := out_total * (1 - out_c_discount) * (1 + out_w_tax + out_d_tax);
END $$;
