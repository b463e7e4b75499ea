//! Each execution of a workload of few large queries: `executions.csv`.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{StoreError, io_error, malformed};
use crate::layout::EXECUTIONS;
use crate::store::{read_text_beside, write_inside};

/// The first line of the file. Old files end with the outcome.
const HEADER: &str = "stage,client,transaction,start_s,end_s,outcome,memory_bytes_max";
const NEEDED: &str = "stage,client,transaction,start_s,end_s,outcome";

/// One execution of a query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// The stage.
    pub stage: String,
    /// The number of its client within the stage, from 0.
    pub client: u32,
    /// The query.
    pub transaction: String,
    /// Start, since the clients began.
    pub start_s: f64,
    /// End, since the clients began.
    pub end_s: f64,
    /// How it ended.
    pub outcome: ExecutionOutcome,
    /// Largest sampled memory of its processes in bytes; unknown if it was not sampled.
    pub memory_bytes_max: Option<u64>,
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExecutionOutcome {
    /// Completed.
    #[default]
    Completed,
    /// It failed.
    Failed,
    /// 40001: a standby cancelled it, because it conflicted with what is replayed.
    Conflict,
    /// 57014: it took longer than it may.
    TimedOut,
    /// It was still running at the end of its stage: it takes longer than its time says.
    Unfinished,
}

impl ExecutionOutcome {
    const ALL: [Self; 5] = [Self::Completed, Self::Failed, Self::Conflict, Self::TimedOut, Self::Unfinished];

    /// Returns its word in the file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Conflict => "conflict",
            Self::TimedOut => "timed-out",
            Self::Unfinished => "unfinished",
        }
    }
}

impl Execution {
    /// Returns true if it was completed.
    #[must_use]
    pub fn is_completed(&self) -> bool {
        self.outcome == ExecutionOutcome::Completed
    }

    /// Returns its duration in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.end_s - self.start_s
    }
}

/// Writes the executions of a run into its directory.
///
/// # Errors
/// When the system refuses.
pub fn write_executions(directory: &Path, executions: &[Execution]) -> Result<(), StoreError> {
    let mut text = format!("{HEADER}\n");
    for Execution { stage, client, transaction, start_s, end_s, outcome, memory_bytes_max } in executions {
        let (outcome, memory) = (outcome.name(), memory_bytes_max.map_or_else(String::new, |bytes| bytes.to_string()));
        text += &format!("{stage},{client},{transaction},{start_s:.6},{end_s:.6},{outcome},{memory}\n");
    }
    write_inside(directory, EXECUTIONS, text.as_bytes())
}

/// Reads the executions of a run; none where it kept none.
pub(crate) fn read(directory: &Path) -> Result<Vec<Execution>, StoreError> {
    let file = directory.join(EXECUTIONS);
    match read_text_beside(directory, EXECUTIONS) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        text => parse(&text.map_err(io_error("read", &file))?).map_err(|why| malformed(&file, why)),
    }
}

fn parse(text: &str) -> Result<Vec<Execution>, String> {
    let mut lines = text.lines();
    if lines.next().is_none_or(|header| !header.starts_with(NEEDED)) {
        return Err(format!("its first line is not {NEEDED}"));
    }
    let line = |(nth, line): (usize, &str)| {
        execution(line).ok_or_else(|| format!("line {} does not fit the columns of its header", nth + 2))
    };
    lines.enumerate().map(line).collect()
}

fn execution(line: &str) -> Option<Execution> {
    let mut cells = line.split(',');
    let mut cell = || cells.next();
    let seconds = |cell: &str| cell.parse::<f64>().ok().filter(|seconds| seconds.is_finite());
    Some(Execution {
        stage: cell()?.to_owned(),
        client: cell()?.parse().ok()?,
        transaction: cell()?.to_owned(),
        start_s: seconds(cell()?)?,
        end_s: seconds(cell()?)?,
        outcome: cell().and_then(|word| ExecutionOutcome::ALL.into_iter().find(|outcome| outcome.name() == word))?,
        memory_bytes_max: cell().and_then(|bytes| bytes.parse().ok()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_are_read_back_as_they_were_written() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(read(directory.path()).unwrap(), []);
        let execution = |transaction: &str, outcome| Execution {
            stage: "power".to_owned(),
            client: 3,
            transaction: transaction.to_owned(),
            start_s: 0.25,
            end_s: 1.5,
            outcome,
            memory_bytes_max: (outcome == ExecutionOutcome::Completed).then_some(4096),
        };
        let executions = ExecutionOutcome::ALL.map(|outcome| execution("q14", outcome));
        write_executions(directory.path(), &executions).unwrap();
        assert_eq!(read(directory.path()).unwrap(), executions);
        assert_eq!(executions[0].seconds(), 1.25);
        let old = parse(&format!("{NEEDED}\npower,3,q14,0.25,1.5,completed\n")).unwrap();
        assert_eq!(old, [Execution { memory_bytes_max: None, ..executions[0].clone() }]);
    }

    #[test]
    fn what_is_no_execution_is_named_by_its_line() {
        let error = |text: &str| parse(text).unwrap_err();
        assert!(error("a,b\n").contains("its first line is not stage"));
        assert_eq!(
            error(&format!("{HEADER}\npower,0,q1,0,NaN,completed\n")),
            "line 2 does not fit the columns of its header"
        );
        assert_eq!(error(&format!("{HEADER}\npower,0,q1\n")), "line 2 does not fit the columns of its header");
    }
}
