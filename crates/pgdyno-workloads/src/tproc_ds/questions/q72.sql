-- Question 72: catalog orders of a year by one kind of buyer that took more than five days to ship, and found too little in
--   a warehouse in the week of the order: how many by item, warehouse and week, in a promotion and without. Whether the
--   goods came back is not asked for, so the returns are not read. The stock of the year is read
--   once: PostgreSQL expects few late orders, and would look up the whole history of each item.
--: YEAR = 1999 | uniform(1998, 2002)
--: POTENTIAL = >10000 | one_of(1001-5000, >10000, 501-1000)
--: MARITAL = D | values(marital)
with late as (
       select cs_item_sk, cs_quantity, cs_promo_sk, sold.d_week_seq
         from catalog_sales
         join date_dim as sold on sold.d_date_sk = cs_sold_date_sk
         join date_dim as shipped on shipped.d_date_sk = cs_ship_date_sk
         join household_demographics on hd_demo_sk = cs_bill_hdemo_sk
         join customer_demographics on cd_demo_sk = cs_bill_cdemo_sk
        where sold.d_year = [YEAR]
          and shipped.d_date > sold.d_date + 5
          and hd_buy_potential = '[POTENTIAL]'
          and cd_marital_status = '[MARITAL]'),
     stock as materialized (
       select inv_item_sk, inv_warehouse_sk, inv_quantity_on_hand, d_week_seq
         from date_dim
         join inventory on inv_date_sk = d_date_sk
        where d_week_seq in (select d_week_seq from date_dim where d_year = [YEAR]))
select i_item_desc, w_warehouse_name, late.d_week_seq,
       count(*) filter (where cs_promo_sk is null) as no_promotion,
       count(*) filter (where cs_promo_sk is not null) as promotion,
       count(*) as orders
  from late
  join stock on inv_item_sk = cs_item_sk and stock.d_week_seq = late.d_week_seq and inv_quantity_on_hand < cs_quantity
  join warehouse on w_warehouse_sk = inv_warehouse_sk
  join item on i_item_sk = cs_item_sk
 group by i_item_desc, w_warehouse_name, late.d_week_seq
 order by orders desc, i_item_desc nulls first, w_warehouse_name nulls first, late.d_week_seq nulls first
 limit 100
