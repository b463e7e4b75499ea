//! `tproc-h`: the eight tables and 22 queries of TPC-H, derived from the standard; its figures are no TPC results.
//!
//! Clause numbers refer to the TPC Benchmark H Standard Specification, revision 3.0. Rows are tpchgen's, which are
//! dbgen's; parameters are qgen's.

mod answers;
mod current;
mod digests;
mod months;
pub(crate) mod options;
mod oracle;
mod parameters;
mod queries;
mod refresh;
mod rows;
mod scale;
mod schema;
mod stream;

use std::sync::Arc;

use pgdyno_wire::Statement;
use pgdyno_workload::{
    Answers, Capabilities, Changed, Check, ClientContext, ClientCounts, ClientScript, DataSet, Drive, Explained, Group,
    Maker, Meta, Metric, Oracle, Param, ParamKind, Params, Program, Routines, ScriptStatement, Scripts, SqlData, Stage,
    Statements, Table, Txn, When, Workload,
};

use crate::query_set::metrics::{geometric_mean, queries_per_hour, set_time};
use crate::query_set::selection::Selection;
#[cfg(test)]
use crate::query_set::stages::THROUGHPUT;
use crate::query_set::stages::{self, POWER};
use crate::query_set::{self, NAMES, QUERIES, limit, limit_ms, orderings, params};
use refresh::{RefreshProgress, State};
use scale::ScaleFactor;
use schema::Profile;
use stream::{Function, Ids, Query, Stream, Task};

/// Group of the session that refreshes beside several streams.
const REFRESH: &str = "refresh";

/// Metrics of a run without refresh functions. They do not have the TPC's names.
const METRICS: [Metric; 3] = [
    geometric_mean(
        "geometric-mean",
        "s geometric mean",
        "geometric mean of the times of the 22 queries in the power stage, without refresh functions",
        &NAMES,
    ),
    set_time("set-time", "s set time", "time of all queries in the power stage, one after the other", &NAMES),
    queries_per_hour("queries-per-hour", "queries/h", "queries an hour of all streams in the throughput stage", &NAMES),
];

/// Metrics of a run with refresh functions: other figures, and so other names.
const METRICS_REFRESHED: [Metric; 3] = [
    geometric_mean(
        "geometric-mean-with-refresh",
        "s geometric mean with refresh",
        "geometric mean of the times of the 22 queries and the two refresh functions in the power stage",
        &queries::TASKS,
    ),
    set_time(
        "set-time-with-refresh",
        "s set time with refresh",
        "time of the power stage: RF1, all queries, RF2, one after the other",
        &queries::TASKS,
    ),
    queries_per_hour(
        "queries-per-hour-with-refresh",
        "queries/h with refresh",
        "queries an hour of all streams in the throughput stage, beside the refresh functions",
        &NAMES,
    ),
];

/// Queries whose time without indexes grows with the square of the scale factor.
const SLOW_WITHOUT_INDEXES: &[usize] = &[17, 20, 21];

pub(crate) static META: Meta = Meta {
    id: "tproc-h",
    summary: "analytical queries: 22 derived from TPC-H, in one stream and in several",
    version: 1,
    dataset: "tproc-h",
    scale_name: "scale",
    scale_query: None,
    is_key_range: false,
    params: &[
        Param {
            name: "scale",
            help: "scale factor, about 1.7 GB for each 1; fractions are possible",
            default: "1",
            kind: ParamKind::Thousandths(1, scale::THOUSANDTHS_MAX),
            when: When::Load,
        },
        Param {
            name: "indexes",
            help: "keys: primary and foreign keys and indexes on them; dates: also on dates; none: no keys, no indexes; \
                   hammerdb: as HammerDB has them",
            default: "keys",
            kind: ParamKind::Choice(Profile::NAMES),
            when: When::Load,
        },
        Param {
            name: "partitions",
            help: "month: orders and lineitem are partitioned by month, and there are no foreign keys; none",
            default: "none",
            kind: ParamKind::Choice(months::NAMES),
            when: When::Load,
        },
        Param {
            name: "shard-count",
            help: "shards of orders and lineitem, on a server that distributes tables (Citus)",
            default: "48",
            kind: ParamKind::Integer(1, 64_000),
            when: When::Load,
        },
        params::STREAMS,
        params::REPEAT,
        Param {
            name: "queries",
            help: "numbers of the queries to run, such as 1,6,17; all: all 22",
            default: Selection::ALL,
            kind: ParamKind::Numbers(1, QUERIES as i64),
            when: When::Run,
        },
        params::TIMEOUT,
        Param {
            name: "refresh",
            help: "refresh functions before and after the queries, and beside the streams; only with all queries",
            default: "true",
            kind: ParamKind::Flag,
            when: When::Run,
        },
        Param {
            name: "validation",
            help: "the parameters for which the standard has answers, instead of those of the seed",
            default: "false",
            kind: ParamKind::Flag,
            when: When::Run,
        },
        Param {
            name: "parameter-seed",
            help: "seed of the queries' parameters: as qgen -r has it in the power stage, and one more for each stream",
            default: "101000000",
            kind: ParamKind::Integer(1, 2_147_482_000),
            when: When::Run,
        },
    ],
};

pub(crate) fn build(params: &Params) -> Workload {
    let tproc_h = Arc::new(TprocH::of(params));
    Workload {
        meta: &META,
        params: params.clone(),
        scale: tproc_h.scale(),
        drive: Arc::new(tproc_h.drive()),
        data: vec![tproc_h],
        audit: None,
    }
}

struct TprocH {
    params: Params,
    scale: ScaleFactor,
    indexes: Profile,
    by_month: bool,
    shards: u32,
    streams: u32,
    repeat: usize,
    selection: Selection,
    timeout_ms: i64,
    /// Whether refresh functions are asked for.
    refresh: bool,
    /// The seed of the queries' parameters; `None` for the standard's.
    seed: Option<u32>,
}

impl TprocH {
    fn of(params: &Params) -> Self {
        Self {
            params: params.clone(),
            scale: ScaleFactor::of_thousandths(params.thousandths("scale").unsigned_abs()),
            indexes: Profile::of(params.text("indexes")),
            by_month: params.text("partitions") == "month",
            shards: params.integer("shard-count") as u32,
            streams: params.integer("streams") as u32,
            repeat: params.integer("repeat") as usize,
            selection: Selection::of(params.text("queries"), QUERIES),
            timeout_ms: params.thousandths("timeout"),
            refresh: params.flag("refresh"),
            seed: match params.flag("validation") {
                true => None,
                false => Some(params.integer("parameter-seed") as u32),
            },
        }
    }

    /// Returns the queries that take very long on this data.
    fn slow_queries(&self) -> &'static [usize] {
        if self.indexes == Profile::None && self.scale.thousandths() >= 100 { SLOW_WITHOUT_INDEXES } else { &[] }
    }

    /// Returns how many milliseconds a query may take, if that is limited.
    fn timeout_ms(&self) -> Option<i64> {
        limit_ms(self.timeout_ms)
    }

    /// Returns the parameters of a query in stream `stream`, 0 for the power stage.
    fn values(&self, query: usize, stream: u32) -> Vec<String> {
        match self.seed {
            Some(seed) => parameters::of_seed(query, seed + stream, self.scale),
            None => parameters::of_validation(query, self.scale),
        }
    }

    /// Returns true if the run has refresh functions: a part of the queries has none, and some scale factors have no
    /// whole number of orders for them.
    fn has_refresh(&self) -> bool {
        self.refresh && self.selection.is_all() && self.scale.refreshed_orders().is_some()
    }

    /// Returns what the power stage does once.
    fn set(&self) -> Vec<Task> {
        let refresh = |function| self.has_refresh().then_some(Task::Refresh(function));
        let queries = self.queries(0).into_iter().map(Task::Query);
        refresh(Function::Insert).into_iter().chain(queries).chain(refresh(Function::Delete)).collect()
    }

    fn queries(&self, stream: u32) -> Vec<Query> {
        let ordering = orderings::ordering(stream).iter().map(|number| usize::from(*number));
        let query = |number| Query { number, text: queries::text(number, &self.values(number, stream)) };
        ordering.filter(|number| self.selection.has(*number)).map(query).collect()
    }
}

impl DataSet for TprocH {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn scale(&self) -> u64 {
        self.scale.rounded_up()
    }

    fn tables(&self, _: &Capabilities) -> Vec<Table> {
        schema::tables(self.scale, self.indexes, self.by_month, self.shards)
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
        let slow = self.slow_queries();
        let mut checks = answers::answers(self.scale, |query| self.selection.has(query) && !slow.contains(&query));
        checks.push(digests::check(self.scale, 0));
        checks
    }

    fn changed(&self, changes: &str) -> Changed {
        match State::read(changes) {
            Some(state) if state != State::default() => {
                let digests =
                    (state.progress == RefreshProgress::Whole).then(|| digests::check(self.scale, state.pairs));
                let checks = std::iter::once(refresh::check(self.scale, state)).chain(digests).collect();
                Changed { checks, repair: refresh::repair(self.scale, state) }
            }
            _ => Changed { checks: self.checks(), repair: None },
        }
    }

    fn before_run(&self) -> &'static [&'static str] {
        &[]
    }

    fn bytes(&self) -> u64 {
        schema::data_bytes(self.scale, self.indexes)
    }
}

impl TprocH {
    fn drive(self: &Arc<Self>) -> Drive {
        let (of_program, of_advice) = (Arc::clone(self), Arc::clone(self));
        let program = move |_: &Capabilities| {
            let tproc_h = Arc::clone(&of_program);
            let (statements, ids) = tproc_h.statements();
            Program::new(statements, move |context| tproc_h.client(ids, context))
        };
        let scale = self.scale;
        let scripts = Scripts {
            is_read_only: !self.has_refresh(),
            prepare: self.has_refresh().then(|| Arc::new(move || refresh::prepare(scale)) as _),
            adviser: Some(Arc::new(move |clients| of_advice.advice(clients))),
            ..Scripts::new(Group::ONLY, self.txns(), program)
        };
        Drive {
            stages: self.stages(),
            metrics: if self.has_refresh() { &METRICS_REFRESHED } else { &METRICS },
            clients: ClientCounts { clients: Some(self.streams.max(1)), connections_max: None },
            explained: self.explained(),
            answers: Some(Arc::clone(self) as _),
            is_analytic: true,
            ..Drive::new(vec![scripts])
        }
    }

    /// Returns the queries, then the refresh functions.
    fn txns(&self) -> Vec<Txn> {
        let is_run = |number| if number > QUERIES { self.has_refresh() } else { self.selection.has(number) };
        let weight = |number| if is_run(number) { 1.0 } else { 0.0 };
        (1..).zip(queries::TASKS).map(|(number, name)| Txn::new(name, weight(number), 1)).collect()
    }

    /// Returns the statements, and the ids of those that are no queries.
    fn statements(&self) -> (Statements, Ids) {
        let mut statements = query_set::statements(QUERIES, |query| queries::text(query, &self.values(query, 0)));
        let mut refresh = |function: Function, text: &str| {
            statements.add(ScriptStatement::of(function.txn(), Statement::new(text, &[])))
        };
        let insert = refresh(Function::Insert, "insert an order with its lines");
        let delete = refresh(Function::Delete, "delete an order with its lines");
        let state = statements.add(Statement::new(refresh::read_sql(), &[]));
        let limit = statements.add(Statement::new("set statement_timeout", &[]));
        (statements, Ids { insert, delete, state, limit })
    }

    fn explained(&self) -> Explained {
        let chosen = (1..=QUERIES).filter(|number| self.selection.has(*number));
        let query = |number| (NAMES[number - 1], queries::text(number, &self.values(number, 0)));
        Explained { setup: self.timeout_ms().map(limit), queries: chosen.map(query).collect() }
    }

    fn stages(&self) -> Vec<Stage> {
        let beside = self.has_refresh().then(|| stages::group(REFRESH, 1));
        stages::stages(self.streams, beside)
    }

    fn client(&self, ids: Ids, context: &ClientContext) -> Box<dyn ClientScript> {
        // Stream 0 is the power stage.
        let stream = if context.stage == POWER { 0 } else { context.id.0 + 1 };
        let refresh = || [Function::Insert, Function::Delete].map(Task::Refresh);
        let tasks = match (context.stage, context.group) {
            (_, REFRESH) => (0..self.streams).flat_map(|_| refresh()).collect(),
            (POWER, _) => (0..self.repeat).flat_map(|_| self.set()).collect(),
            _ => self.queries(stream).into_iter().map(Task::Query).collect(),
        };
        Box::new(Stream::new(tasks, ids, self.scale, self.timeout_ms()))
    }

    fn advice(&self, clients: u32) -> Vec<String> {
        let mut advice: Vec<_> = stages::advice(META.id, self.streams, clients).into_iter().collect();
        let slow = self.slow_queries().iter().filter(|number| self.selection.has(**number));
        let names: Vec<_> = slow.map(|number| NAMES[*number - 1]).collect();
        if !names.is_empty() {
            advice.push(format!(
                "without indexes {} may take hours: limit each query with --timeout, or leave them out with --queries",
                names.join(", ")
            ));
        }
        if self.refresh && self.scale.refreshed_orders().is_none() {
            advice.push(
                "a thousandth of the orders is no whole number at this scale factor: refresh functions are left out; \
                 --no-refresh says so, an even number of thousandths has them"
                    .to_owned(),
            );
        }
        if self.indexes != Profile::None && !self.scale.has_distinct_suppliers() {
            advice.push(
                "dbgen gives some parts the same supplier twice at this scale factor: partsupp has no primary key, and \
                 lineitem no foreign key to it; at 0.01, 0.02 and from 0.022 on they have"
                    .to_owned(),
            );
        }
        advice
    }
}

impl Answers for TprocH {
    fn oracle(&self, changes: Option<&str>) -> Option<Oracle> {
        let pairs =
            State::read(changes.unwrap_or_default()).filter(|state| state.progress == RefreshProgress::Whole)?.pairs;
        let (slow, wanted): (Vec<_>, Vec<_>) = (1..=QUERIES)
            .filter(|query| self.selection.has(*query))
            .partition(|query| self.slow_queries().contains(query));
        let queries = wanted.into_iter().map(|query| (query, self.values(query, 0)));
        Some(oracle::of(self.scale, pairs, queries, &slow))
    }

    fn rows_read(&self, changes: Option<&str>, in_run: bool) -> Option<String> {
        let state =
            State::read(changes.unwrap_or_default()).filter(|state| state.progress == RefreshProgress::Whole)?;
        let (scale, pairs) = (self.params.text("scale"), state.pairs);
        match in_run && self.has_refresh() {
            false => Some(format!("scale {scale}, {state}")),
            true if self.repeat == 1 => Some(format!("scale {scale}, {state}, rf1 of {}", pairs + 1)),
            true => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(given: &[(&str, &str)]) -> Workload {
        let params = Params::new(META.id, META.params, given.iter().copied()).unwrap();
        build(&params)
    }

    fn client(workload: &Workload, context: &ClientContext) -> Box<dyn ClientScript> {
        let numbered = workload.drive.numbered(&Capabilities::default());
        (numbered.scripts_of(context.group).unwrap().client)(context)
    }

    #[test]
    fn a_stream_has_each_chosen_query_once_in_its_own_order() {
        let workload = built(&[("scale", "0.01"), ("streams", "2"), ("queries", "1,14,18")]);
        let stages = &workload.drive.stages;
        assert_eq!(
            stages.iter().map(|stage| (stage.name, stage.clients(9))).collect::<Vec<_>>(),
            [("power", 1), ("throughput", 2)]
        );
        let order = |stage, id| {
            let rng = pgdyno_workload::Rng::new(1);
            let id = pgdyno_workload::ClientId(id);
            let context = ClientContext { stage, group: stage, id, clients: 2, rng, seed: 1, has_ledger: false };
            let mut client = client(&workload, &context);
            std::iter::from_fn(|| client.begin()).map(|begin| begin.txn.0 + 1).collect::<Vec<_>>()
        };
        assert_eq!(order(POWER, 0), [14, 18, 1], "a part of the queries has no refresh functions");
        assert_eq!([order(THROUGHPUT, 0), order(THROUGHPUT, 1)], [[18, 14, 1], [14, 18, 1]]);
        let all = built(&[("scale", "0.01")]);
        assert_eq!((all.drive.stages.len(), all.drive.clients.clients(None, 8)), (1, 1));
    }

    #[test]
    fn refresh_functions_surround_a_whole_set_and_run_beside_the_streams() {
        let names = |given: &[(&str, &str)], group: &'static str| {
            let stage = if group == POWER { POWER } else { THROUGHPUT };
            let rng = pgdyno_workload::Rng::new(1);
            let context = ClientContext {
                stage,
                group,
                id: pgdyno_workload::ClientId(0),
                clients: 1,
                rng,
                seed: 1,
                has_ledger: false,
            };
            let mut client = client(&built(given), &context);
            std::iter::from_fn(|| client.begin()).map(|begin| queries::TASKS[begin.txn.0 as usize]).collect::<Vec<_>>()
        };
        let two = [("scale", "0.01"), ("streams", "2")];
        // RF2 deletes nothing until RF1 has inserted as much.
        assert_eq!(names(&two, POWER)[..2], ["rf1", "q14"]);
        assert_eq!((names(&two, POWER).len(), names(&two, THROUGHPUT).len()), (23, 22));
        assert_eq!(names(&two, REFRESH), ["rf1", "rf1"]);
        let groups = |given: &[(&str, &str)]| built(given).drive.stages.iter().map(|s| s.groups.len()).sum::<usize>();
        assert_eq!([groups(&two), groups(&[two[0], two[1], ("refresh", "false")])], [3, 2]);
        let metric = |given: &[(&str, &str)]| built(given).drive.metrics[0].name;
        assert_eq!(
            [metric(&two), metric(&[("refresh", "false")]), metric(&[("queries", "1")])],
            ["geometric-mean-with-refresh", "geometric-mean", "geometric-mean"]
        );
        let odd = built(&[("scale", "0.001")]);
        assert!(odd.drive.is_read_only() && odd.drive.advice(1).concat().contains("refresh functions are left out"));
    }

    #[test]
    fn streams_have_parameters_of_their_own_unless_they_are_the_standard_s() {
        let text = |given: &[(&str, &str)], stream: u32| {
            let params = Params::new(META.id, META.params, given.iter().copied()).unwrap();
            let workload = TprocH::of(&params);
            workload.queries(stream).into_iter().find(|query| query.number == 16).unwrap().text
        };
        assert_ne!(text(&[], 0), text(&[], 1));
        assert_eq!(text(&[("validation", "true")], 0), text(&[("validation", "true")], 1));
        assert_ne!(text(&[], 0), text(&[("parameter-seed", "7")], 0));
    }

    #[test]
    fn what_takes_hours_or_has_no_effect_is_reported() {
        let advice = |given: &[(&str, &str)], clients| built(given).drive.advice(clients).join("; ");
        assert_eq!(advice(&[("streams", "3")], 3), "");
        assert!(advice(&[], 4).contains("--streams 4 adds"));
        assert!(advice(&[("indexes", "none"), ("queries", "1,17,20")], 1).contains("q17, q20 may take hours"));
        assert_eq!(advice(&[("indexes", "none"), ("queries", "1")], 1), "");
        let checks = |given: &[(&str, &str)]| built(given).data[0].checks().len();
        assert_eq!([checks(&[]), checks(&[("indexes", "none")])], [23, 20]);
        assert_eq!(advice(&[("indexes", "none"), ("scale", "0.01")], 1), "");
        assert!(advice(&[("scale", "0.006")], 1).contains("partsupp has no primary key"));
        assert_eq!([advice(&[("scale", "0.022")], 1), advice(&[("scale", "0.006"), ("indexes", "none")], 1)], ["", ""]);
    }
}
