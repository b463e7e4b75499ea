-- Small-quantity-order revenue. :1 brand, :2 container
select sum(l_extendedprice) / 7.0 as avg_yearly
  from lineitem, part
 where p_partkey = l_partkey
   and p_brand = ':1'
   and p_container = ':2'
   and l_quantity < (
       select 0.2 * avg(l_quantity)
         from lineitem
        where l_partkey = p_partkey)
