-- Question 56: items that come in three colours, and what all channels sold of them in a month to customers of one time
--   zone.
--: COLORS[3] = slate,blanched,burnished | distinct(colors)
--: YEAR = 2001 | uniform(1998, 2002)
--: MONTH = 2 | uniform(1, 7)
--: GMT = -5 | values(gmt_offsets)
with day as not materialized (
       select d_date_sk
         from date_dim
        where d_year = [YEAR]
          and d_moy = [MONTH]),
     chosen as (
       select i_item_sk, i_item_id
         from item
        where i_item_id in (select i_item_id from item where i_color in ('[COLORS.1]', '[COLORS.2]', '[COLORS.3]'))),
     sale (item_sk, addr_sk, price) as (
       select ss_item_sk, ss_addr_sk, ss_ext_sales_price from store_sales join day on d_date_sk = ss_sold_date_sk
        union all
       select cs_item_sk, cs_bill_addr_sk, cs_ext_sales_price from catalog_sales join day on d_date_sk = cs_sold_date_sk
        union all
       select ws_item_sk, ws_bill_addr_sk, ws_ext_sales_price from web_sales join day on d_date_sk = ws_sold_date_sk)
select i_item_id, sum(price) as total_sales
  from sale
  join chosen on i_item_sk = item_sk
  join customer_address on ca_address_sk = addr_sk and ca_gmt_offset = [GMT]
 group by i_item_id
 order by total_sales nulls first, i_item_id
 limit 100
