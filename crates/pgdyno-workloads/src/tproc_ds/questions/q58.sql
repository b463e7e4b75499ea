-- Question 58: items that earned about as much in stores, from the catalog and on the web in the week of a day: none
--   differs from another by more than a tenth.
--: DAY = 2000-01-03 | date(1998-2002, 01-01, 07-24)
with day as not materialized (
       select d_date_sk
         from date_dim
        where d_week_seq = (select d_week_seq from date_dim where d_date = date '[DAY]')),
     revenue (item_id, in_store, by_catalog, on_web) as (
       select i_item_id, s.price, c.price, w.price
         from (select i_item_id, sum(ss_ext_sales_price) as price
                 from store_sales
                 join day on d_date_sk = ss_sold_date_sk
                 join item on i_item_sk = ss_item_sk
                group by i_item_id) as s
         join (select i_item_id, sum(cs_ext_sales_price) as price
                 from catalog_sales
                 join day on d_date_sk = cs_sold_date_sk
                 join item on i_item_sk = cs_item_sk
                group by i_item_id) as c using (i_item_id)
         join (select i_item_id, sum(ws_ext_sales_price) as price
                 from web_sales
                 join day on d_date_sk = ws_sold_date_sk
                 join item on i_item_sk = ws_item_sk
                group by i_item_id) as w using (i_item_id)),
     compared as (
       select *, (in_store + by_catalog + on_web) / 3 as mean,
              least(in_store, by_catalog, on_web) as low, greatest(in_store, by_catalog, on_web) as high
         from revenue)
select item_id, in_store, 100 * in_store / nullif(mean, 0) as store_percent, by_catalog, 100 * by_catalog / nullif(mean, 0) as catalog_percent,
       on_web, 100 * on_web / nullif(mean, 0) as web_percent, mean
  from compared
 where mean is not null
   and low >= 0.9 * high
   and high <= 1.1 * low
 order by item_id, in_store
 limit 100
