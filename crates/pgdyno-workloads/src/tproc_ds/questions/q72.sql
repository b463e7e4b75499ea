-- Question 72: catalog orders of a year by one kind of buyer that took more than five days to ship, and found too
--   little in a warehouse in the week of the order: how many by item, warehouse and week, in a promotion and without.
--   Whether the goods came back is not asked for, so the returns are not read. Its week's days come first, so that the
--   stock is found by day and item: PostgreSQL would look up the whole history of each item.
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
     wanted as materialized (
       select cs_item_sk, cs_quantity, cs_promo_sk, d_week_seq, d_date_sk
         from late
         join date_dim using (d_week_seq))
select i_item_desc, w_warehouse_name, d_week_seq,
       count(*) filter (where cs_promo_sk is null) as no_promotion,
       count(*) filter (where cs_promo_sk is not null) as promotion,
       count(*) as orders
  from wanted
  join inventory on inv_date_sk = d_date_sk and inv_item_sk = cs_item_sk and inv_quantity_on_hand < cs_quantity
  join warehouse on w_warehouse_sk = inv_warehouse_sk
  join item on i_item_sk = cs_item_sk
 group by i_item_desc, w_warehouse_name, d_week_seq
 order by orders desc, i_item_desc nulls first, w_warehouse_name nulls first, d_week_seq nulls first
 limit 100
