-- Question 36: gross margin of the stores of a state in a year by category and class, with the margins of the upper
--   levels and the rank of each within its level.
--: YEAR = 2001 | uniform(1998, 2002)
--: STATE = TN | values(store_states)
with margin as (
       select i_category, i_class, grouping(i_category, i_class) as groups,
              sum(ss_net_profit) / nullif(sum(ss_ext_sales_price), 0) as gross_margin
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk
         join item on i_item_sk = ss_item_sk
         join store on s_store_sk = ss_store_sk
        where d_year = [YEAR]
          and s_state = '[STATE]'
        group by rollup (i_category, i_class)),
     level as (
       select gross_margin, i_category, i_class, case groups when 0 then 0 when 1 then 1 else 2 end as level
         from margin)
select gross_margin, i_category, i_class, level,
       rank() over (partition by level, case when level = 0 then i_category end order by gross_margin) as rank
  from level
 order by level desc nulls first, case when level = 0 then i_category end nulls first, rank nulls first
 limit 100
