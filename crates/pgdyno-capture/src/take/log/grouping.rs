//! Statements of sessions, put together to transactions.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::kinds::{Kinds, Step};
use super::profiles::Profiles;
use super::texts::Executed;
use crate::form::STEPS_MAX;
use pgdyno_workload::IsolationLevel;

/// Sessions with an open transaction that are followed.
const SESSIONS_MAX: usize = 10_000;

/// Values of all open transactions together. Of each only a hash is held.
const VALUES_MAX: usize = 1_000_000;

/// A transaction that has not ended.
#[derive(Clone, Debug, Default)]
struct Open {
    /// The number of the transaction; `None` within a text of several statements.
    number: Option<String>,
    has_begin: bool,
    isolation: Option<IsolationLevel>,
    steps: Vec<Step>,
    is_too_long: bool,
    /// Whether a statement has failed, so that a COMMIT rolls it back.
    has_failed: bool,
}

/// The transactions of all sessions.
#[derive(Default)]
pub(super) struct Sessions {
    open: HashMap<String, Open>,
    values: usize,
    hashes: RandomState,
    pub(super) kinds: Kinds,
    pub(super) profiles: Profiles,
    pub(super) rolled_back: u64,
    pub(super) incomplete: u64,
    pub(super) unknown: u64,
}

impl Sessions {
    /// Adds what a line executed. `number` is that of the transaction after it; `None` if the transaction has ended.
    pub(super) fn add(&mut self, session: &str, number: Option<&str>, executed: Vec<Executed>) {
        let is_end = matches!(executed.first(), Some(Executed::Commit | Executed::Rollback));
        let chained = self.open.get(session).and_then(|open| open.isolation);
        let chains = executed.contains(&Executed::Chain);
        let is_another = self.open.get(session).is_some_and(|open| match number {
            // The number is that of the transaction which the end has begun.
            Some(_) if is_end && chains => false,
            Some(number) => open.number.as_deref() != Some(number),
            None => !open.has_begin && !is_end,
        });
        if is_another {
            self.close(session);
        }
        for one in executed {
            match one {
                Executed::Begin(isolation) => {
                    self.close(session);
                    let number = number.map(str::to_owned);
                    self.put(session, Open { number, has_begin: true, isolation, ..Open::default() });
                }
                Executed::Isolation(isolation) => {
                    if let Some(open) = self.open.get_mut(session) {
                        open.isolation = Some(isolation);
                    }
                }
                Executed::Commit => self.commit(session),
                Executed::Chain => {
                    let number = number.map(str::to_owned);
                    self.put(session, Open { number, has_begin: true, isolation: chained, ..Open::default() });
                }
                Executed::Rollback => {
                    self.rolled_back += 1;
                    drop(self.take(session));
                }
                // In a transaction that has failed only ROLLBACK TO succeeds.
                Executed::Savepoint => self.set_failed(session, false),
                Executed::Statement(statement, values) => self.step(session, number, statement, values),
                Executed::Unknown => self.unknown += 1,
            }
        }
        if number.is_none() {
            self.close(session);
        }
    }

    /// Returns the number of the transaction after these statements, where the log has none: an empty one from BEGIN on.
    pub(super) fn number(&self, session: &str, executed: &[Executed]) -> Option<&'static str> {
        let is_open = self.open.get(session).is_some_and(|open| open.has_begin);
        let begins = || executed.iter().any(|one| matches!(one, Executed::Begin(_)));
        (is_open || begins()).then_some("")
    }

    /// Notes whether a statement of the session's transaction has failed.
    pub(super) fn set_failed(&mut self, session: &str, has_failed: bool) {
        if let Some(open) = self.open.get_mut(session).filter(|open| open.has_begin) {
            open.has_failed = has_failed;
        }
    }

    /// Ends all transactions.
    pub(super) fn end(&mut self) {
        self.close_all(|_| true);
    }

    fn close_all(&mut self, is_such: impl Fn(&Open) -> bool) {
        let all = self.open.iter().filter(|(_, open)| is_such(open));
        let sessions: Vec<_> = all.map(|(session, _)| session.clone()).collect();
        sessions.iter().for_each(|session| self.close(session));
    }

    fn put(&mut self, session: &str, open: Open) {
        if self.open.len() >= SESSIONS_MAX {
            // Most are sessions that have ended after a statement without BEGIN.
            self.close_all(|open| !open.has_begin);
        }
        if self.open.len() < SESSIONS_MAX {
            self.open.insert(session.to_owned(), open);
        } else {
            self.incomplete += 1;
        }
    }

    fn take(&mut self, session: &str) -> Option<Open> {
        let open = self.open.remove(session)?;
        self.values -= open.steps.iter().map(|step| step.values.len()).sum::<usize>();
        Some(open)
    }

    fn step(&mut self, session: &str, number: Option<&str>, statement: usize, values: Vec<Option<String>>) {
        if !self.open.contains_key(session) {
            self.put(session, Open { number: number.map(str::to_owned), ..Open::default() });
        }
        let Some(open) = self.open.get_mut(session) else { return };
        let values: Vec<_> = values.into_iter().map(|value| Some(self.hashes.hash_one(value?))).collect();
        let last = open.steps.last_mut().filter(|last| last.statement == statement);
        let repeated = |at: usize| last.as_ref().and_then(|last| last.values.get(at).copied().flatten());
        for (at, value) in values.iter().enumerate() {
            if let Some(value) = value.filter(|value| repeated(at) != Some(*value)) {
                self.profiles.add(statement, at as u32 + 1, value);
            }
        }
        if let Some(last) = last {
            last.calls += 1;
            for (kept, value) in last.values.iter_mut().zip(values) {
                *kept = kept.filter(|kept| Some(*kept) == value);
            }
        } else if open.steps.len() < STEPS_MAX && self.values + values.len() <= VALUES_MAX {
            self.values += values.len();
            open.steps.push(Step { statement, calls: 1, values });
        } else {
            open.is_too_long = true;
        }
    }

    /// Ends a transaction by COMMIT. Without BEGIN its first statements are not in the log.
    fn commit(&mut self, session: &str) {
        match self.take(session) {
            Some(open) if open.has_failed => self.rolled_back += 1,
            Some(open) if open.has_begin && !open.is_too_long => self.kinds.add(open.isolation, &open.steps),
            _ => self.incomplete += 1,
        }
    }

    /// Ends a transaction that has no COMMIT: statements that are one without BEGIN have succeeded.
    fn close(&mut self, session: &str) {
        match self.take(session) {
            Some(open) if open.has_begin || open.is_too_long => self.incomplete += 1,
            Some(open) => self.kinds.add(open.isolation, &open.steps),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(at: usize, value: &str) -> Executed {
        Executed::Statement(at, vec![Some(value.to_owned())])
    }

    /// The kinds with their numbers, each step as its statement and its mean calls.
    fn kinds(sessions: &Sessions) -> Vec<(u64, Vec<(usize, f64)>)> {
        let steps = |kind: crate::form::CapturedTransaction| {
            (kind.count, kind.steps.iter().map(|step| (step.statement, step.calls_mean)).collect())
        };
        sessions.kinds.captured().into_iter().map(steps).collect()
    }

    #[test]
    fn statements_are_grouped_by_session_and_transaction() {
        let mut sessions = Sessions::default();
        for (session, number, executed) in [
            ("a", Some("3"), Executed::Begin(None)),
            ("b", Some("9"), Executed::Begin(None)),
            ("a", Some("3"), statement(0, "x")),
            ("b", Some("9"), statement(1, "x")),
            ("a", Some("3"), statement(1, "x")),
            ("a", Some("3"), Executed::Savepoint),
            ("a", Some("3"), statement(1, "y")),
            ("b", None, Executed::Rollback),
            ("a", None, Executed::Commit),
            // Alone, in the simple protocol, and in the extended one.
            ("a", None, statement(2, "x")),
            ("a", Some("5"), statement(2, "x")),
            ("a", Some("6"), statement(2, "x")),
            // Cut: the begin is not there, then the end.
            ("c", Some("1"), statement(2, "x")),
            ("c", None, Executed::Commit),
            ("c", Some("2"), Executed::Begin(None)),
            ("c", Some("2"), statement(2, "x")),
        ] {
            sessions.add(session, number, vec![executed]);
        }
        sessions.end();
        assert_eq!(kinds(&sessions), [(3, vec![(2, 1.0)]), (1, vec![(0, 1.0), (1, 2.0)])]);
        assert_eq!((sessions.rolled_back, sessions.incomplete, sessions.unknown), (1, 2, 0));
        assert_eq!(sessions.values, 0);
    }

    #[test]
    fn several_statements_of_one_text_are_one_transaction() {
        let mut sessions = Sessions::default();
        sessions.add("a", None, vec![statement(0, "x"), statement(1, "x")]);
        sessions.add("a", None, vec![Executed::Begin(None), statement(0, "x"), Executed::Commit, statement(1, "y")]);
        sessions.add("a", Some("4"), vec![Executed::Begin(None)]);
        sessions.add("a", None, vec![statement(0, "x"), Executed::Unknown, Executed::Commit]);
        sessions.end();
        assert_eq!(kinds(&sessions), [(2, vec![(0, 1.0)]), (1, vec![(0, 1.0), (1, 1.0)]), (1, vec![(1, 1.0)])]);
        assert_eq!((sessions.incomplete, sessions.unknown), (0, 1));
    }

    #[test]
    fn the_end_of_a_transaction_may_begin_the_next() {
        let mut sessions = Sessions::default();
        // With numbers of transactions, and without.
        for numbers in [[Some("1"), Some("2"), Some("3")], [Some(""); 3]] {
            sessions.add("a", numbers[0], vec![Executed::Begin(None), statement(0, "x")]);
            sessions.add("a", numbers[1], vec![Executed::Commit, Executed::Chain]);
            sessions.add("a", numbers[1], vec![statement(1, "x")]);
            sessions.add("a", numbers[2], vec![Executed::Rollback, Executed::Chain]);
            sessions.add("a", numbers[2], vec![statement(1, "x")]);
            sessions.add("a", None, vec![Executed::Commit]);
        }
        sessions.end();
        assert_eq!(kinds(&sessions), [(2, vec![(0, 1.0)]), (2, vec![(1, 1.0)])]);
        assert_eq!((sessions.rolled_back, sessions.incomplete), (2, 0));
    }

    #[test]
    fn a_transaction_that_has_failed_is_rolled_back_by_commit() {
        let mut sessions = Sessions::default();
        for savepoint in [false, true] {
            sessions.add("a", Some("1"), vec![Executed::Begin(None), statement(0, "x")]);
            sessions.set_failed("a", true);
            if savepoint {
                sessions.add("a", Some("1"), vec![Executed::Savepoint]);
            }
            sessions.add("a", None, vec![Executed::Commit]);
        }
        sessions.set_failed("a", true);
        sessions.end();
        assert_eq!((sessions.rolled_back, kinds(&sessions)), (1, vec![(1, vec![(0, 1.0)])]));
    }

    #[test]
    fn executions_in_a_row_with_one_value_are_one_draw() {
        let mut sessions = Sessions::default();
        for n in 0..300 {
            let all = ["a", "a", "b"].map(|value| statement(0, &format!("{value}{}", n % 10)));
            sessions.add("a", None, all.to_vec());
        }
        let profile = &sessions.profiles.captured()[0];
        assert_eq!((profile.parameter, profile.draws, profile.distinct), (1, 600, 20));
    }

    #[test]
    fn memory_has_a_bound() {
        let mut sessions = Sessions::default();
        for at in 0..1000 {
            sessions.add("long", Some("1"), vec![statement(at, "x")]);
        }
        assert_eq!(sessions.open["long"].steps.len(), STEPS_MAX);
        for session in 0..SESSIONS_MAX + 5 {
            sessions.add(&session.to_string(), Some("1"), vec![statement(0, "x")]);
        }
        assert!(sessions.open.len() <= SESSIONS_MAX && sessions.incomplete == 1, "{}", sessions.incomplete);
        for session in 0..SESSIONS_MAX + 5 {
            sessions.add(&session.to_string(), Some("2"), vec![Executed::Begin(None), statement(0, "x")]);
        }
        assert_eq!((sessions.open.len(), sessions.kinds.count), (SESSIONS_MAX, SESSIONS_MAX as u64 + 5));
        for session in 0..50 {
            let values = vec![Some("x".to_owned()); 60_000];
            sessions.add(&session.to_string(), Some("1"), vec![Executed::Statement(1, values)]);
        }
        assert!(sessions.values <= VALUES_MAX);
    }
}
