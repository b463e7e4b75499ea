-- Question 52: brands of the items of manager 1, and what stores sold of them in a month.
--: MONTH = 11 | uniform(11, 12)
--: YEAR = 2000 | uniform(1998, 2002)
select [YEAR] as year, i_brand_id, i_brand, sum(ss_ext_sales_price) as price
  from item
  join store_sales on ss_item_sk = i_item_sk
 where i_manager_id = 1
   and ss_sold_date_sk in (select d_date_sk from date_dim where d_year = [YEAR] and d_moy = [MONTH])
 group by i_brand_id, i_brand
 order by price desc, i_brand_id
 limit 100
