-- Question 54: customers who bought goods of a class from the catalog or on the web in a month, counted by what they
--   spent in stores in the next three, in steps of 50. What they spent counts once for each store of their county.
--: GOODS = Women: maternity | values(category_classes)
--: MONTH = 12 | uniform(1, 7)
--: YEAR = 1998 | uniform(1998, 2002)
with chosen_month as (
       select d_date_sk, d_month_seq
         from date_dim
        where d_year = [YEAR]
          and d_moy = [MONTH]),
     sale (customer_sk, item_sk) as (
       select cs_bill_customer_sk, cs_item_sk from catalog_sales join chosen_month on d_date_sk = cs_sold_date_sk
        union all
       select ws_bill_customer_sk, ws_item_sk from web_sales join chosen_month on d_date_sk = ws_sold_date_sk),
     buyer as (
       select c_customer_sk, c_current_addr_sk
         from customer
        where c_customer_sk in (
              select customer_sk
                from sale
                join item on i_item_sk = item_sk
               where i_category = split_part('[GOODS]', ': ', 1)
                 and i_class = split_part('[GOODS]', ': ', 2))),
     nearby as (
       select ca_address_sk, count(*) as stores
         from customer_address
         join store on s_county = ca_county and s_state = ca_state
        group by ca_address_sk),
     revenue as (
       select c_customer_sk, sum(ss_ext_sales_price * stores) as revenue
         from buyer
         join nearby on ca_address_sk = c_current_addr_sk
         join store_sales on ss_customer_sk = c_customer_sk
         join date_dim on d_date_sk = ss_sold_date_sk
        where d_month_seq between (select max(d_month_seq) + 1 from chosen_month)
                              and (select max(d_month_seq) + 3 from chosen_month)
        group by c_customer_sk)
select (revenue / 50)::int as segment, count(*) as customers, (revenue / 50)::int * 50 as segment_base
  from revenue
 group by (revenue / 50)::int
 order by segment, customers
 limit 100
