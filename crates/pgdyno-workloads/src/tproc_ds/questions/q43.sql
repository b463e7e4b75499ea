-- Question 43: sales of each store of a time zone on the days of the week, in a year.
--: YEAR = 2000 | uniform(1998, 2002)
--: GMT = -5 | one_of(-5)
with sold as (
       select ss_store_sk, d_dow, sum(ss_sales_price) as price
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk
        where d_year = [YEAR]
        group by ss_store_sk, d_dow)
select s_store_name, s_store_id,
       sum(price) filter (where d_dow = 0) as sunday,
       sum(price) filter (where d_dow = 1) as monday,
       sum(price) filter (where d_dow = 2) as tuesday,
       sum(price) filter (where d_dow = 3) as wednesday,
       sum(price) filter (where d_dow = 4) as thursday,
       sum(price) filter (where d_dow = 5) as friday,
       sum(price) filter (where d_dow = 6) as saturday
  from sold
  join store on s_store_sk = ss_store_sk
 where s_gmt_offset = [GMT]
 group by s_store_name, s_store_id
 order by s_store_name, s_store_id, sunday, monday, tuesday, wednesday, thursday, friday, saturday
 limit 100
