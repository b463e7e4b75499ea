WITH line AS (
    SELECT i_id, quantity, cents, number FROM unnest($5, $6, $7, $8) AS l (i_id, quantity, cents, number)
), taken AS (
    UPDATE stock
       SET s_quantity = (s_quantity + 172 - t.quantity) % 91 + 10,
           s_ytd = s_ytd + t.quantity,
           s_order_cnt = (s_order_cnt + t.lines) & 32767,
           s_remote_cnt = CASE WHEN $4 = $1 THEN s_remote_cnt ELSE (s_remote_cnt + t.lines) & 32767 END
      FROM (SELECT i_id, sum(quantity)::int AS quantity, count(*)::int AS lines
              FROM line GROUP BY i_id ORDER BY i_id) AS t
     WHERE s_i_id = t.i_id AND s_w_id = $4
    RETURNING s_i_id, s_quantity, s_data,
              CASE $2 WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
                      WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
                      WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09
                      ELSE s_dist_10 END AS dist_info
), filled AS (
    SELECT line.*, s_quantity, s_data, dist_info
      FROM line LEFT JOIN taken ON s_i_id = line.i_id
), added AS (
    INSERT INTO order_line (ol_delivery_d, ol_o_id, ol_w_id, ol_i_id, ol_supply_w_id, ol_d_id,
                            ol_number, ol_quantity, ol_amount, ol_dist_info)
    SELECT NULL, $3, $1, i_id, $4, $2, number, quantity, cents * 0.01,
           coalesce(dist_info, ('stock is missing: item ' || i_id || ' of warehouse ' || $4)::int::text)
      FROM filled
)
SELECT number, s_quantity, s_data FROM filled
