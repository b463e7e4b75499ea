-- Question 11: customers whose web spending grew more from one year to the next than their spending in stores. Written
--   as question 4 for the same reason.
--: YEAR = 2001 | uniform(1998, 2001)
with in_store as (
       select ss_customer_sk as customer_sk,
              sum(ss_ext_list_price - ss_ext_discount_amt) filter (where d_year = [YEAR]) as before,
              sum(ss_ext_list_price - ss_ext_discount_amt) filter (where d_year = [YEAR] + 1) as after
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk
        where d_year in ([YEAR], [YEAR] + 1)
        group by ss_customer_sk),
     on_web as (
       select ws_bill_customer_sk as customer_sk,
              sum(ws_ext_list_price - ws_ext_discount_amt) filter (where d_year = [YEAR]) as before,
              sum(ws_ext_list_price - ws_ext_discount_amt) filter (where d_year = [YEAR] + 1) as after
         from web_sales
         join date_dim on d_date_sk = ws_sold_date_sk
        where d_year in ([YEAR], [YEAR] + 1)
        group by ws_bill_customer_sk)
select c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag
  from in_store s
  join on_web w using (customer_sk)
  join customer on c_customer_sk = customer_sk
 where s.before > 0
   and w.before > 0
   and w.after / nullif(w.before, 0) > s.after / nullif(s.before, 0)
 order by c_customer_id, c_first_name nulls first, c_last_name nulls first, c_preferred_cust_flag nulls first
 limit 100
