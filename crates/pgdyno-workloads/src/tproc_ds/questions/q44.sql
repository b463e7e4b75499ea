-- Question 44: the ten best and the ten worst items of a store by mean profit, of those above nine tenths of the mean
--   of its sales without a value in one column. As in the specification, the lowest profit comes first in the column
--   `best_performing`.
--: STORE = 4 | uniform(1, 12)
--: MISSING = ss_addr_sk | one_of(ss_customer_sk, ss_cdemo_sk, ss_hdemo_sk, ss_addr_sk, ss_promo_sk)
with sold as materialized (
       select ss_item_sk, avg(ss_net_profit) as profit,
              sum(ss_net_profit) filter (where [MISSING] is null) as missing_profit,
              count(ss_net_profit) filter (where [MISSING] is null) as missing_sales
         from store_sales
        where ss_store_sk = [STORE]
        group by ss_item_sk),
     ranked as (
       select ss_item_sk, rank() over (order by profit) as from_low, rank() over (order by profit desc) as from_high
         from sold
        where profit > 0.9 * (select sum(missing_profit) / nullif(sum(missing_sales), 0) from sold))
select low.from_low as place, low_item.i_product_name as best_performing, high_item.i_product_name as worst_performing
  from ranked as low
  join ranked as high on high.from_high = low.from_low
  join item as low_item on low_item.i_item_sk = low.ss_item_sk
  join item as high_item on high_item.i_item_sk = high.ss_item_sk
 where low.from_low <= 10
 order by place
 limit 100
