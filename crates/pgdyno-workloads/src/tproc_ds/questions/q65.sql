-- Question 65: items that a store sold in a year for no more than a tenth of what it sold its items for in the mean.
--: MONTH_SEQ = 1176 | uniform(1176, 1224)
with sold as (
       select ss_store_sk, ss_item_sk, sum(ss_sales_price) as revenue,
              avg(sum(ss_sales_price)) over (partition by ss_store_sk) as store_mean
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk
        where d_month_seq between [MONTH_SEQ] and [MONTH_SEQ] + 11
        group by ss_store_sk, ss_item_sk)
select s_store_name, i_item_desc, revenue, i_current_price, i_wholesale_cost, i_brand
  from sold
  join store on s_store_sk = ss_store_sk
  join item on i_item_sk = ss_item_sk
 where revenue <= 0.1 * store_mean
 order by s_store_name nulls first, i_item_desc nulls first
 limit 100
