-- Question 51: days of a year on which the web had sold more of an item since its begin than the stores. Both channels
--   are one list of days, so that no full join is needed; a total appears where the channel sold on that day.
--: MONTH_SEQ = 1200 | uniform(1176, 1224)
with day as not materialized (
       select d_date_sk, d_date
         from date_dim
        where d_month_seq between [MONTH_SEQ] and [MONTH_SEQ] + 11),
     sale (item_sk, d_date, is_web, price) as (
       select ws_item_sk, d_date, true, ws_sales_price from web_sales join day on d_date_sk = ws_sold_date_sk
        union all
       select ss_item_sk, d_date, false, ss_sales_price from store_sales join day on d_date_sk = ss_sold_date_sk),
     total as (
       select item_sk, d_date, bool_or(is_web) as in_web, bool_and(is_web) as only_web,
              sum(sum(price) filter (where is_web)) over days as web_cumulative,
              sum(sum(price) filter (where not is_web)) over days as store_cumulative
         from sale
        group by item_sk, d_date
       window days as (partition by item_sk order by d_date))
select item_sk, d_date, case when in_web then web_cumulative end as web_sales,
       case when not only_web then store_cumulative end as store_sales, web_cumulative, store_cumulative
  from total
 where web_cumulative > store_cumulative
 order by item_sk, d_date
 limit 100
