-- Question 86: net paid on the web in a year by category and class, with the totals of the upper levels and the rank of
--   each within its level. Sales are summed by item before the levels are made.
--: MONTH_SEQ = 1200 | uniform(1176, 1224)
with paid as (
       select ws_item_sk, sum(ws_net_paid) as paid
         from web_sales
         join date_dim on d_date_sk = ws_sold_date_sk
        where d_month_seq between [MONTH_SEQ] and [MONTH_SEQ] + 11
        group by ws_item_sk),
     total as (
       select sum(paid) as total, i_category, i_class, grouping(i_category) + grouping(i_class) as level
         from paid
         join item on i_item_sk = ws_item_sk
        group by rollup (i_category, i_class))
select total, i_category, i_class, level,
       rank() over (partition by level, case when level = 0 then i_category end order by total desc) as place
  from total
 order by level desc nulls first, case when level = 0 then i_category end nulls first, place nulls first
 limit 100
