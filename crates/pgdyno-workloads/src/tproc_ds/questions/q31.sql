-- Question 31: counties where web sales grew more than store sales from the first quarter of a year to the second, and
--   from the second to the third. Each channel is read once, with its three quarters side by side.
--: YEAR = 2000 | uniform(1998, 2002)
with on_web as (
       select ca_county,
              sum(ws_ext_sales_price) filter (where d_qoy = 1) as q1,
              sum(ws_ext_sales_price) filter (where d_qoy = 2) as q2,
              sum(ws_ext_sales_price) filter (where d_qoy = 3) as q3
         from web_sales
         join date_dim on d_date_sk = ws_sold_date_sk
         join customer_address on ca_address_sk = ws_bill_addr_sk
        where d_year = [YEAR]
        group by ca_county),
     in_store as (
       select ca_county,
              sum(ss_ext_sales_price) filter (where d_qoy = 1) as q1,
              sum(ss_ext_sales_price) filter (where d_qoy = 2) as q2,
              sum(ss_ext_sales_price) filter (where d_qoy = 3) as q3
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk
         join customer_address on ca_address_sk = ss_addr_sk
        where d_year = [YEAR]
        group by ca_county),
     growth as (
       select ca_county,
              w.q2 / nullif(w.q1, 0) as web_q2, s.q2 / nullif(s.q1, 0) as store_q2,
              w.q3 / nullif(w.q2, 0) as web_q3, s.q3 / nullif(s.q2, 0) as store_q3
         from on_web w
         join in_store s using (ca_county))
select ca_county, [YEAR] as year, web_q2, store_q2, web_q3, store_q3
  from growth
 where web_q2 > store_q2
   and web_q3 > store_q3
 order by ca_county
