-- Question 59: of each store and week of a year, the sales of each weekday against the same weekday 52 weeks later. A
--   week appears once for each pair of its days and the later week's days that are in their twelve months; the versions
--   of a store have one store_id.
--: MONTH_SEQ = 1212 | uniform(1176, 1200)
with week as materialized (
       select ss_store_sk as store_sk, d_week_seq as seq,
              sum(ss_sales_price) filter (where d_dow = 0) as sunday,
              sum(ss_sales_price) filter (where d_dow = 1) as monday,
              sum(ss_sales_price) filter (where d_dow = 2) as tuesday,
              sum(ss_sales_price) filter (where d_dow = 3) as wednesday,
              sum(ss_sales_price) filter (where d_dow = 4) as thursday,
              sum(ss_sales_price) filter (where d_dow = 5) as friday,
              sum(ss_sales_price) filter (where d_dow = 6) as saturday
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk
        where d_month_seq between [MONTH_SEQ] - 1 and [MONTH_SEQ] + 24
        group by ss_store_sk, d_week_seq),
     now as (
       select s_store_name, s_store_id, week.*
         from week
         join store on s_store_sk = store_sk
         join date_dim on d_week_seq = seq
        where d_month_seq between [MONTH_SEQ] and [MONTH_SEQ] + 11),
     later as (
       select s_store_id, week.*
         from week
         join store on s_store_sk = store_sk
         join date_dim on d_week_seq = seq
        where d_month_seq between [MONTH_SEQ] + 12 and [MONTH_SEQ] + 23)
select now.s_store_name, now.s_store_id, now.seq,
       now.sunday / later.sunday as sunday,
       now.monday / later.monday as monday,
       now.tuesday / later.tuesday as tuesday,
       now.wednesday / later.wednesday as wednesday,
       now.thursday / later.thursday as thursday,
       now.friday / later.friday as friday,
       now.saturday / later.saturday as saturday
  from now
  join later on later.s_store_id = now.s_store_id and later.seq = now.seq + 52
 order by now.s_store_name, now.s_store_id, now.seq
 limit 100
