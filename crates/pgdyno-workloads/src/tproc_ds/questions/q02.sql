-- Question 2: of each week of a year, what web and catalog sold on each weekday (Sunday first) divided by what they
--   sold on the same weekday 53 weeks later, in the next year. A week appears once for each pair of one of its days
--   that is in the year and one of the later week's days that is in the next: the last join repeats it.
--: YEAR = 2001 | uniform(1998, 2001)
with sold (day, amount) as (
       select ws_sold_date_sk, sum(ws_ext_sales_price) from web_sales group by ws_sold_date_sk
        union all
       select cs_sold_date_sk, sum(cs_ext_sales_price) from catalog_sales group by cs_sold_date_sk),
     week as (
       select d_week_seq as number,
              sum(amount) filter (where d_dow = 0) as sunday,
              sum(amount) filter (where d_dow = 1) as monday,
              sum(amount) filter (where d_dow = 2) as tuesday,
              sum(amount) filter (where d_dow = 3) as wednesday,
              sum(amount) filter (where d_dow = 4) as thursday,
              sum(amount) filter (where d_dow = 5) as friday,
              sum(amount) filter (where d_dow = 6) as saturday
         from sold
         join date_dim on d_date_sk = day
        group by d_week_seq),
     calendar as (
       select d_week_seq as number,
              count(*) filter (where d_year = [YEAR]) as days_this_year,
              count(*) filter (where d_year = [YEAR] + 1) as days_next_year
         from date_dim
        where d_year in ([YEAR], [YEAR] + 1)
        group by d_week_seq)
select early.number as week,
       round(early.sunday / nullif(late.sunday, 0), 2) as sunday,
       round(early.monday / nullif(late.monday, 0), 2) as monday,
       round(early.tuesday / nullif(late.tuesday, 0), 2) as tuesday,
       round(early.wednesday / nullif(late.wednesday, 0), 2) as wednesday,
       round(early.thursday / nullif(late.thursday, 0), 2) as thursday,
       round(early.friday / nullif(late.friday, 0), 2) as friday,
       round(early.saturday / nullif(late.saturday, 0), 2) as saturday
  from week as early
  join calendar as early_days on early_days.number = early.number
  join week as late on late.number = early.number + 53
  join calendar as late_days on late_days.number = late.number
 cross join generate_series(1, early_days.days_this_year * late_days.days_next_year)
 order by week
