-- Question 19: brands and manufacturers of one manager's items, and what stores sold of them in a month to customers
--   who live in another zip code than the store's, the highest amount first.
--: MANAGER = 8 | uniform(1, 100)
--: MONTH = 11 | uniform(11, 12)
--: YEAR = 1998 | uniform(1998, 2002)
with sold as (
       select i_brand_id, i_brand, i_manufact_id, i_manufact, ss_customer_sk, ss_ext_sales_price,
              left(s_zip, 5) as store_zip
         from item
         join store_sales on ss_item_sk = i_item_sk
         join date_dim on d_date_sk = ss_sold_date_sk
         join store on s_store_sk = ss_store_sk
        where i_manager_id = [MANAGER]
          and d_year = [YEAR]
          and d_moy = [MONTH])
select i_brand_id, i_brand, i_manufact_id, i_manufact, sum(ss_ext_sales_price) as amount
  from sold
  join customer on c_customer_sk = ss_customer_sk
  join customer_address on ca_address_sk = c_current_addr_sk
 where left(ca_zip, 5) <> store_zip
 group by i_brand_id, i_brand, i_manufact_id, i_manufact
 order by amount desc, i_brand, i_brand_id, i_manufact_id, i_manufact
 limit 100
