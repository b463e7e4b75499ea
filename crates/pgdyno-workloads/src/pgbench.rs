//! pgbench's tables and its three built-in scripts.
//!
//! This program can drive a database made by `pgbench -i`, and pgbench one made here. Source: PostgreSQL
//! documentation, pgbench, and pgbench's own tables and rows in version 15.

mod checks;
pub mod partitions;
pub mod rows;
mod schema;
mod script;

use std::sync::Arc;

use pgdyno_text::units::ending;
use pgdyno_wire::ParamType;
use pgdyno_workload::{
    Capabilities, Changed, Check, ClientContext, DataSet, Drive, Group, Maker, Meta, Param, ParamKind, Params, Program,
    Routines, Scripts, SqlData, Table, Txn, When, Workload,
};

use partitions::{PartitionMethod, Partitioning};
use schema::Layout;
use script::Builtin;

/// Rows of `pgbench_accounts` for each unit of scale.
pub const ACCOUNTS: u64 = 100_000;
/// Rows of `pgbench_tellers` for each unit of scale.
pub const TELLERS: u64 = 10;
/// Rows of `pgbench_branches` for each unit of scale.
pub const BRANCHES: u64 = 1;

/// From this scale on `aid` is a bigint in pgbench.
pub const BIGINT_SCALE: u64 = 20_000;

/// The largest scale whose accounts fit one table of PostgreSQL: 2^32 - 2 blocks of 8 KiB, 61 rows in
/// each. `bid` and `tid` are integers and would allow 214,748,364.
const MAX_SCALE: i64 = 2_619_930;

const SCALE: Param = Param {
    name: "scale",
    help: "units of 100,000 accounts, 10 tellers and 1 branch",
    default: "1",
    kind: ParamKind::Integer(1, MAX_SCALE),
    when: When::Load,
};

/// A parameter of all three, because they share their data.
const HISTORY_INDEXES: Param = Param {
    name: "history-indexes",
    help: "an index on each of tid, bid, aid, delta and mtime of pgbench_history; pgbench creates none",
    default: "false",
    kind: ParamKind::Flag,
    when: When::LoadUnlessDefault,
};

/// A parameter of all three, as [`HISTORY_INDEXES`].
const PARTITIONS: Param = Param {
    name: "partitions",
    help: "partitions of pgbench_accounts, as with pgbench --partitions; 0: one ordinary table",
    default: "0",
    kind: ParamKind::Integer(0, 10_000),
    when: When::LoadUnlessDefault,
};

const PARTITION_METHOD: Param = Param {
    name: "partition-method",
    help: "how accounts are partitioned: by range or hash of aid",
    default: "range",
    kind: ParamKind::Choice(&["range", "hash"]),
    when: When::LoadUnlessDefault,
};

const PIPELINE: Param = Param {
    name: "pipeline",
    help: "send a whole transaction as one pipeline instead of one statement per round trip",
    default: "false",
    kind: ParamKind::Flag,
    when: When::Run,
};

const SCALE_QUERY: &str = "select count(*) from pgbench_branches";

pub(crate) static TPCB_LIKE: Meta = Meta {
    id: "tpcb-like",
    summary: "pgbench's TPC-B (sort of): three updates, a select and an insert in a transaction",
    version: 1,
    dataset: "pgbench",
    scale_name: "scale",
    scale_query: Some(SCALE_QUERY),
    is_key_range: false,
    params: &[SCALE, HISTORY_INDEXES, PARTITIONS, PARTITION_METHOD, PIPELINE],
};

pub(crate) static SIMPLE_UPDATE: Meta = Meta {
    id: "simple-update",
    summary: "pgbench's simple update (-N): as tpcb-like, without tellers and branches",
    version: 1,
    dataset: "pgbench",
    scale_name: "scale",
    scale_query: Some(SCALE_QUERY),
    is_key_range: false,
    params: &[SCALE, HISTORY_INDEXES, PARTITIONS, PARTITION_METHOD, PIPELINE],
};

pub(crate) static SELECT_ONLY: Meta = Meta {
    id: "select-only",
    summary: "pgbench's select only (-S): one account by its key",
    version: 1,
    dataset: "pgbench",
    scale_name: "scale",
    scale_query: Some(SCALE_QUERY),
    is_key_range: false,
    params: &[SCALE, HISTORY_INDEXES, PARTITIONS, PARTITION_METHOD],
};

pub(crate) fn tpcb_like(params: &Params) -> Workload {
    workload(&TPCB_LIKE, Builtin::TpcbLike, params)
}

pub(crate) fn simple_update(params: &Params) -> Workload {
    workload(&SIMPLE_UPDATE, Builtin::SimpleUpdate, params)
}

pub(crate) fn select_only(params: &Params) -> Workload {
    workload(&SELECT_ONLY, Builtin::SelectOnly, params)
}

fn workload(meta: &'static Meta, builtin: Builtin, params: &Params) -> Workload {
    let pgbench = Pgbench::new(meta, builtin, params);
    Workload {
        meta,
        params: params.clone(),
        scale: pgbench.layout.scale,
        drive: Arc::new(pgbench.drive()),
        data: vec![Arc::new(pgbench)],
        audit: None,
    }
}

/// Returns the partitions of the parameters.
fn partitioning(params: &Params) -> Option<Partitioning> {
    let method = match params.text(PARTITION_METHOD.name) {
        "hash" => PartitionMethod::Hash,
        _ => PartitionMethod::Range,
    };
    let partitions = u32::try_from(params.integer(PARTITIONS.name)).unwrap_or_default();
    (partitions > 0).then_some(Partitioning { method, partitions })
}

struct Pgbench {
    meta: &'static Meta,
    params: Params,
    builtin: Builtin,
    layout: Layout,
    pipeline: bool,
}

impl Pgbench {
    fn new(meta: &'static Meta, builtin: Builtin, params: &Params) -> Self {
        Self {
            meta,
            params: params.clone(),
            builtin,
            layout: Layout {
                // The parameter's range starts at 1.
                scale: params.integer(SCALE.name).unsigned_abs(),
                history_indexes: params.flag(HISTORY_INDEXES.name),
                partitioning: partitioning(params),
            },
            pipeline: params.flag(PIPELINE.name),
        }
    }

    /// Returns the type of `aid`, as in pgbench.
    fn aid_type(&self) -> ParamType {
        if self.layout.scale >= BIGINT_SCALE { ParamType::Int8 } else { ParamType::Int4 }
    }
}

impl DataSet for Pgbench {
    fn meta(&self) -> &'static Meta {
        self.meta
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn scale(&self) -> u64 {
        self.layout.scale
    }

    fn tables(&self, _: &Capabilities) -> Vec<Table> {
        schema::tables(self.layout)
    }

    fn sql_data(&self) -> Option<&SqlData> {
        None
    }

    fn routines(&self, _: &Capabilities) -> Routines {
        Routines::default()
    }

    fn other_maker(&self) -> Option<&'static Maker> {
        None
    }

    fn checks(&self) -> Vec<Check> {
        checks::checks(self.builtin)
    }

    /// pgbench's steps before a run, unless it has `-n`.
    fn changed(&self, _: &str) -> Changed {
        Changed { checks: self.checks(), repair: None }
    }

    fn before_run(&self) -> &'static [&'static str] {
        &["vacuum pgbench_branches", "vacuum pgbench_tellers", "truncate pgbench_history"]
    }

    fn bytes(&self) -> u64 {
        schema::data_bytes(self.layout)
    }
}

impl Pgbench {
    fn drive(&self) -> Drive {
        let (builtin, scale, pipeline, aid) = (self.builtin, self.layout.scale, self.pipeline, self.aid_type());
        let program = move |_: &Capabilities| {
            let client = move |context: &ClientContext| builtin.client(scale, pipeline, context.rng.clone());
            Program::new(builtin.statements(aid).into_iter().collect(), client)
        };
        let txn = Txn::new(self.meta.id, 1.0, builtin.queries()).reading(builtin == Builtin::SelectOnly);
        Drive::new(vec![Scripts {
            is_read_only: builtin == Builtin::SelectOnly,
            adviser: Some(Arc::new(move |clients| advice(builtin, scale, clients))),
            ..Scripts::new(Group::ONLY, vec![txn], program)
        }])
    }
}

/// Returns the manual's warning: with fewer branches than clients the run measures waits for locks.
fn advice(builtin: Builtin, scale: u64, clients: u32) -> Vec<String> {
    if builtin != Builtin::TpcbLike || u64::from(clients) <= scale {
        return Vec::new();
    }
    vec![format!(
        "{clients} clients update the {scale} row{} of pgbench_branches: most of the time will be waiting for row locks; \
         use a scale of at least the number of clients, or simple-update",
        ending(scale),
    )]
}
