-- Q6: amount of all delivered lines with a quantity in a range.
select sum(ol_amount) as revenue
  from order_line
 where ol_quantity between 1 and 100000
   and ol_delivery_d >= timestamptz '1999-01-01' --full
   and ol_delivery_d < timestamptz '2100-01-01' --full
