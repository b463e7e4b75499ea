-- Accounts around the middle of the hot range are read most.
\set all 100000 * :scale
\set hot least(case when :range > 0 then :range else :all end, :all)
\set aid random_gaussian(1, :hot, 10.0)
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
