-- Question 3: of each year, the brands of one manufacturer and what stores sold of them in one month of the year, the
--   highest amount first.
--: MONTH = 11 | uniform(11, 12)
--: MANUFACTURER = 128 | uniform(1, 1000)
--: AMOUNT = ss_ext_sales_price | one_of(ss_ext_sales_price, ss_sales_price, ss_ext_discount_amt, ss_net_profit)
select d_year, i_brand_id, i_brand, sum([AMOUNT]) as amount
  from item
  join store_sales on ss_item_sk = i_item_sk
  join date_dim on d_date_sk = ss_sold_date_sk
 where i_manufact_id = [MANUFACTURER]
   and d_moy = [MONTH]
 group by d_year, i_brand_id, i_brand
 order by d_year, amount desc, i_brand_id
 limit 100
