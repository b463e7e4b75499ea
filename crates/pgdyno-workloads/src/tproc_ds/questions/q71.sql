-- Question 71: brands of the items of manager 1 by hour and minute, and what all channels sold of them at breakfast and
--   dinner in a month.
--: MONTH = 11 | uniform(11, 12)
--: YEAR = 1999 | uniform(1998, 2002)
with day as not materialized (
       select d_date_sk
         from date_dim
        where d_year = [YEAR]
          and d_moy = [MONTH]),
     sale (item_sk, time_sk, price) as (
       select ss_item_sk, ss_sold_time_sk, ss_ext_sales_price from store_sales join day on d_date_sk = ss_sold_date_sk
        union all
       select cs_item_sk, cs_sold_time_sk, cs_ext_sales_price from catalog_sales join day on d_date_sk = cs_sold_date_sk
        union all
       select ws_item_sk, ws_sold_time_sk, ws_ext_sales_price from web_sales join day on d_date_sk = ws_sold_date_sk)
select i_brand_id, i_brand, t_hour, t_minute, sum(price) as price
  from sale
  join item on i_item_sk = item_sk and i_manager_id = 1
  join time_dim on t_time_sk = time_sk and t_meal_time in ('breakfast', 'dinner')
 group by i_brand_id, i_brand, t_hour, t_minute
 order by price desc nulls first, i_brand_id nulls first, t_hour nulls first
