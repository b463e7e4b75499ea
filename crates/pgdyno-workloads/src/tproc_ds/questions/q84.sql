-- Question 84: customers of a city in an income range, once for each return to a store by their demographic group.
--: CITY = Edgewood | values(cities)
--: INCOME = 38128 | uniform(0, 70000)
with resident as (
       select c_customer_id, c_last_name, c_first_name, c_current_cdemo_sk
         from customer_address
         join customer on c_current_addr_sk = ca_address_sk
         join household_demographics on hd_demo_sk = c_current_hdemo_sk
         join income_band on ib_income_band_sk = hd_income_band_sk
        where ca_city = '[CITY]'
          and ib_lower_bound >= [INCOME]
          and ib_upper_bound <= [INCOME] + 50000)
select c_customer_id, concat(rtrim(c_last_name), ', ', rtrim(c_first_name)) as customer_name
  from resident
  join store_returns on sr_cdemo_sk = c_current_cdemo_sk
 order by c_customer_id
 limit 100
