//! `--init-jobs`: loads accounts and creates primary keys over several connections.
//!
//! Branches and tellers are loaded first, in the transaction that truncates all tables; the accounts follow, each
//! connection with its own transaction. So the whole load is not one transaction: after a failure, tables may be partly
//! filled.
//!
//! Rows can be frozen only in the transaction that created or truncated their table, so several connections cannot
//! freeze rows of one table. If the accounts are partitioned by range, every partition is a table with known rows: one
//! connection truncates each and loads it with frozen rows. (With foreign keys to the accounts no partition can be
//! truncated alone, and rows are not frozen.) In all other cases each connection loads a range of `aid` into
//! `pgbench_accounts`, and the vacuum that follows freezes.
//!
//! Primary keys of partitions are created first, in parallel; that of the partitioned table then adopts them. The only
//! difference is `pg_constraint.connoinherit` of the partitions' keys, which is true instead of pgbench's false: it has
//! no effect on a table that nothing can inherit from.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};

use pgdyno_workloads::pgbench::ACCOUNTS;
use pgdyno_workloads::pgbench::partitions::{PartitionMethod, partition};

use super::generate::{ACCOUNTS_ROWS, BRANCHES_ROWS, Shown, TELLERS_ROWS};
use super::session::Session;
use super::{Run, Teller, sql};
use crate::messages::{ExitReason, Io};

/// A task of one connection.
#[derive(Debug, PartialEq, Eq)]
enum Task {
    /// Loads accounts, counted from 0, into this table.
    Load {
        table: String,
        rows: Range<u64>,
        freeze: bool,
    },
    Execute(String),
}

/// A message of a connection at work.
enum Message {
    Rows(u64),
    Text(String),
}

impl Teller for Sender<Message> {
    fn say(&mut self, text: &str) {
        // After a failure there is no receiver.
        self.send(Message::Text(text.to_owned())).ok();
    }

    fn sent(&mut self, rows: u64) {
        self.send(Message::Rows(rows)).ok();
    }
}

impl Run<'_> {
    pub(super) fn generate_in_parallel(&mut self, io: &mut Io<'_>) -> Result<(), ExitReason> {
        self.session.execute("begin", io)?;
        self.session.execute(sql::TRUNCATE, io)?;
        for source in [BRANCHES_ROWS, TELLERS_ROWS] {
            self.fill(&source, io)?;
        }
        self.session.execute("commit", io)?;
        let total = ACCOUNTS * u64::from(self.options.scale);
        let tasks = self.loads(total)?;
        let mut shown = Shown::new(ACCOUNTS_ROWS.table, total, self.options.quiet, io);
        self.work(tasks, &mut shown)
    }

    /// Returns the tasks that load the accounts.
    fn loads(&mut self, total: u64) -> Result<Vec<Task>, ExitReason> {
        let by_range = self.options.partitioning.filter(|partitioning| {
            let enough = partitioning.partitions >= self.options.jobs;
            self.has_made_tables && partitioning.method == PartitionMethod::Range && enough
        });
        Ok(match by_range {
            Some(partitioning) => {
                let freeze =
                    self.session.can_freeze(&partition(1))? && !self.session.is_so(sql::ACCOUNTS_ARE_REFERENCED)?;
                let rows = partitioning.rows_each(u64::from(self.options.scale));
                partition_loads(partitioning.partitions, rows, total, freeze)
            }
            None => range_loads(self.options.jobs, total),
        })
    }

    pub(super) fn primary_keys_in_parallel(&mut self, io: &mut Io<'_>) -> Result<(), ExitReason> {
        let tablespace = self.options.index_tablespace.as_deref();
        let [branches, tellers, accounts] = sql::primary_keys(tablespace);
        let partitions = self.options.partitioning.filter(|_| self.has_made_tables);
        let Some(partitioning) = partitions else {
            return self.work([accounts, tellers, branches].map(Task::Execute).into(), io);
        };
        let mut tasks: Vec<Task> = (1..=partitioning.partitions)
            .map(|number| Task::Execute(sql::primary_key(&partition(number), "aid", tablespace)))
            .collect();
        tasks.extend([tellers, branches].map(Task::Execute));
        self.work(tasks, io)?;
        self.session.execute(&accounts, io)
    }

    /// Does the tasks over as many connections as there are jobs. The first failure ends all of them.
    fn work(&self, tasks: Vec<Task>, teller: &mut dyn Teller) -> Result<(), ExitReason> {
        let workers = (self.options.jobs as usize).min(tasks.len());
        let tasks = Mutex::new(VecDeque::from(tasks));
        let failure = Mutex::new(None);
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            for _ in 0..workers {
                let (tasks, failure, mut sender) = (&tasks, &failure, sender.clone());
                scope.spawn(move || {
                    if let Err(error) = self.worker(tasks, &mut sender)
                        && self.halt.fail()
                    {
                        *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    }
                });
            }
            drop(sender);
            for message in receiver {
                match message {
                    Message::Rows(rows) => teller.sent(rows),
                    Message::Text(text) => teller.say(&text),
                }
            }
            teller.all_sent();
        });
        match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(failure) => Err(failure),
            // The stop came before any task could fail.
            None if self.halt.is_set() => Err(ExitReason::error("initialization was stopped")),
            None => Ok(()),
        }
    }

    fn worker(&self, tasks: &Mutex<VecDeque<Task>>, sender: &mut Sender<Message>) -> Result<(), ExitReason> {
        let mut session = Session::open(self.target, self.halt)?;
        let next = || tasks.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        while let Some(task) = next().filter(|_| !self.halt.is_set()) {
            match task {
                Task::Execute(statement) => session.execute(&statement, sender)?,
                Task::Load { table, rows, freeze } => {
                    session.execute("begin", sender)?;
                    if freeze {
                        session.execute(&format!("truncate table {table}"), sender)?;
                    }
                    session.copy(&sql::copy(&table, freeze), rows, ACCOUNTS_ROWS.write, sender)?;
                    session.execute("commit", sender)?;
                }
            }
        }
        Ok(())
    }
}

/// Returns one load for each partition that has rows.
fn partition_loads(partitions: u32, rows_each: u64, total: u64, freeze: bool) -> Vec<Task> {
    let ranges = (1..=partitions).map(|number| (number, u64::from(number - 1) * rows_each));
    ranges
        .filter(|(_, start)| *start < total)
        .map(|(number, start)| {
            let rows = start..(start + rows_each).min(total);
            Task::Load { table: partition(number), rows, freeze }
        })
        .collect()
}

/// Returns one load for each job.
fn range_loads(jobs: u32, total: u64) -> Vec<Task> {
    let jobs = u64::from(jobs);
    let table = || ACCOUNTS_ROWS.table.to_owned();
    (0..jobs)
        .map(|job| total * job / jobs..total * (job + 1) / jobs)
        .map(|rows| Task::Load { table: table(), rows, freeze: false })
        .collect()
}

#[cfg(test)]
mod tests {
    use pgdyno_workloads::pgbench::partitions::Partitioning;

    use super::*;

    fn rows(tasks: &[Task]) -> Vec<Range<u64>> {
        let range = |task: &Task| match task {
            Task::Load { rows, .. } => rows.clone(),
            Task::Execute(_) => 0..0,
        };
        tasks.iter().map(range).collect()
    }

    /// Returns the loads of one unit of scale.
    fn by_range(partitions: u32, freeze: bool) -> Vec<Task> {
        let partitioning = Partitioning { method: PartitionMethod::Range, partitions };
        partition_loads(partitions, partitioning.rows_each(1), ACCOUNTS, freeze)
    }

    #[test]
    fn loads_cover_all_rows_once() {
        for (jobs, scale) in [(2, 1), (3, 1), (512, 1), (7, 20)] {
            let total = ACCOUNTS * scale;
            let ranges = rows(&range_loads(jobs, total));
            assert_eq!(ranges.len(), jobs as usize);
            assert_eq!((ranges[0].start, ranges[jobs as usize - 1].end), (0, total));
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
        for partitions in [1, 3, 7, 100_000] {
            let ranges = rows(&by_range(partitions, true));
            assert_eq!(ranges.iter().map(|range| range.end - range.start).sum::<u64>(), ACCOUNTS, "{partitions}");
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
    }

    #[test]
    fn partitions_beyond_the_rows_stay_empty() {
        let tasks = by_range(60_000, false);
        assert_eq!(tasks.len(), 50_000);
        assert_eq!(tasks[1], Task::Load { table: "pgbench_accounts_2".into(), rows: 2..4, freeze: false });
    }
}
