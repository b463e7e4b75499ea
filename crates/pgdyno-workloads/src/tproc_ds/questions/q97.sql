-- Question 97: how many pairs of customer and item there were in a year in stores only, in the catalog only, and in
--   both.
--: MONTH_SEQ = 1200 | uniform(1176, 1224)
with day as not materialized (
       select d_date_sk
         from date_dim
        where d_month_seq between [MONTH_SEQ] and [MONTH_SEQ] + 11),
     sale (customer_sk, item_sk, channel) as (
       select ss_customer_sk, ss_item_sk, 1 from store_sales join day on d_date_sk = ss_sold_date_sk
        union all
       select cs_bill_customer_sk, cs_item_sk, 2 from catalog_sales join day on d_date_sk = cs_sold_date_sk),
     pair as (
       select bit_or(channel) as channels
         from sale
        where customer_sk is not null
        group by customer_sk, item_sk)
select count(*) filter (where channels = 1) as store_only, count(*) filter (where channels = 2) as catalog_only,
       count(*) filter (where channels = 3) as both
  from pair
