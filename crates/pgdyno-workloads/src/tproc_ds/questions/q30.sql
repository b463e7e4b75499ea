-- Question 30: customers of a state who gave back goods bought on the web for more than 1.2 times the mean of the state
--   from which they sent them. The mean is a window over the totals, as in question 1.
--: YEAR = 2002 | uniform(1999, 2002)
--: STATE = GA | values(states)
with given_back as (
       select wr_returning_customer_sk as customer_sk, ca_state, sum(wr_return_amt) as total,
              avg(sum(wr_return_amt)) over (partition by ca_state) as state_mean
         from web_returns
         join date_dim on d_date_sk = wr_returned_date_sk
         join customer_address on ca_address_sk = wr_returning_addr_sk
        where d_year = [YEAR]
          and ca_state is not null
        group by wr_returning_customer_sk, ca_state)
select c_customer_id, c_salutation, c_first_name, c_last_name, c_preferred_cust_flag, c_birth_day, c_birth_month,
       c_birth_year, c_birth_country, c_login, c_email_address, c_last_review_date_sk, total
  from given_back
  join customer on c_customer_sk = customer_sk
  join customer_address as home on home.ca_address_sk = c_current_addr_sk
 where total > 1.2 * state_mean
   and home.ca_state = '[STATE]'
 order by c_customer_id, total
 limit 100
