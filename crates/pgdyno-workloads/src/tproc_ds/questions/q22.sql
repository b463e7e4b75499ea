-- Question 22: mean stock in twelve months by product, brand, class and category, with the means of the upper levels,
--   the lowest first. The stock is summed by item before the levels are made: 18,000 rows to sort instead of millions.
--: MONTH_SEQ = 1200 | uniform(1176, 1224)
with stock as materialized (
       select inv_item_sk, sum(inv_quantity_on_hand) as quantity, count(inv_quantity_on_hand) as counts
         from inventory
         join date_dim on d_date_sk = inv_date_sk
        where d_month_seq between [MONTH_SEQ] and [MONTH_SEQ] + 11
        group by inv_item_sk)
select i_product_name, i_brand, i_class, i_category, sum(quantity) / sum(counts) as mean_stock
  from stock
  join item on i_item_sk = inv_item_sk
 group by rollup (i_product_name, i_brand, i_class, i_category)
 order by mean_stock nulls first, i_product_name nulls first, i_brand nulls first, i_class nulls first,
          i_category nulls first
 limit 100
