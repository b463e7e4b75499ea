-- Question 51: days of a year on which the web had sold more of an item since its begin than the stores. Both channels
--   are one list of days, so that no full join is needed; a total appears where the channel sold on that day.
--: MONTH_SEQ = 1200 | uniform(1176, 1224)
with day as not materialized (
       select d_date_sk, d_date
         from date_dim
        where d_month_seq between [MONTH_SEQ] and [MONTH_SEQ] + 11),
     sale (item_sk, d_date, web_price, store_price) as (
       select ws_item_sk, d_date, ws_sales_price, null from web_sales join day on d_date_sk = ws_sold_date_sk
        union all
       select ss_item_sk, d_date, null, ss_sales_price from store_sales join day on d_date_sk = ss_sold_date_sk),
     total as (
       select item_sk, d_date, sum(web_price) as web, sum(store_price) as store,
              sum(sum(web_price)) over days as web_cumulative, sum(sum(store_price)) over days as store_cumulative
         from sale
        group by item_sk, d_date
       window days as (partition by item_sk order by d_date))
select item_sk, d_date, case when web is not null then web_cumulative end as web_sales,
       case when store is not null then store_cumulative end as store_sales, web_cumulative, store_cumulative
  from total
 where web_cumulative > store_cumulative
 order by item_sk, d_date
 limit 100
