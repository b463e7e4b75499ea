-- Question 34: tickets of 15 to 20 items that households with more than 1.2 dependents a vehicle bought at the begin or
--   the end of a month, in three years, in the stores of a county.
--: YEAR = 1999 | uniform(1998, 2000)
--: POTENTIALS[2] = >10000,Unknown | distinct(buy_potential)
--: COUNTY = Williamson County | values(store_counties)
with ticket as (
       select ss_ticket_number, ss_customer_sk, count(*) as items
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk
         join household_demographics on hd_demo_sk = ss_hdemo_sk
         join store on s_store_sk = ss_store_sk
        where d_year between [YEAR] and [YEAR] + 2
          and (d_dom between 1 and 3 or d_dom between 25 and 28)
          and hd_buy_potential in ('[POTENTIALS.1]', '[POTENTIALS.2]')
          and hd_vehicle_count > 0
          and hd_dep_count > 1.2 * hd_vehicle_count
          and s_county = '[COUNTY]'
        group by ss_ticket_number, ss_customer_sk
       having count(*) between 15 and 20)
select c_last_name, c_first_name, c_salutation, c_preferred_cust_flag, ss_ticket_number, items
  from ticket
  join customer on c_customer_sk = ss_customer_sk
 order by c_last_name nulls first, c_first_name nulls first, c_salutation nulls first,
          c_preferred_cust_flag desc nulls first, ss_ticket_number nulls first
