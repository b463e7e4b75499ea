-- Question 77: sales, returns and profit of thirty days by store, call center and web page, with totals of the
--   channels. As in the specification, each call center stands beside the returns of every call center.
--: START = 2000-08-23 | date(1998-2002, 08-01, 08-30)
with day as not materialized (
       select d_date_sk
         from date_dim
        where d_date between date '[START]' and date '[START]' + 30),
     sold (channel, id, amount, profit) as (
       select 'store channel', ss_store_sk, sum(ss_ext_sales_price), sum(ss_net_profit)
         from store_sales
         join day on d_date_sk = ss_sold_date_sk
        where ss_store_sk is not null
        group by ss_store_sk
        union all
       select 'catalog channel', cs_call_center_sk, sum(cs_ext_sales_price), sum(cs_net_profit)
         from catalog_sales
         join day on d_date_sk = cs_sold_date_sk
        group by cs_call_center_sk
        union all
       select 'web channel', ws_web_page_sk, sum(ws_ext_sales_price), sum(ws_net_profit)
         from web_sales
         join day on d_date_sk = ws_sold_date_sk
        where ws_web_page_sk is not null
        group by ws_web_page_sk),
     returned (channel, id, amount, loss) as (
       select 'store channel', sr_store_sk, sum(sr_return_amt), sum(sr_net_loss)
         from store_returns
         join day on d_date_sk = sr_returned_date_sk
        group by sr_store_sk
        union all
       select 'catalog channel', cr_call_center_sk, sum(cr_return_amount), sum(cr_net_loss)
         from catalog_returns
         join day on d_date_sk = cr_returned_date_sk
        group by cr_call_center_sk
        union all
       select 'web channel', wr_web_page_sk, sum(wr_return_amt), sum(wr_net_loss)
         from web_returns
         join day on d_date_sk = wr_returned_date_sk
        group by wr_web_page_sk)
select sold.channel, sold.id, sum(sold.amount) as sales, sum(coalesce(returned.amount, 0)) as returned,
       sum(sold.profit - coalesce(returned.loss, 0)) as profit
  from sold
  left join returned
    on returned.channel = sold.channel
   and (returned.id = sold.id or sold.channel = 'catalog channel')
 group by rollup (sold.channel, sold.id)
 order by channel nulls first, id nulls first
 limit 100
