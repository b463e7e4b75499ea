-- Question 95: web orders shipped to a state in 60 days by the sites of one company, from more than one warehouse and
--   with a return: how many, their shipping cost and profit. Whether an order has two warehouses is looked up for the few
--   orders that were shipped so, not worked out for all.
--: START = 1999-02-01 | one_of(1999-02-01, 1999-03-01, 1999-04-01, 1999-05-01, 2000-02-01, 2000-03-01, 2000-04-01, 2000-05-01, 2001-02-01, 2001-03-01, 2001-04-01, 2001-05-01, 2002-02-01, 2002-03-01, 2002-04-01, 2002-05-01)
--: STATE = IL | values(states)
--: COMPANY = pri | values(companies)
with shipped as materialized (
       select ws_order_number, ws_warehouse_sk, ws_ext_ship_cost, ws_net_profit
         from web_sales
        where ws_ship_date_sk in (
              select d_date_sk from date_dim where d_date between date '[START]' and date '[START]' + 60)
          and ws_ship_addr_sk in (select ca_address_sk from customer_address where ca_state = '[STATE]')
          and ws_web_site_sk in (select web_site_sk from web_site where web_company_name = '[COMPANY]'))
select count(distinct ws_order_number) as orders, sum(ws_ext_ship_cost) as shipping_cost, sum(ws_net_profit) as profit
  from shipped
 where exists (select from web_returns where wr_order_number = shipped.ws_order_number)
   and (select min(ws_warehouse_sk) <> max(ws_warehouse_sk)
          from web_sales as line
         where line.ws_order_number = shipped.ws_order_number)
