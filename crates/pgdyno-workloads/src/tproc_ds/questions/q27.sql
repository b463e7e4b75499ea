-- Question 27: mean quantity, list price, coupon and price of what one kind of customer bought in the stores of a state
--   in a year, by item and state, with the means of the upper levels. It orders by the level, not by the state: before
--   18, PostgreSQL takes a column that equals a constant for one value, in the rows of the upper levels too.
--: GENDER = M | values(genders)
--: MARITAL = S | values(marital)
--: EDUCATION = College | values(education)
--: YEAR = 2002 | uniform(1998, 2002)
--: STATE = TN | values(store_states)
select i_item_id, s_state, grouping(s_state) as all_states,
       avg(ss_quantity) as quantity, avg(ss_list_price) as list_price,
       avg(ss_coupon_amt) as coupon, avg(ss_sales_price) as sales_price
  from store_sales
  join store on s_store_sk = ss_store_sk and s_state = '[STATE]'
  join item on i_item_sk = ss_item_sk
 where ss_sold_date_sk in (select d_date_sk from date_dim where d_year = [YEAR])
   and ss_cdemo_sk in (
       select cd_demo_sk
         from customer_demographics
        where (cd_gender, cd_marital_status, cd_education_status) = ('[GENDER]', '[MARITAL]', '[EDUCATION]'))
 group by rollup (i_item_id, s_state)
 order by i_item_id nulls first, all_states desc
 limit 100
