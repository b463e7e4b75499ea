-- Question 12: items of three categories sold on the web in 30 days, with their share of the revenue of their class.
--: CATEGORIES[3] = Sports,Books,Home | distinct(categories)
--: START = 1999-02-22 | date(1998-2002, 01-01, 07-01)
with revenue as (
       select i_item_id, i_item_desc, i_category, i_class, i_current_price, sum(ws_ext_sales_price) as itemrevenue
         from web_sales
         join date_dim on d_date_sk = ws_sold_date_sk
         join item on i_item_sk = ws_item_sk
        where d_date between date '[START]' and date '[START]' + 30
          and i_category in ('[CATEGORIES.1]', '[CATEGORIES.2]', '[CATEGORIES.3]')
        group by i_item_id, i_item_desc, i_category, i_class, i_current_price)
select *, 100 * itemrevenue / nullif(sum(itemrevenue) over (partition by i_class), 0) as revenueratio
  from revenue
 order by i_category, i_class, i_item_id, i_item_desc, revenueratio
 limit 100
