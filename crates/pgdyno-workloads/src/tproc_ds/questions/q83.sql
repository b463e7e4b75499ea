-- Question 83: items returned to stores, the catalog and the web in the weeks of three days: quantities, and the share
--   of each channel.
--: DAYS[3] = 2000-06-30,2000-09-27,2000-11-17 | distinct(2000-06-30, 2000-09-27, 2000-11-17, 1999-06-30, 1999-09-27, 1999-11-17, 2001-06-30, 2001-09-27, 2001-11-17)
with day as not materialized (
       select d_date_sk
         from date_dim
        where d_week_seq in (
              select d_week_seq from date_dim where d_date in ('[DAYS.1]', '[DAYS.2]', '[DAYS.3]'))),
     returned (channel, item_sk, quantity) as (
       select 1, sr_item_sk, sr_return_quantity from store_returns join day on d_date_sk = sr_returned_date_sk
        union all
       select 2, cr_item_sk, cr_return_quantity from catalog_returns join day on d_date_sk = cr_returned_date_sk
        union all
       select 3, wr_item_sk, wr_return_quantity from web_returns join day on d_date_sk = wr_returned_date_sk),
     by_item as (
       select i_item_id,
              sum(quantity) filter (where channel = 1) as store,
              sum(quantity) filter (where channel = 2) as catalog,
              sum(quantity) filter (where channel = 3) as web
         from returned
         join item on i_item_sk = item_sk
        group by i_item_id
       having count(distinct channel) = 3)
select i_item_id,
       store, store / (store + catalog + web)::numeric / 3 * 100 as store_share,
       catalog, catalog / (store + catalog + web)::numeric / 3 * 100 as catalog_share,
       web, web / (store + catalog + web)::numeric / 3 * 100 as web_share,
       (store + catalog + web) / 3.0 as mean
  from by_item
 order by i_item_id, store
 limit 100
