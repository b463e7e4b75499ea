-- Question 10: how many customers of each demographic group live in five counties, bought in a store in four months,
--   and also on the web or from the catalog.
--: YEAR = 2002 | uniform(1999, 2002)
--: MONTH = 1 | uniform(1, 4)
--: COUNTIES[5] = Rush County,Toole County,Jefferson County,Dona Ana County,La Porte County | distinct(counties)
with day as not materialized (
       select d_date_sk
         from date_dim
        where d_year = [YEAR]
          and d_moy between [MONTH] and [MONTH] + 3),
     neighbour as (
       select c_customer_sk, c_current_cdemo_sk
         from customer
         join customer_address on ca_address_sk = c_current_addr_sk
        where ca_county in ('[COUNTIES.1]', '[COUNTIES.2]', '[COUNTIES.3]', '[COUNTIES.4]', '[COUNTIES.5]'))
select cd_gender, cd_marital_status, cd_education_status, count(*) as cnt1,
       cd_purchase_estimate, count(*) as cnt2, cd_credit_rating, count(*) as cnt3,
       cd_dep_count, count(*) as cnt4, cd_dep_employed_count, count(*) as cnt5, cd_dep_college_count, count(*) as cnt6
  from neighbour
  join customer_demographics on cd_demo_sk = c_current_cdemo_sk
 where exists (
       select from store_sales join day on d_date_sk = ss_sold_date_sk where ss_customer_sk = c_customer_sk)
   and (exists (
           select from web_sales join day on d_date_sk = ws_sold_date_sk where ws_bill_customer_sk = c_customer_sk)
        or exists (
           select from catalog_sales join day on d_date_sk = cs_sold_date_sk where cs_ship_customer_sk = c_customer_sk))
 group by cd_gender, cd_marital_status, cd_education_status, cd_purchase_estimate, cd_credit_rating, cd_dep_count,
          cd_dep_employed_count, cd_dep_college_count
 order by cd_gender, cd_marital_status, cd_education_status, cd_purchase_estimate, cd_credit_rating, cd_dep_count,
          cd_dep_employed_count, cd_dep_college_count
 limit 100
