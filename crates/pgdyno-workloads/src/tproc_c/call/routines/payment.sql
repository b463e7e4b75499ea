-- Payment, clause 2.5.2.
--
-- Each balance is changed by one UPDATE that reads what it changes, so none is lost. The warehouse row, which
-- all payments of the warehouse share, is locked last and so for the shortest time. c_payment_cnt is a
-- smallint as in HammerDB's schema: it starts again at 0 after 32767 instead of failing. Texts are put together by
-- operators, which are immutable and concat_ws() is not: a server that spreads tables over nodes wants that.
CREATE OR REPLACE PROCEDURE pgdyno_payment(
    in_w_id int, in_d_id int, in_c_w_id int, in_c_d_id int,
    INOUT io_c_id int, in_c_last varchar, in_amount numeric,
    INOUT out_date timestamptz DEFAULT NULL,
    INOUT out_w_address text DEFAULT NULL, INOUT out_d_address text DEFAULT NULL,
    INOUT out_c_first varchar DEFAULT NULL, INOUT out_c_middle char DEFAULT NULL,
    INOUT out_c_last varchar DEFAULT NULL, INOUT out_c_address text DEFAULT NULL,
    INOUT out_c_phone char DEFAULT NULL, INOUT out_c_since timestamptz DEFAULT NULL,
    INOUT out_c_credit char DEFAULT NULL, INOUT out_c_credit_lim numeric DEFAULT NULL,
    INOUT out_c_discount numeric DEFAULT NULL, INOUT out_c_balance numeric DEFAULT NULL,
    INOUT out_c_data varchar DEFAULT NULL)
LANGUAGE plpgsql AS $$
DECLARE
    named int[];
    warehouse_name varchar;
    district_name varchar;
BEGIN
    IF in_c_last IS NOT NULL THEN
        -- The row at n/2, rounded up, of those with this name, by first name (clause 2.5.2.2).
        named := ARRAY(SELECT c_id FROM customer
                        WHERE c_w_id = in_c_w_id AND c_d_id = in_c_d_id AND c_last = in_c_last
                        ORDER BY c_first, c_id);
        io_c_id := named[(cardinality(named) + 1) / 2];
    END IF;

    UPDATE customer
       SET c_balance = c_balance - in_amount,
           c_ytd_payment = c_ytd_payment + in_amount,
           c_payment_cnt = (c_payment_cnt + 1) & 32767,
           c_data = CASE WHEN c_credit = 'BC'
                         THEN left(c_id::text || ' ' || c_d_id::text || ' ' || c_w_id::text || ' '
                                   || in_d_id::text || ' ' || in_w_id::text || ' ' || in_amount::text
                                   || '|' || c_data, 500)
                         ELSE c_data END
     WHERE c_w_id = in_c_w_id AND c_d_id = in_c_d_id AND c_id = io_c_id
    RETURNING c_first, c_middle, c_last,
              c_street_1 || ',' || c_street_2 || ',' || c_city || ',' || c_state || ',' || c_zip,
              c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance,
              CASE WHEN c_credit = 'BC' THEN left(c_data, 200) END
         INTO STRICT out_c_first, out_c_middle, out_c_last, out_c_address,
              out_c_phone, out_c_since, out_c_credit, out_c_credit_lim, out_c_discount, out_c_balance,
              out_c_data;

    UPDATE district SET d_ytd = d_ytd + in_amount
     WHERE d_w_id = in_w_id AND d_id = in_d_id
    RETURNING d_name, d_street_1 || ',' || d_street_2 || ',' || d_city || ',' || d_state || ',' || d_zip
         INTO STRICT district_name, out_d_address;

    UPDATE warehouse SET w_ytd = w_ytd + in_amount
     WHERE w_id = in_w_id
    RETURNING w_name, w_street_1 || ',' || w_street_2 || ',' || w_city || ',' || w_state || ',' || w_zip
         INTO STRICT warehouse_name, out_w_address;

    out_date := current_timestamp;
    INSERT INTO history (h_date, h_c_id, h_c_w_id, h_w_id, h_c_d_id, h_d_id, h_amount, h_data)
    VALUES (out_date, io_c_id, in_c_w_id, in_w_id, in_c_d_id, in_d_id, in_amount,
            warehouse_name || '    ' || district_name);
END $$;
