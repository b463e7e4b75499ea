//! Rows of a meeting, read as what anyone may have written.
//!
//! Numbers that do not fit make a row unreadable, and it is skipped. Texts are cut and become one line that a terminal
//! shows as it is.

use std::sync::Arc;

use pgdyno_untrusted::TerminalText;

use crate::{AgentId, AgentState, AgentStep, Instruction, Report, RunId};

/// A row as the server sends it: `None` is NULL.
pub type Row = [Option<String>];

/// The longest name of a machine, a program or a state, in characters.
pub(super) const NAME_CHARS_MAX: usize = 200;
/// The longest reason of a failure, in characters.
pub(super) const REASON_CHARS_MAX: usize = 4_000;
/// More CPUs than this are no machine's.
const CPUS_MAX: usize = 1 << 16;

/// An agent as the meeting has it.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentRow {
    /// Its number.
    pub agent: u64,
    /// Its machine.
    pub host: String,
    /// Its process.
    pub pid: u32,
    /// The version of its program.
    pub program: String,
    /// The version of what it says.
    pub protocol: u32,
    /// CPUs that it may use.
    pub cpus: usize,
    /// The run that it serves.
    pub run: Option<u64>,
    /// Its state.
    pub state: String,
    /// How far its idea of the meeting server's clock may be off, in microseconds.
    pub clock_error_us: Option<u64>,
    /// Seconds since its last message.
    pub silent_s: f64,
}

/// A task as it was read: its run, its number and its bytes.
pub type Task = (u64, u32, Arc<[u8]>);

/// Returns the columns of [`agent`]. The time in `seen_at` must be finite.
pub(super) fn agent_columns() -> String {
    format!(
        "agent, left(host, {NAME_CHARS_MAX}), pid, left(program, {NAME_CHARS_MAX}), protocol, cpus, run,
         left(state, {NAME_CHARS_MAX}), clock_error_us, extract(epoch FROM clock_timestamp() - seen_at)"
    )
}

/// Reads an agent.
#[must_use]
pub fn agent(row: &Row) -> Option<AgentRow> {
    let name = |column| text(row, column, NAME_CHARS_MAX);
    Some(AgentRow {
        agent: number(row, 0)?,
        host: name(1)?,
        pid: number(row, 2)?,
        program: name(3)?,
        protocol: number(row, 4)?,
        cpus: number::<usize>(row, 5)?.min(CPUS_MAX),
        run: number(row, 6),
        state: name(7)?,
        clock_error_us: number(row, 8),
        silent_s: number::<f64>(row, 9)?.max(0.0),
    })
}

/// Reads an agent and its report: the columns of [`agent`], then number, task, result, failure and batches.
#[must_use]
pub fn report(row: &Row) -> Option<(AgentRow, Report)> {
    let agent = agent(row)?;
    let nth = || number(row, 11);
    let state = match agent.state.as_str() {
        "preparing" => AgentState::Doing { nth: nth()? },
        "ready" => AgentState::Ready { nth: nth()? },
        "running" => AgentState::Started { nth: nth()? },
        "done" => AgentState::Did { nth: nth()?, result: Ok(unhex(row.get(12)?.as_deref().unwrap_or_default())) },
        "failed" => AgentState::Did { nth: nth()?, result: Err(text(row, 13, REASON_CHARS_MAX).unwrap_or_default()) },
        _ => AgentState::Idle,
    };
    let report = Report {
        agent: AgentId(agent.agent),
        number: number(row, 10)?,
        run: agent.run.map(RunId),
        state,
        batches: number(row, 14)?,
    };
    Some((agent, report))
}

/// Reads a batch: agent, number, bytes.
#[must_use]
pub fn batch(row: &Row) -> Option<(AgentId, u64, Arc<[u8]>)> {
    Some((AgentId(number(row, 0)?), number(row, 1)?, unhex(row.get(2)?.as_deref()?).into()))
}

/// Reads an order: run, beat, step, task, time, batches that have arrived, payload. Its number is the run's beat, which
/// rises with each. `task` keeps the last payload, which is read once.
#[must_use]
pub fn order(row: &Row, task: &mut Option<Task>) -> Option<Instruction> {
    let run: u64 = number(row, 0)?;
    let nth: Option<u32> = number(row, 3);
    let step = match row.get(2)?.as_deref()? {
        "claim" => AgentStep::Claim,
        "release" => AgentStep::Release,
        "do" => {
            if let Some(payload) = row.get(6)?.as_deref() {
                *task = Some((run, nth?, unhex(payload).into()));
            }
            let (_, nth, task) = task.as_ref().filter(|(of, task, _)| (*of, Some(*task)) == (run, nth))?;
            AgentStep::Do { nth: *nth, task: Arc::clone(task) }
        }
        "go" => AgentStep::Go { nth: nth?, at_ns: number(row, 4)? },
        "stop" => AgentStep::Stop { nth: nth?, at_once: false },
        "stop at once" => AgentStep::Stop { nth: nth?, at_once: true },
        _ => return None,
    };
    Some(Instruction { run: RunId(run), number: number(row, 1)?, step, acked: number(row, 5)? })
}

/// Returns step, task and time of an order as its row has them.
pub(super) fn order_columns(step: &AgentStep) -> (&'static str, Option<u32>, Option<u64>) {
    match step {
        AgentStep::Claim => ("claim", None, None),
        AgentStep::Do { nth, .. } => ("do", Some(*nth), None),
        AgentStep::Go { nth, at_ns } => ("go", Some(*nth), Some(*at_ns)),
        AgentStep::Stop { nth, at_once: false } => ("stop", Some(*nth), None),
        AgentStep::Stop { nth, at_once: true } => ("stop at once", Some(*nth), None),
        AgentStep::Release => ("release", None, None),
    }
}

/// Returns true if a row of agent, step, task, time and batches that have arrived is as it was written.
pub(super) fn is_as_written(row: &Row, step: &AgentStep, acked: u64) -> bool {
    let (name, nth, at_ns) = order_columns(step);
    row.get(1).and_then(Option::as_deref) == Some(name)
        && (number(row, 2), number(row, 3), number(row, 4)) == (nth, at_ns, Some(acked))
}

/// Returns a text in one line, cut to so many characters.
fn text(row: &Row, column: usize, chars_max: usize) -> Option<String> {
    let text = row.get(column)?.as_deref()?;
    let end = text.char_indices().nth(chars_max).map_or(text.len(), |(end, _)| end);
    Some(TerminalText(&text[..end]).to_string().replace(['\n', '\t'], " "))
}

/// Returns a number of a row.
pub(super) fn number<T: std::str::FromStr>(row: &Row, column: usize) -> Option<T> {
    row.get(column)?.as_deref()?.parse().ok()
}

/// Reads hexadecimal digits.
pub(super) fn unhex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or_default() as u8;
    text.as_bytes().chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Vec<Option<String>> {
        cells.iter().map(|cell| (*cell != "NULL").then(|| (*cell).to_owned())).collect()
    }

    #[test]
    fn texts_of_others_are_one_line_that_a_terminal_shows_as_it_is() {
        let long = "x".repeat(100_000);
        let cells = [
            "1",
            "db\u{1b}]0;mine\u{7}\nerror: all is lost",
            "2",
            &long,
            "1",
            "99999999",
            "NULL",
            "idle",
            "NULL",
            "-3",
        ];
        let read = agent(&row(&cells)).unwrap();
        assert_eq!(read.host, "db\\u{1b}]0;mine\\u{7} error: all is lost");
        assert_eq!((read.program.len(), read.cpus, read.silent_s), (NAME_CHARS_MAX, CPUS_MAX, 0.0));
    }

    #[test]
    fn rows_with_impossible_numbers_are_skipped() {
        let good = ["1", "h", "2", "p", "1", "4", "7", "failed", "NULL", "0.5", "3", "1", "NULL", "no", "0"];
        let (_, read) = report(&row(&good)).unwrap();
        assert_eq!(read.state, AgentState::Did { nth: 1, result: Err("no".to_owned()) });
        for (column, wrong) in
            [(0, "-1"), (2, "-1"), (4, "x"), (5, "NULL"), (9, "x"), (10, "-5"), (11, "-1"), (14, "-1")]
        {
            let mut cells = good;
            cells[column] = wrong;
            assert_eq!(report(&row(&cells)), None, "{wrong} in column {column}");
        }
        let mut task = None;
        for cells in [
            ["1", "1", "hop", "1", "1", "0", "NULL"],
            ["1", "-1", "claim", "NULL", "NULL", "0", "NULL"],
            ["1", "1", "go", "1", "-7", "0", "NULL"],
            ["1", "1", "do", "-1", "NULL", "0", "00"],
            ["1", "1", "do", "1", "NULL", "0", "NULL"],
        ] {
            assert_eq!(order(&row(&cells), &mut task), None, "{cells:?}");
        }
    }
}
