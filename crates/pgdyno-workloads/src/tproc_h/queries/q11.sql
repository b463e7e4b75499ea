-- Important stock identification. :1 nation, :2 share of the whole value
select ps_partkey, sum(ps_supplycost * ps_availqty) as value
  from partsupp, supplier, nation
 where ps_suppkey = s_suppkey
   and s_nationkey = n_nationkey
   and n_name = ':1'
 group by ps_partkey
having sum(ps_supplycost * ps_availqty) > (
       select sum(ps_supplycost * ps_availqty) * :2
         from partsupp, supplier, nation
        where ps_suppkey = s_suppkey
          and s_nationkey = n_nationkey
          and n_name = ':1')
 order by value desc
