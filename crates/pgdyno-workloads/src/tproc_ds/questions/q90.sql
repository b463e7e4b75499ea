-- Question 90: web sales in two hours of the morning against two of the evening, from long pages to households of one
--   size.
--: HOUR_AM = 8 | uniform(6, 12)
--: HOUR_PM = 19 | uniform(13, 21)
--: DEPENDENTS = 6 | uniform(0, 9)
with sold as (
       select t_hour
         from web_sales
         join web_page on wp_web_page_sk = ws_web_page_sk and wp_char_count between 5000 and 5200
         join household_demographics on hd_demo_sk = ws_ship_hdemo_sk and hd_dep_count = [DEPENDENTS]
         join time_dim on t_time_sk = ws_sold_time_sk)
select count(*) filter (where t_hour in ([HOUR_AM], [HOUR_AM] + 1))::numeric
       / nullif(count(*) filter (where t_hour in ([HOUR_PM], [HOUR_PM] + 1)), 0) as am_pm_ratio
  from sold
