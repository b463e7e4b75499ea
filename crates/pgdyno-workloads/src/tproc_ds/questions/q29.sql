-- Question 29: quantities of items bought in a store in a month, returned in that or the next three, and bought again
--   by the same customer from the catalog within three years, by item and store.
--: YEAR = 1999 | uniform(1998, 2000)
--: MONTH = 9 | uniform(4, 9)
--: AGGREGATE = sum | one_of(sum, min, max, avg, stddev_samp)
with returned as (
       select ss_store_sk, ss_item_sk, ss_customer_sk, ss_quantity, sr_return_quantity
         from store_returns
         join date_dim on d_date_sk = sr_returned_date_sk and d_year = [YEAR] and d_moy between [MONTH] and [MONTH] + 3
         join store_sales on ss_item_sk = sr_item_sk and ss_ticket_number = sr_ticket_number
        where ss_customer_sk = sr_customer_sk
          and ss_sold_date_sk in (select d_date_sk from date_dim where d_year = [YEAR] and d_moy = [MONTH]))
select i_item_id, i_item_desc, s_store_id, s_store_name,
       [AGGREGATE](ss_quantity) as sold,
       [AGGREGATE](sr_return_quantity) as returned,
       [AGGREGATE](cs_quantity) as bought_again
  from returned
  join catalog_sales on cs_bill_customer_sk = ss_customer_sk and cs_item_sk = ss_item_sk
  join date_dim on d_date_sk = cs_sold_date_sk and d_year between [YEAR] and [YEAR] + 2
  join item on i_item_sk = ss_item_sk
  join store on s_store_sk = ss_store_sk
 group by i_item_id, i_item_desc, s_store_id, s_store_name
 order by i_item_id, i_item_desc, s_store_id, s_store_name
 limit 100
