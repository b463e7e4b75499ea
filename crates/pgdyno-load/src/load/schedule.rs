//! The schedule of loaders. Pure: no threads, no clock, no server.
//!
//! A table goes through its stages: rows, logged if it was filled unlogged, freeze if COPY could not do that,
//! indexes, analyze. Loaders take one task after another. Rows come first, and the table with the longest remaining
//! work, so that no loader is left alone at the end.

use std::ops::Range;

use crate::LoadPhase;
use crate::load::cost::FREEZE;

/// Properties of a table that matter to the schedule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Job {
    /// Bytes of heap and indexes, estimated.
    pub(crate) bytes: u64,
    /// Chunks of rows; 0 for a table that starts empty.
    pub(crate) chunks: u64,
    /// For each index statement, whether it may run beside others on the same table.
    pub(crate) indexes: Vec<bool>,
    /// Chunks that are committed together, so that a later load can resume; `None` if it cannot.
    pub(crate) unit: Option<u64>,
    /// Whether the server finds the partition of each row, so that COPY cannot freeze it.
    pub(crate) routed: bool,
    /// The chunks of each partition, if each can be filled by itself.
    pub(crate) partitions: Vec<Vec<Range<u64>>>,
    /// Chunks after which the rows so far are vacuumed beside those who still copy; `None` if one VACUUM at the end is
    /// enough.
    pub(crate) vacuumed_chunks: Option<u64>,
    /// Whether it is distributed: it must exist before any table is filled, and COPY cannot freeze its rows.
    pub(crate) spread: bool,
    /// Whether it is filled unlogged.
    pub(crate) unlogged: bool,
    /// Progress of an earlier load.
    pub(crate) kept: Option<Kept>,
}

/// Progress of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Chunks, in any order.
    pub(crate) chunks: Vec<Range<u64>>,
    /// Index statements.
    pub(crate) indexes: Vec<usize>,
}

impl Job {
    /// Returns true if a VACUUM must freeze its rows, when it is filled in this way.
    fn vacuums(&self, filling: Filling) -> bool {
        filling == Filling::Shared || self.routed || self.unlogged || self.kept.is_some()
    }
}

/// Loaders that fill a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filling {
    /// One loader, in the transaction that creates it.
    Whole,
    /// Any number of loaders, each partition by one of them.
    Partitions,
    /// Any number of loaders, chunk by chunk.
    Shared,
}

/// A task of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Create the table and copy all of its rows.
    Whole(usize),
    /// Copy all rows of an existing partition.
    Partition(usize, usize),
    /// Copy chunks of an existing table, beside other loaders, until none is left. The time of its start distinguishes
    /// it from theirs.
    Share(usize, u64),
    /// Vacuum what is committed so far, beside those who still copy.
    FreezeBehind(usize),
    /// Make it logged.
    Log(usize),
    /// Vacuum it.
    Freeze(usize),
    /// One of its index statements.
    Index(usize, usize),
    /// Analyze it.
    Analyze(usize),
}

impl Task {
    pub(crate) fn table(self) -> usize {
        match self {
            Self::Whole(table) | Self::Partition(table, _) | Self::Share(table, _) => table,
            Self::FreezeBehind(table) | Self::Log(table) | Self::Freeze(table) => table,
            Self::Index(table, _) | Self::Analyze(table) => table,
        }
    }
}

/// Answer to a loader that asks for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Do this.
    Do(Task),
    /// Ask again after another task has ended.
    Wait,
    /// Nothing is left.
    Finished,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TableStage {
    Rows,
    Log,
    Freeze,
    Indexes,
    Analyze,
    Done,
}

/// A task in progress.
#[derive(Clone, Copy, Debug)]
struct Running {
    task: Task,
    /// Its start.
    began: u64,
    /// Earliest start of all tasks in progress at its own start. Its transaction sees theirs as running, even after
    /// they have ended, and so holds back a VACUUM for them.
    horizon: u64,
}

#[derive(Debug)]
struct Table {
    job: Job,
    filling: Filling,
    /// Chunks that were assigned since a VACUUM began.
    chunks_behind: u64,
    /// Chunks that were assigned before that, since the one before.
    chunks_vacuumed: u64,
    stage: TableStage,
    /// Chunks that are not assigned, in order.
    chunks_left: Vec<Range<u64>>,
    /// Partitions that are not assigned, if each is filled by itself.
    partitions_left: Vec<usize>,
    /// Index statements that are not assigned.
    indexes_left: Vec<usize>,
    /// Tasks of the present stage in progress.
    running: Vec<Running>,
    /// Time at which its last row was committed, or rewritten.
    filled_at: u64,
}

/// The state of all tables.
#[derive(Debug)]
pub(crate) struct Schedule {
    tables: Vec<Table>,
    loaders: usize,
    /// Counts starts and ends of tasks: only their order matters.
    moment: u64,
}

impl Schedule {
    /// Returns the schedule for tables that are filled in these ways.
    pub(crate) fn filled(jobs: Vec<Job>, filling: Vec<Filling>, loaders: usize) -> Self {
        let tables = jobs.into_iter().zip(filling).map(|(job, filling)| Table::new(job, filling));
        Self { tables: tables.collect(), loaders, moment: 0 }
    }

    pub(crate) fn job(&self, table: usize) -> &Job {
        &self.tables[table].job
    }

    /// Returns the chunks of a table that its last VACUUM found.
    pub(crate) fn vacuumed(&self, table: usize) -> u64 {
        self.tables[table].chunks_vacuumed
    }

    /// Returns true if chunks of a table are not assigned yet.
    pub(crate) fn has_chunks(&self, table: usize) -> bool {
        !self.tables[table].chunks_left.is_empty()
    }

    /// Returns true if several loaders may fill a table. Such a table must exist before the first task is assigned.
    pub(crate) fn is_split(&self, table: usize) -> bool {
        self.tables[table].filling != Filling::Whole
    }

    /// Returns how many loaders can be busy at a time.
    pub(crate) fn useful_loaders(&self) -> usize {
        let tasks = |t: &Table| match t.filling {
            Filling::Whole => 1,
            Filling::Partitions => t.partitions_left.len(),
            Filling::Shared => units(t.job.chunks, t.job.unit),
        };
        self.tables.iter().fold(0, |sum: usize, t| sum.saturating_add(tasks(t)))
    }

    /// Returns how many loaders work on a table.
    pub(crate) fn sharing(&self, table: usize) -> usize {
        self.tables[table].running.len()
    }

    /// Returns true if a table must be vacuumed after its rows are loaded.
    pub(crate) fn vacuums(&self, table: usize) -> bool {
        self.tables[table].job.vacuums(self.tables[table].filling)
    }

    /// Returns the number of statements of a phase.
    pub(crate) fn statements(&self, phase: LoadPhase) -> usize {
        let of_table = |table: &Table| match phase {
            LoadPhase::Log => usize::from(table.job.unlogged),
            LoadPhase::Freeze => usize::from(table.job.vacuums(table.filling)),
            LoadPhase::Indexes => table.indexes_left.len(),
            _ => 1,
        };
        self.tables.iter().map(of_table).sum()
    }

    /// Returns how many loaders would find nothing to do now.
    pub(crate) fn idle_loaders(&self) -> usize {
        let busy: usize = self.tables.iter().map(|table| table.running.len()).sum();
        let free = self.loaders.saturating_sub(busy);
        let could_begin = |(n, table): (usize, &Table)| match table.next(n, self.moment) {
            Some(Task::Share(..) | Task::FreezeBehind(_)) => table.units_left(),
            Some(Task::Partition(..)) => table.partitions_left.len(),
            Some(Task::Index(_, index)) if table.job.indexes[index] => table.indexes_left.len(),
            Some(_) => 1,
            None => 0,
        };
        let tasks = self.tables.iter().enumerate().map(could_begin).fold(0, usize::saturating_add);
        free.saturating_sub(tasks)
    }

    /// Returns the next task.
    pub(crate) fn take(&mut self) -> Next {
        // A VACUUM freezes no row that is invisible to a running transaction: it has to wait for all tasks that began
        // before the last row was committed, and for those that began while such a task was in progress.
        let running = || self.tables.iter().flat_map(|table| &table.running);
        let horizon = running().map(|running| running.horizon).min();
        let sees_all = |table: &Table| horizon.is_none_or(|horizon| horizon > table.filled_at);
        let now = self.moment + 1;
        let oldest = running().map(|running| running.began).min().unwrap_or(now);
        let candidates = self.tables.iter().enumerate().filter_map(|(n, table)| Some((table.next(n, now)?, table)));
        let candidates = candidates.filter(|(task, table)| !matches!(task, Task::Freeze(_)) || sees_all(table));
        let best = candidates.max_by(|(_, a), (_, b)| {
            // An earlier stage first, then the longer remaining work; of equals, the last.
            b.stage.cmp(&a.stage).then(a.remaining().total_cmp(&b.remaining()))
        });
        let Some((task, _)) = best else {
            let done = self.tables.iter().all(|table| table.stage == TableStage::Done);
            return if done { Next::Finished } else { Next::Wait };
        };
        let table = &mut self.tables[task.table()];
        match task {
            Task::Whole(_) => table.chunks_left.clear(),
            Task::Partition(_, partition) => table.partitions_left.retain(|left| *left != partition),
            Task::Index(_, index) => table.indexes_left.retain(|left| *left != index),
            Task::FreezeBehind(_) | Task::Freeze(_) => {
                table.chunks_vacuumed = std::mem::take(&mut table.chunks_behind);
            }
            Task::Share(..) | Task::Log(_) | Task::Analyze(_) => {}
        }
        self.moment = now;
        table.running.push(Running { task, began: now, horizon: oldest });
        Next::Do(task)
    }

    /// Returns the next chunks of a table that several loaders fill: one, or as many as are committed together;
    /// `None` if none are left.
    pub(crate) fn chunks(&mut self, table: usize) -> Option<Range<u64>> {
        let table = &mut self.tables[table];
        let unit = table.job.unit.unwrap_or(1);
        let left = table.chunks_left.first_mut()?;
        let end = left.end.min((left.start / unit + 1) * unit);
        let taken = left.start..end;
        left.start = end;
        table.chunks_behind += taken.end - taken.start;
        if left.is_empty() {
            table.chunks_left.remove(0);
        }
        Some(taken)
    }

    /// Notes the end of a task.
    pub(crate) fn finish(&mut self, task: Task) {
        self.moment += 1;
        let table = &mut self.tables[task.table()];
        if let Some(at) = table.running.iter().position(|running| running.task == task) {
            table.running.swap_remove(at);
        }
        let filled = table.chunks_left.is_empty() && table.partitions_left.is_empty();
        if !table.running.is_empty() || (table.stage == TableStage::Rows && !filled) {
            return;
        }
        if matches!(table.stage, TableStage::Rows | TableStage::Log) {
            table.filled_at = self.moment;
        }
        table.stage = table.after(table.stage);
    }
}

impl Table {
    fn new(job: Job, filling: Filling) -> Self {
        let (mut chunks_left, indexes_left) = match &job.kept {
            None => (gaps(job.chunks, &[]), (0..job.indexes.len()).collect()),
            Some(kept) => {
                let left = (0..job.indexes.len()).filter(|index| !kept.indexes.contains(index));
                (gaps(job.chunks, &kept.chunks), left.collect())
            }
        };
        let filled = job.kept.is_some() && chunks_left.is_empty();
        let mut partitions_left = Vec::new();
        if filling == Filling::Partitions {
            chunks_left.clear();
            partitions_left.extend((0..job.partitions.len()).filter(|nth| chunks_in(&job.partitions[*nth]) > 0));
        }
        let stage = TableStage::Rows;
        let running = Vec::new();
        let (chunks_behind, chunks_vacuumed, filled_at) = (0, 0, 0);
        let mut table = Self {
            job,
            filling,
            chunks_behind,
            chunks_vacuumed,
            stage,
            chunks_left,
            partitions_left,
            indexes_left,
            running,
            filled_at,
        };
        if filled {
            table.stage = table.after(TableStage::Rows);
        }
        table
    }

    /// Advances a table whose stage is done.
    fn after(&self, stage: TableStage) -> TableStage {
        match stage {
            TableStage::Rows if self.job.unlogged => TableStage::Log,
            TableStage::Rows | TableStage::Log if self.job.vacuums(self.filling) => TableStage::Freeze,
            TableStage::Rows | TableStage::Log | TableStage::Freeze | TableStage::Indexes
                if !self.indexes_left.is_empty() =>
            {
                TableStage::Indexes
            }
            TableStage::Rows | TableStage::Log | TableStage::Freeze | TableStage::Indexes => TableStage::Analyze,
            TableStage::Analyze | TableStage::Done => TableStage::Done,
        }
    }

    /// Returns a possible task of a table at time `now`.
    fn next(&self, n: usize, now: u64) -> Option<Task> {
        let idle = self.running.is_empty();
        match self.stage {
            TableStage::Rows => match self.filling {
                Filling::Whole => idle.then_some(Task::Whole(n)),
                Filling::Partitions => self.partitions_left.first().map(|partition| Task::Partition(n, *partition)),
                Filling::Shared if self.chunks_left.is_empty() => None,
                Filling::Shared if self.is_behind() => Some(Task::FreezeBehind(n)),
                Filling::Shared => Some(Task::Share(n, now)),
            },
            TableStage::Log => idle.then_some(Task::Log(n)),
            TableStage::Freeze => idle.then_some(Task::Freeze(n)),
            TableStage::Indexes => {
                let beside =
                    |running: &Running| matches!(running.task, Task::Index(_, index) if self.job.indexes[index]);
                let fits = |index: &&usize| idle || (self.job.indexes[**index] && self.running.iter().all(beside));
                self.indexes_left.iter().find(fits).map(|index| Task::Index(n, *index))
            }
            TableStage::Analyze => idle.then_some(Task::Analyze(n)),
            TableStage::Done => None,
        }
    }

    /// Returns true if the rows so far should be vacuumed, and nobody does that.
    fn is_behind(&self) -> bool {
        let vacuums = |running: &Running| matches!(running.task, Task::FreezeBehind(_));
        self.job.vacuumed_chunks.is_some_and(|chunks| self.chunks_behind >= chunks) && !self.running.iter().any(vacuums)
    }

    /// Returns the number of units that are not assigned.
    fn units_left(&self) -> usize {
        units(chunks_in(&self.chunks_left), self.job.unit)
    }

    /// Returns the remaining work of a table, in bytes that one loader copies, if one more loader joins.
    fn remaining(&self) -> f64 {
        let bytes = self.job.bytes as f64;
        match self.stage {
            TableStage::Rows if self.filling != Filling::Whole => {
                let of_partitions = self.partitions_left.iter().map(|nth| chunks_in(&self.job.partitions[*nth]));
                let chunks = chunks_in(&self.chunks_left) + of_partitions.sum::<u64>();
                let left = chunks as f64 / self.job.chunks.max(1) as f64;
                let freeze = if self.job.vacuums(self.filling) { FREEZE } else { 0.0 };
                bytes * (left / (self.running.len() + 1) as f64 + freeze)
            }
            _ => bytes,
        }
    }
}

/// Returns the chunks that are not in `taken`.
fn gaps(chunks: u64, taken: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut taken = taken.to_vec();
    taken.sort_by_key(|range| range.start);
    let (mut gaps, mut from) = (Vec::new(), 0);
    for range in taken {
        if range.start > from {
            gaps.push(from..range.start);
        }
        from = from.max(range.end);
    }
    if from < chunks {
        gaps.push(from..chunks);
    }
    gaps
}

/// Returns the number of chunks in ranges of them.
pub(crate) fn chunks_in(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}

/// Returns how many units so many chunks are.
fn units(chunks: u64, unit: Option<u64>) -> usize {
    usize::try_from(chunks.div_ceil(unit.unwrap_or(1))).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
