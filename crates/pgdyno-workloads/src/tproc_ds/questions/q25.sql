-- Question 25: items bought in a store in April of a year, returned from April to October of it, and bought again from
--   the catalog by the same customer in the same months: profit of the store's sales, loss of the returns and profit of
--   the catalog's sales, by item and store.
--: YEAR = 2001 | uniform(1998, 2002)
--: AGGREGATE = sum | one_of(sum, min, max, avg, stddev_samp)
with later as not materialized (
       select d_date_sk as day
         from date_dim
        where d_year = [YEAR]
          and d_moy between 4 and 10),
     returned as (
       select ss_item_sk as item, ss_store_sk as store, ss_customer_sk as customer, ss_net_profit, sr_net_loss
         from store_returns
         join later on day = sr_returned_date_sk
         join store_sales
           on ss_item_sk = sr_item_sk and ss_ticket_number = sr_ticket_number and ss_customer_sk = sr_customer_sk
         join date_dim on d_date_sk = ss_sold_date_sk
        where d_year = [YEAR]
          and d_moy = 4)
select i_item_id, i_item_desc, s_store_id, s_store_name,
       [AGGREGATE](ss_net_profit) as store_profit,
       [AGGREGATE](sr_net_loss) as return_loss,
       [AGGREGATE](cs_net_profit) as catalog_profit
  from returned
  join catalog_sales on cs_bill_customer_sk = customer and cs_item_sk = item
  join later on day = cs_sold_date_sk
  join item on i_item_sk = item
  join store on s_store_sk = store
 group by i_item_id, i_item_desc, s_store_id, s_store_name
 order by i_item_id, i_item_desc, s_store_id, s_store_name
 limit 100
