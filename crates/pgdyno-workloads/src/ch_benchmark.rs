//! `ch-benchmark`: the transactions of `tproc-c` beside the 22 queries of CH-benCHmark, on one set of tables.
//!
//! Sources: Cole et al., DBTest 2011; Funke et al., BTW 2011 and TPCTC 2011. The tables of `tproc-c` are its own, as they
//! are; supplier, nation and region are a second data set. `docs/workloads/ch-benchmark.md` lists every difference from
//! the papers and from other implementations.

mod advice;
mod markers;
mod metrics;
mod nations;
pub(crate) mod options;
mod queries;
mod stream;
mod suppliers;

use std::sync::Arc;

use pgdyno_wire::Statement;
use pgdyno_workload::{
    Capabilities, ClientContext, ClientScript, Clients, Drive, Explained, Group, GroupWork, Growth, MARKERS, Meta,
    Pace, Param, ParamKind, Params, Program, Results, Scripts, Stage, Txn, When, Workload,
};

use crate::query_set::selection::Selection;
use crate::query_set::{self, NAMES, QUERIES, limit, limit_ms, params};
use crate::tproc_c;
use queries::Form;
use stream::{Ids, Stream};
use suppliers::Suppliers;

/// The stage in which both sides run.
const MIXED: &str = "mixed";
/// The stage with transactions alone.
const TRANSACTIONS_ALONE: &str = "oltp-alone";
/// The stage with queries alone.
const QUERIES_ALONE: &str = "olap-alone";

/// The group of transactions.
const TRANSACTIONS_GROUP: &str = "oltp";
/// The group of streams.
const QUERIES_GROUP: &str = "olap";

/// New-Orders add ten lines on average, which nearly all queries read. Queries 2, 11 and 16 read only stock, items and
/// suppliers, of which there are never more.
const GROWTH: Growth = Growth {
    table: "order_line",
    rows_query: "select 10 * (sum(d_next_o_id) - count(*)) from district",
    txn: "new-order",
    rows_each: 10,
    unaffected: &["q2", "q11", "q16"],
};

/// Parameters beside those of `tproc-c`.
const OWN_PARAMS: [Param; 7] = [
    Param {
        name: "streams",
        help: "streams of queries beside the transactions; 0: transactions only",
        default: "1",
        kind: ParamKind::Integer(0, 1_000),
        when: When::Run,
    },
    Param {
        name: "queries",
        help: "numbers of the queries to run, such as 1,6,17, or all",
        default: Selection::ALL,
        kind: ParamKind::Numbers(1, QUERIES as i64),
        when: When::Run,
    },
    Param {
        name: "query-form",
        help: "full: all rows are returned; citus: as in the kit of Citus, with LIMIT 10 and without dates in eight queries",
        default: "full",
        kind: ParamKind::Choice(&["full", "citus"]),
        when: When::Run,
    },
    params::TIMEOUT,
    Param {
        name: "transactions",
        help: "transactions beside the queries; false: queries only",
        default: "true",
        kind: ParamKind::Flag,
        when: When::Run,
    },
    Param {
        name: MARKERS,
        help: "transactions write markers and queries read them: how old the data is that queries see; true where they run on \
               another server",
        default: "false",
        kind: ParamKind::Flag,
        when: When::Run,
    },
    Param {
        name: "alone",
        help: "each side also alone, in two more stages of the same length after the one with both",
        default: "false",
        kind: ParamKind::Flag,
        when: When::Run,
    },
];

/// Number of all parameters.
const PARAMS: usize = tproc_c::PARAMS.len() + OWN_PARAMS.len();

static ALL_PARAMS: [Param; PARAMS] = {
    let mut all = [OWN_PARAMS[0]; PARAMS];
    let mut nth = 0;
    while nth < PARAMS {
        let before = tproc_c::PARAMS.len();
        all[nth] = if nth < before { tproc_c::PARAMS[nth] } else { OWN_PARAMS[nth - before] };
        nth += 1;
    }
    all
};

pub(crate) static META: Meta = Meta {
    id: "ch-benchmark",
    summary: "tproc-c's transactions beside 22 analytical queries on the same tables: CH-benCHmark",
    version: 1,
    dataset: "tproc-c",
    scale_name: "warehouses",
    scale_query: tproc_c::META.scale_query,
    is_key_range: false,
    params: &ALL_PARAMS,
};

pub(crate) fn build(params: &Params) -> Workload {
    let given = tproc_c::PARAMS.iter().map(|param| (param.name, params.text(param.name)));
    // The same parameters with the same kinds: each value was checked against them.
    let of_tproc_c = Params::new(tproc_c::META.id, &tproc_c::PARAMS, given).unwrap_or_default();
    let tproc_c = tproc_c::build(&of_tproc_c);
    let ch_benchmark = ChBenchmark {
        warehouses: tproc_c.scale,
        streams: params.integer("streams") as u32,
        selection: Selection::of(params.text("queries"), QUERIES),
        form: Form::of(params.text("query-form")),
        timeout_ms: limit_ms(params.thousandths("timeout")),
        transactions: params.flag("transactions"),
        alone: params.flag("alone"),
        has_markers: params.flag(MARKERS),
    };
    let mut data = tproc_c.data;
    data.push(Arc::new(Suppliers::new(ch_benchmark.has_markers)));
    let drive = Arc::new(ch_benchmark.drive(Arc::unwrap_or_clone(tproc_c.drive)));
    Workload { meta: &META, params: params.clone(), data, drive, ..tproc_c }
}

/// Its own parameters.
#[derive(Clone)]
struct ChBenchmark {
    warehouses: u64,
    streams: u32,
    selection: Selection,
    form: Form,
    /// Milliseconds that a query may take, if that is limited.
    timeout_ms: Option<i64>,
    /// Whether transactions are asked for.
    transactions: bool,
    alone: bool,
    has_markers: bool,
}

impl ChBenchmark {
    /// Returns true if streams run in the first stage.
    fn has_streams(&self) -> bool {
        self.streams > 0
    }

    /// Returns true if transactions run in the first stage. A run without both has transactions.
    fn has_transactions(&self) -> bool {
        self.transactions || !self.has_streams()
    }

    /// Returns the drive of `tproc-c` with the queries beside it.
    fn drive(&self, tproc_c: Drive) -> Drive {
        let transactions = tproc_c.scripts.iter().cloned();
        let transactions = transactions.map(|scripts| Scripts { group: TRANSACTIONS_GROUP, ..scripts });
        let transactions =
            transactions.map(|scripts| if self.has_markers { markers::marked(scripts) } else { scripts });
        Drive {
            scripts: transactions.chain([self.queries()]).collect(),
            stages: self.stages(),
            metrics: match (self.has_transactions(), self.has_streams()) {
                (true, true) if self.alone => metrics::BOTH_AND_ALONE,
                (true, true) => metrics::BOTH,
                (false, true) => metrics::QUERIES,
                _ => metrics::TRANSACTIONS,
            },
            growth: Some(GROWTH),
            explained: self.explained(),
            ledger: None,
            advice: self.advice(),
            ..tproc_c
        }
    }

    /// Returns the scripts of the streams.
    fn queries(&self) -> Scripts {
        let txn = |(query, name)| Txn {
            why_no_rows: advice::why_no_rows(query, self.form, self.warehouses),
            // Planned shares are those of the transactions' mix.
            ..Txn::new(name, 0.0, 1)
        };
        let this = self.clone();
        let program = move |_: &Capabilities| {
            let mut statements = query_set::statements(QUERIES, |query| queries::text(query, this.form));
            let mut add = |text: &str| statements.add(Statement::new(text, &[]));
            let ids = Ids { limit: add("set statement_timeout"), begin: add(markers::BEGIN), end: add(markers::END) };
            let this = this.clone();
            Program::new(statements, move |context| this.stream(ids, context))
        };
        let (warehouses, selection) = (self.warehouses, self.selection);
        Scripts {
            is_read_only: true,
            adviser: Some(Arc::new(move |_| advice::of_size(warehouses, selection))),
            ..Scripts::new(QUERIES_GROUP, (1..).zip(NAMES).map(txn).collect(), program)
        }
    }

    fn stream(&self, ids: Ids, context: &ClientContext) -> Box<dyn ClientScript> {
        // Ordering 0 is that of a single stream in TPC-H's power test.
        let stream = Stream::new(context.id.0 + 1, self.selection, self.form, ids, self.timeout_ms);
        Box::new(if self.has_markers { stream.reading_markers() } else { stream })
    }

    fn explained(&self) -> Explained {
        let chosen = (1..=QUERIES).filter(|number| self.selection.has(*number) && self.has_streams());
        let query = |number| (NAMES[number - 1], queries::text(number, self.form));
        Explained { setup: self.timeout_ms.map(limit), queries: chosen.map(query).collect() }
    }

    fn stages(&self) -> Vec<Stage> {
        let of_transactions = || Group::new(TRANSACTIONS_GROUP);
        let of_queries = || Group {
            clients: Clients::Number(self.streams),
            pace: Some(Pace::ClosedLoop),
            // A query that a standby cancelled counts as one: it is not hidden by another try.
            max_tries: Some(1),
            results: Results::Count,
            work: GroupWork::Queries,
            ..Group::new(QUERIES_GROUP)
        };
        let transactions = || Stage::new(TRANSACTIONS_ALONE, vec![of_transactions()]);
        let queries = || Stage::new(QUERIES_ALONE, vec![of_queries()]);
        match (self.has_transactions(), self.has_streams()) {
            (true, true) => {
                let mixed = Stage::new(MIXED, vec![of_transactions(), of_queries()]);
                // Queries come first of the two: they leave the data as it is.
                let alone = self.alone.then(|| [queries(), transactions()]);
                std::iter::once(mixed).chain(alone.into_iter().flatten()).collect()
            }
            (false, true) => vec![queries()],
            _ => vec![transactions()],
        }
    }

    /// Returns warnings about parameters that have no effect.
    fn advice(&self) -> Vec<String> {
        let mut advice = Vec::new();
        if !self.has_streams() {
            let given = [
                (!self.selection.is_all(), "--queries"),
                (self.form != Form::Full, "--query-form"),
                (self.timeout_ms.is_some(), "--timeout"),
            ];
            advice.extend(advice::of_no_streams(&given, !self.transactions));
        }
        if self.alone && !(self.has_transactions() && self.has_streams()) {
            advice.push("--alone has no effect on a run of one side".to_owned());
        }
        advice
    }
}

#[cfg(test)]
mod tests;
