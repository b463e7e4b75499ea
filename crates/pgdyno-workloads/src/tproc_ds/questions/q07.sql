-- Question 7: mean quantity, list price, coupon and price of the items that one kind of customer bought in stores in a
--   year, in promotions without e-mail or without an event.
--: GENDER = M | values(genders)
--: MARITAL = S | values(marital)
--: EDUCATION = College | values(education)
--: YEAR = 2000 | uniform(1998, 2002)
select i_item_id,
       avg(ss_quantity) as quantity,
       avg(ss_list_price) as list_price,
       avg(ss_coupon_amt) as coupon,
       avg(ss_sales_price) as price
  from store_sales
  join customer_demographics on cd_demo_sk = ss_cdemo_sk
  join date_dim on d_date_sk = ss_sold_date_sk
  join promotion on p_promo_sk = ss_promo_sk
  join item on i_item_sk = ss_item_sk
 where d_year = [YEAR]
   and (cd_gender, cd_marital_status, cd_education_status) = ('[GENDER]', '[MARITAL]', '[EDUCATION]')
   and 'N' in (p_channel_email, p_channel_event)
 group by i_item_id
 order by i_item_id
 limit 100
