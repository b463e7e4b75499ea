//! `oltp-*` and `select-random-*`: sysbench's OLTP benchmarks on its tables.
//!
//! Tables, statements and options are sysbench's, so that a database that one of both prepared can be driven by the other.
//! Source: sysbench 1.0.20, by its option descriptions and by what it sends.

mod client;
mod mixes;
pub(crate) mod options;
mod schema;
mod steps;

use std::sync::Arc;

use pgdyno_text::units::ending;
use pgdyno_workload::dist::sysbench::{RandType, Range, SysbenchOptions};
use pgdyno_workload::{
    Capabilities, Changed, Check, ClientContext, ClientScript, DataSet, Drive, Expect, Group, Maker, Meta, Params,
    Program, Routines, ScriptStatement, Scripts, ServerCount, SqlData, Table, Txn, TxnId, Workload,
};

use client::{Client, Setup};
pub(crate) use mixes::{
    DELETE, INSERT, POINT_SELECT, READ_ONLY, READ_WRITE, SELECT_RANDOM_POINTS, SELECT_RANDOM_RANGES, UPDATE_INDEX,
    UPDATE_NON_INDEX, WRITE_ONLY,
};
use mixes::{
    DELTA, PIPELINE, RAND_PARETO_H, RAND_SPEC_ITER, RAND_SPEC_PCT, RAND_SPEC_RES, RAND_TYPE, RAND_ZIPFIAN_EXP,
    RANGE_SIZE,
};
use schema::Layout;

/// Builds one of the workloads.
pub(crate) fn build(meta: &'static Meta, params: &Params) -> Workload {
    let oltp = Arc::new(Oltp::new(meta, params));
    Workload {
        meta,
        params: params.clone(),
        scale: oltp.layout.rows,
        drive: Arc::new(oltp.drive()),
        data: vec![oltp],
        audit: None,
    }
}

/// sysbench has no routines: the names of its tables say it.
static SYSBENCH: Maker = Maker {
    name: "sysbench",
    routines: &[],
    drive: "pgdyno run oltp-read-write",
    routine_schema: "",
    remedy: REMEDY,
    deviations: &[],
};

const REMEDY: &str = "prepare it again with sysbench, or with `pgdyno load oltp-read-write --force`, which drops these tables; or name \
                      another database in --target";

/// One of the workloads.
struct Oltp {
    meta: &'static Meta,
    params: Params,
    layout: Layout,
    setup: Arc<Setup>,
    kind: RandType,
    shape: SysbenchOptions,
}

impl Oltp {
    fn new(meta: &'static Meta, params: &Params) -> Self {
        let layout = Layout::of(params);
        let thousandths = |name: &str| params.thousandths(name) as f64 / 1e3;
        Self {
            meta,
            params: params.clone(),
            setup: Arc::new(Setup {
                steps: mixes::steps(meta, params),
                tables: layout.tables,
                range_size: params.integer(RANGE_SIZE.name) as i32,
                delta: params.integer(DELTA.name) as i32,
                is_pipeline: params.flag(PIPELINE.name),
            }),
            layout,
            kind: RandType::of(params.text(RAND_TYPE.name)),
            shape: SysbenchOptions {
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
        let rows = self.setup.steps.keeps_rows().then(|| {
            // A delete of a key without a row is followed by an insert of that row.
            let rows = self.layout.rows;
            let count = |name: &str| format!("(select count(*) from {name} where id between 1 and {rows}) as {name}");
            Check::expensive(
                "rows",
                "each key keeps its row",
                Expect::UnchangedFrom {
                    value: rows,
                    otherwise: "keys lack their rows, and the run inserts some of them",
                },
                format!("select {}", self.of_tables(count, ", ")),
            )
        });
        let strings = self.of_tables(
            |name| {
                format!("(select '{name}' as name, id from {name} where length(c) <> 119 or length(pad) <> 59 limit 5)")
            },
            " union all ",
        );
        let strings = Check::expensive("strings", "c has 119 characters and pad has 59", Expect::NoRow, strings);
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

impl Oltp {
    fn drive(self: &Arc<Self>) -> Drive {
        let (of_program, of_advice) = (Arc::clone(self), Arc::clone(self));
        let program = move |_: &Capabilities| {
            let oltp = Arc::clone(&of_program);
            let statements = oltp.setup.steps.statements(oltp.layout.tables).into_iter();
            let statements = statements.map(|statement| ScriptStatement::of(TxnId(0), statement)).collect();
            Program::new(statements, move |context| oltp.client(context))
        };
        let inserts = (self.meta.id == INSERT.id).then(|| ServerCount {
            counted: "inserts",
            transactions: &["oltp-insert"],
            query: format!("select {}", self.of_tables(|name| format!("(select count(*) from {name})"), " + ")),
            if_different: ServerCount::OTHER_PROGRAM,
        });
        let steps = &self.setup.steps;
        let txn = Txn::new(self.meta.id, 1.0, steps.queries()).reading(steps.only_read());
        Drive::new(vec![Scripts {
            is_read_only: self.setup.steps.only_read(),
            server_counts: inserts.into_iter().collect(),
            adviser: Some(Arc::new(move |clients| of_advice.advice(clients))),
            ..Scripts::new(Group::ONLY, vec![txn], program)
        }])
    }

    fn client(&self, context: &ClientContext) -> Box<dyn ClientScript> {
        Box::new(Client::new(Arc::clone(&self.setup), self.range(context), context.rng.clone()))
    }

    fn advice(&self, clients: u32) -> Vec<String> {
        let mut advice = Vec::new();
        let rows = self.layout.rows * u64::from(self.layout.tables);
        if !self.setup.steps.only_read() && self.meta.id != INSERT.id && u64::from(clients) > rows {
            advice.push(format!(
                "{clients} clients write to {rows} row{}: most of the time will be waiting for row locks; use a larger \
                 --scale",
                ending(rows)
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
    fn what_cannot_be_meant_is_reported() {
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
