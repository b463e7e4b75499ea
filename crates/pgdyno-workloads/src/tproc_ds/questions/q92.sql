-- Question 92: the web discounts of one manufacturer's items in 90 days that exceed 1.3 times the mean of their item.
--: MANUFACTURER = 350 | uniform(1, 1000)
--: START = 2000-01-27 | date(1998-2002, 01-01, 04-01)
with discount as (
       select ws_ext_discount_amt as amount, avg(ws_ext_discount_amt) over (partition by ws_item_sk) as item_mean
         from item
         join web_sales on ws_item_sk = i_item_sk
         join date_dim on d_date_sk = ws_sold_date_sk
        where i_manufact_id = [MANUFACTURER]
          and d_date between date '[START]' and date '[START]' + 90)
select sum(amount) as excess_discount
  from discount
 where amount > 1.3 * item_mean
