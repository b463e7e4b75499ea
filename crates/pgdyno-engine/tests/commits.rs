//! What a client knows about its commits, against scripted servers in virtual time.

use std::sync::{Arc, Mutex, PoisonError};

use pgdyno_engine::pacer::Pacer;
use pgdyno_engine::sim::{SimAnswer, SimRequest, Simulation, fleet};
use pgdyno_engine::{ClientRules, CommitClass, Observer, Tick, TxEnd};
use pgdyno_wire::{ErrorClass, QueryMode, SqlState, Statement, StmtId};
use pgdyno_workload::{Batch, Begin, ClientScript, Marks, Next, Reply, Rng, TxnId, Verdict};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
const MODES: [QueryMode; 3] = [QueryMode::Simple, QueryMode::Extended, QueryMode::Prepared];

const INSERT: &str = "INSERT";
const OK: SimAnswer = SimAnswer::Complete { service_ns: MS };

/// Fields of the notice of a server that does not wait for its standbys to the end, in an unexpected language.
const LOCALLY: &[&str] = &["SWARNUNG", "VWARNING", "C01000", "MWarten abgebrochen", "Fsyncrep.c", "RSyncRepWaitForLSN"];
/// The same SQLSTATE by RAISE WARNING in a function.
const RAISED: &[&str] =
    &["SWARNING", "VWARNING", "C01000", "Mcanceling wait for synchronous replication", "Rexec_stmt_raise"];
/// Another backend crashed, as the answer to the COMMIT says on its way.
const CRASHED: &[&str] = &["SWARNING", "VWARNING", "C57P02", "Mterminating connection", "Rquickdie"];

/// A transaction of three statements in two batches, or of one that commits by itself.
#[derive(Clone, Copy)]
enum Form {
    Block,
    Alone,
    Call,
}

struct Script {
    form: Form,
    number: u64,
    step: u8,
}

impl ClientScript for Script {
    fn begin(&mut self) -> Option<Begin> {
        (self.number, self.step) = (self.number + 1, 0);
        Some(Begin::now(TxnId(0)))
    }

    fn step(&mut self, _: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        self.step += 1;
        match (self.form, self.step) {
            (Form::Block, 1) => {
                batch.execute(StmtId(0), &[]);
                batch.execute(StmtId(1), &[]);
                Next::Await
            }
            (Form::Block, _) => {
                batch.execute(StmtId(2), &[]);
                Next::Finish(Verdict::Committed)
            }
            (Form::Alone, _) => {
                batch.execute(StmtId(1), &[]);
                Next::Finish(Verdict::Committed)
            }
            (Form::Call, 1) => {
                batch.fetch(StmtId(1), &[]);
                Next::Await
            }
            (Form::Call, _) => Next::Finish(Verdict::Committed),
        }
    }

    fn restart(&mut self) {
        self.step = 0;
    }

    fn marks(&self) -> Marks<'_> {
        Marks::Wrote(self.number)
    }

    fn may_commit_early(&self) -> bool {
        !matches!(self.form, Form::Block)
    }
}

/// A commit as the observer sees it: its class, the SQLSTATE, its marker, and when it ended.
type Commit = (CommitClass, Option<SqlState>, u64, Tick);

struct Log(Arc<Mutex<Vec<Commit>>>);

impl Observer for Log {
    fn transaction(&mut self, _: &TxEnd) {}

    fn commit(&mut self, end: &TxEnd, class: CommitClass, code: Option<SqlState>, marks: Marks<'_>) {
        let Marks::Wrote(number) = marks else { panic!("no marker") };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((class, code, number, end.end));
    }
}

struct Played {
    commits: Vec<Commit>,
    failed: [u64; ErrorClass::ALL.len()],
    committed: u64,
    reconnected: bool,
}

/// Plays two transactions of one client with a time limit of 2 s. The server answers each statement by `behave`, which takes its
/// number from 0, ROLLBACK included.
fn play(form: Form, mode: QueryMode, has_ledger: bool, behave: impl Fn(usize, &str) -> SimAnswer) -> Played {
    let statements = ["BEGIN", INSERT, "COMMIT"].map(|sql| Statement::new(sql, &[])).into();
    let commit_timeout_ns = has_ledger.then_some(2 * S);
    let rules = ClientRules { transactions: Some(2), commit_timeout_ns, ..ClientRules::default() };
    let script: Box<dyn ClientScript> = Box::new(Script { form, number: 0, step: 0 });
    let log = Arc::<Mutex<Vec<Commit>>>::default();
    let pacer = Pacer::new(None, 0, 1, Rng::new(1));
    let fleet = fleet(vec![script], statements, mode, rules, pacer).observed_by(Some(Box::new(Log(Arc::clone(&log)))));
    let mut asked = 0;
    let answer = move |request: &SimRequest<'_>| {
        asked += 1;
        behave(asked - 1, request.sql)
    };
    let mut simulation = Simulation::new(fleet, answer).reconnecting(100 * MS);
    simulation.run(Tick(60 * S));
    let part = simulation.fleet().recorder(0).take();
    let commits = log.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let txn = &part.txns[0];
    Played { commits, failed: txn.failed, committed: txn.committed, reconnected: part.lost > 0 }
}

fn classes(played: &Played) -> Vec<CommitClass> {
    played.commits.iter().map(|(class, ..)| *class).collect()
}

use CommitClass::{Acknowledged, Failed, LocallyOnly, Unknown};

#[test]
fn what_the_server_says_is_acknowledged_has_the_marker_of_its_transaction() {
    for (form, mode) in
        [Form::Block, Form::Alone, Form::Call].into_iter().flat_map(|form| MODES.map(|mode| (form, mode)))
    {
        let played = play(form, mode, true, |_, _| OK);
        assert_eq!(classes(&played), [Acknowledged, Acknowledged], "{mode:?}");
        assert_eq!(played.commits.iter().map(|(_, _, number, _)| *number).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(played.committed, 2);
    }
}

#[test]
fn a_run_without_a_ledger_reports_no_commit() {
    let played = play(Form::Block, QueryMode::Prepared, false, |_, _| OK);
    assert!(played.commits.is_empty() && played.committed == 2);
    let lost =
        play(Form::Alone, QueryMode::Prepared, false, |nth, _| if nth == 0 { SimAnswer::Disconnect } else { OK });
    assert_eq!((lost.failed[ErrorClass::Connection as usize], lost.failed[ErrorClass::Unknown as usize]), (1, 0));
}

#[test]
fn only_the_notice_of_the_wait_for_standbys_means_locally_only() {
    let warned = |fields| move |nth, _: &str| if nth == 0 { SimAnswer::Warned { service_ns: MS, fields } } else { OK };
    for mode in MODES {
        let played = play(Form::Alone, mode, true, warned(LOCALLY));
        assert_eq!(classes(&played), [LocallyOnly, Acknowledged], "{mode:?}: the next one is not");
        assert_eq!(classes(&play(Form::Alone, mode, true, warned(RAISED))), [Acknowledged, Acknowledged], "{mode:?}");
        assert_eq!(classes(&play(Form::Alone, mode, true, warned(CRASHED))), [Acknowledged, Acknowledged], "{mode:?}");
    }
}

#[test]
fn a_connection_that_is_lost_after_commit_was_sent_leaves_it_unknown() {
    let dies = |nth: usize| move |asked, _: &str| if asked == nth { SimAnswer::Disconnect } else { OK };
    for mode in MODES {
        let played = play(Form::Block, mode, true, dies(2));
        assert_eq!(classes(&played), [Unknown, Acknowledged], "{mode:?}");
        assert_eq!((played.failed[ErrorClass::Unknown as usize], played.committed), (1, 1));
        for before in [0, 1] {
            let played = play(Form::Block, mode, true, dies(before));
            assert_eq!(classes(&played), [Failed, Acknowledged], "{mode:?}: lost before COMMIT was sent");
            assert_eq!(played.failed[ErrorClass::Connection as usize], 1);
        }
        for form in [Form::Alone, Form::Call] {
            assert_eq!(
                classes(&play(form, mode, true, dies(0))),
                [Unknown, Acknowledged],
                "{mode:?}: it commits by itself"
            );
        }
    }
}

#[test]
fn an_error_that_ends_the_session_is_no_answer_to_commit() {
    let dies = |severity, code| move |nth, _: &str| if nth == 0 { SimAnswer::Die { severity, code } } else { OK };
    let played = play(Form::Alone, QueryMode::Prepared, true, dies("FATAL", "57P01"));
    assert_eq!(classes(&played), [Unknown, Acknowledged]);
    assert_eq!(played.commits[0].1, Some(SqlState::from_bytes(b"57P01")));
    assert_eq!(classes(&play(Form::Alone, QueryMode::Prepared, true, dies("PANIC", "53100")))[0], Unknown);
    let played = play(Form::Alone, QueryMode::Prepared, true, dies("ERROR", "23505"));
    assert_eq!(classes(&played), [Failed, Acknowledged], "the error came before the loss");
}

#[test]
fn an_error_is_a_failure_and_so_is_rollback_as_the_answer_to_commit() {
    for mode in MODES {
        let fails = |nth, _: &str| if nth == 2 { SimAnswer::Fail { service_ns: MS, code: "23503" } } else { OK };
        let played = play(Form::Block, mode, true, fails);
        assert_eq!(classes(&played), [Failed, Acknowledged], "{mode:?}");
        assert_eq!(played.commits[0].1, Some(SqlState::from_bytes(b"23503")));
        let rolls_back = |nth, _: &str| match nth {
            2 => SimAnswer::Tagged { service_ns: MS, tag: "ROLLBACK" },
            _ => OK,
        };
        let played = play(Form::Block, mode, true, rolls_back);
        assert_eq!(classes(&played), [Failed, Acknowledged], "{mode:?}: a transaction that had failed");
        assert_eq!((played.committed, played.commits[0].1), (1, Some(SqlState::IN_FAILED_TRANSACTION)));
        // Without a ledger the tag is not read.
        assert_eq!(play(Form::Block, mode, false, rolls_back).committed, 2);
    }
}

#[test]
fn a_commit_that_hangs_is_unknown_after_its_time_and_the_client_goes_on() {
    let hangs = |nth, _: &str| if nth == 0 { SimAnswer::Complete { service_ns: 30 * S } } else { OK };
    for mode in MODES {
        let played = play(Form::Alone, mode, true, hangs);
        assert_eq!(classes(&played), [Unknown, Acknowledged], "{mode:?}");
        let [(.., first), (.., second)] = played.commits[..] else { panic!("{:?}", played.commits) };
        assert_eq!(first, Tick(2 * S), "{mode:?}: it ends by the time limit");
        assert_eq!(second, Tick(2 * S + 101 * MS), "{mode:?}: over a new connection");
    }
    let patient = play(Form::Alone, QueryMode::Prepared, false, hangs);
    assert_eq!((patient.committed, patient.reconnected), (2, false));
}

#[test]
fn a_reply_in_time_stops_no_client() {
    // Each reply takes less than the limit, and both together more.
    let slow = |_, _: &str| SimAnswer::Complete { service_ns: 1_500 * MS };
    let played = play(Form::Alone, QueryMode::Prepared, true, slow);
    assert_eq!((classes(&played), played.reconnected), (vec![Acknowledged, Acknowledged], false));
}

#[test]
fn a_client_on_a_read_only_server_connects_again() {
    let refuses = |nth, _: &str| if nth == 0 { SimAnswer::Fail { service_ns: MS, code: "25006" } } else { OK };
    let played = play(Form::Alone, QueryMode::Prepared, true, refuses);
    assert_eq!((classes(&played), played.reconnected), (vec![Failed, Acknowledged], true));
    assert_eq!(played.failed[ErrorClass::Connection as usize], 1);
}
