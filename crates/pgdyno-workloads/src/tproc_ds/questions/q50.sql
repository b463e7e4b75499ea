-- Question 50: of each store, how many goods returned in a month came back within 30, 60, 90, 120 and more days.
--: YEAR = 2001 | uniform(1998, 2002)
--: MONTH = 8 | uniform(8, 10)
with returned as (
       select ss_store_sk, sr_returned_date_sk - ss_sold_date_sk as days
         from date_dim
         join store_returns on sr_returned_date_sk = d_date_sk
         join store_sales on ss_item_sk = sr_item_sk and ss_ticket_number = sr_ticket_number
        where d_year = [YEAR]
          and d_moy = [MONTH]
          and ss_customer_sk = sr_customer_sk
          and ss_sold_date_sk is not null)
select s_store_name, s_company_id, s_street_number, s_street_name, s_street_type, s_suite_number, s_city, s_county,
       s_state, s_zip,
       count(*) filter (where days <= 30) as "30 days",
       count(*) filter (where days > 30 and days <= 60) as "31-60 days",
       count(*) filter (where days > 60 and days <= 90) as "61-90 days",
       count(*) filter (where days > 90 and days <= 120) as "91-120 days",
       count(*) filter (where days > 120) as ">120 days"
  from returned
  join store on s_store_sk = ss_store_sk
 group by s_store_name, s_company_id, s_street_number, s_street_name, s_street_type, s_suite_number, s_city, s_county,
          s_state, s_zip
 order by s_store_name, s_company_id, s_street_number, s_street_name, s_street_type, s_suite_number, s_city, s_county,
          s_state, s_zip
 limit 100
