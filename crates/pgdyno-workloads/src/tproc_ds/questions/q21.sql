-- Question 21: items that cost from 0.99 to 1.49, of which a warehouse had from a day on, for 30 days, two thirds to
--   one and a half of what it had in the 30 days before it; the stocks of each day on which they were counted are
--   summed.
--: DAY = 2000-03-11 | date(1998-2002, 01-31, 07-01)
with stock as (
       select inv_warehouse_sk, i_item_id,
              sum(inv_quantity_on_hand) filter (where d_date < date '[DAY]') as before,
              sum(inv_quantity_on_hand) filter (where d_date >= date '[DAY]') as after
         from inventory
         join date_dim on d_date_sk = inv_date_sk
         join item on i_item_sk = inv_item_sk
        where d_date between date '[DAY]' - 30 and date '[DAY]' + 30
          and i_current_price between 0.99 and 1.49
        group by inv_warehouse_sk, i_item_id)
select w_warehouse_name, i_item_id, before, after
  from stock
  join warehouse on w_warehouse_sk = inv_warehouse_sk
 where before > 0
   and 3 * after >= 2 * before
   and 2 * after <= 3 * before
 order by w_warehouse_name nulls first, i_item_id
 limit 100
