-- New-Order, clause 2.4.2, where the tables are spread over nodes by warehouse.
--
-- Each statement names one warehouse, so that the server can send it to the one node that has its rows; one that
-- joined the lines with the stock of all their warehouses would go to every shard of every node. Stock is updated
-- once for each (warehouse, item) of the order, warehouse by warehouse in ascending order. Of lines that name the
-- same stock new_order.sql tells more.
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
    originals boolean[];
    supplier int;
    taken_i_ids int[] := '{}';
    taken_w_ids int[] := '{}';
    taken_quantities int[] := '{}';
    taken_infos text[] := '{}';
    taken_originals boolean[] := '{}';
    taken record;
    infos text[];
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

    SELECT count(i_id), array_agg(i_name ORDER BY number), array_agg(i_price ORDER BY number),
           array_agg(quantity * i_price ORDER BY number), array_agg(i_data LIKE '%ORIGINAL%' ORDER BY number)
      INTO found_items, out_i_names, out_i_prices, out_amounts, originals
      FROM unnest(in_i_ids, in_quantities) WITH ORDINALITY AS l (line_i_id, quantity, number)
      JOIN item ON i_id = line_i_id;

    FOR supplier IN SELECT DISTINCT w FROM unnest(in_supply_w_ids) AS w ORDER BY w LOOP
        FOR taken IN
            UPDATE stock
               SET s_quantity = (s_quantity + 172 - t.quantity) % 91 + 10,
                   s_ytd = s_ytd + t.quantity,
                   s_order_cnt = (s_order_cnt + t.lines) & 32767,
                   s_remote_cnt = CASE WHEN supplier = in_w_id THEN s_remote_cnt
                                       ELSE (s_remote_cnt + t.lines) & 32767 END
              FROM (SELECT i_id, sum(quantity)::int AS quantity, count(*)::int AS lines
                      FROM unnest(in_i_ids, in_supply_w_ids, in_quantities) AS l (i_id, supply_w_id, quantity)
                     WHERE supply_w_id = supplier
                     GROUP BY i_id ORDER BY i_id) AS t
             WHERE s_i_id = t.i_id AND s_w_id = supplier
            RETURNING s_i_id, s_quantity,
                      CASE in_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
                                   WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
                                   WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09
                                   ELSE s_dist_10 END AS dist_info,
                      s_data LIKE '%ORIGINAL%' AS is_original
        LOOP
            taken_i_ids := taken_i_ids || taken.s_i_id;
            taken_w_ids := taken_w_ids || supplier;
            taken_quantities := taken_quantities || taken.s_quantity::int;
            taken_infos := taken_infos || taken.dist_info::text;
            taken_originals := taken_originals || taken.is_original;
        END LOOP;
    END LOOP;

    IF found_items < line_count THEN
        -- An unused item number: everything is undone (clause 2.4.2.3).
        ROLLBACK;
        out_o_id := NULL;
        RETURN;
    END IF;

    SELECT array_agg(t.quantity ORDER BY number), array_agg(t.info ORDER BY number),
           string_agg(CASE WHEN originals[number] AND t.original THEN 'B' ELSE 'G' END, '' ORDER BY number)
      INTO out_s_quantities, infos, out_brand_generic
      FROM unnest(in_i_ids, in_supply_w_ids) WITH ORDINALITY AS l (i_id, w_id, number)
      JOIN unnest(taken_i_ids, taken_w_ids, taken_quantities, taken_infos, taken_originals)
           AS t (i_id, w_id, quantity, info, original) ON t.i_id = l.i_id AND t.w_id = l.w_id;
    IF cardinality(infos) < line_count THEN
        RAISE no_data_found USING MESSAGE =
            format('stock is missing for items %s in warehouses %s', in_i_ids, in_supply_w_ids);
    END IF;
    INSERT INTO order_line (ol_delivery_d, ol_o_id, ol_w_id, ol_i_id, ol_supply_w_id, ol_d_id,
                            ol_number, ol_quantity, ol_amount, ol_dist_info)
    SELECT NULL, out_o_id, in_w_id, l.i_id, l.supply_w_id, in_d_id, l.number, l.quantity, l.amount, l.info
      FROM unnest(in_i_ids, in_supply_w_ids, in_quantities, out_amounts, infos)
           WITH ORDINALITY AS l (i_id, supply_w_id, quantity, amount, info, number);
    out_total := (SELECT sum(a) FROM unnest(out_amounts) AS a) * (1 - out_c_discount) * (1 + out_w_tax + out_d_tax);
END $$;
