-- Question 67: the hundred best sellers of each category in a year, among the totals of all levels from category down
--   to product, month and store.
--: MONTH_SEQ = 1200 | uniform(1176, 1224)
with total as (
       select i_category, i_class, i_brand, i_product_name, d_year, d_qoy, d_moy, s_store_id,
              coalesce(sum(ss_sales_price * ss_quantity), 0) as sales
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk
         join item on i_item_sk = ss_item_sk
         join store on s_store_sk = ss_store_sk
        where d_month_seq between [MONTH_SEQ] and [MONTH_SEQ] + 11
        group by rollup (i_category, i_class, i_brand, i_product_name, d_year, d_qoy, d_moy, s_store_id)),
     ranked as (
       select *, rank() over (partition by i_category order by sales desc) as place
         from total)
select *
  from ranked
 where place <= 100
 order by i_category nulls first, i_class nulls first, i_brand nulls first, i_product_name nulls first, d_year nulls first,
          d_qoy nulls first, d_moy nulls first, s_store_id nulls first, sales nulls first, place
 limit 100
