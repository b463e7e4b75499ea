-- Question 24: customers who returned goods of one colour to a store of a market in the zip code where they live, and
--   were born in another country: what they had paid for them, by name and store, if it is more than a twentieth of the
--   mean of all colours. The mean is that of the sums by customer, store and kind of goods (colour, price, manager,
--   unit and size). The second statement asks for a second colour.
--: MARKET = 8 | uniform(5, 10)
--: COLORS[2] = peach,saddle | distinct(colors)
with bought as (
       select c_last_name, c_first_name, s_store_name, i_color, sum(ss_net_paid) as paid
         from store
         join store_sales on ss_store_sk = s_store_sk
         join store_returns on sr_item_sk = ss_item_sk and sr_ticket_number = ss_ticket_number
         join customer on c_customer_sk = ss_customer_sk
         join customer_address on ca_address_sk = c_current_addr_sk and ca_zip = s_zip
         join item on i_item_sk = ss_item_sk
        where s_market_id = [MARKET]
          and upper(ca_country) <> c_birth_country
        group by c_last_name, c_first_name, s_store_name, ca_state, s_state,
                 i_color, i_current_price, i_manager_id, i_units, i_size),
     compared as (
       select bought.*, avg(paid) over () as mean_paid
         from bought)
select c_last_name, c_first_name, s_store_name, sum(paid) as paid
  from compared
 where i_color = '[COLORS.1]'
 group by c_last_name, c_first_name, s_store_name, mean_paid
having sum(paid) > 0.05 * mean_paid
 order by c_last_name, c_first_name, s_store_name
--;
with bought as (
       select c_last_name, c_first_name, s_store_name, i_color, sum(ss_net_paid) as paid
         from store
         join store_sales on ss_store_sk = s_store_sk
         join store_returns on sr_item_sk = ss_item_sk and sr_ticket_number = ss_ticket_number
         join customer on c_customer_sk = ss_customer_sk
         join customer_address on ca_address_sk = c_current_addr_sk and ca_zip = s_zip
         join item on i_item_sk = ss_item_sk
        where s_market_id = [MARKET]
          and upper(ca_country) <> c_birth_country
        group by c_last_name, c_first_name, s_store_name, ca_state, s_state,
                 i_color, i_current_price, i_manager_id, i_units, i_size),
     compared as (
       select bought.*, avg(paid) over () as mean_paid
         from bought)
select c_last_name, c_first_name, s_store_name, sum(paid) as paid
  from compared
 where i_color = '[COLORS.2]'
 group by c_last_name, c_first_name, s_store_name, mean_paid
having sum(paid) > 0.05 * mean_paid
 order by c_last_name, c_first_name, s_store_name
