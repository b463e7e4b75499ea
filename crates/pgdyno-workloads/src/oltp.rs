//! `oltp-*` and `select-random-*`: sysbench's OLTP benchmarks on its tables.
//!
//! Tables, statements and options are sysbench's, so that a database that one of both prepared can be driven by the other.
//! Source: sysbench 1.0.20, by its option descriptions and by what it sends.

mod client;
mod schema;
mod steps;

use std::sync::Arc;

use pgdyno_wire::Statement;
use pgdyno_workload::dist::sysbench::{Kind, Range, Shape};
use pgdyno_workload::{
    Capabilities, Changed, Check, CheckCost, ClientContext, ClientScript, DataSet, Drive, Expect, Maker, Meta, Param,
    ParamKind, Params, Routines, ServerCount, SqlData, StatementUse, Table, Txn, When, Workload,
};

use client::{Client, Setup};
use schema::Layout;
use steps::{Sql, Steps};

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

const RANGE_SIZE: Param = integer("range_size", "rows of a range", "100", 1, ROWS_MAX);
const POINT_SELECTS: Param = integer("point_selects", "selects of one row in a transaction", "10", 0, 10_000);
const SIMPLE_RANGES: Param = integer("simple_ranges", "selects of a range", "1", 0, 10_000);
const SUM_RANGES: Param = integer("sum_ranges", "selects of the sum of a range", "1", 0, 10_000);
const ORDER_RANGES: Param = integer("order_ranges", "selects of a range in order", "1", 0, 10_000);
const DISTINCT_RANGES: Param = integer("distinct_ranges", "selects of the distinct values of a range", "1", 0, 10_000);
const RANGE_SELECTS: Param = flag("range_selects", "whether there are selects of ranges", "true");
const INDEX_UPDATES: Param = integer("index_updates", "updates of the indexed column", "1", 0, 10_000);
const NON_INDEX_UPDATES: Param = integer("non_index_updates", "updates of a column without an index", "1", 0, 10_000);
const DELETE_INSERTS: Param = integer("delete_inserts", "deletes of a row that is inserted again", "1", 0, 10_000);
const PIPELINE: Param =
    flag("pipeline", "send a whole transaction as one pipeline, instead of one statement per round trip", "false");
const SKIP_TRX: Param = flag("skip_trx", "each statement is a transaction of its own", "false");
const RANDOM_POINTS: Param = integer("random_points", "values of k in a select", "10", 1, 1_000);
const NUMBER_OF_RANGES: Param = integer("number_of_ranges", "ranges of k in a select", "10", 1, 1_000);
const DELTA: Param = integer("delta", "size of a range of k", "5", 0, ROWS_MAX);

const RAND_TYPE: Param = Param {
    name: "rand-type",
    help: "how rows are drawn, by sysbench's words",
    default: "special",
    kind: ParamKind::Choice(&Kind::NAMES),
    when: When::Run,
};
const RAND_SPEC_ITER: Param =
    integer("rand-spec-iter", "uniform numbers in a draw of gaussian and special", "12", 1, 1_000);
const RAND_SPEC_PCT: Param = integer("rand-spec-pct", "percent of the rows that are special", "1", 0, 100);
const RAND_SPEC_RES: Param = integer("rand-spec-res", "percent of the draws that are special rows", "75", 0, 99);
const RAND_PARETO_H: Param = Param {
    name: "rand-pareto-h",
    help: "share of the rows that have the other share of the draws with pareto",
    default: "0.2",
    kind: ParamKind::Thousandths(1, 999),
    when: When::Run,
};
const RAND_ZIPFIAN_EXP: Param = Param {
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
        scale_query: Some("select count(*) from sbtest1"),
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

pub(crate) fn build(meta: &'static Meta, params: &Params) -> Workload {
    let oltp = Arc::new(Oltp::new(meta, params));
    Workload {
        meta,
        params: params.clone(),
        scale: oltp.layout.rows,
        data: vec![Arc::clone(&oltp) as _],
        drive: oltp,
        audit: None,
    }
}

pub(crate) fn read_write(params: &Params) -> Workload {
    build(&READ_WRITE, params)
}

pub(crate) fn read_only(params: &Params) -> Workload {
    build(&READ_ONLY, params)
}

pub(crate) fn write_only(params: &Params) -> Workload {
    build(&WRITE_ONLY, params)
}

pub(crate) fn point_select(params: &Params) -> Workload {
    build(&POINT_SELECT, params)
}

pub(crate) fn update_index(params: &Params) -> Workload {
    build(&UPDATE_INDEX, params)
}

pub(crate) fn update_non_index(params: &Params) -> Workload {
    build(&UPDATE_NON_INDEX, params)
}

pub(crate) fn insert(params: &Params) -> Workload {
    build(&INSERT, params)
}

pub(crate) fn delete(params: &Params) -> Workload {
    build(&DELETE, params)
}

pub(crate) fn select_random_points(params: &Params) -> Workload {
    build(&SELECT_RANDOM_POINTS, params)
}

pub(crate) fn select_random_ranges(params: &Params) -> Workload {
    build(&SELECT_RANDOM_RANGES, params)
}

/// sysbench has no routines: the names of its tables tell.
static SYSBENCH: Maker = Maker {
    name: "sysbench",
    routines: &[],
    drive: "pgdyno run oltp-read-write",
    routine_schema: "",
    remedy: REMEDY,
    deviations: &[],
};

const REMEDY: &str = "prepare it anew with sysbench, or with `pgdyno load oltp-read-write --force`, which drops these tables; or name \
                      another database in --target";

/// Returns the statements of a transaction.
fn steps(meta: &Meta, params: &Params) -> Steps {
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

/// One of the workloads.
struct Oltp {
    meta: &'static Meta,
    params: Params,
    layout: Layout,
    setup: Arc<Setup>,
    kind: Kind,
    shape: Shape,
}

impl Oltp {
    fn new(meta: &'static Meta, params: &Params) -> Self {
        let layout = Layout::of(params);
        let thousandths = |name: &str| params.thousandths(name) as f64 / 1e3;
        Self {
            meta,
            params: params.clone(),
            setup: Arc::new(Setup {
                steps: steps(meta, params),
                tables: layout.tables,
                range_size: params.integer(RANGE_SIZE.name) as i32,
                delta: params.integer(DELTA.name) as i32,
                is_pipeline: params.flag(PIPELINE.name),
            }),
            layout,
            kind: Kind::of(params.text(RAND_TYPE.name)),
            shape: Shape {
                iterations: params.integer(RAND_SPEC_ITER.name) as u32,
                special_percent: params.integer(RAND_SPEC_PCT.name) as f64,
                special_draws_percent: params.integer(RAND_SPEC_RES.name) as f64,
                pareto_h: thousandths(RAND_PARETO_H.name),
                zipfian_exponent: thousandths(RAND_ZIPFIAN_EXP.name),
            },
        }
    }

    /// Returns what a client draws rows from: all of them, or values of k in a part of its own.
    fn range(&self, context: &ClientContext) -> Range {
        let rows = self.layout.rows as i64;
        if !self.setup.steps.has_parts_of_clients() {
            return Range::new(self.kind, self.shape, 1, rows);
        }
        let clients = f64::from(context.clients.max(1));
        let part = rows as f64 / clients;
        let low = part * f64::from(context.id.0 % context.clients.max(1));
        Range::new(self.kind, self.shape, low as i64, (low + part) as i64)
    }

    /// Returns SQL with a part for each table.
    fn of_tables(&self, part: impl Fn(&str) -> String, between: &str) -> String {
        (1..=self.layout.tables).map(|table| part(schema::name(table))).collect::<Vec<_>>().join(between)
    }
}

impl DataSet for Oltp {
    fn meta(&self) -> &'static Meta {
        self.meta
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn scale(&self) -> u64 {
        self.layout.rows
    }

    fn tables(&self, _: &Capabilities) -> Vec<Table> {
        self.layout.tables()
    }

    fn sql_data(&self) -> Option<&SqlData> {
        None
    }

    fn routines(&self, _: &Capabilities) -> Routines {
        Routines::default()
    }

    fn other_maker(&self) -> Option<&'static Maker> {
        Some(&SYSBENCH)
    }

    fn checks(&self) -> Vec<Check> {
        let check = |name, condition, expect, sql: String| Check {
            name,
            condition,
            sql: sql.into(),
            parts: None,
            expect,
            cost: CheckCost::Expensive,
        };
        let rows = self.setup.steps.keeps_rows().then(|| {
            let counts = self.of_tables(|name| format!("(select count(*) from {name}) as {name}"), ", ");
            check("rows", "each table keeps its number of rows", Expect::UnchangedByRun, format!("select {counts}"))
        });
        let strings = self.of_tables(
            |name| {
                format!("(select '{name}' as name, id from {name} where length(c) <> 119 or length(pad) <> 59 limit 5)")
            },
            " union all ",
        );
        let strings = check("strings", "c has 119 characters and pad has 59", Expect::NoRow, strings);
        rows.into_iter().chain([strings]).collect()
    }

    fn changed(&self, _: &str) -> Changed {
        Changed { checks: self.checks(), repair: None }
    }

    fn before_run(&self) -> &'static [&'static str] {
        &[]
    }

    fn bytes(&self) -> u64 {
        self.layout.bytes() * u64::from(self.layout.tables)
    }
}

impl Drive for Oltp {
    fn txns(&self) -> Vec<Txn> {
        vec![Txn { name: self.meta.id, weight: 1.0, queries: self.setup.steps.queries() }]
    }

    fn statements(&self, _: &Capabilities) -> Vec<Statement> {
        self.setup.steps.statements(self.layout.tables)
    }

    fn statement_use(&self, _: usize) -> StatementUse {
        StatementUse { txn: Some(0), is_counted: false }
    }

    fn client(&self, context: &ClientContext) -> Box<dyn ClientScript> {
        Box::new(Client::new(Arc::clone(&self.setup), self.range(context), context.rng.clone()))
    }

    fn is_read_only(&self) -> bool {
        self.setup.steps.only_read()
    }

    fn server_counts(&self) -> Vec<ServerCount> {
        let inserts = (self.meta.id == INSERT.id).then(|| ServerCount {
            counted: "inserts",
            transactions: &["oltp-insert"],
            query: format!("select {}", self.of_tables(|name| format!("(select count(*) from {name})"), " + ")),
            if_different: ServerCount::OTHER_PROGRAM,
        });
        inserts.into_iter().collect()
    }

    fn advice(&self, clients: u32) -> Vec<String> {
        let mut advice = Vec::new();
        let rows = self.layout.rows * u64::from(self.layout.tables);
        if !self.is_read_only() && self.meta.id != INSERT.id && u64::from(clients) > rows {
            advice.push(format!(
                "{clients} clients write to {rows} row{}: most of the time will be waiting for row locks; use a larger \
                 --scale",
                if rows == 1 { "" } else { "s" }
            ));
        }
        let longest = self.params.integer(RANGE_SIZE.name).unsigned_abs();
        if self.setup.steps.has_ranges() && longest > self.layout.rows {
            advice.push(format!(
                "ranges of {longest} rows are longer than the tables of {}: use a larger --scale, or a smaller -D range_size",
                self.layout.rows
            ));
        }
        if self.setup.steps.is_empty() {
            advice.push("the transaction has no statement: all of its numbers are 0".to_owned());
        }
        advice
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queries(meta: &'static Meta, given: &[(&str, &str)]) -> u32 {
        let params = Params::new(meta.id, meta.params, given.iter().copied()).unwrap();
        build(meta, &params).drive.txns()[0].queries
    }

    #[test]
    fn transactions_have_as_many_queries_as_sysbench_s() {
        assert_eq!(queries(&READ_WRITE, &[]), 18);
        assert_eq!(queries(&READ_WRITE, &[("range_selects", "false"), ("point_selects", "3")]), 7);
        assert_eq!([queries(&READ_ONLY, &[]), queries(&WRITE_ONLY, &[]), queries(&INSERT, &[])], [14, 4, 1]);
        assert_eq!([queries(&UPDATE_INDEX, &[("index_updates", "5")]), queries(&SELECT_RANDOM_POINTS, &[])], [5, 1]);
    }

    #[test]
    fn what_cannot_be_meant_is_told() {
        let advice = |meta: &'static Meta, given: &[(&str, &str)], clients| {
            let params = Params::new(meta.id, meta.params, given.iter().copied()).unwrap();
            build(meta, &params).drive.advice(clients).join("; ")
        };
        assert!(advice(&UPDATE_INDEX, &[("scale", "3"), ("tables", "2")], 7).contains("7 clients write to 6 rows"));
        assert!(advice(&READ_ONLY, &[("scale", "50")], 1).contains("ranges of 100 rows"));
        let nothing = [("point_selects", "0"), ("range_selects", "false"), ("skip_trx", "true")];
        assert!(advice(&READ_ONLY, &nothing, 1).contains("no statement"));
        assert_eq!(advice(&READ_WRITE, &[], 64), "");
    }
}
