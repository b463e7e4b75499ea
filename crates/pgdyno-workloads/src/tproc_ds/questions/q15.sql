-- Question 15: catalog sales of a quarter by the customer's present zip code: all to some zip codes and to three
--   states, and elsewhere goods that were sold for more than 500.
--: QUARTER = 2 | uniform(1, 2)
--: YEAR = 2001 | uniform(1998, 2002)
select ca_zip, sum(cs_sales_price) as price
  from date_dim
  join catalog_sales on cs_sold_date_sk = d_date_sk
  join customer on c_customer_sk = cs_bill_customer_sk
  join customer_address on ca_address_sk = c_current_addr_sk
 where d_year = [YEAR]
   and d_qoy = [QUARTER]
   and (cs_sales_price > 500
        or ca_state in ('CA', 'GA', 'WA')
        or left(ca_zip, 5) in ('85669', '86197', '88274', '83405', '86475', '85392', '85460', '80348', '81792'))
 group by ca_zip
 order by ca_zip nulls first
 limit 100
