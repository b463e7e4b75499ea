-- Question 1: customers who gave back goods to a store of one state in a year, for more than 1.2 times what a customer
--   of that store gave back in the mean in that year. A customer may appear once for each store. The mean is a window
--   over the totals: PostgreSQL plans a subquery for each total as a scan of all of them, and does not finish.
--: YEAR = 2000 | uniform(1998, 2002)
--: STATE = TN | values(store_states)
--: AMOUNT = sr_return_amt | one_of(sr_return_amt, sr_fee, sr_refunded_cash, sr_return_amt_inc_tax, sr_reversed_charge, sr_store_credit, sr_return_tax)
with given_back as (
       select sr_store_sk, sr_customer_sk,
              sum([AMOUNT]) as amount,
              avg(sum([AMOUNT])) over (partition by sr_store_sk) as store_mean
         from store_returns
         join date_dim on d_date_sk = sr_returned_date_sk
        where d_year = [YEAR]
        group by sr_store_sk, sr_customer_sk)
select c_customer_id
  from given_back
  join store on s_store_sk = sr_store_sk
  join customer on c_customer_sk = sr_customer_sk
 where s_state = '[STATE]'
   and amount > 1.2 * store_mean
 order by c_customer_id
 limit 100
