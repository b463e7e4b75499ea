//! `ycsb-a` to `ycsb-f`: the core workloads of YCSB, on the table of its JDBC binding or with JSONB.
//!
//! Keys, distributions and operations are YCSB's, so that data of YCSB or go-ycsb can be driven here, and theirs can drive
//! ours. Source: YCSB 0.17, core workloads and JDBC binding.

mod checks;
mod client;
mod keys;
mod rows;
mod schema;

use std::sync::Arc;

use pgdyno_wire::Statement;
use pgdyno_workload::{
    Capabilities, Changed, Check, ClientContext, ClientScript, DataSet, Drive, Maker, Meta, Param, ParamKind, Params,
    Routines, ServerCount, SqlData, StatementUse, Table, Txn, When, Workload,
};

use client::{Client, Op, ReadModifyWrite};
use keys::{DISTRIBUTIONS, Keys};
use schema::Layout;

/// Most records: YCSB's distributions draw from as many numbers.
const RECORDS_MAX: i64 = 10_000_000_000;

const fn integer(
    name: &'static str,
    help: &'static str,
    default: &'static str,
    low: i64,
    high: i64,
    when: When,
) -> Param {
    Param { name, help, default, kind: ParamKind::Integer(low, high), when }
}

const RECORDS: Param = integer(
    "records",
    "records, each with a key and its fields; YCSB's recordcount",
    "100000",
    1,
    RECORDS_MAX,
    When::Load,
);
const FIELDS: Param = integer("fields", "fields of a record; YCSB's fieldcount", "10", 1, 1_000, When::Load);
const FIELD_BYTES: Param =
    integer("field-bytes", "bytes of a field; YCSB's fieldlength", "100", 1, 1_000_000, When::Load);
const SCHEMA: Param = Param {
    name: "schema",
    help: "jdbc: a column for each field, as YCSB's JDBC binding and go-ycsb have it; jsonb: one column with all fields",
    default: "jdbc",
    kind: ParamKind::Choice(&["jdbc", "jsonb"]),
    when: When::Load,
};
const COLLATION: Param = Param {
    name: "collation",
    help: "collation of the key; default: that of the database",
    default: "C",
    kind: ParamKind::Text,
    when: When::Load,
};
const SHARD_COUNT: Param = integer(
    "shard-count",
    "shards of usertable, on a server that distributes tables (Citus)",
    "48",
    1,
    64_000,
    When::Load,
);
const ZIPFIAN_CONSTANT: Param = Param {
    name: "zipfian-constant",
    help: "exponent of zipfian, latest and zipf",
    default: "0.99",
    kind: ParamKind::Thousandths(1, 999),
    when: When::Run,
};
const EXPECTED_INSERTS: Param = integer(
    "expected-inserts",
    "inserts for which zipfian keeps room among its keys; 0: a tenth of the records",
    "0",
    0,
    RECORDS_MAX,
    When::Run,
);
const SCAN_LENGTH: Param = integer(
    "scan-length",
    "most rows of a scan, whose length is uniform from 1; YCSB's maxscanlength",
    "100",
    1,
    1_000_000,
    When::Run,
);
const READ_MODIFY_WRITE: Param = Param {
    name: "read-modify-write",
    help: "autocommit: a read and an update, as in YCSB; transaction: one transaction that locks the row when it reads",
    default: "autocommit",
    kind: ParamKind::Choice(&["autocommit", "transaction"]),
    when: When::Run,
};
const LOST_UPDATES: Param = Param {
    name: "lost-updates",
    help: "each read-modify-write adds 1 to a number in its field, and the sum is compared after the run",
    default: "false",
    kind: ParamKind::Flag,
    when: When::Run,
};

/// Returns the distribution of the requests, by the workload's default.
const fn distribution(default: &'static str) -> Param {
    Param {
        name: "distribution",
        help: "how keys are drawn: YCSB's zipfian, uniform, latest, hotspot or exponential; zipf: a true Zipf over the records",
        default,
        kind: ParamKind::Choice(DISTRIBUTIONS),
        when: When::Run,
    }
}

const fn meta(id: &'static str, summary: &'static str, params: &'static [Param]) -> Meta {
    Meta {
        id,
        summary,
        version: 1,
        dataset: "ycsb",
        scale_name: "records",
        scale_query: Some("select count(*) from usertable"),
        params,
    }
}

const READS_AND_UPDATES: &[Param] =
    &[RECORDS, FIELDS, FIELD_BYTES, SCHEMA, COLLATION, SHARD_COUNT, distribution("zipfian"), ZIPFIAN_CONSTANT];

pub(crate) static A: Meta = meta("ycsb-a", "YCSB A: 50 % reads, 50 % updates of one field", READS_AND_UPDATES);
pub(crate) static B: Meta = meta("ycsb-b", "YCSB B: 95 % reads, 5 % updates of one field", READS_AND_UPDATES);
pub(crate) static C: Meta = meta("ycsb-c", "YCSB C: reads only", READS_AND_UPDATES);
pub(crate) static D: Meta = meta(
    "ycsb-d",
    "YCSB D: 95 % reads of the latest records, 5 % inserts",
    &[
        RECORDS,
        FIELDS,
        FIELD_BYTES,
        SCHEMA,
        COLLATION,
        SHARD_COUNT,
        distribution("latest"),
        ZIPFIAN_CONSTANT,
        EXPECTED_INSERTS,
    ],
);
pub(crate) static E: Meta = meta(
    "ycsb-e",
    "YCSB E: 95 % scans of up to 100 rows, 5 % inserts",
    &[
        RECORDS,
        FIELDS,
        FIELD_BYTES,
        SCHEMA,
        COLLATION,
        SHARD_COUNT,
        distribution("zipfian"),
        ZIPFIAN_CONSTANT,
        EXPECTED_INSERTS,
        SCAN_LENGTH,
    ],
);
pub(crate) static F: Meta = meta(
    "ycsb-f",
    "YCSB F: 50 % reads, 50 % reads with an update of the same record",
    &[
        RECORDS,
        FIELDS,
        FIELD_BYTES,
        SCHEMA,
        COLLATION,
        SHARD_COUNT,
        distribution("zipfian"),
        ZIPFIAN_CONSTANT,
        READ_MODIFY_WRITE,
        LOST_UPDATES,
    ],
);

pub(crate) fn a(params: &Params) -> Workload {
    workload(&A, &[(Op::Read, 0.5), (Op::Update, 0.5)], params)
}

pub(crate) fn b(params: &Params) -> Workload {
    workload(&B, &[(Op::Read, 0.95), (Op::Update, 0.05)], params)
}

pub(crate) fn c(params: &Params) -> Workload {
    workload(&C, &[(Op::Read, 1.0)], params)
}

pub(crate) fn d(params: &Params) -> Workload {
    workload(&D, &[(Op::Read, 0.95), (Op::Insert, 0.05)], params)
}

pub(crate) fn e(params: &Params) -> Workload {
    workload(&E, &[(Op::Scan, 0.95), (Op::Insert, 0.05)], params)
}

pub(crate) fn f(params: &Params) -> Workload {
    workload(&F, &[(Op::Read, 0.5), (Op::ReadModifyWrite, 0.5)], params)
}

fn workload(meta: &'static Meta, mix: &'static [(Op, f64)], params: &Params) -> Workload {
    let ycsb = Arc::new(Ycsb::new(meta, mix, params));
    Workload {
        meta,
        params: params.clone(),
        scale: ycsb.layout.records,
        data: vec![Arc::clone(&ycsb) as _],
        drive: ycsb,
        audit: None,
    }
}

/// YCSB's JDBC binding and go-ycsb make the same table. They have no routines: its name tells.
static YCSB: Maker = Maker {
    name: "YCSB",
    routines: &[],
    drive: "pgdyno run ycsb-a",
    routine_schema: "",
    remedy: REMEDY,
    deviations: &[],
};

const REMEDY: &str = "give the number of its fields with --fields, and --schema jsonb where they are one document; or name another \
                      database in --target";

/// One of the workloads.
struct Ycsb {
    meta: &'static Meta,
    params: Params,
    /// Its operations, each with its share.
    mix: &'static [(Op, f64)],
    layout: Layout,
    keys: Keys,
    scan_length: u32,
    read_modify_write: ReadModifyWrite,
}

impl Ycsb {
    fn new(meta: &'static Meta, mix: &'static [(Op, f64)], params: &Params) -> Self {
        let layout = Layout::of(params);
        Self {
            meta,
            params: params.clone(),
            mix,
            keys: Keys::new(layout.records, params, mix.iter().any(|(op, _)| *op == Op::Insert)),
            scan_length: params.integer(SCAN_LENGTH.name) as u32,
            read_modify_write: ReadModifyWrite {
                is_transaction: params.text(READ_MODIFY_WRITE.name) == "transaction",
                counts: params.flag(LOST_UPDATES.name) && layout.has_marks(),
            },
            layout,
        }
    }

    fn has(&self, op: Op) -> bool {
        self.mix.iter().any(|(other, _)| *other == op)
    }
}

impl DataSet for Ycsb {
    fn meta(&self) -> &'static Meta {
        self.meta
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn scale(&self) -> u64 {
        self.layout.records
    }

    fn tables(&self, _: &Capabilities) -> Vec<Table> {
        vec![self.layout.table()]
    }

    fn sql_data(&self) -> Option<&SqlData> {
        None
    }

    fn routines(&self, _: &Capabilities) -> Routines {
        Routines::default()
    }

    fn other_maker(&self) -> Option<&'static Maker> {
        Some(&YCSB)
    }

    fn checks(&self) -> Vec<Check> {
        checks::checks(&self.layout, self.has(Op::Insert))
    }

    fn changed(&self, _: &str) -> Changed {
        Changed { checks: self.checks(), repair: None }
    }

    fn before_run(&self) -> &'static [&'static str] {
        &[]
    }

    fn bytes(&self) -> u64 {
        self.layout.bytes()
    }
}

impl Drive for Ycsb {
    fn txns(&self) -> Vec<Txn> {
        self.mix.iter().map(|(op, weight)| Txn { name: op.name(), weight: *weight, queries: op.queries() }).collect()
    }

    fn statements(&self, _: &Capabilities) -> Vec<Statement> {
        self.layout.statements()
    }

    fn statement_use(&self, statement: usize) -> StatementUse {
        let txn = self.mix.iter().position(|(op, _)| op.is_only_user_of(statement));
        StatementUse { txn, is_counted: false }
    }

    fn client(&self, context: &ClientContext) -> Box<dyn ClientScript> {
        Box::new(Client::new(
            self.mix,
            self.layout.clone(),
            self.keys.chooser(),
            self.scan_length,
            self.read_modify_write,
            context.rng.clone(),
        ))
    }

    fn is_read_only(&self) -> bool {
        self.mix.iter().all(|(op, _)| matches!(op, Op::Read | Op::Scan))
    }

    fn has_shared_state(&self) -> bool {
        self.has(Op::Insert)
    }

    fn server_counts(&self) -> Vec<ServerCount> {
        let inserts = self.has(Op::Insert).then(checks::inserts);
        let modified = self.read_modify_write.counts.then(|| checks::read_modify_writes(&self.layout));
        inserts.into_iter().chain(modified).collect()
    }

    fn advice(&self, clients: u32) -> Vec<String> {
        let (records, mut advice) = (self.layout.records, Vec::new());
        let writes = self.has(Op::Update) || self.has(Op::ReadModifyWrite);
        if writes && u64::from(clients) > records {
            advice.push(format!(
                "{clients} clients update {records} record{}: most of the time will be waiting for row locks; use more \
                 --records",
                if records == 1 { "" } else { "s" }
            ));
        }
        if self.has(Op::Scan) && u64::from(self.scan_length) > records {
            advice.push(format!(
                "scans of up to {} rows are longer than the table of {records}: most read all that follows their key; \
                 use more --records, or a smaller -D scan-length",
                self.scan_length
            ));
        }
        if self.params.flag(LOST_UPDATES.name) && !self.layout.has_marks() {
            advice.push(format!(
                "lost updates are not counted: a field of {} bytes has no room for the number; use --field-bytes {} or \
                 more",
                self.layout.field_bytes,
                rows::MARKED_BYTES
            ));
        }
        advice
    }
}
