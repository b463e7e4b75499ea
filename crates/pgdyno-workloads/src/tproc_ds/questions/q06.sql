-- Question 6: states in which at least ten goods bought in a month in stores were items that cost more than 1.2 times
--   the mean of their category, with their number; a buyer's state is that of the present address. The mean is a
--   window: one scan of the items instead of one for each of them.
--: YEAR = 2001 | uniform(1998, 2002)
--: MONTH = 1 | uniform(1, 7)
with priced as (
       select i_item_sk, i_current_price, avg(i_current_price) over (partition by i_category) as category_mean
         from item
        where i_category is not null)
select ca_state as state, count(*) as purchases
  from date_dim
  join store_sales on ss_sold_date_sk = d_date_sk
  join priced on i_item_sk = ss_item_sk
  join customer on c_customer_sk = ss_customer_sk
  join customer_address on ca_address_sk = c_current_addr_sk
 where d_year = [YEAR]
   and d_moy = [MONTH]
   and i_current_price > 1.2 * category_mean
 group by ca_state
having count(*) >= 10
 order by purchases, state nulls first
 limit 100
