-- Question 69: how many customers of each demographic group live in three states and bought in a store in three months,
--   but neither on the web nor from the catalog.
--: STATES[3] = KY,GA,NM | distinct(states)
--: YEAR = 2001 | uniform(1999, 2004)
--: MONTH = 4 | uniform(1, 4)
with day as not materialized (
       select d_date_sk
         from date_dim
        where d_year = [YEAR]
          and d_moy between [MONTH] and [MONTH] + 2),
     neighbour as (
       select c_customer_sk, c_current_cdemo_sk
         from customer
         join customer_address on ca_address_sk = c_current_addr_sk
        where ca_state in ('[STATES.1]', '[STATES.2]', '[STATES.3]'))
select cd_gender, cd_marital_status, cd_education_status, count(*) as cnt1,
       cd_purchase_estimate, count(*) as cnt2, cd_credit_rating, count(*) as cnt3
  from neighbour
  join customer_demographics on cd_demo_sk = c_current_cdemo_sk
 where exists (
       select from store_sales join day on d_date_sk = ss_sold_date_sk where ss_customer_sk = c_customer_sk)
   and not exists (
       select from web_sales join day on d_date_sk = ws_sold_date_sk where ws_bill_customer_sk = c_customer_sk)
   and not exists (
       select from catalog_sales join day on d_date_sk = cs_sold_date_sk where cs_ship_customer_sk = c_customer_sk)
 group by cd_gender, cd_marital_status, cd_education_status, cd_purchase_estimate, cd_credit_rating
 order by cd_gender, cd_marital_status, cd_education_status, cd_purchase_estimate, cd_credit_rating
 limit 100
