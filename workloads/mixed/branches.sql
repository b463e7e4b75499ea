SELECT bid, bbalance FROM pgbench_branches ORDER BY bbalance DESC, bid LIMIT 10;
