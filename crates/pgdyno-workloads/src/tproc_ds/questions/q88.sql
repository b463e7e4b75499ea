-- Question 88: how many goods a store sold in each half hour from 8:30 to 12:30 to three kinds of households. One scan
--   counts all eight.
--: STORE = ese | values(store_names)
--: DEPENDENTS[3] = 4,2,0 | distinct(-1, 4)
with sold as (
       select 2 * t_hour + t_minute / 30 as half_hour
         from store_sales
         join time_dim on t_time_sk = ss_sold_time_sk
         join household_demographics on hd_demo_sk = ss_hdemo_sk
         join store on s_store_sk = ss_store_sk
        where s_store_name = '[STORE]'
          and (hd_dep_count = [DEPENDENTS.1] and hd_vehicle_count <= [DEPENDENTS.1] + 2
               or hd_dep_count = [DEPENDENTS.2] and hd_vehicle_count <= [DEPENDENTS.2] + 2
               or hd_dep_count = [DEPENDENTS.3] and hd_vehicle_count <= [DEPENDENTS.3] + 2))
select count(*) filter (where half_hour = 17) as "from 8:30",
       count(*) filter (where half_hour = 18) as "from 9:00",
       count(*) filter (where half_hour = 19) as "from 9:30",
       count(*) filter (where half_hour = 20) as "from 10:00",
       count(*) filter (where half_hour = 21) as "from 10:30",
       count(*) filter (where half_hour = 22) as "from 11:00",
       count(*) filter (where half_hour = 23) as "from 11:30",
       count(*) filter (where half_hour = 24) as "from 12:00"
  from sold
