-- Question 45: web sales of a quarter by the customer's zip code and city, for some zip codes and ten items.
--: QUARTER = 2 | uniform(1, 2)
--: YEAR = 2001 | uniform(1998, 2002)
--: PLACE = ca_city | one_of(ca_city, ca_county, ca_state)
with sold as (
       select ws_bill_customer_sk, ws_sales_price,
              i_item_id in (select i_item_id from item where i_item_sk in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)) as is_chosen
         from web_sales
         join date_dim on d_date_sk = ws_sold_date_sk
         join item on i_item_sk = ws_item_sk
        where d_year = [YEAR]
          and d_qoy = [QUARTER])
select ca_zip, [PLACE], sum(ws_sales_price) as price
  from sold
  join customer on c_customer_sk = ws_bill_customer_sk
  join customer_address on ca_address_sk = c_current_addr_sk
 where is_chosen
    or left(ca_zip, 5) in ('85669', '86197', '88274', '83405', '86475', '85392', '85460', '80348', '81792')
 group by ca_zip, [PLACE]
 order by ca_zip, [PLACE]
 limit 100
