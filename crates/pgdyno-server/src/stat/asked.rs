//! Prepared queries of a session, and the frames of their results.

use std::collections::BTreeMap;
use std::time::Instant;

use pgdyno_net::{AdminError, TextRows};
use pgdyno_samples::ColumnKind;

use super::sampled::Notes;
use super::session::Session;
use super::source::{Every, Row, Source};
use super::traits::ServerTraits;
use super::{SOURCES, redacted, waits};
use crate::Frame;

/// The last look at each source.
pub(super) type Last = BTreeMap<&'static str, Vec<Row>>;

/// A source and the text that queries it.
type Ask = (&'static Source, String);

/// The moment of a look at the sources.
#[derive(Clone, Copy, Debug)]
pub(super) enum Moment {
    /// The end of a second of the run.
    Second(u64),
    /// The end of the measured window: only sources that are not looked at every second.
    WindowEnd,
}

/// All sources of a server.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) traits: ServerTraits,
    sources: Vec<Ask>,
    waits: Option<String>,
    /// The last look at each source, of an earlier session too.
    pub(super) last: Last,
}

impl Asked {
    /// Prepares all sources in a session, and tries each of them. A refused source is left out from then on.
    pub(super) fn prepare(session: &mut Session, traits: ServerTraits, notes: &mut Notes) -> Result<Self, AdminError> {
        let mut wanted = Vec::new();
        for source in SOURCES {
            match source.sql(&traits).filter(|_| !notes.has_left_out(source.of.name)) {
                None => {}
                Some(Ok(sql)) => wanted.push((source, sql)),
                Some(Err(why)) => notes.leave_out(source.of.name, why),
            }
        }
        let of_waits = waits::sql(session.clients());
        let named = wanted.iter().map(|(source, sql)| (source.of.name, sql.as_str()));
        let named: Vec<_> = named.chain([(waits::NAME, of_waits.as_str())]).collect();
        // A server may be far away: one by one only if it refuses one of them.
        let mut tried = match session.prepare_all(&named)? {
            Some(texts) => texts.into_iter().map(Ok).collect(),
            None => named.iter().map(|(name, sql)| try_out(session, name, sql)).collect::<Result<Vec<_>, _>>()?,
        };
        let of_waits = tried.pop();
        let mut sources = Vec::new();
        for ((source, _), tried) in wanted.into_iter().zip(tried) {
            match tried {
                Ok(text) => sources.push((source, text)),
                Err(why) => notes.leave_out(source.of.name, why),
            }
        }
        let waits = match of_waits.transpose() {
            Ok(text) => {
                waits::caveat(&traits).into_iter().for_each(|caveat| notes.leave_out(waits::NAME, caveat));
                text
            }
            Err(why) => {
                notes.leave_out(waits::NAME, why);
                None
            }
        };
        Ok(Self { traits, sources, waits, last: Last::new() })
    }

    /// Returns the last results of the sources, for the next session.
    pub(super) fn into_last(self) -> Last {
        self.last
    }

    /// Looks at the waits of sessions.
    pub(super) fn look_at_waits(&self, session: &mut Session, looks: &mut waits::Looks) -> Result<(), AdminError> {
        if let Some(text) = &self.waits
            && let Some(rows) = session.ask(text)?
        {
            looks.add(rows);
        }
        Ok(())
    }

    /// Looks at all sources that are due, in one text; if that fails, one by one, so that the others succeed.
    pub(super) fn look(
        &mut self,
        session: &mut Session,
        moment: Moment,
        looks: &mut waits::Looks,
        notes: &mut Notes,
    ) -> Result<Vec<Frame>, AdminError> {
        let is_due = |(source, _): &&Ask| match (source.every, moment) {
            (Every::TwoSeconds | Every::TenSeconds, Moment::WindowEnd) => true,
            (_, Moment::WindowEnd) => false,
            (Every::Second, _) => true,
            (Every::SecondWithLocks, _) => looks.have_locks(),
            (Every::SecondWithRowLocks, _) => looks.have_row_locks(),
            (Every::TwoSeconds, Moment::Second(nth)) => nth.is_multiple_of(2),
            (Every::TenSeconds, Moment::Second(nth)) => nth.is_multiple_of(10),
        };
        let due: Vec<Ask> = self.sources.iter().filter(is_due).cloned().collect();
        let texts: Vec<&str> = self.waits.iter().chain(due.iter().map(|(_, text)| text)).map(String::as_str).collect();
        match session.run(&texts.join(";")) {
            Ok(mut results) => {
                let at = Instant::now();
                let of_waits = usize::from(self.waits.is_some()).min(results.len());
                results.drain(..of_waits).for_each(|looked| looks.add(looked.rows));
                let frames = due.iter().zip(results);
                Ok(frames.map(|((source, _), rows)| self.frame(source, at, rows, notes)).collect())
            }
            Err(error) if error.is_lost() => Err(error),
            Err(_) => self.look_one_by_one(session, &due, notes),
        }
    }

    fn look_one_by_one(
        &mut self,
        session: &mut Session,
        due: &[Ask],
        notes: &mut Notes,
    ) -> Result<Vec<Frame>, AdminError> {
        let mut frames = Vec::new();
        for (source, text) in due {
            match session.run(text) {
                Ok(mut results) => {
                    let rows = results.pop().unwrap_or_default();
                    frames.push(self.frame(source, Instant::now(), rows, notes));
                }
                Err(error) if error.is_lost() => return Err(error),
                Err(error) if may_pass(&error) => {}
                Err(error) if is_forgotten(&error) => {
                    session.forgets();
                    let prepared = Self::prepare(session, self.traits.clone(), notes)?;
                    *self = Self { last: std::mem::take(&mut self.last), ..prepared };
                    break;
                }
                Err(error) => {
                    self.sources.retain(|(asked, _)| asked.of.name != source.of.name);
                    notes.leave_out(source.of.name, format!("it could no longer be sampled: {}", refusal(&error)));
                }
            }
        }
        Ok(frames)
    }

    /// Returns the frame of one source, and notes if its counters have been reset.
    fn frame(&mut self, source: &'static Source, at: Instant, mut rows: TextRows, notes: &mut Notes) -> Frame {
        for (nth, _) in source.of.columns.iter().enumerate().filter(|(_, column)| column.kind == ColumnKind::Statement)
        {
            let texts = rows.rows.iter_mut().filter_map(|row| row.get_mut(nth)?.as_mut());
            texts.for_each(|text| *text = redacted::without_constants(text));
        }
        let last = self.last.insert(source.of.name, rows.rows.clone());
        let is_first = notes.is_first_look(source.of.name);
        if last.is_some_and(|last| source.was_reset(&last, &rows.rows)) {
            let name = source.of.name;
            match is_first {
                true => notes.began_again(name),
                false => {
                    let text =
                        format!("the counters of {name} were reset: what they counted across that moment is not known");
                    notes.note(at, "reset", text);
                }
            }
        }
        Frame { source: source.of.name, at, columns: source.of.names, rows: rows.rows }
    }
}

/// Prepares a statement and runs it once. Returns the text that queries it from then on, or why it cannot be queried.
fn try_out(session: &mut Session, name: &str, sql: &str) -> Result<Result<String, String>, AdminError> {
    let refused = |error: AdminError| match error.is_lost() {
        true => Err(error),
        false => Ok(Err(refusal(&error))),
    };
    let text = match session.prepare(name, sql) {
        Ok(text) => text,
        Err(error) => return refused(error),
    };
    match session.run(&text) {
        Ok(_) => Ok(Ok(text)),
        Err(error) if may_pass(&error) => Ok(Ok(text)),
        Err(error) => refused(error),
    }
}

/// Returns true if it may succeed next time: a time limit of the session was reached, or it was cancelled.
fn may_pass(error: &AdminError) -> bool {
    error.code().is_some_and(|code| matches!(code.as_str(), "57014" | "55P03" | "40001" | "40P01"))
}

/// Returns true if the prepared statement is missing.
fn is_forgotten(error: &AdminError) -> bool {
    error.code().is_some_and(|code| code.as_str() == "26000")
}

/// Returns the server's message.
fn refusal(error: &AdminError) -> String {
    match error {
        AdminError::Server { message, .. } if message.code.as_str() == "42501" => {
            format!("the server says: {}; GRANT pg_monitor to the role may help", message.message)
        }
        AdminError::Server { message, .. } => format!("the server says: {}", message.message),
        error => error.to_string(),
    }
}
