\set all 100000 * :scale
\set aid random(1, least(case when :range > 0 then :range else :all end, :all))
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
