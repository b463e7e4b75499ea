-- Question 61: what part of a month's sales of a category, in the stores and to the customers of one time zone, were
--   sold in promotions by mail, e-mail or television.
--: GMT = -5 | one_of(-5)
--: CATEGORY = Jewelry | one_of(Books, Home, Electronics, Jewelry, Sports)
--: YEAR = 1998 | uniform(1998, 2002)
--: MONTH = 11 | uniform(11, 12)
with sold as (
       select ss_ext_sales_price as price, 'Y' in (p_channel_dmail, p_channel_email, p_channel_tv) as is_promoted
         from store_sales
         join date_dim on d_date_sk = ss_sold_date_sk
         join item on i_item_sk = ss_item_sk
         join store on s_store_sk = ss_store_sk
         join customer on c_customer_sk = ss_customer_sk
         join customer_address on ca_address_sk = c_current_addr_sk
         left join promotion on p_promo_sk = ss_promo_sk
        where d_year = [YEAR]
          and d_moy = [MONTH]
          and i_category = '[CATEGORY]'
          and s_gmt_offset = [GMT]
          and ca_gmt_offset = [GMT])
select sum(price) filter (where is_promoted) as promotions, sum(price) as total,
       100 * sum(price) filter (where is_promoted) / nullif(sum(price), 0) as percentage
  from sold
