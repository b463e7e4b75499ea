-- Question 18: of a year's catalog sales to buyers of one gender and education, born in six months, living in seven
--   states and of known present demographics, the mean quantity, list price, coupon, price, profit, year of birth and
--   number of dependents, by item, country, state and county, with the means of the upper levels (all, item, item and
--   country, item, country and state).
--: MONTHS[6] = 1,6,8,9,12,2 | distinct(1, 12)
--: STATES[7] = MS,IN,ND,OK,NM,VA,MS | distinct(states)
--: EDUCATION = Unknown | values(education)
--: GENDER = F | values(genders)
--: YEAR = 1998 | uniform(1998, 2002)
select i_item_id, ca_country, ca_state, ca_county,
       avg(cs_quantity) as quantity,
       avg(cs_list_price) as list_price,
       avg(cs_coupon_amt) as coupon,
       avg(cs_sales_price) as price,
       avg(cs_net_profit) as profit,
       avg(c_birth_year) as birth_year,
       avg(buyer.cd_dep_count) as dependents
  from catalog_sales
  join customer_demographics as buyer on buyer.cd_demo_sk = cs_bill_cdemo_sk
  join date_dim on d_date_sk = cs_sold_date_sk
  join customer on c_customer_sk = cs_bill_customer_sk
  join customer_address on ca_address_sk = c_current_addr_sk
  join item on i_item_sk = cs_item_sk
 where d_year = [YEAR]
   and buyer.cd_gender = '[GENDER]'
   and buyer.cd_education_status = '[EDUCATION]'
   and c_current_cdemo_sk is not null
   and c_birth_month in ([MONTHS.1], [MONTHS.2], [MONTHS.3], [MONTHS.4], [MONTHS.5], [MONTHS.6])
   and ca_state in (
           '[STATES.1]', '[STATES.2]', '[STATES.3]', '[STATES.4]', '[STATES.5]', '[STATES.6]', '[STATES.7]')
 group by rollup (i_item_id, ca_country, ca_state, ca_county)
 order by ca_country nulls first, ca_state nulls first, ca_county nulls first, i_item_id nulls first
 limit 100
