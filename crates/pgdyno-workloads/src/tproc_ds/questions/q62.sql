-- Question 62: how many goods shipped in a year left within 30, 60, 90, 120 and more days, by warehouse, way of
--   shipment and web site. Sums by key come first: there are few of them, and the names are joined to the sums.
--: MONTH_SEQ = 1200 | uniform(1176, 1224)
with shipped as (
       select ws_warehouse_sk, ws_ship_mode_sk, ws_web_site_sk,
              ws_ship_date_sk - ws_sold_date_sk as days, count(*) as goods
         from web_sales
         join date_dim on d_date_sk = ws_ship_date_sk
        where d_month_seq between [MONTH_SEQ] and [MONTH_SEQ] + 11
        group by 1, 2, 3, 4)
select substr(w_warehouse_name, 1, 20) as warehouse, sm_type, web_name,
       coalesce(sum(goods) filter (where days <= 30), 0) as "30 days",
       coalesce(sum(goods) filter (where days > 30 and days <= 60), 0) as "31-60 days",
       coalesce(sum(goods) filter (where days > 60 and days <= 90), 0) as "61-90 days",
       coalesce(sum(goods) filter (where days > 90 and days <= 120), 0) as "91-120 days",
       coalesce(sum(goods) filter (where days > 120), 0) as ">120 days"
  from shipped
  join warehouse on w_warehouse_sk = ws_warehouse_sk
  join ship_mode on sm_ship_mode_sk = ws_ship_mode_sk
  join web_site on web_site_sk = ws_web_site_sk
 group by substr(w_warehouse_name, 1, 20), sm_type, web_name
 order by warehouse nulls first, sm_type nulls first, web_name nulls first
 limit 100
