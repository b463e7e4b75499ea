-- Question 75: brands of a category whose sales of all channels, less the returns, fell by more than a tenth in number
--   from a year to the next. As the specification asks, sales that are equal in all that is counted count once.
--: CATEGORY = Books | values(categories)
--: YEAR = 2002 | uniform(1999, 2002)
with sale (d_year, i_brand_id, i_class_id, i_category_id, i_manufact_id, quantity, amount) as (
       select d_year, i_brand_id, i_class_id, i_category_id, i_manufact_id,
              ss_quantity - coalesce(sr_return_quantity, 0), ss_ext_sales_price - coalesce(sr_return_amt, 0)
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk and d_year in ([YEAR] - 1, [YEAR])
         join item on i_item_sk = ss_item_sk and i_category = '[CATEGORY]'
         left join store_returns on sr_item_sk = ss_item_sk and sr_ticket_number = ss_ticket_number
        union
       select d_year, i_brand_id, i_class_id, i_category_id, i_manufact_id,
              cs_quantity - coalesce(cr_return_quantity, 0), cs_ext_sales_price - coalesce(cr_return_amount, 0)
         from catalog_sales
         join date_dim on d_date_sk = cs_sold_date_sk and d_year in ([YEAR] - 1, [YEAR])
         join item on i_item_sk = cs_item_sk and i_category = '[CATEGORY]'
         left join catalog_returns on cr_item_sk = cs_item_sk and cr_order_number = cs_order_number
        union
       select d_year, i_brand_id, i_class_id, i_category_id, i_manufact_id,
              ws_quantity - coalesce(wr_return_quantity, 0), ws_ext_sales_price - coalesce(wr_return_amt, 0)
         from web_sales
         join date_dim on d_date_sk = ws_sold_date_sk and d_year in ([YEAR] - 1, [YEAR])
         join item on i_item_sk = ws_item_sk and i_category = '[CATEGORY]'
         left join web_returns on wr_item_sk = ws_item_sk and wr_order_number = ws_order_number),
     brand as (
       select i_brand_id, i_class_id, i_category_id, i_manufact_id,
              sum(quantity) filter (where d_year = [YEAR] - 1) as before_count,
              sum(quantity) filter (where d_year = [YEAR]) as now_count,
              sum(amount) filter (where d_year = [YEAR] - 1) as before_amount,
              sum(amount) filter (where d_year = [YEAR]) as now_amount
         from sale
        where i_brand_id is not null
          and i_class_id is not null
          and i_category_id is not null
          and i_manufact_id is not null
        group by i_brand_id, i_class_id, i_category_id, i_manufact_id)
select [YEAR] - 1 as before_year, [YEAR] as now_year, i_brand_id, i_class_id, i_category_id, i_manufact_id,
       before_count, now_count, now_count - before_count as count_change, now_amount - before_amount as amount_change
  from brand
 where now_count::numeric / nullif(before_count, 0) < 0.9
 order by count_change, amount_change
 limit 100
