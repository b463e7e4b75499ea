SELECT bid, count(*), min(abalance), max(abalance), sum(abalance) FROM pgbench_accounts GROUP BY bid ORDER BY bid;
