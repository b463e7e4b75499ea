-- Question 23: what the best customers of the stores bought in a month, from the catalog and on the web, of items that
--   stores sold more than four times on one day of four years. The best have spent in stores, at all times, more than a
--   percentage of the most that one spent in the four years. The first statement has a row for each name and channel,
--   the second one sum. What a customer spent at all and in the four years is summed in one scan.
--: YEAR = 2000 | uniform(1998, 2000)
--: MONTH = 2 | uniform(1, 7)
--: PERCENT = 50 | one_of(95)
with month as not materialized (
       select d_date_sk as day
         from date_dim
        where d_year = [YEAR]
          and d_moy = [MONTH]),
     frequent as materialized (
       select distinct ss_item_sk as item
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk
        where d_year between [YEAR] and [YEAR] + 3
        group by ss_item_sk, ss_sold_date_sk
       having count(*) > 4),
     spender as materialized (
       select ss_customer_sk as customer,
              sum(ss_quantity * ss_sales_price) as at_all,
              sum(ss_quantity * ss_sales_price) filter (where d_year between [YEAR] and [YEAR] + 3) as in_years
         from store_sales
         left join date_dim on d_date_sk = ss_sold_date_sk
        where ss_customer_sk is not null
        group by ss_customer_sk),
     best as (
       select customer
         from spender
        where at_all > (select max(in_years) * [PERCENT] / 100 from spender))
select c_last_name, c_first_name, amount
  from (select 'catalog' as channel, c_last_name, c_first_name, sum(cs_quantity * cs_list_price) as amount
          from catalog_sales
          join month on day = cs_sold_date_sk
          join best on best.customer = cs_bill_customer_sk
          join customer on c_customer_sk = cs_bill_customer_sk
         where cs_item_sk in (select item from frequent)
         group by c_last_name, c_first_name
         union all
        select 'web', c_last_name, c_first_name, sum(ws_quantity * ws_list_price)
          from web_sales
          join month on day = ws_sold_date_sk
          join best on best.customer = ws_bill_customer_sk
          join customer on c_customer_sk = ws_bill_customer_sk
         where ws_item_sk in (select item from frequent)
         group by c_last_name, c_first_name) as by_name
 order by c_last_name nulls first, c_first_name nulls first, amount nulls first
 limit 100
--;
with month as not materialized (
       select d_date_sk as day
         from date_dim
        where d_year = [YEAR]
          and d_moy = [MONTH]),
     frequent as materialized (
       select distinct ss_item_sk as item
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk
        where d_year between [YEAR] and [YEAR] + 3
        group by ss_item_sk, ss_sold_date_sk
       having count(*) > 4),
     spender as materialized (
       select ss_customer_sk as customer,
              sum(ss_quantity * ss_sales_price) as at_all,
              sum(ss_quantity * ss_sales_price) filter (where d_year between [YEAR] and [YEAR] + 3) as in_years
         from store_sales
         left join date_dim on d_date_sk = ss_sold_date_sk
        where ss_customer_sk is not null
        group by ss_customer_sk),
     best as (
       select customer
         from spender
        where at_all > (select max(in_years) * [PERCENT] / 100 from spender))
select sum(amount) as amount
  from (select cs_quantity * cs_list_price as amount
          from catalog_sales
          join month on day = cs_sold_date_sk
          join best on best.customer = cs_bill_customer_sk
         where cs_item_sk in (select item from frequent)
         union all
        select ws_quantity * ws_list_price
          from web_sales
          join month on day = ws_sold_date_sk
          join best on best.customer = ws_bill_customer_sk
         where ws_item_sk in (select item from frequent)) as line
