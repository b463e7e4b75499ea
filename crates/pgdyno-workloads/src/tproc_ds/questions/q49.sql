-- Question 49: of each channel, the items with the ten highest ratios of what was returned to what was sold in a month,
--   by quantity or by amount. Only high returns and sales with a profit count.
--: YEAR = 2001 | uniform(1998, 2002)
--: MONTH = 12 | uniform(11, 12)
with day as not materialized (
       select d_date_sk
         from date_dim
        where d_year = [YEAR]
          and d_moy = [MONTH]),
     ratio (channel, item, by_quantity, by_amount) as (
       select 'web', ws_item_sk,
              sum(coalesce(wr_return_quantity, 0))::numeric / sum(ws_quantity), sum(wr_return_amt) / sum(ws_net_paid)
         from web_returns
         join web_sales on ws_item_sk = wr_item_sk and ws_order_number = wr_order_number
         join day on d_date_sk = ws_sold_date_sk
        where wr_return_amt > 10000 and ws_net_profit > 1 and ws_net_paid > 0 and ws_quantity > 0
        group by ws_item_sk
        union all
       select 'catalog', cs_item_sk,
              sum(coalesce(cr_return_quantity, 0))::numeric / sum(cs_quantity), sum(cr_return_amount) / sum(cs_net_paid)
         from catalog_returns
         join catalog_sales on cs_item_sk = cr_item_sk and cs_order_number = cr_order_number
         join day on d_date_sk = cs_sold_date_sk
        where cr_return_amount > 10000 and cs_net_profit > 1 and cs_net_paid > 0 and cs_quantity > 0
        group by cs_item_sk
        union all
       select 'store', ss_item_sk,
              sum(coalesce(sr_return_quantity, 0))::numeric / sum(ss_quantity), sum(sr_return_amt) / sum(ss_net_paid)
         from store_returns
         join store_sales on ss_item_sk = sr_item_sk and ss_ticket_number = sr_ticket_number
         join day on d_date_sk = ss_sold_date_sk
        where sr_return_amt > 10000 and ss_net_profit > 1 and ss_net_paid > 0 and ss_quantity > 0
        group by ss_item_sk),
     ranked as (
       select channel, item, by_quantity as return_ratio,
              rank() over (partition by channel order by by_quantity) as return_rank,
              rank() over (partition by channel order by by_amount) as currency_rank
         from ratio)
select *
  from ranked
 where return_rank <= 10
    or currency_rank <= 10
 order by channel, return_rank, currency_rank, item
 limit 100
