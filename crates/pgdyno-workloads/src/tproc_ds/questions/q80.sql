-- Question 80: sales, returns and profit of thirty days of dear items in promotions without television, by store,
--   catalog page and web site, with totals of the channels. Each sale stands beside its own return.
--: START = 2000-08-23 | date(1998-2002, 08-01, 08-30)
with day as not materialized (
       select d_date_sk
         from date_dim
        where d_date between date '[START]' and date '[START]' + 30),
     dear as (
       select i_item_sk
         from item
        where i_current_price > 50),
     quiet as (
       select p_promo_sk
         from promotion
        where p_channel_tv = 'N'),
     line (channel, id, sales, returned, profit) as (
       select 'store channel', 'store' || s_store_id, ss_ext_sales_price, coalesce(sr_return_amt, 0),
              ss_net_profit - coalesce(sr_net_loss, 0)
         from store_sales
         join day on d_date_sk = ss_sold_date_sk
         join dear on i_item_sk = ss_item_sk
         join quiet on p_promo_sk = ss_promo_sk
         join store on s_store_sk = ss_store_sk
         left join store_returns on sr_item_sk = ss_item_sk and sr_ticket_number = ss_ticket_number
        union all
       select 'catalog channel', 'catalog_page' || cp_catalog_page_id, cs_ext_sales_price, coalesce(cr_return_amount, 0),
              cs_net_profit - coalesce(cr_net_loss, 0)
         from catalog_sales
         join day on d_date_sk = cs_sold_date_sk
         join dear on i_item_sk = cs_item_sk
         join quiet on p_promo_sk = cs_promo_sk
         join catalog_page on cp_catalog_page_sk = cs_catalog_page_sk
         left join catalog_returns on cr_item_sk = cs_item_sk and cr_order_number = cs_order_number
        union all
       select 'web channel', 'web_site' || web_site_id, ws_ext_sales_price, coalesce(wr_return_amt, 0),
              ws_net_profit - coalesce(wr_net_loss, 0)
         from web_sales
         join day on d_date_sk = ws_sold_date_sk
         join dear on i_item_sk = ws_item_sk
         join quiet on p_promo_sk = ws_promo_sk
         join web_site on web_site_sk = ws_web_site_sk
         left join web_returns on wr_item_sk = ws_item_sk and wr_order_number = ws_order_number)
select channel, id, sum(sales) as sales, sum(returned) as returned, sum(profit) as profit
  from line
 group by rollup (channel, id)
 order by channel nulls first, id nulls first
 limit 100
