-- Question 73: tickets of one to five items that households with more dependents than vehicles bought on the first two
--   days of a month, in three years, in the stores of some counties.
--: YEAR = 1999 | uniform(1998, 2000)
--: POTENTIALS[2] = Unknown,>10000 | distinct(buy_potential)
--: COUNTIES[4] = Orange County,Bronx County,Franklin Parish,Williamson County | distinct(Williamson County, Orange County, Bronx County, Franklin Parish)
with ticket as (
       select ss_ticket_number, ss_customer_sk, count(*) as items
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk
         join household_demographics on hd_demo_sk = ss_hdemo_sk
         join store on s_store_sk = ss_store_sk
        where d_year between [YEAR] and [YEAR] + 2
          and d_dom in (1, 2)
          and hd_buy_potential in ('[POTENTIALS.1]', '[POTENTIALS.2]')
          and hd_vehicle_count > 0
          and hd_dep_count > hd_vehicle_count
          and s_county in ('[COUNTIES.1]', '[COUNTIES.2]', '[COUNTIES.3]', '[COUNTIES.4]')
        group by ss_ticket_number, ss_customer_sk
       having count(*) <= 5)
select c_last_name, c_first_name, c_salutation, c_preferred_cust_flag, ss_ticket_number, items
  from ticket
  join customer on c_customer_sk = ss_customer_sk
 order by items desc, c_last_name
