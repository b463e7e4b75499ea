//! The ten workloads: what the statements of their transactions are, and which parameters they have.

use pgdyno_workload::dist::sysbench::RandType;
use pgdyno_workload::{Meta, Param, ParamKind, Params, When};

use super::steps::{Sql, Steps};

const fn integer(name: &'static str, help: &'static str, default: &'static str, low: i64, high: i64) -> Param {
    Param { name, help, default, kind: ParamKind::Integer(low, high), when: When::Run }
}

const fn flag(name: &'static str, help: &'static str, default: &'static str) -> Param {
    Param { name, help, default, kind: ParamKind::Flag, when: When::Run }
}

/// The largest number of rows whose keys are integers.
const ROWS_MAX: i64 = i32::MAX as i64;

const SCALE: Param = Param {
    when: When::Load,
    ..integer("scale", "rows of each table; sysbench's --table-size", "100000", 1, ROWS_MAX)
};
const TABLES: Param = Param { when: When::Load, ..integer("tables", "tables sbtest1, sbtest2, …", "1", 1, 10_000) };
const CREATE_SECONDARY: Param =
    Param { when: When::Load, ..flag("create_secondary", "an index on column k of each table", "true") };
const SHARD_COUNT: Param = Param {
    when: When::Load,
    ..integer("shard-count", "shards of each table, on a server that distributes tables (Citus)", "48", 1, 64_000)
};

pub(super) const RANGE_SIZE: Param = integer("range_size", "rows of a range", "100", 1, ROWS_MAX);
const POINT_SELECTS: Param = integer("point_selects", "selects of one row in a transaction", "10", 0, 10_000);
const SIMPLE_RANGES: Param = integer("simple_ranges", "selects of a range", "1", 0, 10_000);
const SUM_RANGES: Param = integer("sum_ranges", "selects of the sum of a range", "1", 0, 10_000);
const ORDER_RANGES: Param = integer("order_ranges", "selects of a range in order", "1", 0, 10_000);
const DISTINCT_RANGES: Param = integer("distinct_ranges", "selects of the distinct values of a range", "1", 0, 10_000);
const RANGE_SELECTS: Param = flag("range_selects", "whether there are selects of ranges", "true");
const INDEX_UPDATES: Param = integer("index_updates", "updates of the indexed column", "1", 0, 10_000);
const NON_INDEX_UPDATES: Param = integer("non_index_updates", "updates of a column without an index", "1", 0, 10_000);
const DELETE_INSERTS: Param = integer("delete_inserts", "deletes of a row that is inserted again", "1", 0, 10_000);
pub(super) const PIPELINE: Param =
    flag("pipeline", "send a whole transaction as one pipeline, instead of one statement per round trip", "false");
const SKIP_TRX: Param = flag("skip_trx", "each statement is a transaction of its own", "false");
const RANDOM_POINTS: Param = integer("random_points", "values of k in a select", "10", 1, 1_000);
const NUMBER_OF_RANGES: Param = integer("number_of_ranges", "ranges of k in a select", "10", 1, 1_000);
pub(super) const DELTA: Param = integer("delta", "size of a range of k", "5", 0, ROWS_MAX);

pub(super) const RAND_TYPE: Param = Param {
    name: "rand-type",
    help: "how rows are drawn, by sysbench's words",
    default: "special",
    kind: ParamKind::Choice(&RandType::NAMES),
    when: When::Run,
};
pub(super) const RAND_SPEC_ITER: Param =
    integer("rand-spec-iter", "uniform numbers in a draw of gaussian and special", "12", 1, 1_000);
pub(super) const RAND_SPEC_PCT: Param = integer("rand-spec-pct", "percent of the rows that are special", "1", 0, 100);
pub(super) const RAND_SPEC_RES: Param =
    integer("rand-spec-res", "percent of the draws that are special rows", "75", 0, 99);
pub(super) const RAND_PARETO_H: Param = Param {
    name: "rand-pareto-h",
    help: "share of the rows that have the other share of the draws with pareto",
    default: "0.2",
    kind: ParamKind::Thousandths(1, 999),
    when: When::Run,
};
pub(super) const RAND_ZIPFIAN_EXP: Param = Param {
    name: "rand-zipfian-exp",
    help: "exponent of zipfian",
    default: "0.8",
    kind: ParamKind::Thousandths(0, 10_000),
    when: When::Run,
};

/// Returns `own` between the parameters of the data and those of the distributions.
macro_rules! params {
    ($($own:expr),* $(,)?) => {
        &[
            SCALE, TABLES, CREATE_SECONDARY, SHARD_COUNT, $($own,)* RAND_TYPE, RAND_SPEC_ITER, RAND_SPEC_PCT, RAND_SPEC_RES,
            RAND_PARETO_H, RAND_ZIPFIAN_EXP,
        ]
    };
}

const fn meta(id: &'static str, summary: &'static str, params: &'static [Param]) -> Meta {
    Meta {
        id,
        summary,
        version: 1,
        dataset: "sysbench",
        scale_name: "scale",
        scale_query: Some("select max(id) from sbtest1"),
        is_key_range: true,
        params,
    }
}

pub(crate) static READ_WRITE: Meta = meta(
    "oltp-read-write",
    "sysbench's oltp_read_write: 14 selects, 2 updates, a delete and an insert in a transaction",
    params![
        POINT_SELECTS,
        RANGE_SELECTS,
        SIMPLE_RANGES,
        SUM_RANGES,
        ORDER_RANGES,
        DISTINCT_RANGES,
        RANGE_SIZE,
        INDEX_UPDATES,
        NON_INDEX_UPDATES,
        DELETE_INSERTS,
        SKIP_TRX,
        PIPELINE,
    ],
);
pub(crate) static READ_ONLY: Meta = meta(
    "oltp-read-only",
    "sysbench's oltp_read_only: 14 selects in a transaction",
    params![
        POINT_SELECTS,
        RANGE_SELECTS,
        SIMPLE_RANGES,
        SUM_RANGES,
        ORDER_RANGES,
        DISTINCT_RANGES,
        RANGE_SIZE,
        SKIP_TRX,
        PIPELINE,
    ],
);
pub(crate) static WRITE_ONLY: Meta = meta(
    "oltp-write-only",
    "sysbench's oltp_write_only: 2 updates, a delete and an insert in a transaction",
    params![INDEX_UPDATES, NON_INDEX_UPDATES, DELETE_INSERTS, SKIP_TRX, PIPELINE],
);
pub(crate) static POINT_SELECT: Meta =
    meta("oltp-point-select", "sysbench's oltp_point_select: one row by its key", params![]);
pub(crate) static UPDATE_INDEX: Meta =
    meta("oltp-update-index", "sysbench's oltp_update_index: an update of the indexed column", params![INDEX_UPDATES]);
pub(crate) static UPDATE_NON_INDEX: Meta = meta(
    "oltp-update-non-index",
    "sysbench's oltp_update_non_index: an update of a column without an index",
    params![NON_INDEX_UPDATES],
);
pub(crate) static INSERT: Meta = meta("oltp-insert", "sysbench's oltp_insert: one new row", params![]);
pub(crate) static DELETE: Meta =
    meta("oltp-delete", "sysbench's oltp_delete: one row is deleted, if it is still there", params![]);
pub(crate) static SELECT_RANDOM_POINTS: Meta = meta(
    "select-random-points",
    "sysbench's select_random_points: the rows with ten values of k",
    params![RANDOM_POINTS],
);
pub(crate) static SELECT_RANDOM_RANGES: Meta = meta(
    "select-random-ranges",
    "sysbench's select_random_ranges: the number of rows in ten ranges of k",
    params![NUMBER_OF_RANGES, DELTA],
);

/// Returns the statements of a transaction.
pub(super) fn steps(meta: &Meta, params: &Params) -> Steps {
    let times = |name: &str| params.integer(name).unsigned_abs() as usize;
    let block = match (params.text(SKIP_TRX.name), params.flag(SKIP_TRX.name)) {
        ("", _) | (_, true) => Steps::new(false),
        _ => Steps::new(true),
    };
    let has_ranges = params.flag(RANGE_SELECTS.name);
    let reads = |steps: Steps| {
        let steps = steps.several(Sql::PointSelect, times(POINT_SELECTS.name));
        if !has_ranges {
            return steps;
        }
        steps
            .several(Sql::SimpleRange, times(SIMPLE_RANGES.name))
            .several(Sql::SumRange, times(SUM_RANGES.name))
            .several(Sql::OrderRange, times(ORDER_RANGES.name))
            .several(Sql::DistinctRange, times(DISTINCT_RANGES.name))
    };
    let writes = |steps: Steps| {
        steps
            .several(Sql::IndexUpdate, times(INDEX_UPDATES.name))
            .several(Sql::NonIndexUpdate, times(NON_INDEX_UPDATES.name))
            .several(Sql::Delete { insert: true }, times(DELETE_INSERTS.name))
    };
    match meta.id {
        "oltp-read-only" => reads(block),
        "oltp-write-only" => writes(block),
        "oltp-point-select" => block.several(Sql::PointSelect, 1),
        "oltp-update-index" => block.several(Sql::IndexUpdate, times(INDEX_UPDATES.name)),
        "oltp-update-non-index" => block.several(Sql::NonIndexUpdate, times(NON_INDEX_UPDATES.name)),
        "oltp-insert" => block.several(Sql::NewRow, 1),
        "oltp-delete" => block.several(Sql::Delete { insert: false }, 1),
        "select-random-points" => block.several(Sql::RandomPoints(times(RANDOM_POINTS.name)), 1),
        "select-random-ranges" => block.several(Sql::RandomRanges(times(NUMBER_OF_RANGES.name)), 1),
        _ => writes(reads(block)),
    }
    .end()
}
