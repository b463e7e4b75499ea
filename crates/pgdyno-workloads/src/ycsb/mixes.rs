//! The six workloads: what their operations are, and which parameters they have.

use pgdyno_workload::{Meta, Param, ParamKind, When};

use super::client::Op;
use super::keys::DISTRIBUTIONS;

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
pub(super) const SCAN_LENGTH: Param = integer(
    "scan-length",
    "most rows of a scan, whose length is uniform from 1; YCSB's maxscanlength",
    "100",
    1,
    1_000_000,
    When::Run,
);
pub(super) const READ_MODIFY_WRITE: Param = Param {
    name: "read-modify-write",
    help: "autocommit: a read and an update, as in YCSB; transaction: one transaction that locks the row when it reads",
    default: "autocommit",
    kind: ParamKind::Choice(&["autocommit", "transaction"]),
    when: When::Run,
};
pub(super) const LOST_UPDATES: Param = Param {
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
        is_key_range: true,
        params,
    }
}

/// Returns `own` after the parameters that all of them have.
macro_rules! params {
    ($distribution:literal $(, $own:expr)*) => {
        &[
            RECORDS, FIELDS, FIELD_BYTES, SCHEMA, COLLATION, SHARD_COUNT, distribution($distribution), ZIPFIAN_CONSTANT,
            $($own),*
        ]
    };
}

pub(crate) static A: Meta = meta("ycsb-a", "YCSB A: 50 % reads, 50 % updates of one field", params!("zipfian"));
pub(crate) static B: Meta = meta("ycsb-b", "YCSB B: 95 % reads, 5 % updates of one field", params!("zipfian"));
pub(crate) static C: Meta = meta("ycsb-c", "YCSB C: reads only", params!("zipfian"));
pub(crate) static D: Meta =
    meta("ycsb-d", "YCSB D: 95 % reads of the latest records, 5 % inserts", params!("latest", EXPECTED_INSERTS));
pub(crate) static E: Meta = meta(
    "ycsb-e",
    "YCSB E: 95 % scans of up to 100 rows, 5 % inserts",
    params!("zipfian", EXPECTED_INSERTS, SCAN_LENGTH),
);
pub(crate) static F: Meta = meta(
    "ycsb-f",
    "YCSB F: 50 % reads, 50 % reads with an update of the same record",
    params!("zipfian", READ_MODIFY_WRITE, LOST_UPDATES),
);

/// Returns the operations of a workload, each with its share.
pub(super) fn operations(meta: &Meta) -> &'static [(Op, f64)] {
    match meta.id {
        "ycsb-a" => &[(Op::Read, 0.5), (Op::Update, 0.5)],
        "ycsb-b" => &[(Op::Read, 0.95), (Op::Update, 0.05)],
        "ycsb-d" => &[(Op::Read, 0.95), (Op::Insert, 0.05)],
        "ycsb-e" => &[(Op::Scan, 0.95), (Op::Insert, 0.05)],
        "ycsb-f" => &[(Op::Read, 0.5), (Op::ReadModifyWrite, 0.5)],
        _ => &[(Op::Read, 1.0)],
    }
}
