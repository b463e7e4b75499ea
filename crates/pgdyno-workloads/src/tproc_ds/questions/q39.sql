-- Question 39: items whose stock in a warehouse varied much in a month and in the next one too: deviation above the
--   mean, in the second statement above 1.5 times the mean in the first month. The months stand side by side.
--: YEAR = 2001 | uniform(1998, 2002)
--: MONTH = 1 | uniform(1, 4)
with stock as (
       select inv_warehouse_sk, inv_item_sk,
              avg(inv_quantity_on_hand) filter (where d_moy = [MONTH]) as mean1,
              stddev_samp(inv_quantity_on_hand) filter (where d_moy = [MONTH]) as deviation1,
              avg(inv_quantity_on_hand) filter (where d_moy = [MONTH] + 1) as mean2,
              stddev_samp(inv_quantity_on_hand) filter (where d_moy = [MONTH] + 1) as deviation2
         from date_dim
         join inventory on inv_date_sk = d_date_sk
        where d_year = [YEAR]
          and d_moy in ([MONTH], [MONTH] + 1)
        group by inv_warehouse_sk, inv_item_sk)
select inv_warehouse_sk as warehouse1, inv_item_sk as item1, [MONTH] as month1, mean1, deviation1 / mean1 as variation1,
       inv_warehouse_sk as warehouse2, inv_item_sk as item2, [MONTH] + 1 as month2, mean2, deviation2 / mean2 as variation2
  from stock
 where deviation1 > mean1
   and deviation2 > mean2
   and mean1 > 0
   and mean2 > 0
 order by warehouse1, item1, month1, mean1, variation1, month2, mean2, variation2
--;
with stock as (
       select inv_warehouse_sk, inv_item_sk,
              avg(inv_quantity_on_hand) filter (where d_moy = [MONTH]) as mean1,
              stddev_samp(inv_quantity_on_hand) filter (where d_moy = [MONTH]) as deviation1,
              avg(inv_quantity_on_hand) filter (where d_moy = [MONTH] + 1) as mean2,
              stddev_samp(inv_quantity_on_hand) filter (where d_moy = [MONTH] + 1) as deviation2
         from date_dim
         join inventory on inv_date_sk = d_date_sk
        where d_year = [YEAR]
          and d_moy in ([MONTH], [MONTH] + 1)
        group by inv_warehouse_sk, inv_item_sk)
select inv_warehouse_sk as warehouse1, inv_item_sk as item1, [MONTH] as month1, mean1, deviation1 / mean1 as variation1,
       inv_warehouse_sk as warehouse2, inv_item_sk as item2, [MONTH] + 1 as month2, mean2, deviation2 / mean2 as variation2
  from stock
 where deviation1 > 1.5 * mean1
   and deviation2 > mean2
   and mean1 > 0
   and mean2 > 0
 order by warehouse1, item1, month1, mean1, variation1, month2, mean2, variation2
