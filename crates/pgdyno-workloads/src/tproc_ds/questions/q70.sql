-- Question 70: profit of the stores of the five best states in a year by state and county, with the totals of the upper
--   levels and the rank of each within its level. Profit is summed by store first.
--: MONTH_SEQ = 1200 | uniform(1176, 1224)
with earned as (
       select s_state, s_county, sum(ss_net_profit) as profit
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk
         join store on s_store_sk = ss_store_sk
        where d_month_seq between [MONTH_SEQ] and [MONTH_SEQ] + 11
        group by s_state, s_county),
     best as (
       select s_state, rank() over (order by sum(profit) desc) as place
         from earned
        group by s_state),
     total as (
       select sum(profit) as total, s_state, s_county, grouping(s_state) + grouping(s_county) as level
         from earned
        where s_state in (select s_state from best where place <= 5)
        group by rollup (s_state, s_county))
select total, s_state, s_county, level,
       rank() over (partition by level, case when level = 0 then s_state end order by total desc) as place
  from total
 order by level desc, case when level = 0 then s_state end nulls first, place
 limit 100
