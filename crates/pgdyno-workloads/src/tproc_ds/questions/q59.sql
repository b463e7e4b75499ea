-- Question 59: of each store and week of a year, the sales of each weekday against the same weekday 52 weeks later. A
--   week appears once for each pair of its days and the later week's days that are in their twelve months; the versions
--   of a store have one store_id. The days are counted first: the last join repeats the week.
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
     sold as materialized (
       select s_store_name, s_store_id, week.*
         from week
         join store on s_store_sk = store_sk),
     calendar as materialized (
       select d_week_seq as seq,
              count(*) filter (where d_month_seq <= [MONTH_SEQ] + 11) as days_now,
              count(*) filter (where d_month_seq > [MONTH_SEQ] + 11) as days_later
         from date_dim
        where d_month_seq between [MONTH_SEQ] and [MONTH_SEQ] + 23
        group by d_week_seq)
select now.s_store_name, now.s_store_id, now.seq,
       now.sunday / nullif(later.sunday, 0) as sunday,
       now.monday / nullif(later.monday, 0) as monday,
       now.tuesday / nullif(later.tuesday, 0) as tuesday,
       now.wednesday / nullif(later.wednesday, 0) as wednesday,
       now.thursday / nullif(later.thursday, 0) as thursday,
       now.friday / nullif(later.friday, 0) as friday,
       now.saturday / nullif(later.saturday, 0) as saturday
  from sold as now
  join calendar as now_days on now_days.seq = now.seq
  join sold as later on later.s_store_id = now.s_store_id and later.seq = now.seq + 52
  join calendar as later_days on later_days.seq = later.seq
 cross join generate_series(1, now_days.days_now * later_days.days_later)
 order by now.s_store_name, now.s_store_id, now.seq
 limit 100
