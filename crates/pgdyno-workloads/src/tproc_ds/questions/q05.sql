-- Question 5: sales, returns and profit (less the loss of the returns) in the 15 days from a day on, by store, catalog
--   page and web site, with totals of the channels and of all. Each sale and each return is one line of one list; a web
--   return belongs to the site that sold the goods.
--: START = 2000-08-23 | date(1998-2002, 08-01, 08-30)
with period as not materialized (
       select d_date_sk as day
         from date_dim
        where d_date between date '[START]' and date '[START]' + 14),
     line (channel, place, sales, returned, gain) as (
       select 's', ss_store_sk, ss_ext_sales_price, 0, ss_net_profit
         from store_sales
         join period on day = ss_sold_date_sk
        union all
       select 's', sr_store_sk, 0, sr_return_amt, -sr_net_loss
         from store_returns
         join period on day = sr_returned_date_sk
        union all
       select 'c', cs_catalog_page_sk, cs_ext_sales_price, 0, cs_net_profit
         from catalog_sales
         join period on day = cs_sold_date_sk
        union all
       select 'c', cr_catalog_page_sk, 0, cr_return_amount, -cr_net_loss
         from catalog_returns
         join period on day = cr_returned_date_sk
        union all
       select 'w', ws_web_site_sk, ws_ext_sales_price, 0, ws_net_profit
         from web_sales
         join period on day = ws_sold_date_sk
        union all
       select 'w', ws_web_site_sk, 0, wr_return_amt, -wr_net_loss
         from web_returns
         join period on day = wr_returned_date_sk
         join web_sales on ws_item_sk = wr_item_sk and ws_order_number = wr_order_number),
     by_place as (
       select channel, place, sum(sales) as sales, sum(returned) as returned, sum(gain) as gain
         from line
        group by channel, place),
     place (channel, place, channel_name, id) as (
       select 's', s_store_sk, 'store channel', 'store' || s_store_id from store
        union all
       select 'c', cp_catalog_page_sk, 'catalog channel', 'catalog_page' || cp_catalog_page_id from catalog_page
        union all
       select 'w', web_site_sk, 'web channel', 'web_site' || web_site_id from web_site)
select channel_name as channel, id, sum(sales) as sales, sum(returned) as returns, sum(gain) as profit
  from by_place
  join place using (channel, place)
 group by rollup (channel_name, id)
 order by channel_name nulls first, id nulls first
 limit 100
