/* The questions of the 22 queries once more, in other words: joins by rows, window functions, filters and sets instead of
   subqueries. First what they share, then a statement for each query. A line that ends with --full is not of the form of Citus' kit,
   which counts lines without a delivery, too. */
create temp table sup as
  select supplier.*, rtrim(n_name) as nation, rtrim(r_name) as region
    from supplier join nation on n_nationkey = su_nationkey join region on r_regionkey = n_regionkey;
create temp table st as select *, ((s_w_id::numeric * s_i_id) % 10000)::integer as su from stock;
create temp table li as
  select order_line.*, o_entry_d, o_carrier_id, o_ol_cnt, c_id, c_last, c_city, c_phone, left(c_state, 1) as state,
         n_name as c_nation, rtrim(r_name) as c_region, to_char(o_entry_d, 'YYYY')::numeric as year
    from order_line
    join orders on (o_w_id, o_d_id, o_id) = (ol_w_id, ol_d_id, ol_o_id)
    join customer on (c_w_id, c_d_id, c_id) = (o_w_id, o_d_id, o_c_id)
    join nation on chr(n_nationkey) = left(c_state, 1)
    join region on r_regionkey = n_regionkey;
analyze sup;
analyze st;
analyze li;
-- 1
select distinct ol_number, sum(ol_quantity) over w, sum(ol_amount) over w, avg(ol_quantity) over w, avg(ol_amount) over w,
       count(*) over w
  from order_line
 where ol_delivery_d is not null --full
window w as (partition by ol_number);
-- 2
select su_suppkey, su_name, n_name, i_id, i_name, su_address, su_phone, su_comment
  from (select *, rank() over (partition by s_i_id order by s_quantity) as place
          from st join sup on su = su_suppkey where region = 'Europe') as european
  join item on i_id = s_i_id
  join nation on n_nationkey = su_nationkey
 where place = 1 and right(i_data, 1) = 'b';
-- 3
select ol_o_id, ol_w_id, ol_d_id, sum(ol_amount), max(o_entry_d)
  from li where state = 'A' and (ol_w_id, ol_d_id, ol_o_id) in (select no_w_id, no_d_id, no_o_id from new_order)
 group by 1, 2, 3;
-- 4
select o_ol_cnt, count(*)
  from (select distinct ol_w_id, ol_d_id, ol_o_id, o_ol_cnt from li where ol_delivery_d >= o_entry_d) as delivered group by 1;
-- 5
select c_nation, sum(ol_amount)
  from li join st on (s_w_id, s_i_id) = (ol_w_id, ol_i_id) join sup on su_suppkey = su
 where nation = rtrim(c_nation) and c_region = 'Europe' group by 1;
-- 6
select sum(ol_amount) from order_line where ol_quantity > 0
   and ol_delivery_d is not null --full
;
-- 7
select su_nationkey, state, year, sum(ol_amount)
  from li join st on (s_w_id, s_i_id) = (ol_supply_w_id, ol_i_id) join sup on su_suppkey = su
 where (nation, rtrim(c_nation)) in (('Germany', 'Cambodia'), ('Cambodia', 'Germany')) group by 1, 2, 3;
-- 8
select year, coalesce(sum(ol_amount) filter (where nation = 'Germany'), 0) / nullif(sum(ol_amount), 0)
  from li join st on (s_w_id, s_i_id) = (ol_supply_w_id, ol_i_id) join sup on su_suppkey = su join item on i_id = ol_i_id
 where c_region = 'Europe' and i_id < 1000 and i_data ~ 'b$' group by 1;
-- 9
select n_name, year, sum(ol_amount)
  from li join st on (s_w_id, s_i_id) = (ol_supply_w_id, ol_i_id) join sup on su_suppkey = su join item on i_id = ol_i_id
  join nation on n_nationkey = su_nationkey
 where right(i_data, 2) = 'BB' group by 1, 2;
-- 10
select c_id, c_last, sum(ol_amount), c_city, c_phone, c_nation from li where ol_delivery_d >= o_entry_d group by 1, 2, 4, 5, 6;
-- 11
with german as (select s_i_id, sum(s_order_cnt) as orders from st join sup on su_suppkey = su where nation = 'Germany' group by 1)
select s_i_id, orders from german where orders > (select sum(orders) / 200.0 from german);
-- 12
select o_ol_cnt, count(*) filter (where o_carrier_id in (1, 2)), count(*) filter (where o_carrier_id not in (1, 2))
  from li where ol_delivery_d >= o_entry_d group by 1;
-- 13
select coalesce(orders, 0), count(*)
  from (select distinct c_id from customer) as customers
  left join (select o_c_id, count(*) as orders from orders where o_carrier_id >= 9 group by 1) as of_carriers on o_c_id = c_id
 group by 1;
-- 14
select 100.00 * coalesce(sum(ol_amount) filter (where left(i_data, 2) = 'PR'), 0) / (1 + sum(ol_amount))
  from order_line join item on i_id = ol_i_id
 where ol_delivery_d is not null --full
;
-- 15
select su_suppkey, su_name, su_address, su_phone, revenue
  from (select su, sum(ol_amount) as revenue, rank() over (order by sum(ol_amount) desc) as place
          from order_line join st on (s_w_id, s_i_id) = (ol_supply_w_id, ol_i_id)
         where ol_delivery_d is not null --full
         group by su) as by_supplier
  join supplier on su_suppkey = su where place = 1;
-- 16
select i_name, left(i_data, 3), i_price, count(distinct su)
  from st join item on i_id = s_i_id
  left join supplier on su_suppkey = su and position('bad' in su_comment) > 0
 where left(i_data, 2) <> 'zz' and su_suppkey is null group by 1, 2, 3;
-- 17
select sum(ol_amount) / 2.0
  from (select ol_amount, ol_quantity, avg(ol_quantity) over (partition by ol_i_id) as mean
          from order_line join item on i_id = ol_i_id where right(i_data, 1) = 'b') as lines
 where ol_quantity < mean;
-- 18
select c_last, c_id, ol_o_id, max(o_entry_d), max(o_ol_cnt), sum(ol_amount)
  from li group by ol_w_id, ol_d_id, ol_o_id, c_id, c_last having sum(ol_amount) > 200;
-- 19
select sum(ol_amount) from order_line join item on i_id = ol_i_id
 where ol_quantity between 1 and 10 and i_price between 1 and 400000
   and (right(i_data, 1), ol_w_id) in (('a', 1), ('a', 2), ('a', 3), ('b', 1), ('b', 2), ('b', 4), ('c', 1), ('c', 5), ('c', 3));
-- 20
select su_name, su_address from sup
 where nation = 'Germany'
   and exists (select from st join item on i_id = s_i_id
                 join (select ol_i_id, sum(ol_quantity) as ordered from order_line
                        where ol_delivery_d is not null --full
                        group by 1) as o
                   on ol_i_id = s_i_id
                where su = su_suppkey and left(i_data, 2) = 'co' and 2 * s_quantity > ordered);
-- 21
select su_name, count(*)
  from (select *, max(ol_delivery_d) over (partition by ol_w_id, ol_d_id, ol_o_id) as last from li) as lines
  join st on (s_w_id, s_i_id) = (ol_w_id, ol_i_id) join sup on su_suppkey = su
 where nation = 'Germany' and ol_delivery_d > o_entry_d and ol_delivery_d = last group by 1;
-- 22
with known as (select * from customer where left(c_phone, 1) between '1' and '7')
select left(c_state, 1), count(*), sum(c_balance)
  from known left join orders on (o_w_id, o_d_id, o_c_id) = (c_w_id, c_d_id, c_id)
 where o_id is null and c_balance > (select avg(c_balance) from known where c_balance > 0) group by 1;
