-- Question 20: items of three categories sold from the catalog in the 30 days after a day: their revenue, and what
--   percentage it is of the revenue of their class.
--: CATEGORIES[3] = Sports,Books,Home | distinct(categories)
--: START = 1999-02-22 | date(1998-2002, 01-01, 07-01)
with earned as (
       select cs_item_sk, sum(cs_ext_sales_price) as revenue
         from date_dim
         join catalog_sales on cs_sold_date_sk = d_date_sk
        where d_date between date '[START]' and date '[START]' + 30
        group by cs_item_sk)
select i_item_id, i_item_desc, i_category, i_class, i_current_price,
       sum(revenue) as revenue,
       100 * sum(revenue) / nullif(sum(sum(revenue)) over (partition by i_class), 0) as share
  from earned
  join item on i_item_sk = cs_item_sk
 where i_category in ('[CATEGORIES.1]', '[CATEGORIES.2]', '[CATEGORIES.3]')
 group by i_item_id, i_item_desc, i_category, i_class, i_current_price
 order by i_category, i_class nulls first, i_item_id, i_item_desc nulls first, share nulls first
 limit 100
