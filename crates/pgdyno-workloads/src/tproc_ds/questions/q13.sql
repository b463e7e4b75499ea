-- Question 13: mean quantity, price and cost of the sales in stores in a year to three kinds of households, in three
--   groups of states, each with its range of prices or profit.
--: MARITAL[3] = M,S,W | distinct(marital)
--: EDUCATION[3] = Advanced Degree,College,2 yr Degree | distinct(education)
--: STATES[9] = TX,OH,TX,OR,NM,KY,VA,TX,MS | distinct(states)
--: YEAR = 2001 | one_of(2001)
with sold as (
       select ss_quantity, ss_ext_sales_price, ss_ext_wholesale_cost, ss_sales_price, ss_net_profit,
              ss_cdemo_sk, ss_hdemo_sk, ss_addr_sk
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk
        where d_year = [YEAR]
          and ss_store_sk is not null
          and ss_sales_price between 50 and 200
          and ss_net_profit between 50 and 300)
select avg(ss_quantity) as quantity, avg(ss_ext_sales_price) as price,
       avg(ss_ext_wholesale_cost) as mean_cost, sum(ss_ext_wholesale_cost) as cost
  from sold
  join customer_demographics on cd_demo_sk = ss_cdemo_sk
  join household_demographics on hd_demo_sk = ss_hdemo_sk
  join customer_address on ca_address_sk = ss_addr_sk
 where ca_country = 'United States'
   and (ca_state in ('[STATES.1]', '[STATES.2]', '[STATES.3]') and ss_net_profit between 100 and 200
        or ca_state in ('[STATES.4]', '[STATES.5]', '[STATES.6]') and ss_net_profit between 150 and 300
        or ca_state in ('[STATES.7]', '[STATES.8]', '[STATES.9]') and ss_net_profit between 50 and 250)
   and ((cd_marital_status, cd_education_status, hd_dep_count) = ('[MARITAL.1]', '[EDUCATION.1]', 3)
             and ss_sales_price between 100 and 150
        or (cd_marital_status, cd_education_status, hd_dep_count) = ('[MARITAL.2]', '[EDUCATION.2]', 1)
             and ss_sales_price between 50 and 100
        or (cd_marital_status, cd_education_status, hd_dep_count) = ('[MARITAL.3]', '[EDUCATION.3]', 1)
             and ss_sales_price between 150 and 200)
