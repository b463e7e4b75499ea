-- Question 93: what customers who gave something back to a store for one reason have paid for what they kept of it.
--: REASON = reason 28 | values(reasons)
select ss_customer_sk,
       sum((ss_quantity - coalesce(sr_return_quantity, 0)) * ss_sales_price) as paid
  from reason
  join store_returns on sr_reason_sk = r_reason_sk
  join store_sales on ss_item_sk = sr_item_sk and ss_ticket_number = sr_ticket_number
 where r_reason_desc = '[REASON]'
 group by ss_customer_sk
 order by paid nulls first, ss_customer_sk nulls first
 limit 100
