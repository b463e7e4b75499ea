//! `tproc-ds`: the 24 tables and the queries of TPC-DS, derived from the standard; its figures are no TPC results.
//!
//! Clause numbers refer to the TPC Benchmark DS Standard Specification, version 4.0. Rows are tpcdsgen's, which are dsdgen's; the
//! texts of the queries are pgdyno's own.

mod answers;
mod dates;
mod external;
pub(crate) mod options;
mod questions;
mod rows;
mod scale;
mod schema;
mod stream;
mod tables;

use std::sync::Arc;

use pgdyno_wire::{Statement, StmtId};
use pgdyno_workload::{
    Capabilities, Changed, Check, ClientContext, ClientCounts, ClientScript, DataSet, Drive, Explained, Group, Maker,
    Meta, Metric, Param, ParamKind, Params, Program, Rng, Routines, ScriptStatement, Scripts, SqlData, Stage,
    Statements, Table, Txn, TxnId, When, Workload,
};

use crate::query_set::metrics::{geometric_mean, queries_per_hour, set_time};
use crate::query_set::selection::Selection;
use crate::query_set::stages::{self, POWER};
use crate::query_set::{ALL_NAMES, QUERIES_MAX, limit, limit_ms, params};
use crate::refused::ParamsRefused;
use questions::{NAMES, Question, Questions};
use scale::ScaleFactor;
use schema::IndexSet;
use stream::{Stream, Task};

/// Metrics of a run with pgdyno's texts. They do not have the TPC's names.
const METRICS: [Metric; 3] = metrics(NAMES);
/// Metrics of a run with texts from elsewhere, which may be of all queries.
const METRICS_OF_OTHERS: [Metric; 3] = metrics(&ALL_NAMES);

const fn metrics(all: &'static [&'static str]) -> [Metric; 3] {
    [
        geometric_mean(
            "geometric-mean",
            "s geometric mean",
            "geometric mean of the times of all queries in the power stage",
            all,
        ),
        set_time("set-time", "s set time", "time of all queries in the power stage, one after the other", &ALL_NAMES),
        queries_per_hour(
            "queries-per-hour",
            "queries/h",
            "queries an hour of all streams in the throughput stage",
            &ALL_NAMES,
        ),
    ]
}

/// Scale factor, in thousandths, from which each query finds rows.
const ANSWERS_FROM: u64 = 1_000;

pub(crate) static META: Meta = Meta {
    id: "tproc-ds",
    summary: "analytical queries: 99 derived from TPC-DS, in one stream and in several",
    version: 1,
    dataset: "tproc-ds",
    scale_name: "scale",
    scale_query: None,
    is_key_range: false,
    params: &[
        Param {
            name: "scale",
            help: "scale factor, about 2.5 GB for each 1; below 1, from 0.01 on, for tests: some queries find no rows",
            default: "1",
            kind: ParamKind::Thousandths(scale::THOUSANDTHS_MIN, scale::THOUSANDTHS_MAX),
            when: When::Load,
        },
        Param {
            name: "indexes",
            help: "fks: primary keys, and indexes on columns of foreign keys by which queries join; keys: primary keys; none",
            default: "fks",
            kind: ParamKind::Choice(IndexSet::NAMES),
            when: When::Load,
        },
        params::STREAMS,
        params::REPEAT,
        Param {
            name: "queries",
            help: "numbers of the queries to run, such as 1-25,30; all",
            default: Selection::ALL,
            kind: ParamKind::Numbers(1, QUERIES_MAX as i64),
            when: When::Run,
        },
        Param {
            name: "queries-from",
            help: "texts of the queries: own; duckdb: those of its extension tpcds; else a directory with a file for each",
            default: external::OWN,
            kind: ParamKind::Text,
            when: When::Run,
        },
        params::TIMEOUT,
        Param {
            name: "validation",
            help: "the parameters of the standard's validation, instead of those of the seed",
            default: "false",
            kind: ParamKind::Flag,
            when: When::Run,
        },
        Param {
            name: "parameter-seed",
            help: "seed of the queries' parameters and of the orders of streams; each stream draws its own",
            default: "1",
            kind: ParamKind::Integer(0, i64::MAX),
            when: When::Run,
        },
    ],
};

/// Refuses queries that there are not, and texts that cannot be read.
///
/// # Errors
/// When there is such a one.
pub(crate) fn admit(params: &Params) -> Result<(), ParamsRefused> {
    let (source, list) = (params.text("queries-from"), params.text("queries"));
    let questions = questions_of(source)?;
    let asked = Selection::of(list, QUERIES_MAX);
    let has = |number: usize| questions.iter().any(|question| question.number == number);
    let missing: Vec<_> = (1..=QUERIES_MAX).filter(|number| asked.has(*number) && !has(*number)).collect();
    if list == Selection::ALL || missing.is_empty() {
        return Ok(());
    }
    let numbers = |numbers: &[usize]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let all: Vec<_> = questions.iter().map(|question| question.number).collect();
    let missing = numbers(&missing);
    Err(match source {
        external::OWN => ParamsRefused {
            why: format!("pgdyno has no text of its own for these queries of tproc-ds: {missing}"),
            hint: "leave them out of --queries, or take other texts with --queries-from duckdb or DIR".to_owned(),
        },
        _ => ParamsRefused {
            why: format!("{source} (--queries-from) has no text for these queries: {missing}"),
            hint: format!("it has {}", numbers(&all)),
        },
    })
}

fn questions_of(source: &str) -> Result<Questions, ParamsRefused> {
    if source == external::OWN { Ok(questions::shipped()) } else { external::questions(source) }
}

pub(crate) fn build(params: &Params) -> Workload {
    let tproc_ds = Arc::new(TprocDs::of(params));
    Workload {
        meta: &META,
        params: params.clone(),
        scale: tproc_ds.scale(),
        drive: Arc::new(tproc_ds.drive()),
        data: vec![tproc_ds],
        audit: None,
    }
}

struct TprocDs {
    params: Params,
    scale: ScaleFactor,
    indexes: IndexSet,
    streams: u32,
    repeat: usize,
    selection: Selection,
    /// Whether the texts are pgdyno's own.
    is_own: bool,
    questions: Questions,
    timeout_ms: i64,
    /// The seed of parameters; `None` for those of the validation.
    parameter_seed: Option<u64>,
    order_seed: u64,
}

/// The ids of statements: of each question its own, then what limits their time.
struct Ids {
    questions: Vec<Vec<StmtId>>,
    limit: StmtId,
}

impl TprocDs {
    fn of(params: &Params) -> Self {
        let (source, seed) = (params.text("queries-from"), params.integer("parameter-seed").unsigned_abs());
        Self {
            params: params.clone(),
            scale: ScaleFactor::of_thousandths(params.thousandths("scale").unsigned_abs()),
            indexes: IndexSet::of(params.text("indexes")),
            streams: params.integer("streams") as u32,
            repeat: params.integer("repeat") as usize,
            selection: Selection::of(params.text("queries"), QUERIES_MAX),
            is_own: source == external::OWN,
            // Texts that cannot be read were refused.
            questions: questions_of(source).unwrap_or_default(),
            timeout_ms: params.thousandths("timeout"),
            parameter_seed: (!params.flag("validation")).then_some(seed),
            order_seed: seed,
        }
    }

    /// Returns how many milliseconds a query may take, if that is limited.
    fn timeout_ms(&self) -> Option<i64> {
        limit_ms(self.timeout_ms)
    }

    /// Returns the chosen questions, each with its place among all of them.
    fn chosen(&self) -> impl Iterator<Item = (usize, &Question)> {
        self.questions.iter().enumerate().filter(|(_, question)| self.selection.has(question.number))
    }

    /// Returns the statements of a question in stream `stream`, 0 for the power stage.
    fn texts(&self, question: &Question, stream: u32) -> Vec<String> {
        let numbers = [u64::from(stream), question.number as u64];
        question.texts(self.parameter_seed.map(|seed| Rng::derive(seed, "tproc-ds parameters", &numbers)))
    }

    /// Returns the questions of a stream in its order: that of their numbers in the power stage, else a random one.
    fn tasks(&self, ids: &Ids, stream: u32) -> Vec<Task> {
        let mut chosen: Vec<_> = self.chosen().collect();
        if stream > 0 {
            Rng::derive(self.order_seed, "tproc-ds order", &[u64::from(stream)]).shuffle(&mut chosen);
        }
        let task = |(place, question): (usize, &Question)| Task {
            txn: TxnId(place as u8),
            statements: ids.questions[place].iter().copied().zip(self.texts(question, stream)).collect(),
        };
        chosen.into_iter().map(task).collect()
    }

    fn drive(self: &Arc<Self>) -> Drive {
        let (of_program, of_advice) = (Arc::clone(self), Arc::clone(self));
        let program = move |_: &Capabilities| {
            let tproc_ds = Arc::clone(&of_program);
            let (statements, ids) = tproc_ds.statements();
            Program::new(statements, move |context| tproc_ds.client(&ids, context))
        };
        let scripts = Scripts {
            is_read_only: true,
            adviser: Some(Arc::new(move |clients| of_advice.advice(clients))),
            ..Scripts::new(Group::ONLY, self.txns(), program)
        };
        Drive {
            stages: self.stages(),
            metrics: if self.is_own { &METRICS } else { &METRICS_OF_OTHERS },
            clients: ClientCounts { clients: Some(self.streams.max(1)), connections_max: None },
            explained: self.explained(),
            // The rows of some queries have no total order: their digests differ from run to run.
            answers: None,
            is_analytic: true,
            ..Drive::new(vec![scripts])
        }
    }

    fn txns(&self) -> Vec<Txn> {
        let weight = |question: &Question| if self.selection.has(question.number) { 1.0 } else { 0.0 };
        let txn = |question: &Question| {
            let mut txn = Txn::new(ALL_NAMES[question.number - 1], weight(question), question.parts() as u32);
            txn.why_no_rows = Some("its parameters select none");
            txn
        };
        self.questions.iter().map(txn).collect()
    }

    fn statements(&self) -> (Statements, Ids) {
        let mut statements = Statements::new();
        let mut of_question = |(place, question): (usize, &Question)| {
            let add = |text: String| statements.add(ScriptStatement::of(TxnId(place as u8), Statement::new(text, &[])));
            self.texts(question, 0).into_iter().map(add).collect()
        };
        let questions = self.questions.iter().enumerate().map(&mut of_question).collect();
        let limit = statements.add(Statement::new("set statement_timeout", &[]));
        (statements, Ids { questions, limit })
    }

    /// Returns the first statement of each question: plans are known by the name of their query.
    fn explained(&self) -> Explained {
        let query = |(_, question): (usize, &Question)| {
            (ALL_NAMES[question.number - 1], self.texts(question, 0).swap_remove(0))
        };
        Explained { setup: self.timeout_ms().map(limit), queries: self.chosen().map(query).collect() }
    }

    fn stages(&self) -> Vec<Stage> {
        stages::stages(self.streams, None)
    }

    fn client(&self, ids: &Ids, context: &ClientContext) -> Box<dyn ClientScript> {
        let tasks = match context.stage {
            POWER => (0..self.repeat).flat_map(|_| self.tasks(ids, 0)).collect(),
            _ => self.tasks(ids, context.id.0 + 1),
        };
        Box::new(Stream::new(tasks, ids.limit, self.timeout_ms()))
    }

    fn advice(&self, clients: u32) -> Vec<String> {
        let mut advice: Vec<_> = stages::advice(META.id, self.streams, clients).into_iter().collect();
        if self.scale.thousandths() < ANSWERS_FROM {
            advice.push(
                "below scale factor 1 the sizes of tables are in no proportion, and several queries find no rows: such a run tests the \
                 program, not the server"
                    .to_owned(),
            );
        }
        advice
    }
}

impl DataSet for TprocDs {
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
        schema::tables(self.scale, self.indexes)
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
        let shipped = questions::shipped();
        // Without an index some queries take minutes; texts from elsewhere have no known answers.
        let has_answers = self.is_own && self.indexes != IndexSet::None;
        let is_checked = |question: &&Question| has_answers && self.selection.has(question.number);
        let mut checks = answers::answers(self.scale, shipped.iter().filter(is_checked));
        checks.push(answers::digests(self.scale));
        checks
    }

    fn changed(&self, _: &str) -> Changed {
        Changed { checks: self.checks(), repair: None }
    }

    fn before_run(&self) -> &'static [&'static str] {
        &[]
    }

    fn bytes(&self) -> u64 {
        schema::data_bytes(self.scale, self.indexes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the workload with the test's own questions: 3, 7 and 14.
    fn built(given: &[(&str, &str)]) -> (Arc<TprocDs>, Workload) {
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tproc_ds/fixtures");
        let given = given.iter().copied().chain([("queries-from", fixtures)]);
        let params = Params::new(META.id, META.params, given).unwrap();
        admit(&params).unwrap();
        (Arc::new(TprocDs::of(&params)), build(&params))
    }

    fn names(workload: &Workload, stage: &'static str, id: u32) -> Vec<&'static str> {
        let rng = Rng::new(1);
        let id = pgdyno_workload::ClientId(id);
        let context = ClientContext { stage, group: stage, id, clients: 2, rng, seed: 1, has_ledger: false };
        let numbered = workload.drive.numbered(&Capabilities::default());
        let mut client = (numbered.scripts_of(context.group).unwrap().client)(&context);
        let txns = workload.drive.txns();
        std::iter::from_fn(|| client.begin()).map(|begin| txns[begin.txn.0 as usize].name).collect()
    }

    #[test]
    fn a_stream_has_each_chosen_question_once_in_its_own_order() {
        let (_, all) = built(&[("streams", "40"), ("repeat", "2")]);
        assert_eq!(names(&all, POWER, 0), ["q3", "q7", "q14", "q3", "q7", "q14"]);
        let orders: Vec<_> = (0..40).map(|id| names(&all, stages::THROUGHPUT, id)).collect();
        assert!(orders.iter().all(|order| order.len() == 3));
        assert!((1..40).any(|id| orders[id] != orders[0]), "{orders:?}");
        let (_, again) = built(&[("streams", "40")]);
        assert_eq!((0..40).map(|id| names(&again, stages::THROUGHPUT, id)).collect::<Vec<_>>(), orders);
        let (_, some) = built(&[("queries", "3,14")]);
        assert_eq!(names(&some, POWER, 0), ["q3", "q14"]);
        assert_eq!(some.drive.txns()[2].queries, 2, "question 14 has two statements");
    }

    #[test]
    fn streams_have_parameters_of_their_own_unless_they_are_the_validation_s() {
        let text = |given: &[(&str, &str)], stream| {
            let (tproc_ds, _) = built(given);
            tproc_ds.texts(&tproc_ds.questions[0], stream).concat()
        };
        assert_eq!(text(&[], 1), text(&[], 1));
        assert_ne!(text(&[], 0), text(&[], 1));
        assert_ne!(text(&[], 0), text(&[("parameter-seed", "7")], 0));
        assert_eq!(text(&[("validation", "true")], 0), text(&[("validation", "true")], 1));
    }

    #[test]
    fn queries_without_a_text_are_refused() {
        let refused = |given: &[(&str, &str)]| {
            let params = Params::new(META.id, META.params, given.iter().copied()).unwrap();
            admit(&params).unwrap_err()
        };
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tproc_ds/fixtures");
        let error = refused(&[("queries-from", fixtures), ("queries", "3,7,98,99")]);
        assert!(
            error.why.ends_with("has no text for these queries: 98, 99") && error.hint == "it has 3, 7, 14",
            "{error:?}"
        );
        assert!(refused(&[("queries-from", "/nowhere")]).why.contains("failed to read /nowhere"));
    }

    #[test]
    fn what_has_no_effect_or_finds_no_rows_is_reported() {
        let advice = |given: &[(&str, &str)], clients| built(given).1.drive.advice(clients).join("; ");
        assert_eq!(advice(&[("streams", "3")], 3), "");
        assert!(advice(&[], 4).contains("--streams 4 adds"));
        assert!(advice(&[("scale", "0.01")], 1).contains("several queries find no rows"));
    }
}
