SELECT bid, count(*), sum(tbalance) FROM pgbench_tellers GROUP BY bid ORDER BY bid;
