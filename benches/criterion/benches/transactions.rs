//! How long the hot paths take: `cargo bench --bench transactions` in `benches/criterion`. What CI checks is
//! `instructions` of pgdyno-engine, for times depend on what else the machine does.

#![expect(clippy::expect_used, reason = "a bench fails by panicking")]

#[path = "../../../crates/pgdyno-engine/benches/paths/mod.rs"]
mod paths;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn paths(c: &mut Criterion) {
    for mut path in paths::all() {
        let mut group = c.benchmark_group(path.name);
        group.throughput(Throughput::Elements(path.units)).bench_function("units", |b| b.iter(|| (path.run)()));
        group.finish();
    }
}

criterion_group!(benches, paths);
criterion_main!(benches);
