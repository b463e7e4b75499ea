-- Question 35: customers who bought in a store and on the web or from the catalog in the first three quarters of a
--   year, by state and demographic group, with figures of their dependents.
--: YEAR = 2002 | uniform(1999, 2002)
--: FIRST = min | one_of(sum, min, max, avg)
--: SECOND = max | one_of(sum, min, max, avg)
--: THIRD = avg | one_of(sum, min, max, avg)
with day as not materialized (
       select d_date_sk
         from date_dim
        where d_year = [YEAR]
          and d_qoy < 4),
     elsewhere (customer_sk) as (
       select ws_bill_customer_sk from web_sales join day on d_date_sk = ws_sold_date_sk
        union
       select cs_ship_customer_sk from catalog_sales join day on d_date_sk = cs_sold_date_sk)
select ca_state, cd_gender, cd_marital_status, cd_dep_count, count(*) as cnt1,
       [FIRST](cd_dep_count) as dependents1, [SECOND](cd_dep_count) as dependents2, [THIRD](cd_dep_count) as dependents3,
       cd_dep_employed_count, count(*) as cnt2, [FIRST](cd_dep_employed_count) as employed1,
       [SECOND](cd_dep_employed_count) as employed2, [THIRD](cd_dep_employed_count) as employed3,
       cd_dep_college_count, count(*) as cnt3, [FIRST](cd_dep_college_count) as college1,
       [SECOND](cd_dep_college_count) as college2, [THIRD](cd_dep_college_count) as college3
  from customer
  join customer_address on ca_address_sk = c_current_addr_sk
  join customer_demographics on cd_demo_sk = c_current_cdemo_sk
 where c_customer_sk in (select customer_sk from elsewhere)
   and c_customer_sk in (select ss_customer_sk from store_sales join day on d_date_sk = ss_sold_date_sk)
 group by ca_state, cd_gender, cd_marital_status, cd_dep_count, cd_dep_employed_count, cd_dep_college_count
 order by ca_state nulls first, cd_gender nulls first, cd_marital_status nulls first, cd_dep_count nulls first,
          cd_dep_employed_count nulls first, cd_dep_college_count nulls first
 limit 100
