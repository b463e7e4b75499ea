//! Which captured statement a text of the log is, and the values that its parameters have there.

use std::collections::HashMap;

use super::line::LogLine;
use crate::classify::classify;
use crate::form::{CapturedStatement, StatementKind};
use crate::same::{Place, Shape};
use crate::tokens::{SQUASHED, Token, significant, tokens};
use pgdyno_workload::IsolationLevel;

/// Bytes of a text that is compared. A longer one is found by its identifier alone.
const TEXT_MAX: usize = 64 << 10;

/// What a statement of the log does to its transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Executed {
    /// It begins one, at this isolation level if it names one.
    Begin(Option<IsolationLevel>),
    /// It sets its isolation level.
    Isolation(IsolationLevel),
    /// It ends it.
    Commit,
    /// It ends it without effect.
    Rollback,
    /// Its end begins the next one, like it (`AND CHAIN`).
    Chain,
    /// It is about a part of it.
    Savepoint,
    /// It is a captured statement, by its place, with the values of its parameters: `None` where one is NULL or not known.
    Statement(usize, Vec<Option<String>>),
    /// Anything else.
    Unknown,
}

/// A captured statement.
struct Known {
    shape: Shape,
    /// Whether it has a list whose length the server has not kept.
    is_squashed: bool,
    parameters: usize,
}

/// The captured statements.
pub(super) struct Texts {
    known: Vec<Known>,
    by_id: HashMap<i64, usize>,
    by_shape: HashMap<String, usize>,
    has_squashed: bool,
}

impl Texts {
    pub(super) fn new(statements: &[CapturedStatement]) -> Self {
        let known: Vec<_> = statements.iter().map(Known::new).collect();
        let ids = statements
            .iter()
            .enumerate()
            .flat_map(|(at, statement)| statement.queryids.iter().filter_map(move |id| Some((id.parse().ok()?, at))));
        // Where two have the same shape, the first took more time.
        let shapes = known.iter().enumerate().rev().map(|(at, known)| (known.shape.key.clone(), at));
        let has_squashed = known.iter().any(|known| known.is_squashed);
        Self { by_id: ids.collect(), by_shape: shapes.collect(), known, has_squashed }
    }

    /// Returns what a line executed: more than one statement if the text has several.
    pub(super) fn executed(&self, line: &LogLine, text: &str) -> Vec<Executed> {
        let parts = if text.len() <= TEXT_MAX { statements(text) } else { vec![text] };
        // The identifier of several statements is that of the last.
        let id = if parts.len() == 1 { line.query_id } else { 0 };
        let parameters = line.parameters();
        let executed = |part| {
            let one = self.one(part, id, &parameters);
            let chains = matches!(one, Executed::Commit | Executed::Rollback) && chains(part);
            std::iter::once(one).chain(chains.then_some(Executed::Chain))
        };
        parts.into_iter().flat_map(executed).collect()
    }

    fn one(&self, text: &str, id: i64, parameters: &[Option<String>]) -> Executed {
        if text.len() > TEXT_MAX {
            return match self.by_id.get(&id) {
                Some(at) => Executed::Statement(*at, vec![None; self.known[*at].parameters]),
                None => Executed::Unknown,
            };
        }
        if let Some(control) = control(text) {
            return control;
        }
        let exact = Shape::of(&tokens(text), false);
        let found = self.by_id.get(&id).or_else(|| self.by_shape.get(&exact.key)).copied();
        let found = found.or_else(|| {
            let squashed = self.has_squashed.then(|| Shape::of(&tokens(text), true))?;
            self.by_shape.get(&squashed.key).copied().filter(|at| self.known[*at].is_squashed)
        });
        // Of utility statements a capture has the first words.
        let found = found.or_else(|| {
            let classified = classify(text, false);
            let is_utility = classified.kind == StatementKind::Utility;
            let key = is_utility.then(|| Shape::of(&tokens(&classified.text), false).key)?;
            self.by_shape.get(&key).copied()
        });
        match found {
            Some(at) => Executed::Statement(at, self.known[at].values(text, exact, parameters)),
            None => Executed::Unknown,
        }
    }
}

impl Known {
    fn new(statement: &CapturedStatement) -> Self {
        let all = tokens(&statement.text);
        let is_squashed = all.contains(&Token::Comment(SQUASHED));
        let shape = Shape::of(&all, is_squashed);
        let number = |place: &Place| match place {
            Place::Parameter(number) => *number,
            Place::Constant(_) => 0,
        };
        let parameters = shape.places.iter().map(number).max().unwrap_or_default().min(u32::from(u16::MAX)) as usize;
        Self { shape, is_squashed, parameters }
    }

    /// Returns the values of the parameters in a text of the log, whose own parameters have these values.
    fn values(&self, text: &str, exact: Shape, parameters: &[Option<String>]) -> Vec<Option<String>> {
        let mut values = vec![None; self.parameters];
        let shape = if self.is_squashed { Shape::of(&tokens(text), true) } else { exact };
        if shape.key != self.shape.key || shape.places.len() != self.shape.places.len() {
            return values;
        }
        for (known, place) in self.shape.places.iter().zip(shape.places) {
            let Place::Parameter(number) = known else { continue };
            let value = match place {
                Place::Constant(value) => Some(value),
                Place::Parameter(own) => (own as usize).checked_sub(1).and_then(|at| parameters.get(at)?.clone()),
            };
            if let Some(cell) = (*number as usize).checked_sub(1).and_then(|at| values.get_mut(at)) {
                *cell = value;
            }
        }
        values
    }
}

/// Returns the statements of a text.
fn statements(text: &str) -> Vec<&str> {
    let (mut found, mut begin, mut at) = (Vec::new(), 0, 0);
    for token in tokens(text) {
        let end = at + token.text().len();
        if token == Token::Other(";") {
            found.push(&text[begin..at]);
            begin = end;
        }
        at = end;
    }
    found.push(&text[begin..]);
    let is_empty = |part: &&str| significant(part).is_empty();
    found.retain(|part| !is_empty(part));
    found
}

/// Returns true if the end of a transaction begins the next one: `AND CHAIN`, and not `AND NO CHAIN`.
fn chains(text: &str) -> bool {
    let tokens = tokens(text);
    let mut words = tokens.iter().filter(|token| !token.is_blank());
    words.any(|token| token.is("and")) && words.next().is_some_and(|token| token.is("chain"))
}

/// Returns what a statement does to its transaction, if that is all that it does.
fn control(text: &str) -> Option<Executed> {
    let words: Vec<_> = tokens(text).into_iter().filter(|token| !token.is_blank()).take(8).collect();
    let has = |word: &str| words.iter().skip(1).any(|token| token.is(word));
    let first = |names: &[&str]| names.iter().any(|name| words.first().is_some_and(|token| token.is(name)));
    let isolation = if has("serializable") {
        Some(IsolationLevel::Serializable)
    } else if has("repeatable") {
        Some(IsolationLevel::RepeatableRead)
    } else {
        None
    };
    if first(&["begin"]) || first(&["start"]) && has("transaction") {
        Some(Executed::Begin(isolation))
    } else if let Some(isolation) = isolation.filter(|_| first(&["set"]) && has("transaction") && !has("session")) {
        Some(Executed::Isolation(isolation))
    } else if has("prepared") && first(&["commit", "rollback"]) {
        Some(Executed::Unknown)
    } else if first(&["commit", "end"]) {
        Some(Executed::Commit)
    } else if first(&["savepoint", "release"]) || has("to") && first(&["rollback"]) {
        Some(Executed::Savepoint)
    } else if first(&["rollback", "abort"]) {
        Some(Executed::Rollback)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(text: &str, queryid: &str) -> CapturedStatement {
        let classified = classify(text, false);
        let statement = serde_json::json!({
            "text": classified.text, "queryids": [queryid], "kind": classified.kind, "calls": 1.0, "rows": 1.0,
            "exec_time_ms": 1.0, "plan_time_ms": 0.0, "shared_blks_hit": 0.0, "shared_blks_read": 0.0,
            "shared_blks_dirtied": 0.0, "temp_blks_read": 0.0, "temp_blks_written": 0.0, "wal_bytes": 0.0,
        });
        serde_json::from_value(statement).unwrap()
    }

    fn texts() -> Texts {
        Texts::new(&[
            statement("select * from orders where id = $1 and kind = $3 limit $2", "11"),
            statement("select $1, $2, $3, $4 - $5, interval $6 from t where a is null order by 1", "12"),
            statement("select * from t where id in ($1 /*, ... */) and b = $2", "13"),
            statement("SET LOCAL work_mem = 1", "14"),
            statement("insert into t values ($1, $2)", "15"),
        ])
    }

    fn one(text: &str, id: i64, detail: &str) -> Executed {
        let json = serde_json::json!({ "detail": detail, "query_id": id }).to_string();
        let line = LogLine::of(json.as_bytes(), super::super::records::LogFormat::Json).unwrap();
        let mut all = texts().executed(&line, text);
        assert_eq!(all.len(), 1, "{text}");
        all.remove(0)
    }

    #[test]
    fn a_text_is_found_without_its_constants_and_has_their_values() {
        let values = |all: &[&str]| all.iter().map(|value| Some((*value).to_owned())).collect::<Vec<_>>();
        let wanted = Executed::Statement(0, values(&["7", "5", "it's"]));
        assert_eq!(one("SELECT * /* a */ FROM Orders\nWHERE id=7 AND kind='it''s' LIMIT 5;", 0, ""), wanted);
        // The driver's own parameters have other numbers than those of the counters.
        let detail = "Parameters: $1 = 'it''s', $2 = '7'";
        assert_eq!(one("select * from orders where id = $2 and kind = $1 limit 5", 0, detail), wanted);
        let wanted = Executed::Statement(1, values(&["true", "null", "-5", "5", "-3", "1 day"]));
        assert_eq!(
            one("select true, null, -5, 5 - -3, interval '1 day' from t where a is null order by 1", 0, ""),
            wanted
        );
        assert_eq!(
            one("select * from t where id in (1, 2, 3) and b = 9", 0, ""),
            Executed::Statement(2, values(&["1", "9"]))
        );
        assert_eq!(one("set local work_mem = '64MB'", 0, ""), Executed::Statement(3, vec![]));
    }

    #[test]
    fn an_identifier_of_the_server_comes_first() {
        assert_eq!(one("select other from elsewhere", 15, ""), Executed::Statement(4, vec![None, None]));
        assert_eq!(one("select other from elsewhere", 99, ""), Executed::Unknown);
        let long = format!("insert into t values ('{}', 1)", "x".repeat(TEXT_MAX));
        assert_eq!(one(&long, 15, ""), Executed::Statement(4, vec![None, None]));
        assert_eq!(one(&long, 0, ""), Executed::Unknown);
    }

    #[test]
    fn the_begin_and_the_end_of_transactions_are_found() {
        for (text, wanted) in [
            ("BEGIN;", Executed::Begin(None)),
            ("begin isolation level read committed", Executed::Begin(None)),
            ("start transaction isolation level serializable", Executed::Begin(Some(IsolationLevel::Serializable))),
            ("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", Executed::Isolation(IsolationLevel::RepeatableRead)),
            ("set session characteristics as transaction isolation level serializable", Executed::Unknown),
            ("/* app */ commit", Executed::Commit),
            ("END", Executed::Commit),
            ("rollback", Executed::Rollback),
            ("ROLLBACK TO SAVEPOINT a", Executed::Savepoint),
            ("release a", Executed::Savepoint),
            ("COMMIT PREPARED 'x'", Executed::Unknown),
        ] {
            assert_eq!(one(text, 0, ""), wanted, "{text}");
        }
        let line = LogLine::default();
        let all = texts().executed(&line, "begin; insert into t values (1, ';'); commit; -- end");
        let insert = Executed::Statement(4, vec![Some("1".to_owned()), Some(";".to_owned())]);
        assert_eq!(all, [Executed::Begin(None), insert, Executed::Commit]);
        let ends = texts().executed(&line, "commit and chain; rollback work and no chain; END AND CHAIN");
        let (commit, chain) = (Executed::Commit, Executed::Chain);
        assert_eq!(ends, [commit.clone(), chain.clone(), Executed::Rollback, commit, chain]);
    }

    #[test]
    fn texts_of_strangers_are_read_to_their_end() {
        for text in ["'", "$$", "$", "-", "- 1", "$99999999999999999999", ";;;", "/*", "é'", "$0", "in (-1"] {
            let line = LogLine { query_id: 11, ..LogLine::default() };
            assert!(texts().executed(&line, text).len() <= 1, "{text}");
        }
    }
}
