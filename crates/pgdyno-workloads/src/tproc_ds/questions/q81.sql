-- Question 81: customers of a state who gave back goods of the catalog for more than 1.2 times the mean of the state
--   from which they sent them, with their addresses. The mean is a window over the totals, as in question 1.
--: YEAR = 2000 | uniform(1998, 2002)
--: STATE = GA | values(states)
with given_back as (
       select cr_returning_customer_sk as customer_sk, ca_state, sum(cr_return_amt_inc_tax) as total,
              avg(sum(cr_return_amt_inc_tax)) over (partition by ca_state) as state_mean
         from catalog_returns
         join date_dim on d_date_sk = cr_returned_date_sk
         join customer_address on ca_address_sk = cr_returning_addr_sk
        where d_year = [YEAR]
          and ca_state is not null
        group by cr_returning_customer_sk, ca_state)
select c_customer_id, c_salutation, c_first_name, c_last_name, home.ca_street_number, home.ca_street_name,
       home.ca_street_type, home.ca_suite_number, home.ca_city, home.ca_county, home.ca_state, home.ca_zip, home.ca_country,
       home.ca_gmt_offset, home.ca_location_type, total
  from given_back
  join customer on c_customer_sk = customer_sk
  join customer_address as home on home.ca_address_sk = c_current_addr_sk
 where total > 1.2 * state_mean
   and home.ca_state = '[STATE]'
 order by c_customer_id, total
 limit 100
