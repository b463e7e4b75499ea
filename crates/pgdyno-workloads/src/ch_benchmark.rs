//! `ch-benchmark`: the transactions of `tproc-c` beside the 22 queries of CH-benCHmark, on one set of tables.
//!
//! Sources: Cole et al., DBTest 2011; Funke et al., BTW 2011 and TPCTC 2011. The tables of `tproc-c` are its own, as they
//! are; supplier, nation and region are a second data set. `docs/workloads/ch-benchmark.md` lists every difference from
//! the papers and from other implementations.

mod advice;
mod markers;
mod metrics;
mod nations;
mod queries;
mod stream;
mod suppliers;

use std::sync::Arc;

use pgdyno_wire::Statement;
use pgdyno_workload::{
    Capabilities, ClientContext, ClientCounts, ClientScript, Clients, Counted, Drive, Ends, Explained, Figures, Group,
    Growth, Judgement, MARKERS, Meta, Pace, Param, ParamKind, Params, Results, Stage, StatementUse, Txn, When, Work,
    Workload,
};

use crate::query_set::selection::Selection;
use crate::query_set::{NAMES, QUERIES, TIMEOUT_S, limit, limit_ms};
use crate::tproc_c;
use markers::Marked;
use queries::Form;
use stream::Stream;
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
    txn: 0,
    rows_each: 10,
    unaffected: &[6, 15, 20],
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
    Param {
        name: "timeout",
        help: "seconds that a query may take before it is cancelled; 86400: the server's own limit",
        default: "86400",
        kind: ParamKind::Thousandths(1, 1000 * TIMEOUT_S),
        when: When::Run,
    },
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
    let mut data = tproc_c.data;
    data.push(Arc::new(Suppliers::new(params.flag(MARKERS))));
    let warehouses = tproc_c.scale;
    let drive = ChBenchmark {
        transactions: tproc_c.drive,
        warehouses,
        streams: params.integer("streams") as u32,
        selection: Selection::of(params.text("queries")),
        form: Form::of(params.text("query-form")),
        timeout_ms: limit_ms(params.thousandths("timeout")),
        has_transactions: params.flag("transactions"),
        alone: params.flag("alone"),
        has_markers: params.flag(MARKERS),
    };
    Workload {
        meta: &META,
        params: params.clone(),
        scale: warehouses,
        data,
        drive: Arc::new(drive),
        audit: tproc_c.audit,
    }
}

struct ChBenchmark {
    /// The drive of `tproc-c`, whose transactions and statements come first.
    transactions: Arc<dyn Drive>,
    warehouses: u64,
    streams: u32,
    selection: Selection,
    form: Form,
    /// Milliseconds that a query may take, if that is limited.
    timeout_ms: Option<i64>,
    has_transactions: bool,
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
        self.has_transactions || !self.has_streams()
    }

    fn transaction_group() -> Group {
        Group::new(TRANSACTIONS_GROUP)
    }

    fn query_group(&self) -> Group {
        Group {
            clients: Clients::Number(self.streams),
            pace: Some(Pace::ClosedLoop),
            // A query that a standby cancelled counts as one: it is not hidden by another try.
            max_tries: Some(1),
            results: Results::Count,
            work: Work::Queries,
            ..Group::new(QUERIES_GROUP)
        }
    }

    /// Returns the number of statements before that of query 1, on a server with these abilities.
    fn statements_before(&self, caps: &Capabilities) -> usize {
        self.transactions.statements(caps).len()
    }
}

impl Drive for ChBenchmark {
    fn txns(&self) -> Vec<Txn> {
        // Planned shares are those of the transactions' mix.
        let queries = NAMES.iter().map(|name| Txn { name, weight: 0.0, queries: 1 });
        self.transactions.txns().into_iter().chain(queries).collect()
    }

    fn statements(&self, caps: &Capabilities) -> Vec<Statement> {
        let queries = (1..=QUERIES).map(|query| queries::text(query, self.form));
        let others = ["set statement_timeout", markers::BEGIN, markers::END].map(str::to_owned);
        let own = queries.chain(others).map(|text| Statement::new(text, &[]));
        self.transactions.statements(caps).into_iter().chain(own).chain([markers::write()]).collect()
    }

    fn explained(&self) -> Explained {
        let chosen = (1..=QUERIES).filter(|number| self.selection.has(*number) && self.has_streams());
        let query = |number| (NAMES[number - 1], queries::text(number, self.form));
        Explained { setup: self.timeout_ms.map(limit), queries: chosen.map(query).collect() }
    }

    fn statement_use(&self, statement: usize) -> StatementUse {
        let (before, txns) = (self.statements_before(&Capabilities::default()), self.transactions.txns().len());
        match statement.checked_sub(before) {
            None => self.transactions.statement_use(statement),
            Some(query) => StatementUse { txn: Some(txns + query).filter(|_| query < QUERIES), is_counted: false },
        }
    }

    fn stages(&self) -> Vec<Stage> {
        let stage = |name, groups| Stage { ends: Ends::After, ..Stage::new(name, groups) };
        let transactions = || stage(TRANSACTIONS_ALONE, vec![Self::transaction_group()]);
        let queries = || stage(QUERIES_ALONE, vec![self.query_group()]);
        match (self.has_transactions(), self.has_streams()) {
            (true, true) => {
                let mixed = stage(MIXED, vec![Self::transaction_group(), self.query_group()]);
                // Queries come first of the two: they leave the data as it is.
                let alone = self.alone.then(|| [queries(), transactions()]);
                std::iter::once(mixed).chain(alone.into_iter().flatten()).collect()
            }
            (false, true) => vec![queries()],
            _ => vec![transactions()],
        }
    }

    fn client(&self, context: &ClientContext) -> Box<dyn ClientScript> {
        if context.group == TRANSACTIONS_GROUP {
            let client = self.transactions.client(context);
            let write = self.statements_before(&Capabilities::default()) + QUERIES + 3;
            return match self.has_markers {
                true => Box::new(Marked::new(client, context.id, write, &self.transactions.txns())),
                false => client,
            };
        }
        // Ordering 0 is that of a single stream in TPC-H's power test.
        let ordering = context.id.0 + 1;
        let first = (self.transactions.txns().len(), self.statements_before(&Capabilities::default()));
        let stream = Stream::new(ordering, self.selection, self.form, first, self.timeout_ms);
        Box::new(if self.has_markers { stream.reading_markers() } else { stream })
    }

    fn counted(&self) -> Counted {
        let metrics = match (self.has_transactions(), self.has_streams()) {
            (true, true) if self.alone => metrics::BOTH_AND_ALONE,
            (true, true) => metrics::BOTH,
            (false, true) => metrics::QUERIES,
            _ => metrics::TRANSACTIONS,
        };
        Counted { metrics, tallies: self.transactions.counted().tallies }
    }

    fn client_counts(&self, asked: Option<u32>, usual: u32) -> ClientCounts {
        self.transactions.client_counts(asked, usual)
    }

    fn is_read_only(&self) -> bool {
        !self.has_transactions()
    }

    fn judge(&self, figures: &Figures<'_>) -> Vec<Judgement> {
        if !self.has_transactions() {
            return Vec::new();
        }
        let txns = &figures.txns[..figures.txns.len().min(self.transactions.txns().len())];
        self.transactions.judge(&Figures { txns, ..*figures })
    }

    fn advice(&self, clients: u32) -> Vec<String> {
        let mut advice = if self.has_transactions() { self.transactions.advice(clients) } else { Vec::new() };
        if self.has_streams() {
            advice.extend(advice::of_size(self.warehouses, self.selection));
        } else {
            let given = [
                (!self.selection.is_all(), "--queries"),
                (self.form != Form::Full, "--query-form"),
                (self.timeout_ms.is_some(), "--timeout"),
            ];
            advice.extend(advice::of_no_streams(&given, !self.has_transactions));
        }
        if self.alone && !(self.has_transactions() && self.has_streams()) {
            advice.push("--alone has no effect on a run of one side".to_owned());
        }
        advice
    }

    fn growth(&self) -> Option<Growth> {
        Some(GROWTH)
    }

    fn why_no_rows(&self, txn: usize) -> Option<&'static str> {
        advice::why_no_rows(txn.checked_sub(self.transactions.txns().len())? + 1, self.warehouses)
    }
}

#[cfg(test)]
mod tests;
