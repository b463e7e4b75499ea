-- Question 59: of each store and week of a year, the sales of each weekday against the same weekday 52 weeks later. A
--   week appears once for each pair of its days and the later week's days that are in their twelve months; the versions
--   of a store have one store_id.
--: MONTH_SEQ = 1212 | uniform(1176, 1200)
with day as materialized (
       select d_date_sk, d_dow, d_week_seq, d_month_seq
         from date_dim
        where d_month_seq between [MONTH_SEQ] - 1 and [MONTH_SEQ] + 24),
     week as materialized (
       select ss_store_sk as store_sk, d_week_seq as seq,
              sum(ss_sales_price) filter (where d_dow = 0) as sunday,
              sum(ss_sales_price) filter (where d_dow = 1) as monday,
              sum(ss_sales_price) filter (where d_dow = 2) as tuesday,
              sum(ss_sales_price) filter (where d_dow = 3) as wednesday,
              sum(ss_sales_price) filter (where d_dow = 4) as thursday,
              sum(ss_sales_price) filter (where d_dow = 5) as friday,
              sum(ss_sales_price) filter (where d_dow = 6) as saturday
         from store_sales
         join day on d_date_sk = ss_sold_date_sk
        group by ss_store_sk, d_week_seq),
     now as (
       select s_store_name, s_store_id, week.*
         from week
         join store on s_store_sk = store_sk
         join day on d_week_seq = seq
        where d_month_seq between [MONTH_SEQ] and [MONTH_SEQ] + 11),
     later as (
       select s_store_id, week.*
         from week
         join store on s_store_sk = store_sk
         join day on d_week_seq = seq
        where d_month_seq between [MONTH_SEQ] + 12 and [MONTH_SEQ] + 23)
select now.s_store_name, now.s_store_id, now.seq,
       now.sunday / nullif(later.sunday, 0) as sunday,
       now.monday / nullif(later.monday, 0) as monday,
       now.tuesday / nullif(later.tuesday, 0) as tuesday,
       now.wednesday / nullif(later.wednesday, 0) as wednesday,
       now.thursday / nullif(later.thursday, 0) as thursday,
       now.friday / nullif(later.friday, 0) as friday,
       now.saturday / nullif(later.saturday, 0) as saturday
  from now
  join later on later.s_store_id = now.s_store_id and later.seq = now.seq + 52
 order by now.s_store_name, now.s_store_id, now.seq
 limit 100
