//! A run for tests.

use std::time::Instant;

use pgdyno_measure::{Interval, Phase, Recorder, WorkerUsage};
use pgdyno_server::Frame;

use super::Model;
use super::facts::Facts;
use super::messages::Messages;

/// Returns a frame of a source; an empty cell is unknown.
pub(crate) fn frame(source: &'static str, columns: &'static [&'static str], rows: &[&[&str]]) -> Frame {
    let cell = |text: &&str| (!text.is_empty()).then(|| (*text).to_owned());
    let rows = rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    Frame { source, at: Instant::now(), columns, rows }
}

/// Returns a second of a run, in which `committed` transactions of each of two kinds were committed.
pub(crate) fn second(nth: u64, phase: Phase, committed: u64) -> Interval {
    let mut recorder = Recorder::new(2, 0, false);
    for kind in 0..2 {
        for n in 0..committed {
            recorder.started(kind);
            let latency_ns = (1 + n % 20) * 500_000 * (1 + kind as u64);
            recorder.completed(kind, true, latency_ns, latency_ns, false);
        }
    }
    let (start_ns, end_ns) = (nth * 1_000_000_000, (nth + 1) * 1_000_000_000);
    let workers = vec![WorkerUsage::default()];
    Interval {
        index: nth,
        stage: 0,
        phase,
        start_ns,
        end_ns,
        part: recorder.take(),
        in_flight: 16,
        workers,
        groups: vec![],
    }
}

/// Returns a run of 3 s of warm-up and 30 s, without any events.
pub(crate) fn begun() -> Model {
    let facts = Facts {
        workload: "tproc-c, 10 warehouses".to_owned(),
        drivers: "16 clients, 2 threads".to_owned(),
        target: "host=db1 dbname=bench".to_owned(),
        has_server: true,
        unsampled: false,
        links: 16,
        ramp_s: 3.0,
        time_s: Some(30.0),
        transactions: None,
        scheduled: false,
        txns: vec!["new-order".to_owned(), "payment".to_owned()],
    };
    Model::new(facts, Messages::default())
}

/// Returns the same after 15 s, with samples of all sources; the view started 1 s before the run.
pub(crate) fn measuring() -> Model {
    let mut model = begun();
    model.connecting(16);
    for nth in 0..15 {
        let phase = if nth < 3 { Phase::Ramp } else { Phase::Measure };
        model.interval(nth as f64 + 2.0, &second(nth, phase, 300 + 40 * (nth * 7 % 5)));
    }
    for at_s in [13.0, 14.0] {
        sampled(&mut model, at_s);
    }
    model.messages.say("warning: the driver's threads waited for a CPU for 12.0 % of the time");
    model
}

fn sampled(model: &mut Model, at_s: f64) {
    let growing = |per_s: f64| format!("{:.0}", per_s * at_s);
    let waits: &[&[&str]] = &[
        &["client backend", "CPU", "CPU", "41", "10"],
        &["client backend", "LWLock", "WALWrite", "63", "10"],
        &["client backend", "Lock", "transactionid", "22", "10"],
        &["checkpointer", "IO", "DataFileWrite", "4", "10"],
    ];
    let processes: &[&[&str]] = &[
        &["client backend", "2.81", "16"],
        &["walwriter", "0.22", "1"],
        &["driver", "0.61", "1"],
        &["other", "0.35", "140"],
    ];
    let wal = growing(18e6);
    let (hit, read) = (growing(50_000.0), growing(400.0));
    let frames = [
        frame("waits", &["backend_type", "wait_event_type", "wait_event", "samples", "looks"], waits),
        frame("processes", &["kind", "cpus", "count"], processes),
        frame(
            "machine",
            &["cpus", "busy_cpus", "disk_read_bytes_per_s", "disk_write_bytes_per_s", "disk_busy"],
            &[&["8", "4.1", "3200000", "41000000", "0.45"]],
        ),
        frame("wal", &["wal_records", "wal_fpi", "lsn_bytes"], &[&[&growing(9000.0), &growing(700.0), &wal]]),
        frame("checkpointer", &["buffers_written", "redo_lsn_bytes"], &[&[&growing(1200.0), &growing(1e6)]]),
        frame("database", &["blks_hit", "blks_read", "temp_bytes"], &[&[&hit, &read, "0"]]),
        frame(
            "locks",
            &["locktype", "mode", "relation", "waiting", "longest_wait_s"],
            &[&["transactionid", "ShareLock", "", "3", "0.8"]],
        ),
        frame(
            "vacuum",
            &["schema", "table", "autovacuum", "phase", "heap_blks_total", "heap_blks_scanned"],
            &[&["public", "stock", "true", "scanning heap", "1000", "450"]],
        ),
    ];
    for frame in &frames {
        model.sampled(at_s, frame);
    }
}
