//! Runs that nobody made, with samples of everything that can be sampled.

use std::path::Path;

use pgdyno_report::html::ReportRun;
use pgdyno_results::{
    EventRecord, FindingRecord, IntervalLatency, IntervalRecord, LatencyLine, LatencyRecord, LeftOutRecord,
    LevelChangeRecord, MachineRecord, RunRecord, SampleFiles, SamplesRecord, Timeline, read_samples,
};

/// A record that is none of a particular run.
pub(crate) fn record() -> RunRecord {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
    pgdyno_results::read_record(&path).unwrap()
}

/// The same numbers each time, from 0 to 1.
fn noise(nth: u32, of: u32) -> f64 {
    f64::from((nth.wrapping_mul(2_654_435_761) ^ of.wrapping_mul(40_503)) % 1009) / 1008.0
}

/// A run of so many seconds with these names of transactions.
pub(crate) fn run(name: &str, seconds: u32, transactions: &[&str]) -> ReportRun {
    let phase = |nth| match nth {
        0..20 => "ramp",
        nth if nth + 2 < seconds => "measure",
        _ => "drain",
    };
    let latency = IntervalLatency { p50: 1_000_000, p95: 3_000_000, p99: 4_000_000, max: 90_000_000, mean: None };
    let interval = |nth: u32| IntervalRecord {
        phase: phase(nth).to_owned(),
        start_s: f64::from(nth),
        end_s: f64::from(nth) + 1.0,
        committed: 100 + u64::from(nth % 7),
        retries: u64::from(nth % 5),
        client_cpu_s: 0.1,
        in_flight: 8,
        response_latency_ns: (!nth.is_multiple_of(11)).then_some(latency),
        ..Default::default()
    };
    let intervals = (0..seconds).map(interval).collect();
    let mut run = ReportRun::new(record(), Timeline { intervals, ..Timeline::default() });
    run.name = name.to_owned();
    for (nth, transaction) in (0..seconds).flat_map(|nth| transactions.iter().map(move |name| (nth, *name))) {
        run.latencies.add(&LatencyLine {
            transaction: transaction.to_owned(),
            response: false,
            start_s: f64::from(nth),
            counts: vec![(1_000_000 + u64::from(nth % 120) * 10_000, 90), (3_000_000, 9), (90_000_000, 1)],
        });
    }
    run
}

type Row = Vec<Option<String>>;

/// What the samples of a run look like, all names ending in `mark`.
struct Seen<'a> {
    files: SampleFiles,
    mark: &'a str,
}

impl Seen<'_> {
    fn row(&mut self, source: &str, at_s: f64, columns: &[&str], row: Row) {
        self.files.append(source, at_s, columns, &[row]);
    }

    /// A counter that grows by about so much each second, or a gauge that stands at it.
    fn numbers(&mut self, source: &str, at_s: f64, columns: &[&str], values: &[f64]) {
        self.row(source, at_s, columns, values.iter().map(|v| Some(v.to_string())).collect());
    }

    fn named(&self, names: &[&str], values: &[f64]) -> Row {
        let names = names.iter().map(|name| Some(format!("{name}{}", self.mark)));
        names.chain(values.iter().map(|value| Some(value.to_string()))).collect()
    }

    fn second(&mut self, nth: u32) {
        let at_s = f64::from(nth) + 0.004;
        let t = f64::from(nth);
        let n = |of| noise(nth, of);
        let columns = ["blks_hit", "blks_read", "blk_read_time_ms", "temp_bytes"];
        self.numbers("database", at_s, &columns, &[t * 9900.0, t * 90.0 + n(1), t * 40.0, t * 1e5]);
        let columns = ["wal_bytes", "wal_fpi", "wal_sync", "wal_sync_time_ms"];
        let storm = if nth % 60 > 45 { t * 9.0 } else { 0.0 };
        self.numbers("wal", at_s, &columns, &[t * 9e6 + n(2) * 8e6, t * 300.0 + storm, t * 200.0, t * 700.0]);
        let waits = ["backend_type", "wait_event_type", "wait_event", "samples", "looks"];
        for (of, (kind, event, count)) in [
            ("CPU", "CPU", 21.0),
            ("LWLock", "WALWrite", 24.0),
            ("IO", "WalSync", 9.0),
            ("IO", "DataFileRead", 12.0),
            ("Lock", "transactionid", 14.0),
            ("Lock", "tuple", 6.0),
            ("Client", "ClientRead", 6.0),
            ("LWLock", "BufferContent", 4.0),
            ("IPC", "ProcarrayGroupUpdate", 2.0),
            ("Timeout", "VacuumDelay", 1.0),
            ("LWLock", "LockManager", 0.7),
        ]
        .into_iter()
        .enumerate()
        {
            let event = format!("{event}{}", if kind == "CPU" { "" } else { self.mark });
            let samples = (count * (0.5 + noise(nth, of as u32 + 7))).round().to_string();
            let row = ["client backend", kind, &event, &samples, "10"].map(|cell| Some(cell.to_owned())).to_vec();
            self.row("waits", at_s, &waits, row);
        }
        let row = ["checkpointer", "IO", "DataFileWrite", "4", "10"].map(|cell| Some(cell.to_owned())).to_vec();
        self.row("waits", at_s, &waits, row);
        for (backend, object, each) in
            [("client backend", "relation", 40.0), ("checkpointer", "relation", 200.0), ("walwriter", "wal", 90.0)]
        {
            let columns =
                ["backend_type", "object", "context", "reads", "read_bytes", "read_time_ms", "writes", "write_bytes"];
            let values = [t * each, t * each * 8192.0, t * 9.0, t * each, t * each * 8192.0];
            let row = self.named(&[backend, object, "normal"], &values);
            let row = [vec![Some(backend.to_owned()), Some(object.to_owned())], row[2..].to_vec()].concat();
            self.row("io", at_s, &columns, row);
        }
        if nth % 7 < 3 {
            let columns = ["locktype", "mode", "relation", "waiting", "longest_wait_s"];
            let row = self.named(&["tuple", "ExclusiveLock", "public.stock"], &[1.0 + (n(3) * 5.0).round(), n(4)]);
            self.row("locks", at_s, &columns, row);
        }
        let columns = ["application_name", "flush_lag_s", "replay_lag_s", "lag_bytes"];
        let row = self.named(&["standby"], &[0.002 + n(5) / 100.0, 0.01 + n(6) / 20.0, n(7) * 1e6]);
        self.row("replication", at_s, &columns, row);
        self.numbers("citus", at_s, &["query_execution_single_shard", "stats_reset"], &[t * 50.0, 0.0]);
        self.machines(nth);
        if nth.is_multiple_of(10) {
            let columns = ["schema", "table", "n_dead_tup", "heap_bytes", "index_bytes"];
            for (table, rows) in [("stock", 30.0), ("customer", 10.0), ("district", 1.0)] {
                let row = self.named(&["public", table], &[rows * f64::from(nth % 40), t * rows * 900.0, t * rows]);
                self.row("tables", at_s, &columns, row);
            }
        }
    }

    fn machines(&mut self, nth: u32) {
        let at_s = f64::from(nth) + 0.004;
        let n = |of| noise(nth, of);
        let columns = [
            "cpus",
            "user_cpus",
            "system_cpus",
            "iowait_cpus",
            "steal_cpus",
            "memory_bytes",
            "available_bytes",
            "dirty_bytes",
            "disk_read_bytes_per_s",
            "disk_write_bytes_per_s",
            "disk_busy",
            "net_receive_bytes_per_s",
            "net_send_bytes_per_s",
        ];
        let values =
            [8.0, 3.0 + n(8), 1.0 + n(9), n(10), 0.1, 32e9, 20e9 - 1e9 * n(11), 1e8 * n(12), 2e6, 4e7 * n(13), n(14)];
        self.numbers("machine", at_s, &columns, &[&values[..], &[1e6, 3e6]].concat());
        self.numbers("driver_machine", at_s, &columns[..3], &values[..3]);
        let kinds =
            [("client backend", 3.0), ("walwriter", 0.4), ("checkpointer", 0.2), ("driver", 0.5), ("other", 1.0)];
        for (of, (kind, cpus)) in kinds.into_iter().enumerate() {
            let row = vec![Some(kind.to_owned()), Some((cpus * (0.6 + noise(nth, of as u32))).to_string()), None];
            self.row("processes", at_s, &["kind", "cpus", "count"], row);
        }
    }
}

/// Samples of so many seconds of everything, in a run directory; names of the server's end in `mark`.
pub(crate) fn write_samples(directory: &Path, seconds: u32, mark: &str) {
    let mut seen = Seen { files: SampleFiles::of_run(directory), mark };
    (0..seconds).for_each(|nth| seen.second(nth));
    let columns = ["queryid", "query", "calls", "total_exec_time_ms", "mean_exec_time_ms", "rows", "wal_bytes"];
    for (query, ms) in [("UPDATE stock SET s_quantity = $1", 4000.0), ("SELECT $1", 100.0)] {
        let row = [vec![None], seen.named(&[query], &[1000.0, ms, ms / 1000.0, 1000.0, 1e6])].concat();
        seen.row("statements", f64::from(seconds), &columns, row);
    }
    assert_eq!(seen.files.failure(), None);
}

/// The run with samples of everything, and with what a diagnosis makes of them; names of the server's end in `mark`.
pub(crate) fn with_samples(mut run: ReportRun, mark: &str) -> ReportRun {
    let directory = tempfile::tempdir().unwrap();
    let seconds = run.timeline.intervals.len() as u32;
    write_samples(directory.path(), seconds, mark);
    run.samples = read_samples(directory.path()).unwrap();
    run.record = diagnosed(run.record, seconds, mark);
    run
}

fn diagnosed(mut record: RunRecord, seconds: u32, mark: &str) -> RunRecord {
    let event = |kind: &str, from_s: f64, until_s| EventRecord {
        kind: kind.to_owned(),
        text: format!("{kind} of something{mark}"),
        from_s,
        until_s,
    };
    let end = f64::from(seconds);
    record.events = vec![
        event("checkpoint", end * 0.4, Some(end * 0.7)),
        event("autovacuum", end * 0.5, Some(end * 0.52)),
        event("stall", end * 0.8, Some(end * 0.81)),
        event("restart", end * 0.9, None),
    ];
    let finding = |text: &str, weight| FindingRecord {
        rule: "rule".to_owned(),
        text: format!("{text}{mark}"),
        weight,
        evidence: vec![format!("4.1 ms for one sync{mark}"), "9.1 MB/s of WAL".to_owned()],
        advice: Some(format!("a faster disk for the WAL{mark}")),
        also_seen: false,
        ..FindingRecord::default()
    };
    record.findings = vec![finding("63 % of active samples waited for WAL", 0.63), finding("rows were locked", 0.2)];
    record.samples = Some(SamplesRecord {
        sources: vec!["waits".to_owned(), "wal".to_owned()],
        left_out: vec![LeftOutRecord { source: "statements".to_owned(), why: format!("no extension{mark}") }],
        notes: vec![format!("at 12.0 s the statistics were reset{mark}")],
        queries: 1234,
        query_s: 0.5,
        server_cpu_s: Some(0.4),
        watched_s: end,
        ..SamplesRecord::default()
    });
    record.server_machine = Some(MachineRecord {
        seen_by: format!("local{mark}"),
        cpus: Some(8.0),
        memory_bytes: Some(32 << 30),
        busy_cpus: Some(5.1),
        server_cpus: [("client backend".to_owned(), 3.0), (format!("walwriter{mark}"), 0.5)].into(),
        driver_cpus: Some(0.5),
        other_cpus: Some(1.1),
        ..MachineRecord::default()
    });
    record.client.read_delay_ns = Some(LatencyRecord { p50: 900, p99: 40_000, max: 2_000_000, ..Default::default() });
    record.client.clock_read_ns = Some(24.0);
    if let Some(summary) = &mut record.summary {
        summary.level_changes = vec![LevelChangeRecord { at_s: end * 0.6, tps_before: 100.0, tps_after: 104.0 }];
        summary.ramp_s_proposed = Some(35.0);
        summary.server_cpu_percent = Some(63.8);
    }
    record
}
