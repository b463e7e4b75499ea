-- Question 74: customers whose net web spending grew more from one year to the next than that in stores. Written as
--   question 4 for the same reason.
--: YEAR = 2001 | uniform(1998, 2001)
--: AGGREGATE = sum | one_of(sum, min, max, avg, stddev_samp)
with in_store as (
       select ss_customer_sk as customer_sk,
              [AGGREGATE](ss_net_paid) filter (where d_year = [YEAR]) as before,
              [AGGREGATE](ss_net_paid) filter (where d_year = [YEAR] + 1) as after
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk
        where d_year in ([YEAR], [YEAR] + 1)
        group by ss_customer_sk),
     on_web as (
       select ws_bill_customer_sk as customer_sk,
              [AGGREGATE](ws_net_paid) filter (where d_year = [YEAR]) as before,
              [AGGREGATE](ws_net_paid) filter (where d_year = [YEAR] + 1) as after
         from web_sales
         join date_dim on d_date_sk = ws_sold_date_sk
        where d_year in ([YEAR], [YEAR] + 1)
        group by ws_bill_customer_sk)
select c_customer_id, c_first_name, c_last_name
  from in_store s
  join on_web w using (customer_sk)
  join customer on c_customer_sk = customer_sk
 where s.before > 0
   and w.before > 0
   and w.after / nullif(w.before, 0) > s.after / nullif(s.before, 0)
 order by c_customer_id, c_first_name, c_last_name
 limit 100
