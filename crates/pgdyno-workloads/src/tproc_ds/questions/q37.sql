-- Question 37: items of four manufacturers and a price range, of which a warehouse had 100 to 500 in 60 days, and which
--   are sold from the catalog.
--: PRICE = 68 | uniform(10, 70)
--: START = 2000-02-01 | date(1998-2002, 01-01, 07-24)
--: MANUFACTURERS[4] = 677,940,694,808 | distinct(667, 1000)
select distinct i_item_id, i_item_desc, i_current_price
  from item
 where i_current_price between [PRICE] and [PRICE] + 30
   and i_manufact_id in ([MANUFACTURERS.1], [MANUFACTURERS.2], [MANUFACTURERS.3], [MANUFACTURERS.4])
   and exists (select from catalog_sales where cs_item_sk = i_item_sk)
   and exists (
       select
         from inventory
         join date_dim on d_date_sk = inv_date_sk
        where inv_item_sk = i_item_sk
          and inv_quantity_on_hand between 100 and 500
          and d_date between date '[START]' and date '[START]' + 60)
 order by i_item_id
 limit 100
