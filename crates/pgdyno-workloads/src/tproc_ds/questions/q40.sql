-- Question 40: items of a price range: catalog sales less refunds, by the warehouse's state, in the month before a day
--   and in the month after it.
--: DAY = 2000-03-11 | date(1998-2002, 01-31, 07-01)
with sold as (
       select cs_warehouse_sk, i_item_id, d_date >= date '[DAY]' as is_after, cs_order_number, cs_item_sk, cs_sales_price
         from catalog_sales
         join date_dim on d_date_sk = cs_sold_date_sk
         join item on i_item_sk = cs_item_sk
        where d_date between date '[DAY]' - 30 and date '[DAY]' + 30
          and i_current_price between 0.99 and 1.49)
select w_state, i_item_id,
       coalesce(sum(cs_sales_price - coalesce(cr_refunded_cash, 0)) filter (where not is_after), 0) as sales_before,
       coalesce(sum(cs_sales_price - coalesce(cr_refunded_cash, 0)) filter (where is_after), 0) as sales_after
  from sold
  join warehouse on w_warehouse_sk = cs_warehouse_sk
  left join catalog_returns on cr_order_number = cs_order_number and cr_item_sk = cs_item_sk
 group by w_state, i_item_id
 order by w_state, i_item_id
 limit 100
