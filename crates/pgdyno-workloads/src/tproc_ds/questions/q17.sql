-- Question 17: items bought in a store in the first quarter of a year, returned in the first three quarters of it, and
--   bought again from the catalog by the same customer in the same three: of the quantities bought, returned and bought
--   again, number, mean, deviation and deviation by mean, by item and state of the store.
--: YEAR = 2001 | uniform(1998, 2002)
with goods as (
       select ss_item_sk, ss_store_sk, ss_quantity, sr_quantity, cs_quantity
         from store_sales
         join date_dim as bought on bought.d_date_sk = ss_sold_date_sk
         join (select sr_item_sk, sr_ticket_number, sr_customer_sk, sr_return_quantity as sr_quantity
                 from store_returns
                 join date_dim on d_date_sk = sr_returned_date_sk
                where d_year = [YEAR]
                  and d_qoy <= 3) as returned
           on sr_item_sk = ss_item_sk and sr_ticket_number = ss_ticket_number and sr_customer_sk = ss_customer_sk
         join catalog_sales on cs_bill_customer_sk = sr_customer_sk and cs_item_sk = sr_item_sk
         join date_dim as again on again.d_date_sk = cs_sold_date_sk
        where bought.d_year = [YEAR]
          and bought.d_qoy = 1
          and again.d_year = [YEAR]
          and again.d_qoy <= 3)
select i_item_id, i_item_desc, s_state,
       count(ss_quantity) as bought, avg(ss_quantity) as bought_mean,
       stddev_samp(ss_quantity) as bought_deviation,
       stddev_samp(ss_quantity) / avg(ss_quantity) as bought_variation,
       count(sr_quantity) as returned, avg(sr_quantity) as returned_mean,
       stddev_samp(sr_quantity) as returned_deviation,
       stddev_samp(sr_quantity) / avg(sr_quantity) as returned_variation,
       count(cs_quantity) as again, avg(cs_quantity) as again_mean,
       stddev_samp(cs_quantity) as again_deviation,
       stddev_samp(cs_quantity) / avg(cs_quantity) as again_variation
  from goods
  join item on i_item_sk = ss_item_sk
  join store on s_store_sk = ss_store_sk
 group by i_item_id, i_item_desc, s_state
 order by i_item_id, i_item_desc, s_state
 limit 100
