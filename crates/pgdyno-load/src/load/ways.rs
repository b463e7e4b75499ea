//! The way each table is filled: the one with which the load ends soonest. Pure.
//!
//! COPY freezes rows only in the transaction that created or truncated their table, so that one connection fills it; under
//! `wal_level=minimal` it then writes no WAL for them. Several connections copy into one table sooner, but a VACUUM
//! has to freeze the rows, which is one process and writes WAL. Which of both ends sooner depends on the server's
//! settings, on the other tables and on the number of connections: the schedule is carried out in virtual time
//! for each, with the [`Costs`] of its tasks.

use crate::load::cost::Costs;
use crate::load::schedule::{Filling, Job, Next, Schedule, Task, chunks_in};

/// Sharing must save more than this share of the load's time: the costs are estimates, and it takes more CPU time and WAL.
const GAIN_MIN: f64 = 0.1;
/// One more table that is shared must save more than this share.
const GAIN_OF_EACH_MIN: f64 = 0.03;
/// PostgreSQL's `max_parallel_maintenance_workers`, which is not lowered unless all connections are busy.
const OWN_INDEX_WORKERS: usize = 2;
/// Parts of a table into which its rows are divided in virtual time, at most.
const PARTS_MAX: u64 = 2000;

/// How a table is filled, and what else was considered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Way {
    pub(crate) filling: Filling,
    /// Time of the load with several connections for this table, relative to one, if both were considered.
    pub(crate) shared_by_whole: Option<f64>,
}

/// Decides how each table is filled, and returns the schedule with that.
pub(crate) fn scheduled(jobs: Vec<Job>, loaders: usize, costs: &Costs) -> (Schedule, Vec<Way>) {
    let ways = ways(&jobs, loaders, costs);
    let filling = ways.iter().map(|way| way.filling).collect();
    (Schedule::filled(jobs, filling, loaders), ways)
}

/// Returns the way of each table. Several connections share a resumable or distributed table in any case, and partitions
/// that can be filled by themselves are.
fn ways(jobs: &[Job], loaders: usize, costs: &Costs) -> Vec<Way> {
    let mut ways: Vec<_> = jobs
        .iter()
        .map(|job| Way { filling: only_way(job).unwrap_or(Filling::Whole), shared_by_whole: None })
        .collect();
    if loaders < 2 {
        return ways;
    }
    let mut open: Vec<usize> =
        (0..jobs.len()).filter(|n| jobs[*n].chunks > 1 && only_way(&jobs[*n]).is_none()).collect();
    if open.is_empty() {
        return ways;
    }
    open.sort_by_key(|n| std::cmp::Reverse(jobs[*n].bytes));
    // None of them shared, the largest, the two largest …
    let mut filling: Vec<_> = ways.iter().map(|way| way.filling).collect();
    let whole = seconds(jobs, filling.clone(), loaders, costs);
    let ratios: Vec<_> = open
        .iter()
        .map(|n| {
            filling[*n] = Filling::Shared;
            seconds(jobs, filling.clone(), loaders, costs) / whole
        })
        .collect();
    let best = |from: usize| {
        let least = ratios[from..].iter().copied().fold(f64::INFINITY, f64::min);
        (from..ratios.len()).find(|last| ratios[*last] <= least + GAIN_OF_EACH_MIN)
    };
    let last_shared = best(0).filter(|last| ratios[*last] < 1.0 - GAIN_MIN);
    for (rank, n) in open.iter().enumerate() {
        let is_shared = last_shared.is_some_and(|last| rank <= last);
        let with_it = if is_shared { last_shared } else { best(rank) };
        ways[*n].shared_by_whole = with_it.map(|last| ratios[last]);
        if is_shared {
            ways[*n].filling = Filling::Shared;
        }
    }
    ways
}

/// Returns how a table must be filled, if there is no choice.
fn only_way(job: &Job) -> Option<Filling> {
    let by_units = job.unit.is_some() && job.chunks > 1;
    let spread = job.spread && job.chunks > 0;
    if by_units || spread {
        Some(Filling::Shared)
    } else if !job.partitions.is_empty() {
        Some(Filling::Partitions)
    } else {
        None
    }
}

/// Returns the time that all tasks take, in the unit of [`Costs`].
pub(crate) fn seconds(jobs: &[Job], filling: Vec<Filling>, loaders: usize, costs: &Costs) -> f64 {
    let mut schedule = Schedule::filled(jobs.iter().map(coarse).collect(), filling, loaders);
    let (mut now, mut idle, mut running) = (0.0, loaders, Vec::<(f64, Task)>::new());
    loop {
        while idle > 0
            && let Next::Do(task) = schedule.take()
        {
            running.push((now + duration(task, &mut schedule, loaders, costs), task));
            idle -= 1;
        }
        let Some(first) = (0..running.len()).min_by(|a, b| running[*a].0.total_cmp(&running[*b].0)) else {
            return now;
        };
        let (end, task) = running.swap_remove(first);
        now = end;
        match task {
            // A connection goes on with the same COPY unless parts are committed.
            Task::Share(n, _) if schedule.job(n).unit.is_none() && schedule.has_chunks(n) => {
                running.push((now + duration(task, &mut schedule, loaders, costs), task));
            }
            _ => {
                schedule.finish(task);
                idle += 1;
            }
        }
    }
}

/// Returns the same table in fewer chunks.
fn coarse(job: &Job) -> Job {
    let unit = job.unit.unwrap_or(1);
    let factor = job.chunks.div_ceil(unit).div_ceil(PARTS_MAX).max(1) * unit;
    if factor == 1 || !job.partitions.is_empty() || job.kept.is_some() {
        return job.clone();
    }
    Job {
        chunks: job.chunks.div_ceil(factor),
        unit: job.unit.map(|_| 1),
        vacuumed_chunks: job.vacuumed_chunks.map(|chunks| chunks.div_ceil(factor)),
        ..job.clone()
    }
}

/// Returns the time of a task that begins now; of a share, that of its next chunks.
fn duration(task: Task, schedule: &mut Schedule, loaders: usize, costs: &Costs) -> f64 {
    let n = task.table();
    let bytes = schedule.job(n).bytes as f64;
    let part = |chunks: u64, schedule: &Schedule| bytes * chunks as f64 / schedule.job(n).chunks.max(1) as f64;
    match task {
        Task::Whole(_) => costs.whole(bytes),
        Task::Partition(_, nth) => costs.whole(part(chunks_in(&schedule.job(n).partitions[nth]), schedule)),
        Task::Share(..) => {
            let taken = schedule.chunks(n).map_or(0, |chunks| chunks.end - chunks.start);
            costs.shared(part(taken, schedule), schedule.sharing(n))
        }
        Task::FreezeBehind(..) => {
            let behind = part(schedule.vacuumed(n), schedule);
            costs.freeze(behind, behind)
        }
        Task::Log(_) => costs.log(bytes),
        Task::Freeze(_) if schedule.job(n).vacuumed_chunks.is_some() => {
            let behind = part(schedule.vacuumed(n), schedule);
            costs.freeze(behind, behind)
        }
        Task::Freeze(_) => costs.freeze_last(bytes),
        Task::Index(..) => {
            let workers = match schedule.idle_loaders() {
                0 if loaders > 1 => 0,
                idle => idle.max(OWN_INDEX_WORKERS),
            };
            costs.index(bytes, schedule.job(n).indexes.len(), workers)
        }
        Task::Analyze(_) => costs.analyze(bytes),
    }
}

#[cfg(test)]
mod tests;
