-- Q15: suppliers with the highest revenue. The original uses a view twice, and so computes it twice; the kit has it once.
with revenue (supplier_no, total_revenue) as ( --citus
  select mod(s_w_id::bigint * s_i_id, 10000), sum(ol_amount) --citus
    from order_line, stock --citus
   where ol_i_id = s_i_id --citus
     and ol_supply_w_id = s_w_id --citus
   group by mod(s_w_id::bigint * s_i_id, 10000)) --citus
select su_suppkey, su_name, su_address, su_phone, total_revenue
  from supplier, revenue --citus
 where su_suppkey = supplier_no --citus
   and total_revenue = (select max(total_revenue) from revenue) --citus
  from supplier, --full
       (select mod(s_w_id::bigint * s_i_id, 10000) as supplier_no, sum(ol_amount) as total_revenue --full
          from order_line, stock --full
         where ol_i_id = s_i_id --full
           and ol_supply_w_id = s_w_id --full
           and ol_delivery_d >= timestamptz '2007-01-02' --full
         group by mod(s_w_id::bigint * s_i_id, 10000)) as revenue --full
 where su_suppkey = supplier_no --full
   and total_revenue = (select max(total_revenue) --full
                          from (select sum(ol_amount) as total_revenue --full
                                  from order_line, stock --full
                                 where ol_i_id = s_i_id --full
                                   and ol_supply_w_id = s_w_id --full
                                   and ol_delivery_d >= timestamptz '2007-01-02' --full
                                 group by mod(s_w_id::bigint * s_i_id, 10000)) as again) --full
 order by su_suppkey
