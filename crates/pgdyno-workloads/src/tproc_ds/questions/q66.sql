-- Question 66: what web and catalog sold from each warehouse in each month of a year, by two carriers in eight hours of
--   the day: sales, sales a square foot, and net paid.
--: YEAR = 2001 | uniform(1998, 2002)
--: TIME = 30838 | uniform(1, 57597)
--: CARRIERS[2] = DHL,BARIAN | distinct(ship_carriers)
--: WEB_SALES = ws_ext_sales_price | one_of(ws_sales_price, ws_ext_sales_price, ws_ext_list_price)
--: WEB_NET = ws_net_paid | one_of(ws_net_paid, ws_net_paid_inc_tax, ws_net_paid_inc_ship, ws_net_paid_inc_ship_tax, ws_net_profit)
--: CATALOG_SALES = cs_sales_price | one_of(cs_sales_price, cs_ext_sales_price, cs_ext_list_price)
--: CATALOG_NET = cs_net_paid_inc_tax | one_of(cs_net_paid, cs_net_paid_inc_tax, cs_net_paid_inc_ship, cs_net_paid_inc_ship_tax, cs_net_profit)
with carrier as (
       select sm_ship_mode_sk
         from ship_mode
        where sm_carrier in ('[CARRIERS.1]', '[CARRIERS.2]')),
     month_sales (warehouse_sk, moy, sales, net) as (
       select ws_warehouse_sk, d_moy, sum([WEB_SALES] * ws_quantity), sum([WEB_NET] * ws_quantity)
         from web_sales
         join date_dim on d_date_sk = ws_sold_date_sk and d_year = [YEAR]
         join time_dim on t_time_sk = ws_sold_time_sk and t_time between [TIME] and [TIME] + 28800
         join carrier on sm_ship_mode_sk = ws_ship_mode_sk
        group by ws_warehouse_sk, d_moy
        union all
       select cs_warehouse_sk, d_moy, sum([CATALOG_SALES] * cs_quantity), sum([CATALOG_NET] * cs_quantity)
         from catalog_sales
         join date_dim on d_date_sk = cs_sold_date_sk and d_year = [YEAR]
         join time_dim on t_time_sk = cs_sold_time_sk and t_time between [TIME] and [TIME] + 28800
         join carrier on sm_ship_mode_sk = cs_ship_mode_sk
        group by cs_warehouse_sk, d_moy)
select w_warehouse_name, w_warehouse_sq_ft, w_city, w_county, w_state, w_country,
       '[CARRIERS.1],[CARRIERS.2]' as ship_carriers, [YEAR] as year,
       coalesce(sum(sales) filter (where moy = 1), 0) as jan_sales,
       coalesce(sum(sales) filter (where moy = 2), 0) as feb_sales,
       coalesce(sum(sales) filter (where moy = 3), 0) as mar_sales,
       coalesce(sum(sales) filter (where moy = 4), 0) as apr_sales,
       coalesce(sum(sales) filter (where moy = 5), 0) as may_sales,
       coalesce(sum(sales) filter (where moy = 6), 0) as jun_sales,
       coalesce(sum(sales) filter (where moy = 7), 0) as jul_sales,
       coalesce(sum(sales) filter (where moy = 8), 0) as aug_sales,
       coalesce(sum(sales) filter (where moy = 9), 0) as sep_sales,
       coalesce(sum(sales) filter (where moy = 10), 0) as oct_sales,
       coalesce(sum(sales) filter (where moy = 11), 0) as nov_sales,
       coalesce(sum(sales) filter (where moy = 12), 0) as dec_sales,
       coalesce(sum(sales) filter (where moy = 1), 0) / w_warehouse_sq_ft as jan_sales_per_sq_foot,
       coalesce(sum(sales) filter (where moy = 2), 0) / w_warehouse_sq_ft as feb_sales_per_sq_foot,
       coalesce(sum(sales) filter (where moy = 3), 0) / w_warehouse_sq_ft as mar_sales_per_sq_foot,
       coalesce(sum(sales) filter (where moy = 4), 0) / w_warehouse_sq_ft as apr_sales_per_sq_foot,
       coalesce(sum(sales) filter (where moy = 5), 0) / w_warehouse_sq_ft as may_sales_per_sq_foot,
       coalesce(sum(sales) filter (where moy = 6), 0) / w_warehouse_sq_ft as jun_sales_per_sq_foot,
       coalesce(sum(sales) filter (where moy = 7), 0) / w_warehouse_sq_ft as jul_sales_per_sq_foot,
       coalesce(sum(sales) filter (where moy = 8), 0) / w_warehouse_sq_ft as aug_sales_per_sq_foot,
       coalesce(sum(sales) filter (where moy = 9), 0) / w_warehouse_sq_ft as sep_sales_per_sq_foot,
       coalesce(sum(sales) filter (where moy = 10), 0) / w_warehouse_sq_ft as oct_sales_per_sq_foot,
       coalesce(sum(sales) filter (where moy = 11), 0) / w_warehouse_sq_ft as nov_sales_per_sq_foot,
       coalesce(sum(sales) filter (where moy = 12), 0) / w_warehouse_sq_ft as dec_sales_per_sq_foot,
       coalesce(sum(net) filter (where moy = 1), 0) as jan_net,
       coalesce(sum(net) filter (where moy = 2), 0) as feb_net,
       coalesce(sum(net) filter (where moy = 3), 0) as mar_net,
       coalesce(sum(net) filter (where moy = 4), 0) as apr_net,
       coalesce(sum(net) filter (where moy = 5), 0) as may_net,
       coalesce(sum(net) filter (where moy = 6), 0) as jun_net,
       coalesce(sum(net) filter (where moy = 7), 0) as jul_net,
       coalesce(sum(net) filter (where moy = 8), 0) as aug_net,
       coalesce(sum(net) filter (where moy = 9), 0) as sep_net,
       coalesce(sum(net) filter (where moy = 10), 0) as oct_net,
       coalesce(sum(net) filter (where moy = 11), 0) as nov_net,
       coalesce(sum(net) filter (where moy = 12), 0) as dec_net
  from month_sales
  join warehouse on w_warehouse_sk = warehouse_sk
 group by w_warehouse_name, w_warehouse_sq_ft, w_city, w_county, w_state, w_country
 order by w_warehouse_name nulls first
 limit 100
