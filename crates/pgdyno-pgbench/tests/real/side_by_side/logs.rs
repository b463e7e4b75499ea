//! Logs, and values of the random functions with the same seed.

use super::cases::{Case, many, one};

const SEEN: &str = "select client, what from seen order by 1, 2";

const fn drawn(options: &'static str, script: &'static [&'static str; 1]) -> Case {
    one(options, script).before("truncate seen").after(SEEN)
}

const DRAWS: &str = "\\set a random(1, 1000000)\n\\set b random_gaussian(1, 1000000, 2.5)\n\
    \\set c random_exponential(1, 1000000, 3)\n\\set d random_zipfian(1, 1000000, 1.5)\n\\set e hash(:a)\n\
    \\set f permute(:a, 1000001)\n\\set g random(-9000000000000000000, 1)\n\\set h random(5, 5)\n\
    \\set i hash_fnv1a(:b)\n\\set j random_zipfian(1, 10, 1.001)\n\
    insert into seen values (:client_id, ':a :b :c :d :e :f :g :h :i :j');\n";

const HISTORY: &str = "select tid, bid, aid, delta from pgbench_history order by 1, 2, 3, 4";

const fn history(options: &'static str) -> Case {
    many(options, &[]).before("truncate pgbench_history").after(HISTORY)
}

pub(super) const CASES: &[Case] = &[
    drawn("-n -t 20 --random-seed=7", &[DRAWS]),
    drawn("-n -t 20 --random-seed=7 -c 3", &[DRAWS]),
    drawn("-n -t 20 --random-seed=7 -c 3 -j 3", &[DRAWS]),
    drawn("-n -t 20 --random-seed=7 -c 3 -C", &[DRAWS]),
    drawn("-n -t 20 --random-seed=18446744073709551615", &[DRAWS]),
    drawn("-n -t 20 --random-seed=5 -D default_seed=42", &[DRAWS]),
    drawn("-n -t 3 --random-seed=5 -D default_seed=abc", &[DRAWS]),
    history("-n -t 20 --random-seed=11"),
    history("-n -t 20 --random-seed=11 -M prepared -c 3 -j 2"),
    history("-n -t 20 --random-seed=11 -M extended -N -C"),
    history("-t 20 --random-seed=11 -b tpcb@3 -b simple -b select-only -M prepared"),
    many("-n -t 20 --random-seed=11 -c 3 -j 3 -b tpcb@3 -b simple -b select-only -l", &[]),
    // Clients of one thread draw from one stream in the order in which they come to it, which is chance.
    many("-n -t 9 -S -l", &[]),
    many("-n -t 9 -S -l -C", &[]),
    many("-n -t 9 -S -l --log-prefix=mylog", &[]),
    many("-n -t 9 -S -l --log-prefix=no/such/dir/log", &[]),
    many("-n -t 9 -S -l -c 3 -j 3", &[]),
    many("-n -t 9 -S -l -R 5000", &[]),
    many("-n -t 9 -S -l -R 5000 -L 1000 --max-tries=2", &[]),
    many("-n -t 9 -S -l --max-tries=2", &[]),
    many("-n -t 9 -S -l --failures-detailed", &[]),
    many("-n -t 90 -S -l --sampling-rate=0.25 --random-seed=4", &[]),
    many("-n -t 90 -S -l --sampling-rate=0.5 --random-seed=4 -c 2 -j 2", &[]),
    many("-n -t 20 -l --random-seed=4 -f a.sql@2 -f b.sql@3", &["select 1;\n", "select 2;\n"]),
    one(
        "-n -t 5 -l --sampling-rate=0.5 --random-seed=4 --max-tries=2",
        &["do $$ begin raise sqlstate '40001'; end $$;\n"],
    ),
    one("-n -t 30 -l --sampling-rate=0.3 --random-seed=4 -R 10000 -L 100", &["\\sleep 300 ms\n"]),
    one("-n -t 5 -l -C", &["select pg_sleep(0);\n\\set x 1 / (2 - :client_id)\n"]),
    one("-n -t 5 -l", &["\\set x 5\n"]),
    many("-n -t 9 -S -l --aggregate-interval=5", &[]),
];
