//! Who does what next. Pure: no threads, no clock, no server.
//!
//! A table goes through its stages: rows, freeze where several loaders filled it, indexes, analyze. Loaders
//! take one task after another; rows come before all else, and the longest remaining way first, so that no
//! loader is left alone at the end.

/// What a VACUUM (FREEZE) of a table takes, as a share of what one loader takes for its rows. Measured on
/// PostgreSQL 15: 0.15 while the pages are in memory and were logged since the last checkpoint, up to 0.9
/// where a checkpoint came between and every page goes into the WAL once more. At a half, two loaders never
/// split a table, which is right: there two COPYs and the VACUUM took longer than one COPY with FREEZE.
const FREEZE_SHARE: f64 = 0.5;

/// What the schedule knows of a table.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// Bytes of heap and indexes, estimated.
    pub(crate) bytes: u64,
    /// Chunks of rows; 0 for a table that starts empty.
    pub(crate) chunks: u64,
    /// For each index statement, whether it may run beside others on the same table.
    pub(crate) indexes: Vec<bool>,
}

/// Something to do; the number is the table's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Create the table and copy all of its rows.
    Whole(usize),
    /// Copy chunks of a table that is there, beside other loaders, until none is left.
    Share(usize),
    /// Vacuum it.
    Freeze(usize),
    /// One of its index statements.
    Index(usize, usize),
    /// Its statistics.
    Analyze(usize),
}

impl Task {
    pub(crate) fn table(self) -> usize {
        match self {
            Self::Whole(table) | Self::Share(table) | Self::Freeze(table) => table,
            Self::Index(table, _) | Self::Analyze(table) => table,
        }
    }
}

/// What a loader is told when it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Do this.
    Do(Task),
    /// Ask again when somebody has finished something.
    Wait,
    /// There is nothing left.
    Finished,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Rows,
    Freeze,
    Indexes,
    Analyze,
    Done,
}

#[derive(Debug)]
struct Table {
    job: Job,
    split: bool,
    stage: Stage,
    /// Chunks that nobody has taken yet.
    chunks_left: u64,
    /// Index statements that nobody has taken yet.
    indexes_left: Vec<usize>,
    /// Tasks of the present stage that are under way, each with the moment of its begin.
    running: Vec<(Task, u64)>,
    /// The moment when its last row was committed.
    filled_at: u64,
}

/// The state of all tables.
#[derive(Debug)]
pub(crate) struct Schedule {
    tables: Vec<Table>,
    /// Counts begins and ends of tasks: which came first is all that matters of time.
    moment: u64,
}

impl Schedule {
    pub(crate) fn new(jobs: Vec<Job>, loaders: usize) -> Self {
        let split = split(&jobs, loaders);
        let tables = jobs.into_iter().zip(split).map(|(job, split)| Table {
            split,
            stage: Stage::Rows,
            chunks_left: job.chunks,
            indexes_left: (0..job.indexes.len()).collect(),
            running: Vec::new(),
            filled_at: 0,
            job,
        });
        Self { tables: tables.collect(), moment: 0 }
    }

    /// Whether several loaders may fill a table. Such a table must be created before the first task is taken.
    pub(crate) fn is_split(&self, table: usize) -> bool {
        self.tables[table].split
    }

    /// The most loaders that can be busy at a time.
    pub(crate) fn useful_loaders(&self) -> usize {
        let tasks = |t: &Table| if t.split { usize::try_from(t.job.chunks).unwrap_or(usize::MAX) } else { 1 };
        self.tables.iter().fold(0, |sum: usize, t| sum.saturating_add(tasks(t)))
    }

    /// The next task.
    pub(crate) fn take(&mut self) -> Next {
        // A VACUUM freezes no row that a running transaction may not see: it has to wait for all tasks
        // that began before the last row was committed.
        let oldest = self.tables.iter().flat_map(|table| &table.running).map(|(_, began)| *began).min();
        let sees_all = |table: &Table| oldest.is_none_or(|began| began > table.filled_at);
        let candidates = self.tables.iter().enumerate().filter_map(|(n, table)| Some((table.next(n)?, table)));
        let candidates = candidates.filter(|(task, table)| !matches!(task, Task::Freeze(_)) || sees_all(table));
        let best = candidates.max_by(|(_, a), (_, b)| {
            // An earlier stage first, then the longer way; of equals, the last.
            b.stage.cmp(&a.stage).then(a.remaining().total_cmp(&b.remaining()))
        });
        let Some((task, _)) = best else {
            let done = self.tables.iter().all(|table| table.stage == Stage::Done);
            return if done { Next::Finished } else { Next::Wait };
        };
        let table = &mut self.tables[task.table()];
        match task {
            Task::Whole(_) => table.chunks_left = 0,
            Task::Index(_, index) => table.indexes_left.retain(|left| *left != index),
            Task::Share(_) | Task::Freeze(_) | Task::Analyze(_) => {}
        }
        self.moment += 1;
        table.running.push((task, self.moment));
        Next::Do(task)
    }

    /// The next chunk of a table that is filled by several; none when all are taken.
    pub(crate) fn chunk(&mut self, table: usize) -> Option<u64> {
        let table = &mut self.tables[table];
        let chunk = table.job.chunks - table.chunks_left;
        table.chunks_left = table.chunks_left.checked_sub(1)?;
        Some(chunk)
    }

    /// A task is done.
    pub(crate) fn finish(&mut self, task: Task) {
        self.moment += 1;
        let table = &mut self.tables[task.table()];
        if let Some(at) = table.running.iter().position(|(running, _)| *running == task) {
            table.running.swap_remove(at);
        }
        if !table.running.is_empty() || (table.stage == Stage::Rows && table.chunks_left > 0) {
            return;
        }
        if table.stage == Stage::Rows {
            table.filled_at = self.moment;
        }
        table.stage = match table.stage {
            Stage::Rows if table.split => Stage::Freeze,
            Stage::Rows | Stage::Freeze if !table.indexes_left.is_empty() => Stage::Indexes,
            Stage::Indexes if !table.indexes_left.is_empty() => Stage::Indexes,
            Stage::Rows | Stage::Freeze | Stage::Indexes => Stage::Analyze,
            Stage::Analyze | Stage::Done => Stage::Done,
        };
    }
}

impl Table {
    /// What could be done for it now.
    fn next(&self, n: usize) -> Option<Task> {
        let idle = self.running.is_empty();
        match self.stage {
            Stage::Rows if self.split => (self.chunks_left > 0).then_some(Task::Share(n)),
            Stage::Rows => idle.then_some(Task::Whole(n)),
            Stage::Freeze => idle.then_some(Task::Freeze(n)),
            Stage::Indexes => {
                let beside =
                    |(task, _): &(Task, u64)| matches!(task, Task::Index(_, index) if self.job.indexes[*index]);
                let fits = |index: &&usize| idle || (self.job.indexes[**index] && self.running.iter().all(beside));
                self.indexes_left.iter().find(fits).map(|index| Task::Index(n, *index))
            }
            Stage::Analyze => idle.then_some(Task::Analyze(n)),
            Stage::Done => None,
        }
    }

    /// How long its way still is, in bytes that one loader copies, if one more joins.
    fn remaining(&self) -> f64 {
        let bytes = self.job.bytes as f64;
        match self.stage {
            Stage::Rows if self.split => {
                let left = self.chunks_left as f64 / self.job.chunks.max(1) as f64;
                bytes * (left / (self.running.len() + 1) as f64 + FREEZE_SHARE)
            }
            _ => bytes,
        }
    }
}

/// Which tables are worth splitting. A table that one loader fills in one transaction comes out frozen;
/// one that several fill needs a VACUUM afterwards, which is one process. So splitting pays only if the rest
/// of the loaders would wait longer for the whole table than for its share and the VACUUM.
fn split(jobs: &[Job], loaders: usize) -> Vec<bool> {
    let total: f64 = jobs.iter().map(|job| job.bytes as f64).sum();
    let fair = total / loaders.max(1) as f64;
    let pays = |job: &Job| loaders > 1 && job.chunks > 1 && job.bytes as f64 * (1.0 - FREEZE_SHARE) > fair;
    jobs.iter().map(pays).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(bytes: u64, chunks: u64, indexes: &[bool]) -> Job {
        Job { bytes, chunks, indexes: indexes.to_vec() }
    }

    #[test]
    fn a_table_is_split_only_where_the_vacuum_is_worth_it() {
        let jobs = [job(900, 100, &[]), job(100, 10, &[])];
        assert_eq!(split(&jobs, 1), [false, false]);
        assert_eq!(split(&jobs, 2), [false, false], "half of it and a vacuum are more than the whole");
        assert_eq!(split(&jobs, 4), [true, false]);
        assert_eq!(split(&[job(900, 1, &[]), job(100, 10, &[])], 4), [false, false], "one chunk is not shared");
    }

    #[test]
    fn the_largest_table_comes_first_and_rows_come_before_indexes() {
        let mut schedule = Schedule::new(vec![job(10, 1, &[false]), job(30, 1, &[false]), job(20, 1, &[])], 1);
        let mut order = Vec::new();
        while let Next::Do(task) = schedule.take() {
            schedule.finish(task);
            order.push(task);
        }
        let (whole, index, analyze) = (Task::Whole, |n| Task::Index(n, 0), Task::Analyze);
        assert_eq!(order, [whole(1), whole(2), whole(0), index(1), index(0), analyze(1), analyze(2), analyze(0)]);
        assert_eq!(schedule.take(), Next::Finished);
    }

    #[test]
    fn a_loader_without_rows_takes_an_index_while_others_still_copy() {
        let mut schedule = Schedule::new(vec![job(100, 1, &[]), job(10, 1, &[false])], 2);
        assert_eq!(schedule.take(), Next::Do(Task::Whole(0)));
        assert_eq!(schedule.take(), Next::Do(Task::Whole(1)));
        assert_eq!(schedule.take(), Next::Wait);
        schedule.finish(Task::Whole(1));
        assert_eq!(schedule.take(), Next::Do(Task::Index(1, 0)));
    }

    #[test]
    fn a_split_table_is_shared_chunk_by_chunk_and_vacuumed_once() {
        let mut schedule = Schedule::new(vec![job(100, 3, &[])], 4);
        assert!(schedule.is_split(0));
        assert_eq!(schedule.useful_loaders(), 3);
        assert_eq!(schedule.take(), Next::Do(Task::Share(0)));
        assert_eq!(schedule.chunk(0), Some(0));
        assert_eq!(schedule.take(), Next::Do(Task::Share(0)));
        assert_eq!([schedule.chunk(0), schedule.chunk(0), schedule.chunk(0)], [Some(1), Some(2), None]);
        assert_eq!(schedule.take(), Next::Wait);
        schedule.finish(Task::Share(0));
        assert_eq!(schedule.take(), Next::Wait, "the other one still copies");
        schedule.finish(Task::Share(0));
        assert_eq!(schedule.take(), Next::Do(Task::Freeze(0)));
        schedule.finish(Task::Freeze(0));
        assert_eq!(schedule.take(), Next::Do(Task::Analyze(0)));
    }

    #[test]
    fn a_vacuum_waits_for_transactions_that_are_older_than_the_rows() {
        let mut schedule = Schedule::new(vec![job(900, 2, &[]), job(200, 1, &[false]), job(10, 1, &[])], 4);
        assert_eq!([schedule.take(), schedule.take()], [Next::Do(Task::Share(0)); 2]);
        while schedule.chunk(0).is_some() {}
        assert_eq!(schedule.take(), Next::Do(Task::Whole(1)));
        schedule.finish(Task::Share(0));
        schedule.finish(Task::Share(0));
        assert_eq!(schedule.take(), Next::Do(Task::Whole(2)));
        assert_eq!(schedule.take(), Next::Wait, "the rows of table 1 are still being copied");
        schedule.finish(Task::Whole(1));
        assert_eq!(schedule.take(), Next::Do(Task::Freeze(0)), "the rows of table 2 are a younger transaction");
        assert_eq!(schedule.take(), Next::Do(Task::Index(1, 0)));
    }

    #[test]
    fn indexes_of_one_table_are_built_side_by_side_where_the_locks_allow_it() {
        // A primary key, which locks the table whole, and two plain indexes.
        let mut schedule = Schedule::new(vec![job(1, 1, &[false, true, true])], 4);
        assert_eq!(schedule.take(), Next::Do(Task::Whole(0)));
        schedule.finish(Task::Whole(0));
        assert_eq!(schedule.take(), Next::Do(Task::Index(0, 0)));
        assert_eq!(schedule.take(), Next::Wait);
        schedule.finish(Task::Index(0, 0));
        assert_eq!(schedule.take(), Next::Do(Task::Index(0, 1)));
        assert_eq!(schedule.take(), Next::Do(Task::Index(0, 2)));
        schedule.finish(Task::Index(0, 1));
        assert_eq!(schedule.take(), Next::Wait);
        schedule.finish(Task::Index(0, 2));
        assert_eq!(schedule.take(), Next::Do(Task::Analyze(0)));
    }

    #[test]
    fn any_number_of_loaders_does_every_task_once() {
        for loaders in 1..9 {
            let jobs = vec![job(500, 7, &[false, true]), job(300, 3, &[]), job(0, 0, &[true]), job(90, 90, &[false])];
            let mut schedule = Schedule::new(jobs, loaders);
            let (mut running, mut done, mut chunks) = (Vec::new(), Vec::new(), 0);
            loop {
                let next = if running.len() < loaders { schedule.take() } else { Next::Wait };
                match next {
                    Next::Do(task) => running.push(task),
                    Next::Finished => break,
                    Next::Wait => {
                        let task: Task = running.remove(0);
                        while matches!(task, Task::Share(_)) && schedule.chunk(task.table()).is_some() {
                            chunks += 1;
                        }
                        schedule.finish(task);
                        done.push(task);
                    }
                }
            }
            let count = |wanted: fn(&Task) -> bool| done.iter().filter(|task| wanted(task)).count();
            assert_eq!(count(|t| matches!(t, Task::Index(..))), 4);
            assert_eq!(count(|t| matches!(t, Task::Analyze(_))), 4);
            let split: u64 = (0..4).filter(|n| schedule.is_split(*n)).map(|n| [7, 3, 0, 90][n]).sum();
            assert_eq!(chunks, split, "{loaders} loaders");
        }
    }
}
