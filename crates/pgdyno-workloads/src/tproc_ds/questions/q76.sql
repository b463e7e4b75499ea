-- Question 76: sales of each channel that lack a value in one column, by quarter and category.
--: STORE_COLUMN = ss_store_sk | one_of(ss_customer_sk, ss_cdemo_sk, ss_hdemo_sk, ss_addr_sk, ss_store_sk, ss_promo_sk)
--: WEB_COLUMN = ws_ship_customer_sk | one_of(ws_bill_customer_sk, ws_bill_hdemo_sk, ws_bill_addr_sk, ws_ship_customer_sk, ws_ship_cdemo_sk, ws_ship_hdemo_sk, ws_ship_addr_sk, ws_web_page_sk, ws_web_site_sk, ws_ship_mode_sk, ws_warehouse_sk, ws_promo_sk)
--: CATALOG_COLUMN = cs_ship_addr_sk | one_of(cs_bill_customer_sk, cs_bill_hdemo_sk, cs_bill_addr_sk, cs_ship_customer_sk, cs_ship_cdemo_sk, cs_ship_hdemo_sk, cs_ship_addr_sk, cs_ship_mode_sk, cs_warehouse_sk, cs_promo_sk)
with incomplete (channel, missing, date_sk, item_sk, price) as (
       select 'store', '[STORE_COLUMN]', ss_sold_date_sk, ss_item_sk, ss_ext_sales_price
         from store_sales
        where [STORE_COLUMN] is null
        union all
       select 'web', '[WEB_COLUMN]', ws_sold_date_sk, ws_item_sk, ws_ext_sales_price
         from web_sales
        where [WEB_COLUMN] is null
        union all
       select 'catalog', '[CATALOG_COLUMN]', cs_sold_date_sk, cs_item_sk, cs_ext_sales_price
         from catalog_sales
        where [CATALOG_COLUMN] is null)
select channel, missing, d_year, d_qoy, i_category, count(*) as sales, sum(price) as amount
  from incomplete
  join date_dim on d_date_sk = date_sk
  join item on i_item_sk = item_sk
 group by channel, missing, d_year, d_qoy, i_category
 order by channel nulls first, missing nulls first, d_year nulls first, d_qoy nulls first, i_category nulls first
 limit 100
