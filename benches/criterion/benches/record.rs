//! What recording one transaction costs in the hot loop: `cargo bench --bench record` in `benches/criterion`. The goal is 50 ns.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use pgdyno_measure::Recorder;

/// Transactions for which latencies are drawn beforehand.
const TRANSACTIONS: usize = 4096;

/// Latencies from 100 µs to 3 ms, no two in a row alike: buckets of a histogram are not always in the nearest cache.
fn latencies() -> Vec<u64> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    (0..TRANSACTIONS).map(|_| 100_000 + next() % (1 << (next() % 12 + 10))).collect()
}

fn record(c: &mut Criterion) {
    let latencies = latencies();
    for (name, stmts, scheduled) in
        [("one statement", 1, false), ("one statement, with a rate", 1, true), ("seven statements", 7, false)]
    {
        let mut recorder = Recorder::new(5, stmts, scheduled);
        let mut nth = 0;
        c.bench_function(name, |b| {
            b.iter(|| {
                nth = (nth + 1) % TRANSACTIONS;
                let ns = latencies[nth];
                let txn = black_box(nth % 5);
                recorder.started(txn);
                for stmt in 0..black_box(stmts) {
                    recorder.statement(stmt, ns / stmts as u64);
                }
                recorder.completed(txn, true, ns, ns + 1_000, false);
                recorder.read_after(ns >> 10);
            });
        });
    }
}

criterion_group!(benches, record);
criterion_main!(benches);
