-- Question 46: tickets of weekends in the stores of some cities by households with some number of dependents or
--   vehicles, whose buyer has moved to another city since.
--: DEPENDENTS = 4 | uniform(0, 9)
--: VEHICLES = 3 | uniform(-1, 4)
--: YEAR = 1999 | uniform(1998, 2000)
--: CITIES[2] = Fairview,Midway | distinct(store_cities)
with ticket as (
       select ss_ticket_number, ss_customer_sk, ss_addr_sk, sum(ss_coupon_amt) as coupons, sum(ss_net_profit) as profit
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk
         join store on s_store_sk = ss_store_sk
         join household_demographics on hd_demo_sk = ss_hdemo_sk
        where d_year between [YEAR] and [YEAR] + 2
          and d_dow in (0, 6)
          and s_city in ('[CITIES.1]', '[CITIES.2]')
          and (hd_dep_count = [DEPENDENTS] or hd_vehicle_count = [VEHICLES])
        group by ss_ticket_number, ss_customer_sk, ss_addr_sk)
select c_last_name, c_first_name, home.ca_city, bought.ca_city as bought_city, ss_ticket_number, coupons, profit
  from ticket
  join customer_address as bought on bought.ca_address_sk = ss_addr_sk
  join customer on c_customer_sk = ss_customer_sk
  join customer_address as home on home.ca_address_sk = c_current_addr_sk
 where home.ca_city <> bought.ca_city
 order by c_last_name nulls first, c_first_name nulls first, ca_city nulls first, bought_city nulls first,
          ss_ticket_number nulls first
 limit 100
