-- Condition 3.3.2.12 of TPROC-C, asked in three ways of which the last is pgdyno's, for one warehouse and for all of two; three times each.
--
-- usage: pgdyno load tproc-c -w 2 --target DSN && psql -Xq -f benches/conditions.sql DSN
\pset footer off
\pset tuples_only on
SELECT version();
\timing on
\set last 1
\echo warehouses up to 1: lines joined to orders, then summed by customer
SELECT w_id, d_id, c_id, balance_and_paid, coalesce(amount, 0) AS delivered
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance + c_ytd_payment AS balance_and_paid
          FROM customer WHERE c_w_id <= :last) AS c
  FULL JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, o_c_id AS c_id, sum(ol_amount) AS amount
        FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
       WHERE o_w_id <= :last AND ol_w_id <= :last AND ol_delivery_d IS NOT NULL
       GROUP BY o_w_id, o_d_id, o_c_id) AS delivered USING (w_id, d_id, c_id)
 WHERE balance_and_paid IS DISTINCT FROM coalesce(amount, 0);
SELECT w_id, d_id, c_id, balance_and_paid, coalesce(amount, 0) AS delivered
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance + c_ytd_payment AS balance_and_paid
          FROM customer WHERE c_w_id <= :last) AS c
  FULL JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, o_c_id AS c_id, sum(ol_amount) AS amount
        FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
       WHERE o_w_id <= :last AND ol_w_id <= :last AND ol_delivery_d IS NOT NULL
       GROUP BY o_w_id, o_d_id, o_c_id) AS delivered USING (w_id, d_id, c_id)
 WHERE balance_and_paid IS DISTINCT FROM coalesce(amount, 0);
SELECT w_id, d_id, c_id, balance_and_paid, coalesce(amount, 0) AS delivered
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance + c_ytd_payment AS balance_and_paid
          FROM customer WHERE c_w_id <= :last) AS c
  FULL JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, o_c_id AS c_id, sum(ol_amount) AS amount
        FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
       WHERE o_w_id <= :last AND ol_w_id <= :last AND ol_delivery_d IS NOT NULL
       GROUP BY o_w_id, o_d_id, o_c_id) AS delivered USING (w_id, d_id, c_id)
 WHERE balance_and_paid IS DISTINCT FROM coalesce(amount, 0);
\echo warehouses up to 1: lines summed by order, inner join
SELECT w_id, d_id, c_id, balance_and_paid, coalesce(amount, 0) AS delivered
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance + c_ytd_payment AS balance_and_paid
          FROM customer WHERE c_w_id <= :last) AS c
  FULL JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, o_c_id AS c_id, sum(lines.amount) AS amount
        FROM orders
        JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, sum(ol_amount) AS amount
          FROM order_line WHERE ol_delivery_d IS NOT NULL AND ol_w_id <= :last GROUP BY ol_w_id, ol_d_id, ol_o_id) AS lines ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
       WHERE o_w_id <= :last GROUP BY o_w_id, o_d_id, o_c_id) AS delivered USING (w_id, d_id, c_id)
 WHERE balance_and_paid IS DISTINCT FROM coalesce(amount, 0);
SELECT w_id, d_id, c_id, balance_and_paid, coalesce(amount, 0) AS delivered
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance + c_ytd_payment AS balance_and_paid
          FROM customer WHERE c_w_id <= :last) AS c
  FULL JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, o_c_id AS c_id, sum(lines.amount) AS amount
        FROM orders
        JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, sum(ol_amount) AS amount
          FROM order_line WHERE ol_delivery_d IS NOT NULL AND ol_w_id <= :last GROUP BY ol_w_id, ol_d_id, ol_o_id) AS lines ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
       WHERE o_w_id <= :last GROUP BY o_w_id, o_d_id, o_c_id) AS delivered USING (w_id, d_id, c_id)
 WHERE balance_and_paid IS DISTINCT FROM coalesce(amount, 0);
SELECT w_id, d_id, c_id, balance_and_paid, coalesce(amount, 0) AS delivered
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance + c_ytd_payment AS balance_and_paid
          FROM customer WHERE c_w_id <= :last) AS c
  FULL JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, o_c_id AS c_id, sum(lines.amount) AS amount
        FROM orders
        JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, sum(ol_amount) AS amount
          FROM order_line WHERE ol_delivery_d IS NOT NULL AND ol_w_id <= :last GROUP BY ol_w_id, ol_d_id, ol_o_id) AS lines ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
       WHERE o_w_id <= :last GROUP BY o_w_id, o_d_id, o_c_id) AS delivered USING (w_id, d_id, c_id)
 WHERE balance_and_paid IS DISTINCT FROM coalesce(amount, 0);
\echo warehouses up to 1: lines summed by order, full join (as pgdyno asks)
SELECT w_id, d_id, c_id, balance_and_paid, coalesce(amount, 0) AS delivered
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance + c_ytd_payment AS balance_and_paid
          FROM customer WHERE c_w_id <= :last) AS c
  FULL JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, o_c_id AS c_id, sum(lines.amount) AS amount
        FROM (SELECT o_w_id, o_d_id, o_id, o_c_id FROM orders WHERE o_w_id <= :last) AS o
        FULL JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, sum(ol_amount) AS amount
          FROM order_line WHERE ol_delivery_d IS NOT NULL AND ol_w_id <= :last GROUP BY ol_w_id, ol_d_id, ol_o_id) AS lines ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
       GROUP BY o_w_id, o_d_id, o_c_id HAVING count(o_c_id) > 0 AND count(lines.amount) > 0) AS delivered USING (w_id, d_id, c_id)
 WHERE balance_and_paid IS DISTINCT FROM coalesce(amount, 0);
SELECT w_id, d_id, c_id, balance_and_paid, coalesce(amount, 0) AS delivered
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance + c_ytd_payment AS balance_and_paid
          FROM customer WHERE c_w_id <= :last) AS c
  FULL JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, o_c_id AS c_id, sum(lines.amount) AS amount
        FROM (SELECT o_w_id, o_d_id, o_id, o_c_id FROM orders WHERE o_w_id <= :last) AS o
        FULL JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, sum(ol_amount) AS amount
          FROM order_line WHERE ol_delivery_d IS NOT NULL AND ol_w_id <= :last GROUP BY ol_w_id, ol_d_id, ol_o_id) AS lines ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
       GROUP BY o_w_id, o_d_id, o_c_id HAVING count(o_c_id) > 0 AND count(lines.amount) > 0) AS delivered USING (w_id, d_id, c_id)
 WHERE balance_and_paid IS DISTINCT FROM coalesce(amount, 0);
SELECT w_id, d_id, c_id, balance_and_paid, coalesce(amount, 0) AS delivered
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance + c_ytd_payment AS balance_and_paid
          FROM customer WHERE c_w_id <= :last) AS c
  FULL JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, o_c_id AS c_id, sum(lines.amount) AS amount
        FROM (SELECT o_w_id, o_d_id, o_id, o_c_id FROM orders WHERE o_w_id <= :last) AS o
        FULL JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, sum(ol_amount) AS amount
          FROM order_line WHERE ol_delivery_d IS NOT NULL AND ol_w_id <= :last GROUP BY ol_w_id, ol_d_id, ol_o_id) AS lines ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
       GROUP BY o_w_id, o_d_id, o_c_id HAVING count(o_c_id) > 0 AND count(lines.amount) > 0) AS delivered USING (w_id, d_id, c_id)
 WHERE balance_and_paid IS DISTINCT FROM coalesce(amount, 0);
\set last 2
\echo warehouses up to 2: lines joined to orders, then summed by customer
SELECT w_id, d_id, c_id, balance_and_paid, coalesce(amount, 0) AS delivered
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance + c_ytd_payment AS balance_and_paid
          FROM customer WHERE c_w_id <= :last) AS c
  FULL JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, o_c_id AS c_id, sum(ol_amount) AS amount
        FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
       WHERE o_w_id <= :last AND ol_w_id <= :last AND ol_delivery_d IS NOT NULL
       GROUP BY o_w_id, o_d_id, o_c_id) AS delivered USING (w_id, d_id, c_id)
 WHERE balance_and_paid IS DISTINCT FROM coalesce(amount, 0);
SELECT w_id, d_id, c_id, balance_and_paid, coalesce(amount, 0) AS delivered
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance + c_ytd_payment AS balance_and_paid
          FROM customer WHERE c_w_id <= :last) AS c
  FULL JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, o_c_id AS c_id, sum(ol_amount) AS amount
        FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
       WHERE o_w_id <= :last AND ol_w_id <= :last AND ol_delivery_d IS NOT NULL
       GROUP BY o_w_id, o_d_id, o_c_id) AS delivered USING (w_id, d_id, c_id)
 WHERE balance_and_paid IS DISTINCT FROM coalesce(amount, 0);
SELECT w_id, d_id, c_id, balance_and_paid, coalesce(amount, 0) AS delivered
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance + c_ytd_payment AS balance_and_paid
          FROM customer WHERE c_w_id <= :last) AS c
  FULL JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, o_c_id AS c_id, sum(ol_amount) AS amount
        FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
       WHERE o_w_id <= :last AND ol_w_id <= :last AND ol_delivery_d IS NOT NULL
       GROUP BY o_w_id, o_d_id, o_c_id) AS delivered USING (w_id, d_id, c_id)
 WHERE balance_and_paid IS DISTINCT FROM coalesce(amount, 0);
\echo warehouses up to 2: lines summed by order, inner join
SELECT w_id, d_id, c_id, balance_and_paid, coalesce(amount, 0) AS delivered
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance + c_ytd_payment AS balance_and_paid
          FROM customer WHERE c_w_id <= :last) AS c
  FULL JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, o_c_id AS c_id, sum(lines.amount) AS amount
        FROM orders
        JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, sum(ol_amount) AS amount
          FROM order_line WHERE ol_delivery_d IS NOT NULL AND ol_w_id <= :last GROUP BY ol_w_id, ol_d_id, ol_o_id) AS lines ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
       WHERE o_w_id <= :last GROUP BY o_w_id, o_d_id, o_c_id) AS delivered USING (w_id, d_id, c_id)
 WHERE balance_and_paid IS DISTINCT FROM coalesce(amount, 0);
SELECT w_id, d_id, c_id, balance_and_paid, coalesce(amount, 0) AS delivered
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance + c_ytd_payment AS balance_and_paid
          FROM customer WHERE c_w_id <= :last) AS c
  FULL JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, o_c_id AS c_id, sum(lines.amount) AS amount
        FROM orders
        JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, sum(ol_amount) AS amount
          FROM order_line WHERE ol_delivery_d IS NOT NULL AND ol_w_id <= :last GROUP BY ol_w_id, ol_d_id, ol_o_id) AS lines ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
       WHERE o_w_id <= :last GROUP BY o_w_id, o_d_id, o_c_id) AS delivered USING (w_id, d_id, c_id)
 WHERE balance_and_paid IS DISTINCT FROM coalesce(amount, 0);
SELECT w_id, d_id, c_id, balance_and_paid, coalesce(amount, 0) AS delivered
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance + c_ytd_payment AS balance_and_paid
          FROM customer WHERE c_w_id <= :last) AS c
  FULL JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, o_c_id AS c_id, sum(lines.amount) AS amount
        FROM orders
        JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, sum(ol_amount) AS amount
          FROM order_line WHERE ol_delivery_d IS NOT NULL AND ol_w_id <= :last GROUP BY ol_w_id, ol_d_id, ol_o_id) AS lines ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
       WHERE o_w_id <= :last GROUP BY o_w_id, o_d_id, o_c_id) AS delivered USING (w_id, d_id, c_id)
 WHERE balance_and_paid IS DISTINCT FROM coalesce(amount, 0);
\echo warehouses up to 2: lines summed by order, full join (as pgdyno asks)
SELECT w_id, d_id, c_id, balance_and_paid, coalesce(amount, 0) AS delivered
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance + c_ytd_payment AS balance_and_paid
          FROM customer WHERE c_w_id <= :last) AS c
  FULL JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, o_c_id AS c_id, sum(lines.amount) AS amount
        FROM (SELECT o_w_id, o_d_id, o_id, o_c_id FROM orders WHERE o_w_id <= :last) AS o
        FULL JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, sum(ol_amount) AS amount
          FROM order_line WHERE ol_delivery_d IS NOT NULL AND ol_w_id <= :last GROUP BY ol_w_id, ol_d_id, ol_o_id) AS lines ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
       GROUP BY o_w_id, o_d_id, o_c_id HAVING count(o_c_id) > 0 AND count(lines.amount) > 0) AS delivered USING (w_id, d_id, c_id)
 WHERE balance_and_paid IS DISTINCT FROM coalesce(amount, 0);
SELECT w_id, d_id, c_id, balance_and_paid, coalesce(amount, 0) AS delivered
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance + c_ytd_payment AS balance_and_paid
          FROM customer WHERE c_w_id <= :last) AS c
  FULL JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, o_c_id AS c_id, sum(lines.amount) AS amount
        FROM (SELECT o_w_id, o_d_id, o_id, o_c_id FROM orders WHERE o_w_id <= :last) AS o
        FULL JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, sum(ol_amount) AS amount
          FROM order_line WHERE ol_delivery_d IS NOT NULL AND ol_w_id <= :last GROUP BY ol_w_id, ol_d_id, ol_o_id) AS lines ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
       GROUP BY o_w_id, o_d_id, o_c_id HAVING count(o_c_id) > 0 AND count(lines.amount) > 0) AS delivered USING (w_id, d_id, c_id)
 WHERE balance_and_paid IS DISTINCT FROM coalesce(amount, 0);
SELECT w_id, d_id, c_id, balance_and_paid, coalesce(amount, 0) AS delivered
  FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance + c_ytd_payment AS balance_and_paid
          FROM customer WHERE c_w_id <= :last) AS c
  FULL JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, o_c_id AS c_id, sum(lines.amount) AS amount
        FROM (SELECT o_w_id, o_d_id, o_id, o_c_id FROM orders WHERE o_w_id <= :last) AS o
        FULL JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, sum(ol_amount) AS amount
          FROM order_line WHERE ol_delivery_d IS NOT NULL AND ol_w_id <= :last GROUP BY ol_w_id, ol_d_id, ol_o_id) AS lines ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
       GROUP BY o_w_id, o_d_id, o_c_id HAVING count(o_c_id) > 0 AND count(lines.amount) > 0) AS delivered USING (w_id, d_id, c_id)
 WHERE balance_and_paid IS DISTINCT FROM coalesce(amount, 0);
