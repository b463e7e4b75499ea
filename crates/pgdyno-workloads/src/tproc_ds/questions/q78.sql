-- Question 78: items and customers of a year: what was bought in stores against what was bought on the web and from the
--   catalog, goods that were returned apart.
--: YEAR = 2000 | uniform(1998, 2002)
with day as not materialized (
       select d_date_sk
         from date_dim
        where d_year = [YEAR]),
     in_store as (
       select ss_item_sk as item_sk, ss_customer_sk as customer_sk, sum(ss_quantity) as quantity,
              sum(ss_wholesale_cost) as cost, sum(ss_sales_price) as price
         from store_sales
         join day on d_date_sk = ss_sold_date_sk
        where not exists (select from store_returns where sr_item_sk = ss_item_sk and sr_ticket_number = ss_ticket_number)
        group by ss_item_sk, ss_customer_sk),
     elsewhere as (
       select item_sk, customer_sk, sum(quantity) as quantity, sum(cost) as cost, sum(price) as price
         from (select ws_item_sk as item_sk, ws_bill_customer_sk as customer_sk, ws_quantity as quantity,
                      ws_wholesale_cost as cost, ws_sales_price as price
                 from web_sales
                 join day on d_date_sk = ws_sold_date_sk
                where not exists (
                      select from web_returns where wr_item_sk = ws_item_sk and wr_order_number = ws_order_number)
                union all
               select cs_item_sk, cs_bill_customer_sk, cs_quantity, cs_wholesale_cost, cs_sales_price
                 from catalog_sales
                 join day on d_date_sk = cs_sold_date_sk
                where not exists (
                      select from catalog_returns where cr_item_sk = cs_item_sk and cr_order_number = cs_order_number))
              as sale
        group by item_sk, customer_sk
       having sum(quantity) > 0)
select [YEAR] as year, item_sk, customer_sk, round(s.quantity::numeric / e.quantity, 2) as ratio,
       s.quantity as store_quantity, s.cost as store_cost, s.price as store_price,
       e.quantity as other_quantity, coalesce(e.cost, 0) as other_cost, coalesce(e.price, 0) as other_price
  from in_store s
  join elsewhere e using (item_sk, customer_sk)
 order by year, item_sk, customer_sk, store_quantity desc nulls last, store_cost desc nulls last,
          store_price desc nulls last, other_quantity, other_cost, other_price, ratio
 limit 100
