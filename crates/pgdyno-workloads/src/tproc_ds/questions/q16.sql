-- Question 16: catalog orders shipped to a state in the 60 days after a day by the call centers of a county, from more
--   than one warehouse and without a return: how many, and the shipping cost and profit of the lines shipped so.
--: START = 2002-02-01 | one_of(1999-02-01, 1999-03-01, 1999-04-01, 1999-05-01, 2000-02-01, 2000-03-01, 2000-04-01, 2000-05-01, 2001-02-01, 2001-03-01, 2001-04-01, 2001-05-01, 2002-02-01, 2002-03-01, 2002-04-01, 2002-05-01)
--: STATE = GA | values(states)
--: COUNTY = Williamson County | values(call_center_counties)
select count(distinct line.cs_order_number) as orders,
       sum(line.cs_ext_ship_cost) as shipping_cost,
       sum(line.cs_net_profit) as net_profit
  from catalog_sales as line
  join date_dim on d_date_sk = line.cs_ship_date_sk
  join customer_address on ca_address_sk = line.cs_ship_addr_sk
  join call_center on cc_call_center_sk = line.cs_call_center_sk
 where d_date between date '[START]' and date '[START]' + 60
   and ca_state = '[STATE]'
   and cc_county = '[COUNTY]'
   and not exists (
           select
             from catalog_returns
            where cr_order_number = line.cs_order_number)
   and exists (
           select
             from catalog_sales as other
            where other.cs_order_number = line.cs_order_number
              and other.cs_warehouse_sk <> line.cs_warehouse_sk)
