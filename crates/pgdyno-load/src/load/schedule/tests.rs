use super::*;
use crate::load::cost::Costs;
use crate::load::ways;

fn scheduled(jobs: Vec<Job>, loaders: usize) -> Schedule {
    ways::scheduled(jobs, loaders, &Costs::default()).0
}

fn filling(jobs: &[Job], loaders: usize) -> Vec<Filling> {
    ways::scheduled(jobs.to_vec(), loaders, &Costs::default()).1.into_iter().map(|way| way.filling).collect()
}

fn job(bytes: u64, chunks: u64, indexes: &[bool]) -> Job {
    Job { bytes: bytes * 1_000_000, chunks, indexes: indexes.to_vec(), ..Job::default() }
}

#[test]
fn a_table_is_split_only_where_the_vacuum_is_worth_it() {
    use Filling::{Shared, Whole};
    let jobs = [job(900, 100, &[]), job(100, 10, &[])];
    assert_eq!(filling(&jobs, 1), [Whole, Whole]);
    assert_eq!(filling(&jobs, 2), [Whole, Whole], "half of it and a vacuum are as much as the whole");
    let even = [job(500, 100, &[]), job(500, 100, &[])];
    assert_eq!(filling(&even, 2), [Whole, Whole], "both loaders have enough to do");
    assert_eq!(filling(&jobs, 4)[0], Shared);
    assert_eq!(filling(&[job(900, 1, &[]), job(100, 10, &[])], 4), [Whole, Whole], "one chunk is not shared");
}

#[test]
fn the_largest_table_comes_first_and_rows_come_before_indexes() {
    let mut schedule = scheduled(vec![job(10, 1, &[false]), job(30, 1, &[false]), job(20, 1, &[])], 1);
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
    let mut schedule = scheduled(vec![job(100, 1, &[]), job(10, 1, &[false])], 2);
    assert_eq!(schedule.take(), Next::Do(Task::Whole(0)));
    assert_eq!(schedule.take(), Next::Do(Task::Whole(1)));
    assert_eq!(schedule.take(), Next::Wait);
    schedule.finish(Task::Whole(1));
    assert_eq!(schedule.take(), Next::Do(Task::Index(1, 0)));
}

#[test]
fn a_split_table_is_shared_chunk_by_chunk_and_vacuumed_once() {
    let mut schedule = scheduled(vec![job(100, 3, &[])], 4);
    assert!(schedule.is_split(0));
    assert_eq!(schedule.useful_loaders(), 3);
    assert_eq!(schedule.take(), Next::Do(Task::Share(0, 1)));
    assert_eq!(schedule.chunks(0), Some(0..1));
    assert_eq!(schedule.take(), Next::Do(Task::Share(0, 2)));
    assert_eq!([schedule.chunks(0), schedule.chunks(0), schedule.chunks(0)], [Some(1..2), Some(2..3), None]);
    assert_eq!(schedule.take(), Next::Wait);
    schedule.finish(Task::Share(0, 1));
    assert_eq!(schedule.take(), Next::Wait, "the other one still copies");
    schedule.finish(Task::Share(0, 2));
    assert_eq!(schedule.take(), Next::Do(Task::Freeze(0)));
    schedule.finish(Task::Freeze(0));
    assert_eq!(schedule.take(), Next::Do(Task::Analyze(0)));
}

#[test]
fn a_vacuum_waits_for_transactions_that_are_older_than_the_rows() {
    let jobs = vec![job(900, 2, &[]), job(200, 1, &[false]), job(10, 1, &[])];
    let mut schedule = Schedule::filled(jobs, vec![Filling::Shared, Filling::Whole, Filling::Whole], 4);
    assert_eq!([schedule.take(), schedule.take()], [Next::Do(Task::Share(0, 1)), Next::Do(Task::Share(0, 2))]);
    while schedule.chunks(0).is_some() {}
    assert_eq!(schedule.take(), Next::Do(Task::Whole(1)));
    schedule.finish(Task::Share(0, 1));
    schedule.finish(Task::Share(0, 2));
    assert_eq!(schedule.take(), Next::Do(Task::Whole(2)));
    assert_eq!(schedule.take(), Next::Wait, "the rows of table 1 are still being copied");
    schedule.finish(Task::Whole(1));
    assert_eq!(schedule.take(), Next::Do(Task::Index(1, 0)), "those of table 2 began beside them");
    schedule.finish(Task::Whole(2));
    schedule.finish(Task::Index(1, 0));
    assert_eq!(schedule.take(), Next::Do(Task::Freeze(0)));
}

/// Two loaders at the same table are not the same: the one that goes on began before the other one came.
#[test]
fn a_vacuum_waits_for_the_right_one_of_two_transactions_on_the_same_table() {
    let by_units = |bytes, chunks| Job { unit: Some(1), ..job(bytes, chunks, &[]) };
    let mut schedule = scheduled(vec![by_units(100, 2), by_units(90, 2)], 2);
    let unit = |schedule: &mut Schedule, expected: Task| {
        assert_eq!(schedule.take(), Next::Do(expected));
        schedule.chunks(expected.table()).unwrap();
        expected
    };
    let long = unit(&mut schedule, Task::Share(0, 1));
    for n in [2, 4] {
        let short = unit(&mut schedule, Task::Share(1, n));
        schedule.finish(short);
    }
    let late = unit(&mut schedule, Task::Share(0, 6));
    schedule.finish(late);
    assert_eq!(schedule.take(), Next::Wait, "the first one began before the last row of table 1 was there");
    schedule.finish(long);
    assert_eq!(schedule.take(), Next::Do(Task::Freeze(0)));
    assert_eq!(schedule.take(), Next::Do(Task::Freeze(1)));
}

/// The snapshot of a transaction leaves out what is under way when it is taken, also once that has ended.
#[test]
fn a_vacuum_waits_for_transactions_that_began_beside_an_older_one() {
    let by_units = |bytes| Job { unit: Some(1), ..job(bytes, 2, &[]) };
    let mut schedule = scheduled(vec![by_units(100), by_units(90), job(1, 1, &[])], 3);
    let unit = |schedule: &mut Schedule, expected: Task| {
        assert_eq!(schedule.take(), Next::Do(expected));
        schedule.chunks(expected.table());
        expected
    };
    let old = unit(&mut schedule, Task::Share(0, 1));
    for n in [2, 4] {
        let short = unit(&mut schedule, Task::Share(1, n));
        schedule.finish(short);
    }
    let last = unit(&mut schedule, Task::Share(0, 6));
    assert_eq!(schedule.take(), Next::Do(Task::Whole(2)), "begun beside the old one");
    schedule.finish(last);
    schedule.finish(old);
    assert_eq!(schedule.take(), Next::Wait);
    schedule.finish(Task::Whole(2));
    assert_eq!(schedule.take(), Next::Do(Task::Freeze(0)));
    assert_eq!(schedule.take(), Next::Do(Task::Freeze(1)));
}

#[test]
fn indexes_of_one_table_are_built_side_by_side_where_the_locks_allow_it() {
    // A primary key, which locks the table whole, and two plain indexes.
    let mut schedule = scheduled(vec![job(1, 1, &[false, true, true])], 4);
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
fn a_loader_is_idle_once_there_is_less_to_do_than_there_are_loaders() {
    let mut schedule = scheduled(vec![job(100, 1, &[true, true, true]), job(10, 1, &[false])], 2);
    let mut idle = Vec::new();
    for task in [Task::Whole(0), Task::Whole(1)] {
        assert_eq!(schedule.take(), Next::Do(task));
        idle.push(schedule.idle_loaders() > 0);
    }
    schedule.finish(Task::Whole(1));
    assert_eq!(schedule.take(), Next::Do(Task::Index(1, 0)));
    idle.push(schedule.idle_loaders() > 0);
    schedule.finish(Task::Index(1, 0));
    schedule.finish(Task::Whole(0));
    // Three indexes and the statistics of the small table.
    for index in [0, 1] {
        assert_eq!(schedule.take(), Next::Do(Task::Index(0, index)));
        idle.push(schedule.idle_loaders() > 0);
    }
    for index in [0, 1] {
        schedule.finish(Task::Index(0, index));
    }
    assert_eq!(schedule.take(), Next::Do(Task::Index(0, 2)));
    assert_eq!(schedule.take(), Next::Do(Task::Analyze(1)));
    schedule.finish(Task::Analyze(1));
    assert!(schedule.idle_loaders() > 0, "the last index, alone");
    assert_eq!(idle, [false; 5]);
}

#[test]
fn any_number_of_loaders_does_every_task_once() {
    for loaders in 1..9 {
        let jobs = vec![job(500, 7, &[false, true]), job(300, 3, &[]), job(0, 0, &[true]), job(90, 90, &[false])];
        let mut schedule = scheduled(jobs, loaders);
        let (mut running, mut done, mut chunks) = (Vec::new(), Vec::new(), 0);
        loop {
            let next = if running.len() < loaders { schedule.take() } else { Next::Wait };
            match next {
                Next::Do(task) => running.push(task),
                Next::Finished => break,
                Next::Wait => {
                    let task: Task = running.remove(0);
                    while matches!(task, Task::Share(..)) && schedule.chunks(task.table()).is_some() {
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

#[test]
fn a_load_that_can_go_on_takes_a_unit_at_a_time_and_skips_what_is_there() {
    // Four units of three chunks; the second one and a part of the last are there already.
    let kept = Kept { chunks: vec![9..11, 3..6], indexes: vec![1] };
    let resumed = Job { unit: Some(3), kept: Some(kept), ..job(100, 12, &[false, true, true]) };
    let mut schedule = scheduled(vec![resumed], 1);
    assert!(schedule.is_split(0), "one loader too commits as it goes");
    let mut taken = Vec::new();
    while let Some(chunks) = schedule.chunks(0) {
        taken.push(chunks);
    }
    assert_eq!(taken, [0..3, 6..9, 11..12]);
    assert_eq!(schedule.statements(LoadPhase::Indexes), 2);
    assert_eq!(scheduled(vec![Job { unit: Some(3), ..job(1, 12, &[]) }], 1).useful_loaders(), 4);
}

#[test]
fn a_table_that_is_there_whole_is_only_finished() {
    let all = |chunks, indexes: &[usize]| Some(Kept { chunks, indexes: indexes.to_vec() });
    let empty = Job { unit: Some(1), kept: all(Vec::new(), &[]), ..job(0, 0, &[]) };
    let whole = Job { unit: Some(1), kept: all(std::iter::once(0..1).collect(), &[0]), ..job(10, 1, &[false, true]) };
    let unlogged = Job { unit: Some(1), kept: all(vec![0..2, 2..4], &[]), unlogged: true, ..job(90, 4, &[]) };
    let mut schedule = scheduled(vec![empty, whole, unlogged], 1);
    let mut order = Vec::new();
    while let Next::Do(task) = schedule.take() {
        schedule.finish(task);
        order.push(task);
    }
    assert_eq!(schedule.take(), Next::Finished);
    let expected = [
        Task::Log(2),
        Task::Freeze(2),
        Task::Freeze(1),
        Task::Freeze(0),
        Task::Index(1, 1),
        Task::Analyze(2),
        Task::Analyze(1),
        Task::Analyze(0),
    ];
    assert_eq!(order, expected);
}

#[test]
fn what_copy_cannot_freeze_is_vacuumed_and_sooner_split() {
    use Filling::{Shared, Whole};
    let routed = || Job { routed: true, ..job(60, 10, &[]) };
    let mut schedule = scheduled(vec![routed()], 1);
    assert_eq!((schedule.take(), schedule.vacuums(0)), (Next::Do(Task::Whole(0)), true));
    schedule.finish(Task::Whole(0));
    assert_eq!(schedule.take(), Next::Do(Task::Freeze(0)));
    // The vacuum comes in any case, so two loaders split it.
    assert_eq!(filling(&[routed(), job(40, 10, &[])], 2)[0], Shared);
    assert_eq!(filling(&[job(60, 10, &[]), job(40, 10, &[])], 2), [Whole, Whole]);

    let mut schedule = scheduled(vec![Job { unlogged: true, ..job(60, 1, &[false]) }], 1);
    for task in [Task::Whole(0), Task::Log(0), Task::Freeze(0), Task::Index(0, 0), Task::Analyze(0)] {
        assert_eq!(schedule.take(), Next::Do(task));
        schedule.finish(task);
    }
}

#[test]
fn partitions_are_filled_side_by_side_and_their_keys_come_before_that_of_the_table() {
    // Two partitions and one without rows; a key for each, and one for all.
    let partitions = vec![vec![0..1, 3..4], vec![1..2, 2..3], Vec::new()];
    let accounts = Job { partitions, ..job(100, 4, &[true, true, true, false]) };
    let mut schedule = scheduled(vec![accounts, job(10, 1, &[])], 2);
    assert!(schedule.is_split(0) && !schedule.vacuums(0));
    assert_eq!(schedule.useful_loaders(), 3);
    assert_eq!(schedule.take(), Next::Do(Task::Partition(0, 0)));
    assert_eq!(schedule.take(), Next::Do(Task::Partition(0, 1)));
    schedule.finish(Task::Partition(0, 0));
    assert_eq!(schedule.take(), Next::Do(Task::Whole(1)));
    schedule.finish(Task::Partition(0, 1));
    for index in [0, 1, 2] {
        assert_eq!(schedule.take(), Next::Do(Task::Index(0, index)));
    }
    schedule.finish(Task::Index(0, 0));
    schedule.finish(Task::Index(0, 2));
    assert_eq!(schedule.take(), Next::Wait, "one partition has no key yet");
    schedule.finish(Task::Index(0, 1));
    assert_eq!(schedule.take(), Next::Do(Task::Index(0, 3)));
    schedule.finish(Task::Index(0, 3));
    assert_eq!(schedule.take(), Next::Do(Task::Analyze(0)));
    // What a later load can go on with is committed in smaller pieces.
    let by_units = Job { unit: Some(1), routed: true, ..job(100, 4, &[]) };
    assert_eq!(filling(&[by_units], 2), [Filling::Shared]);
}

#[test]
fn rows_of_a_large_table_are_vacuumed_beside_those_who_copy_the_rest() {
    let large = Job { unit: Some(1), vacuumed_chunks: Some(2), ..job(600, 6, &[]) };
    let mut schedule = scheduled(vec![large], 2);
    let unit = |schedule: &mut Schedule, moment| {
        assert_eq!(schedule.take(), Next::Do(Task::Share(0, moment)));
        schedule.chunks(0).unwrap();
    };
    unit(&mut schedule, 1);
    unit(&mut schedule, 2);
    schedule.finish(Task::Share(0, 1));
    assert_eq!(schedule.take(), Next::Do(Task::FreezeBehind(0)));
    schedule.finish(Task::Share(0, 2));
    for moment in [6, 8, 10] {
        unit(&mut schedule, moment);
        schedule.finish(Task::Share(0, moment));
    }
    unit(&mut schedule, 12);
    assert!(!schedule.has_chunks(0), "one at a time");
    schedule.finish(Task::Share(0, 12));
    assert_eq!(schedule.take(), Next::Wait, "two vacuums of one table exclude each other");
    schedule.finish(Task::FreezeBehind(0));
    assert_eq!(schedule.take(), Next::Do(Task::Freeze(0)));
}
