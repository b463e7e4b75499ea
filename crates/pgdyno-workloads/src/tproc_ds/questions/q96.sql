-- Question 96: how many goods a store sold in one half hour of the evening to households of one size.
--: HOUR = 20 | one_of(20, 15, 16, 8)
--: DEPENDENTS = 7 | uniform(0, 9)
--: STORE = ese | values(store_names)
select count(*) as goods
  from store_sales
 where ss_sold_time_sk in (select t_time_sk from time_dim where t_hour = [HOUR] and t_minute >= 30)
   and ss_hdemo_sk in (select hd_demo_sk from household_demographics where hd_dep_count = [DEPENDENTS])
   and ss_store_sk in (select s_store_sk from store where s_store_name = '[STORE]')
