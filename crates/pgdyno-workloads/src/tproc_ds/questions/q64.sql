-- Question 64: goods of six colours and a price range, sold in a store to returners whose marital status has changed,
--   in a year no more often than in the year before; only items of which the catalog sold for twice what it refunded.
--: YEAR = 1999 | uniform(1999, 2001)
--: PRICE = 64 | uniform(0, 85)
--: COLORS[6] = purple,burlywood,indian,spring,floral,medium | distinct(colors)
with kept as (
       select cs_item_sk
         from catalog_sales
         join catalog_returns on cr_item_sk = cs_item_sk and cr_order_number = cs_order_number
        group by cs_item_sk
       having sum(cs_ext_list_price) > 2 * sum(cr_refunded_cash + cr_reversed_charge + cr_store_credit)),
     chosen as (
       select i_item_sk, i_product_name
         from item
        where i_item_sk in (select cs_item_sk from kept)
          and i_color in ('[COLORS.1]', '[COLORS.2]', '[COLORS.3]', '[COLORS.4]', '[COLORS.5]', '[COLORS.6]')
          and i_current_price between [PRICE] + 1 and [PRICE] + 10),
     sold as (
       select i_item_sk, i_product_name, s_store_name, s_zip, sold_day.d_year,
              bought.ca_street_number as bought_number, bought.ca_street_name as bought_street,
              bought.ca_city as bought_city, bought.ca_zip as bought_zip,
              home.ca_street_number as home_number, home.ca_street_name as home_street,
              home.ca_city as home_city, home.ca_zip as home_zip,
              count(*) as sales, sum(ss_wholesale_cost) as cost, sum(ss_list_price) as price, sum(ss_coupon_amt) as coupons
         from chosen
         join store_sales on ss_item_sk = i_item_sk
         join store_returns on sr_item_sk = ss_item_sk and sr_ticket_number = ss_ticket_number
         join date_dim as sold_day on sold_day.d_date_sk = ss_sold_date_sk and sold_day.d_year in ([YEAR], [YEAR] + 1)
         join store on s_store_sk = ss_store_sk
         join customer on c_customer_sk = ss_customer_sk
         join date_dim as first_sale on first_sale.d_date_sk = c_first_sales_date_sk
         join date_dim as first_shipment on first_shipment.d_date_sk = c_first_shipto_date_sk
         join customer_demographics as buyer on buyer.cd_demo_sk = ss_cdemo_sk
         join customer_demographics as person on person.cd_demo_sk = c_current_cdemo_sk
         join household_demographics as buying on buying.hd_demo_sk = ss_hdemo_sk
         join household_demographics as living on living.hd_demo_sk = c_current_hdemo_sk
         join customer_address as bought on bought.ca_address_sk = ss_addr_sk
         join customer_address as home on home.ca_address_sk = c_current_addr_sk
        where ss_promo_sk is not null
          and buying.hd_income_band_sk is not null
          and living.hd_income_band_sk is not null
          and buyer.cd_marital_status <> person.cd_marital_status
        group by i_item_sk, i_product_name, s_store_name, s_zip, sold_day.d_year, bought_number, bought_street, bought_city,
                 bought_zip, home_number, home_street, home_city, home_zip, first_sale.d_year, first_shipment.d_year)
select this.i_product_name, this.s_store_name, this.s_zip, this.bought_number, this.bought_street, this.bought_city,
       this.bought_zip, this.home_number, this.home_street, this.home_city, this.home_zip, this.d_year, this.sales,
       this.cost, this.price, this.coupons, next.cost as next_cost, next.price as next_price, next.coupons as next_coupons,
       next.d_year as next_year, next.sales as next_sales
  from sold as this
  join sold as next on next.i_item_sk = this.i_item_sk
                   and next.s_store_name = this.s_store_name
                   and next.s_zip = this.s_zip
 where this.d_year = [YEAR]
   and next.d_year = [YEAR] + 1
   and next.sales <= this.sales
 order by i_product_name, s_store_name, next_sales, cost, next_cost
