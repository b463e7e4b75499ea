//! Rows of a load.

use std::hint::black_box;

use pgdyno_workload::{Capabilities, CopyBuf};
use pgdyno_workloads::registry;

use super::Path;

/// The first chunk of a table.
fn table(name: &'static str, workload: &str, table: &str) -> Path {
    let workload = registry::build(workload, []).expect("a built-in workload");
    let tables = workload.data[0].tables(&Capabilities::default());
    let source = tables.into_iter().find(|t| t.name == table).and_then(|t| t.source).expect("a table with rows");
    let mut rows = CopyBuf::new();
    source.write(0, &mut rows);
    let units = rows.rows();
    let run = move || {
        rows.clear();
        source.write(black_box(0), &mut rows);
    };
    Path { name, units, run: Box::new(run) }
}

pub(super) fn paths() -> Vec<Path> {
    vec![
        table("row-of-pgbench-accounts", "tpcb-like", "pgbench_accounts"),
        table("row-of-tproc-c-stock", "tproc-c", "stock"),
        table("row-of-tproc-c-customer", "tproc-c", "customer"),
        table("row-of-tproc-c-order-line", "tproc-c", "order_line"),
        table("row-of-tproc-c-item", "tproc-c", "item"),
    ]
}
