-- Q11: items of German suppliers that have more than 0.5 % of all orders of their items.
select s_i_id, sum(s_order_cnt) as ordercount
  from stock, supplier, nation
 where mod(s_w_id::bigint * s_i_id, 10000) = su_suppkey
   and su_nationkey = n_nationkey
   and n_name = 'Germany'
 group by s_i_id
having sum(s_order_cnt) > (select sum(s_order_cnt) * .005
                             from stock, supplier, nation
                            where mod(s_w_id::bigint * s_i_id, 10000) = su_suppkey
                              and su_nationkey = n_nationkey
                              and n_name = 'Germany')
 order by ordercount desc
