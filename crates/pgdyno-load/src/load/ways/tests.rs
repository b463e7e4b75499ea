use super::*;
use crate::load::cost::ServerSettings;

const GB: u64 = 1 << 30;

/// A server with PostgreSQL's own settings but for its memory.
fn given(major: u32) -> ServerSettings {
    ServerSettings {
        major,
        has_wal: true,
        full_page_writes: true,
        shared_buffers_bytes: 8 * GB,
        checkpoint_wal_bytes: 8 * GB,
        index_workers: 8,
    }
}

/// pgbench's accounts of this scale, and its small tables.
fn accounts(scale: u64) -> Vec<Job> {
    let accounts = Job { bytes: 15_000_000 * scale, chunks: scale, indexes: vec![false], ..Job::default() };
    let small = |bytes| Job { bytes, chunks: 1, indexes: vec![false], ..Job::default() };
    vec![accounts, small(4000 * scale), small(400 * scale)]
}

fn time(jobs: &[Job], filling: Filling, loaders: usize, server: ServerSettings) -> f64 {
    let costs = Costs::new(server, jobs.iter().map(|job| job.bytes).sum());
    seconds(jobs, vec![filling, Filling::Whole, Filling::Whole], loaders, &costs)
}

fn chosen(jobs: &[Job], loaders: usize, server: ServerSettings) -> Filling {
    ways(jobs, loaders, &Costs::new(server, jobs.iter().map(|job| job.bytes).sum()))[0].filling
}

#[test]
fn one_large_table_is_shared_where_the_vacuum_costs_less_than_the_wait() {
    assert_eq!(chosen(&accounts(50), 1, given(18)), Filling::Whole);
    assert_eq!(chosen(&accounts(50), 2, given(18)), Filling::Whole, "two halves and a vacuum are the whole");
    assert_eq!(chosen(&accounts(50), 4, given(18)), Filling::Shared);
    assert_eq!(chosen(&accounts(50), 8, given(15)), Filling::Whole, "its vacuum waits for the disk");
    // Without WAL for new tables one connection has less to do.
    let minimal = ServerSettings { has_wal: false, ..given(18) };
    assert_eq!(chosen(&accounts(50), 3, minimal), Filling::Whole);
    assert_eq!(chosen(&accounts(50), 8, minimal), Filling::Shared);
    // Checkpoints in between: the vacuum writes each page once more.
    let small_wal = ServerSettings { checkpoint_wal_bytes: GB / 8, ..given(18) };
    assert_eq!(chosen(&accounts(50), 3, small_wal), Filling::Whole);
    assert_eq!(chosen(&accounts(1), 8, given(18)), Filling::Whole, "a single chunk");
}

#[test]
fn tables_that_fill_all_loaders_are_not_shared() {
    let even: Vec<_> = (0..4).map(|_| Job { bytes: GB / 4, chunks: 100, ..Job::default() }).collect();
    let costs = Costs::new(given(18), GB);
    assert!(ways(&even, 2, &costs).iter().all(|way| way.filling == Filling::Whole));
    assert!(ways(&even, 16, &costs).iter().all(|way| way.filling == Filling::Shared));
}

/// `pgbench -i -s 50000`, 750 GB, on a machine with 64 CPUs.
#[test]
fn sixty_four_loaders_wait_for_one_vacuum_unless_the_table_has_partitions() {
    let scale = 50_000;
    let server = ServerSettings { shared_buffers_bytes: 64 * GB, checkpoint_wal_bytes: 32 * GB, ..given(18) };
    let alone = time(&accounts(scale), Filling::Whole, 1, server);
    let by_units = |vacuumed_chunks| {
        let mut jobs = accounts(scale);
        jobs[0] = Job { unit: Some(1), vacuumed_chunks, ..jobs[0].clone() };
        jobs
    };
    let vacuum_last = time(&by_units(None), Filling::Shared, 64, server);
    let vacuum_behind = time(&by_units(Some(scale / 50)), Filling::Shared, 64, server);
    let mut jobs = accounts(scale);
    jobs[0].partitions = (0..64).map(|n| std::iter::once(n * scale / 64..(n + 1) * scale / 64).collect()).collect();
    jobs[0].indexes = [vec![true; 64], vec![false]].concat();
    let partitions = time(&jobs, Filling::Partitions, 64, server);
    let relative = [vacuum_last, vacuum_behind, partitions].map(|time| (time / alone * 1000.0).round());
    assert!((700.0..800.0).contains(&relative[0]), "{relative:?}");
    assert!((600.0..700.0).contains(&relative[1]), "{relative:?}");
    assert!(relative[2] < 50.0, "{relative:?}");
}

#[test]
fn no_way_takes_longer_with_more_loaders() {
    for filling in [Filling::Whole, Filling::Shared] {
        let times: Vec<_> = [1, 2, 4, 8].map(|loaders| time(&accounts(100), filling, loaders, given(18))).into();
        assert!(times.windows(2).all(|pair| pair[1] <= pair[0] * 1.001), "{filling:?}: {times:?}");
    }
}
