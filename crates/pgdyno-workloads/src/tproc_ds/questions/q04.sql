-- Question 4: customers who spent something in stores, from the catalog and on the web in one year, and whose catalog
--   spending grew by a greater factor to the next year than that in stores and that on the web. Spending is the price
--   plus what the list price, less the discount, exceeds the cost by. Each channel is read once, with both years side
--   by side: PostgreSQL does not finish six joins of one table of year totals, of which it has no statistics. Growth is
--   compared by products, so that nothing is divided. The channels are joined apart from the limit: with little memory,
--   PostgreSQL would scan them again for each customer.
--: YEAR = 2001 | uniform(1998, 2001)
with both_years as not materialized (
       select d_date_sk as day, d_year
         from date_dim
        where d_year in ([YEAR], [YEAR] + 1)),
     catalog as materialized (
       select customer,
              sum(spent) filter (where d_year = [YEAR]) as before,
              sum(spent) filter (where d_year > [YEAR]) as after
         from (select cs_bill_customer_sk as customer, cs_sold_date_sk as day,
                      cs_ext_sales_price + cs_ext_list_price - cs_ext_discount_amt - cs_ext_wholesale_cost as spent
                 from catalog_sales) as line
         join both_years using (day)
        group by customer),
     web as materialized (
       select customer,
              sum(spent) filter (where d_year = [YEAR]) as before,
              sum(spent) filter (where d_year > [YEAR]) as after
         from (select ws_bill_customer_sk as customer, ws_sold_date_sk as day,
                      ws_ext_sales_price + ws_ext_list_price - ws_ext_discount_amt - ws_ext_wholesale_cost as spent
                 from web_sales) as line
         join both_years using (day)
        group by customer),
     store as materialized (
       select customer,
              sum(spent) filter (where d_year = [YEAR]) as before,
              sum(spent) filter (where d_year > [YEAR]) as after
         from (select ss_customer_sk as customer, ss_sold_date_sk as day,
                      ss_ext_sales_price + ss_ext_list_price - ss_ext_discount_amt - ss_ext_wholesale_cost as spent
                 from store_sales) as line
         join both_years using (day)
        group by customer),
     grown as materialized (
       select customer
         from catalog
         join web using (customer)
         join store using (customer)
        where catalog.before > 0
          and web.before > 0
          and store.before > 0
          and catalog.after * web.before > web.after * catalog.before
          and catalog.after * store.before > store.after * catalog.before)
select c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag
  from grown
  join customer on c_customer_sk = customer
 order by c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag
 limit 100
