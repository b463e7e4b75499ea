-- Question 85: mean quantity, refund and fee of a year's web returns by reason, for three kinds of persons who both got
--   the refund and sent the goods, in three groups of states.
--: MARITAL[3] = M,S,W | distinct(marital)
--: EDUCATION[3] = Advanced Degree,College,2 yr Degree | distinct(education)
--: STATES[9] = IN,OH,NJ,WI,CT,KY,LA,IA,AR | distinct(states)
--: YEAR = 2000 | uniform(1998, 2002)
with sold as (
       select wr_reason_sk, wr_refunded_cash, wr_fee, wr_refunded_addr_sk, wr_refunded_cdemo_sk, wr_returning_cdemo_sk,
              ws_quantity, ws_sales_price, ws_net_profit
         from web_returns
         join web_sales on ws_item_sk = wr_item_sk and ws_order_number = wr_order_number
         join date_dim on d_date_sk = ws_sold_date_sk
        where d_year = [YEAR]
          and ws_web_page_sk is not null)
select substr(r_reason_desc, 1, 20) as reason, avg(ws_quantity) as quantity, avg(wr_refunded_cash) as refund,
       avg(wr_fee) as fee
  from sold
  join reason on r_reason_sk = wr_reason_sk
  join customer_address on ca_address_sk = wr_refunded_addr_sk
  join customer_demographics as refunded on refunded.cd_demo_sk = wr_refunded_cdemo_sk
  join customer_demographics as sender on sender.cd_demo_sk = wr_returning_cdemo_sk
   and (sender.cd_marital_status, sender.cd_education_status) = (refunded.cd_marital_status, refunded.cd_education_status)
 where ca_country = 'United States'
   and (ca_state in ('[STATES.1]', '[STATES.2]', '[STATES.3]') and ws_net_profit between 100 and 200
        or ca_state in ('[STATES.4]', '[STATES.5]', '[STATES.6]') and ws_net_profit between 150 and 300
        or ca_state in ('[STATES.7]', '[STATES.8]', '[STATES.9]') and ws_net_profit between 50 and 250)
   and ((refunded.cd_marital_status, refunded.cd_education_status) = ('[MARITAL.1]', '[EDUCATION.1]')
             and ws_sales_price between 100 and 150
        or (refunded.cd_marital_status, refunded.cd_education_status) = ('[MARITAL.2]', '[EDUCATION.2]')
             and ws_sales_price between 50 and 100
        or (refunded.cd_marital_status, refunded.cd_education_status) = ('[MARITAL.3]', '[EDUCATION.3]')
             and ws_sales_price between 150 and 200)
 group by r_reason_desc
 order by reason, quantity, refund, fee
 limit 100
