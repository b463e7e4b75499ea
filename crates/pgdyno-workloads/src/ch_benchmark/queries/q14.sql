-- Q14: percentage of the revenue of delivered lines from items whose data begins with PR.
select 100.00 * sum(case when i_data like 'PR%' then ol_amount else 0 end) / (1 + sum(ol_amount)) as promo_revenue
  from order_line, item
 where ol_i_id = i_id
   and ol_delivery_d >= timestamptz '2007-01-02' --full
   and ol_delivery_d < timestamptz '2100-01-02' --full
