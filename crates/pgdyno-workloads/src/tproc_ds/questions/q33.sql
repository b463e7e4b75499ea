-- Question 33: manufacturers that make goods of a category, and what all channels sold of them in a month to customers
--   of one time zone.
--: CATEGORY = Electronics | one_of(Books, Home, Electronics)
--: YEAR = 1998 | uniform(1998, 2002)
--: MONTH = 5 | uniform(1, 7)
--: GMT = -5 | values(gmt_offsets)
with day as not materialized (
       select d_date_sk
         from date_dim
        where d_year = [YEAR]
          and d_moy = [MONTH]),
     sale (item_sk, addr_sk, price) as (
       select ss_item_sk, ss_addr_sk, ss_ext_sales_price from store_sales join day on d_date_sk = ss_sold_date_sk
        union all
       select cs_item_sk, cs_bill_addr_sk, cs_ext_sales_price from catalog_sales join day on d_date_sk = cs_sold_date_sk
        union all
       select ws_item_sk, ws_bill_addr_sk, ws_ext_sales_price from web_sales join day on d_date_sk = ws_sold_date_sk)
select i_manufact_id, sum(price) as total_sales
  from sale
  join customer_address on ca_address_sk = addr_sk and ca_gmt_offset = [GMT]
  join item on i_item_sk = item_sk
 where i_manufact_id in (select i_manufact_id from item where i_category = '[CATEGORY]')
 group by i_manufact_id
 order by total_sales
 limit 100
