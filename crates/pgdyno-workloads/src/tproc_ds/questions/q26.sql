-- Question 26: mean quantity, list price, coupon and price of the items that one kind of customer bought from the
--   catalog in a year, in promotions without e-mail or without an event.
--: GENDER = M | values(genders)
--: MARITAL = S | values(marital)
--: EDUCATION = College | values(education)
--: YEAR = 2000 | uniform(1998, 2002)
select i_item_id, avg(cs_quantity) as quantity, avg(cs_list_price) as list_price,
       avg(cs_coupon_amt) as coupon, avg(cs_sales_price) as sales_price
  from catalog_sales
  join item on i_item_sk = cs_item_sk
 where cs_sold_date_sk in (select d_date_sk from date_dim where d_year = [YEAR])
   and cs_promo_sk in (select p_promo_sk from promotion where 'N' in (p_channel_email, p_channel_event))
   and cs_bill_cdemo_sk in (
       select cd_demo_sk
         from customer_demographics
        where (cd_gender, cd_marital_status, cd_education_status) = ('[GENDER]', '[MARITAL]', '[EDUCATION]'))
 group by i_item_id
 order by i_item_id
 limit 100
