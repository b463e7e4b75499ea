-- Question 48: the quantity that stores sold in a year to three kinds of buyers, in three groups of states, each with
--   its range of prices or profit.
--: MARITAL[3] = M,D,S | distinct(marital)
--: EDUCATION[3] = 4 yr Degree,2 yr Degree,College | distinct(education)
--: STATES[9] = CO,OH,TX,OR,MN,KY,VA,CA,MS | distinct(states)
--: YEAR = 2000 | uniform(1998, 2002)
with sold as (
       select ss_quantity, ss_sales_price, ss_net_profit, ss_cdemo_sk, ss_addr_sk
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk
        where d_year = [YEAR]
          and ss_store_sk is not null
          and ss_sales_price between 50 and 200
          and ss_net_profit between 0 and 25000)
select sum(ss_quantity) as quantity
  from sold
  join customer_demographics on cd_demo_sk = ss_cdemo_sk
  join customer_address on ca_address_sk = ss_addr_sk
 where ca_country = 'United States'
   and ((cd_marital_status, cd_education_status) = ('[MARITAL.1]', '[EDUCATION.1]') and ss_sales_price between 100 and 150
        or (cd_marital_status, cd_education_status) = ('[MARITAL.2]', '[EDUCATION.2]') and ss_sales_price between 50 and 100
        or (cd_marital_status, cd_education_status) = ('[MARITAL.3]', '[EDUCATION.3]') and ss_sales_price between 150 and 200)
   and (ca_state in ('[STATES.1]', '[STATES.2]', '[STATES.3]') and ss_net_profit between 0 and 2000
        or ca_state in ('[STATES.4]', '[STATES.5]', '[STATES.6]') and ss_net_profit between 150 and 3000
        or ca_state in ('[STATES.7]', '[STATES.8]', '[STATES.9]') and ss_net_profit between 50 and 25000)
