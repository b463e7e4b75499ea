-- Question 87: how many persons bought in a store on a day of a year, but neither from the catalog nor on the web on
--   it. Persons are distinguished by name; one list of the purchases, grouped, shows who is in the first only.
--: MONTH_SEQ = 1200 | uniform(1176, 1224)
with day as not materialized (
       select d_date_sk, d_date
         from date_dim
        where d_month_seq between [MONTH_SEQ] and [MONTH_SEQ] + 11),
     purchase (channel, customer_sk, d_date) as (
       select 1, ss_customer_sk, d_date from store_sales join day on d_date_sk = ss_sold_date_sk group by 2, 3
        union all
       select 2, cs_bill_customer_sk, d_date from catalog_sales join day on d_date_sk = cs_sold_date_sk group by 2, 3
        union all
       select 4, ws_bill_customer_sk, d_date from web_sales join day on d_date_sk = ws_sold_date_sk group by 2, 3)
select count(*) as persons
  from (select
          from purchase
          join customer on c_customer_sk = customer_sk
         group by c_last_name, c_first_name, d_date
        having bit_or(channel) = 1) as person
