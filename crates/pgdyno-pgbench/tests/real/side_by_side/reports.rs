//! Options, and what is reported.

use super::cases::{Case, many, one};

pub(super) const CASES: &[Case] = &[
    many("-t 5", &[]),
    many("-n -t 5", &[]),
    many("-n", &[]),
    many("-n -t 5 -N -r", &[]),
    many("-n -t 5 -S -r", &[]),
    many("-n -t 5 -b tpcb-like -r -M prepared", &[]),
    many("-n -t 5 -b simple -M extended", &[]),
    many("-v -t 5 -S", &[]),
    many("-n -t 5 -c 3 -j 2 -S -M prepared", &[]),
    many("-n -t 40 --random-seed=1 -b tpcb-like@2 -b select-only@5 -b simple-update -r", &[]),
    many("-n -t 40 --random-seed=1 -N -S", &[]),
    many("-n -t 40 --random-seed=1 -b se@1 -b se@1", &[]),
    many("-n -t 5 -S -s 7", &[]),
    many("-n -t 5 -S -s 1", &[]),
    one("-t 5 -s 7", &["select 1;\n"]),
    one("-n -t 5 -s 7 -b se@0", &["select 1;\n"]),
    many("-n -t 5 --show-script=se", &[]),
    many("-n -t 5 -S -C", &[]),
    many("-n -t 5 -S -P 5", &[]),
    many("-n -t 5 -S --progress-timestamp -P 5", &[]),
    many("-n -t 5 -S -L 1000", &[]),
    many("-n -t 5 -S -L 1000.25 -R 1000", &[]),
    one("-n -t 2 -L 0.0001", &["select 1;\n"]),
    one("-n -t 2 -L 1e12 -R 1e9", &["select 1;\n"]),
    one("-n -t 2 -P 2147483647", &["select 1;\n"]),
    one("-n -T 2147483647", &["select 1/0;\n"]),
    one("-n -t 2147483647", &["select 1/0;\n"]),
    many("-n -t 5 -S -R 1000", &[]),
    many("-n -t 5 -c 2 -S -R 1000 -r", &[]),
    many("-n -t 5 -S --failures-detailed", &[]),
    many("-n -t 5 -S --max-tries=5", &[]),
    many("-n -t 5 -S --max-tries=0 -L 1000 --failures-detailed -r", &[]),
    many("-n -t 5 -b se@2 -b si@0 -r --failures-detailed --max-tries=2", &[]),
    many("-n -t 5 -S -l --sampling-rate=0.5 --random-seed=1", &[]),
    one("-n -t 3 -L 20", &["\\sleep 30 ms\n"]),
    one("-n -t 4 -L 5000 -r", &["\\set i :client_id\n\\sleep 1 ms\nselect 1;\n"]),
    // All of the slots that follow a slow transaction are too late.
    one("-n -t 20 -R 10000 -L 100", &["\\sleep 300 ms\n"]),
    one("-n -t 20 -R 10000 -L 100 -r -l", &["\\sleep 300 ms\n"]),
    many("-n -t 20 -R 10000 -L 100 -f a.sql@1 -f a.sql@0", &["\\sleep 300 ms\n"]).since(18),
    one("-n -T 1", &["\\sleep 700 ms\n"]),
    one("-n -T 1 -P 1", &["\\sleep 700 ms\n"]),
    one("-n -T 1 -c 2 -j 2 -r", &["\\sleep 400 ms\n"]),
    one("-n -T 2 -P 1", &["select 1/0;\n"]),
    one("-n -T 2 -P 1 -r", &["\\sleep 1500 ms\nselect 1/0;\n"]),
    one("-n -T 1 -P 1 -c 2 --max-tries=1", &["select 1/0;\n"]).unordered(),
    one("-n -t 5 --debug", &["select 1;\nselect 2;\n"]).since(17),
    one("-n -t 2 --debug -M prepared", &["\\set x 1\nselect :x;\nselect 2;\n"]).since(18),
    one("-n -t 2 --debug -M extended", &["\\set x 1\nselect :x, ':x';\n\\sleep 1 ms\n\\if 0\nselect 1;\n\\endif\n"]).since(17),
    one("-n -t 2 --debug -M extended", &["\\startpipeline\nselect 1;\nselect 2;\n\\syncpipeline\nselect 3;\n\\endpipeline\n"]).since(17),
    one("-n -t 2 --debug -M prepared", &["\\startpipeline\nselect 1;\nselect 2;\n\\endpipeline\nselect 3;\n"]).since(18),
    one("-n -t 1 --debug -C", &["select 1;\n\\shell true\n\\setshell x echo 5\nselect :x as y \\gset\n"]).since(17),
    one("-n -t 1 --debug", &["begin;\ndo $$ begin raise sqlstate '40001'; end $$;\nend;\n"]).since(17),
    one("-n -t 1 --debug", &["select 1/0;\n"]).since(17),
    many("-t 2 --debug -S --random-seed=1", &[]).since(17),
    many("-n -t 2 -c 2 --debug -S --random-seed=1", &[]).since(17).unordered(),
    many("-n -t 5 -S", &[]).before("create schema if not exists e; create table if not exists e.pgbench_accounts (aid int) partition by range (aid)")
        .after("drop schema e cascade"),
    many("-n -t 5 -S", &[])
        .before("alter table pgbench_accounts rename to hidden; create table pgbench_accounts (aid int, abalance int) partition by hash (aid);
            create table p1 partition of pgbench_accounts for values with (modulus 2, remainder 0);
            create table p2 partition of pgbench_accounts for values with (modulus 2, remainder 1)")
        .after("drop table pgbench_accounts; alter table hidden rename to pgbench_accounts"),
    many("-n -t 5 -S -r", &[])
        .before("alter table pgbench_accounts rename to hidden; create table pgbench_accounts (aid int, abalance int) partition by range (aid)")
        .after("drop table pgbench_accounts; alter table hidden rename to pgbench_accounts"),
    many("-n -t 5 -S", &[]).before("insert into pgbench_branches values (2, 0)").after("delete from pgbench_branches where bid = 2"),
    many("-n -t 2 -b list", &[]),
];
