-- Question 79: tickets of Mondays, in three years, in stores of some size by households with some number of dependents
--   or many vehicles.
--: DEPENDENTS = 6 | uniform(0, 9)
--: VEHICLES = 2 | uniform(-1, 4)
--: YEAR = 1999 | uniform(1998, 2000)
with ticket as (
       select ss_ticket_number, ss_customer_sk, s_city, sum(ss_coupon_amt) as coupons, sum(ss_net_profit) as profit
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk
         join store on s_store_sk = ss_store_sk
         join household_demographics on hd_demo_sk = ss_hdemo_sk
        where d_year between [YEAR] and [YEAR] + 2
          and d_dow = 1
          and s_number_employees between 200 and 295
          and (hd_dep_count = [DEPENDENTS] or hd_vehicle_count > [VEHICLES])
        group by ss_ticket_number, ss_customer_sk, ss_addr_sk, s_city)
select c_last_name, c_first_name, substr(s_city, 1, 30) as city, ss_ticket_number, coupons, profit
  from ticket
  join customer on c_customer_sk = ss_customer_sk
 order by c_last_name nulls first, c_first_name nulls first, city nulls first, profit nulls first, ss_ticket_number
 limit 100
