//! How far readers are behind the target while the clients drive: a marker is committed on the target ten times a second, and
//! each reader is asked until it has replayed it.
//!
//! A marker is a message in the WAL within a transaction of its own: no table is needed, and no right. All times are those of the
//! driver's clock. They count from before the marker is sent until its replay is seen, so that none is too small.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, AdminError, ConnectOptions};
use pgdyno_results::StalenessRecord;

use crate::target::readers::Reader;

/// Time between two markers.
const EVERY: Duration = Duration::from_millis(100);
/// Time between two looks at a reader: soon after a marker, and later.
const LOOK: Duration = Duration::from_millis(2);
const LATE_LOOK: Duration = Duration::from_millis(10);
/// How long a marker is looked for often.
const SOON: Duration = Duration::from_millis(50);
/// How long a server may take to answer: the run waits for the last answer at its end.
const ANSWERING: Duration = Duration::from_secs(5);
/// Time after which a lost session is opened again.
const AGAIN: Duration = Duration::from_millis(200);
/// The session of the markers does not wait for standbys: it measures them.
const ALONE: &str = "set synchronous_commit = local";
const MARK: &str = "select pg_logical_emit_message(true, 'pgdyno', 'marker')";
const POSITION: &str = "select pg_current_wal_flush_lsn()";
const REPLAYED: &str = "select pg_last_wal_replay_lsn()";

/// What was measured of a reader, or why nothing was.
pub(super) type Measured = Result<StalenessRecord, String>;

/// The threads that measure.
pub(super) struct Staleness<'scope> {
    shared: Arc<Shared>,
    marker: ScopedJoinHandle<'scope, Option<String>>,
    /// By reader; `Err` says why one is not measured.
    readers: Vec<Result<ScopedJoinHandle<'scope, Measured>, String>>,
}

#[derive(Default)]
struct Shared {
    /// By reader, the markers that it has not replayed.
    pending: Vec<Mutex<VecDeque<Marker>>>,
    /// Whether the measured window is open.
    is_open: AtomicBool,
    is_over: AtomicBool,
    /// Transactions of the markers on the target.
    transactions: AtomicU64,
}

/// A marker that was committed.
#[derive(Clone, Copy)]
struct Marker {
    /// Before it was sent.
    sent: Instant,
    position: u64,
}

impl<'scope> Staleness<'scope> {
    /// Starts the threads.
    pub(super) fn begin<'env>(
        scope: &'scope Scope<'scope, 'env>,
        target: &'env ConnectOptions,
        readers: &'env [Reader],
    ) -> Self {
        let pending = readers.iter().map(|_| Mutex::default()).collect();
        let shared = Arc::new(Shared { pending, ..Shared::default() });
        let looks = readers.iter().enumerate().map(|(nth, reader)| match &reader.is_apart {
            Some(why) => Err(why.clone()),
            None => {
                let shared = Arc::clone(&shared);
                Ok(scope.spawn(move || look(nth, &reader.options, &shared)))
            }
        });
        let looks = looks.collect();
        let of_marker = Arc::clone(&shared);
        let marker = scope.spawn(move || mark(target, &of_marker));
        Self { shared, marker, readers: looks }
    }

    /// Begins the measured window.
    pub(super) fn open(&self) {
        self.shared.is_open.store(true, Ordering::Release);
    }

    /// Ends the measured window.
    pub(super) fn close(&self) {
        self.shared.is_open.store(false, Ordering::Release);
    }

    /// Ends the threads. Returns what was measured of each reader, and the transactions that the target counted for it.
    pub(super) fn end(self) -> (Vec<Measured>, u64) {
        self.shared.is_over.store(true, Ordering::Release);
        // A panic was reported.
        let failed = self.marker.join().unwrap_or_default();
        let of_reader = |reader: Result<ScopedJoinHandle<'_, Measured>, String>| {
            let measured = reader?.join().unwrap_or_else(|_| Err("its thread panicked".to_owned()));
            match (&failed, measured) {
                (Some(why), Err(_)) => Err(format!("no marker could be written: {why}")),
                (_, measured) => measured,
            }
        };
        let measured = self.readers.into_iter().map(of_reader).collect();
        (measured, self.shared.transactions.load(Ordering::Acquire))
    }
}

impl Shared {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Adds a marker for each reader.
    fn push(&self, marker: Marker) {
        for pending in &self.pending {
            pending.lock().unwrap_or_else(PoisonError::into_inner).push_back(marker);
        }
    }

    /// Returns the oldest marker that a reader has not replayed.
    fn oldest(&self, reader: usize) -> Option<Marker> {
        self.pending[reader].lock().unwrap_or_else(PoisonError::into_inner).front().copied()
    }

    /// Removes the markers that a reader has replayed, and returns them.
    fn take(&self, reader: usize, replayed: u64) -> Vec<Marker> {
        let mut pending = self.pending[reader].lock().unwrap_or_else(PoisonError::into_inner);
        let passed = pending.iter().take_while(|marker| marker.position <= replayed).count();
        pending.drain(..passed).collect()
    }
}

/// Commits markers until the run is over. Returns why the last one failed, if it did.
fn mark(target: &ConnectOptions, shared: &Shared) -> Option<String> {
    let (mut session, mut failed, mut next): (Option<Admin>, _, _) = (None, None, Instant::now());
    while !shared.is_over() {
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
        next += EVERY;
        if !shared.is_open.load(Ordering::Acquire) {
            continue;
        }
        match session.take().map_or_else(|| opened(target), Ok) {
            Ok(mut admin) => {
                let sent = Instant::now();
                let marked = admin.execute(MARK).and_then(|_| admin.query_opt(POSITION));
                shared.transactions.fetch_add(2, Ordering::AcqRel);
                failed = marked.as_ref().err().map(ToString::to_string);
                if let Some(position) = marked.ok().flatten().and_then(|text| position(&text)) {
                    shared.push(Marker { sent, position });
                    session = Some(admin);
                }
            }
            Err(why) => {
                failed = Some(why);
                next = Instant::now() + AGAIN;
            }
        }
        // After an outage they are not made up for.
        next = next.max(Instant::now());
    }
    failed
}

/// Opens the session of the markers.
fn opened(target: &ConnectOptions) -> Result<Admin, String> {
    let mut admin = Admin::connect(&target.with_answer_timeout(ANSWERING)).map_err(|error| error.to_string())?;
    admin.execute(ALONE).map_err(|error| error.to_string())?;
    Ok(admin)
}

/// Looks at a reader until the run is over.
fn look(nth: usize, options: &ConnectOptions, shared: &Shared) -> Measured {
    let options = options.with_answer_timeout(ANSWERING);
    let mut session: Option<Admin> = None;
    let (mut ages_ms, mut gaps_ms): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let (mut last_look, mut failed): (Option<Instant>, Option<String>) = (None, None);
    while !shared.is_over() {
        let Some(oldest) = shared.oldest(nth) else {
            last_look = None;
            std::thread::sleep(LOOK);
            continue;
        };
        let looked = match session.take() {
            Some(admin) => replayed(admin),
            None => Admin::connect(&options).map_err(|error| error.to_string()).and_then(replayed),
        };
        let now = Instant::now();
        match looked {
            Ok((admin, position)) => {
                session = Some(admin);
                let passed = shared.take(nth, position);
                ages_ms.extend(passed.iter().map(|marker| ms(now.duration_since(marker.sent))));
                gaps_ms.extend(last_look.map(|last| ms(now.duration_since(last))));
                last_look = Some(now);
                std::thread::sleep(if now.duration_since(oldest.sent) < SOON { LOOK } else { LATE_LOOK });
            }
            Err(why) => {
                failed = Some(why);
                std::thread::sleep(AGAIN);
            }
        }
    }
    // What was not replayed is at least as old as its marker.
    let now = Instant::now();
    let unseen: Vec<f64> =
        shared.take(nth, u64::MAX).iter().map(|marker| ms(now.duration_since(marker.sent))).collect();
    let record = summary(ages_ms, &unseen, gaps_ms);
    record.ok_or_else(|| failed.unwrap_or_else(|| "no marker was written".to_owned()))
}

/// Returns the position up to which a reader has replayed.
fn replayed(mut admin: Admin) -> Result<(Admin, u64), String> {
    let answer = admin.query_opt(REPLAYED).map_err(|error: AdminError| error.to_string())?;
    let position = answer.as_deref().and_then(position);
    position.map(|position| (admin, position)).ok_or_else(|| "it replays nothing".to_owned())
}

/// Returns a position in the WAL, such as `1/A0`, as a number.
fn position(text: &str) -> Option<u64> {
    let (high, low) = text.split_once('/')?;
    let part = |text| u32::from_str_radix(text, 16).ok().map(u64::from);
    Some(part(high)? << 32 | part(low)?)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Returns the figures of these ages, in milliseconds; `None` if there are none. `gaps_ms` are the times between two looks.
fn summary(mut ages_ms: Vec<f64>, unseen_ms: &[f64], mut gaps_ms: Vec<f64>) -> Option<StalenessRecord> {
    ages_ms.extend(unseen_ms);
    ages_ms.sort_by(f64::total_cmp);
    gaps_ms.sort_by(f64::total_cmp);
    let at = |values: &[f64], quantile: f64| {
        let rank = (quantile * values.len() as f64).ceil() as usize;
        values.get(rank.max(1) - 1).copied()
    };
    Some(StalenessRecord {
        p50_ms: at(&ages_ms, 0.5)?,
        p95_ms: at(&ages_ms, 0.95)?,
        max_ms: at(&ages_ms, 1.0)?,
        markers: ages_ms.len() as u64,
        unseen: unseen_ms.len() as u64,
        resolution_ms: at(&gaps_ms, 0.95).unwrap_or_else(|| ms(LOOK)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_two_hexadecimal_numbers() {
        assert_eq!(position("0/1A"), Some(26));
        assert_eq!(position("1/0"), Some(1 << 32));
        assert_eq!(["", "1", "x/1", "1/x"].map(position), [None; 4]);
    }

    #[test]
    fn a_reader_has_the_markers_up_to_its_position() {
        let shared = Shared { pending: vec![Mutex::default(), Mutex::default()], ..Shared::default() };
        let sent = Instant::now();
        (1..=3).for_each(|position| shared.push(Marker { sent, position }));
        assert_eq!(shared.take(0, 2).len(), 2);
        assert_eq!(shared.oldest(0).map(|marker| marker.position), Some(3));
        assert_eq!(shared.take(0, 2).len(), 0);
        assert_eq!(shared.take(1, u64::MAX).len(), 3);
    }

    #[test]
    fn what_was_never_replayed_counts_with_its_age() {
        let ages: Vec<f64> = (1..=19).map(f64::from).collect();
        let figures = summary(ages, &[500.0], vec![3.0, 2.0]).unwrap();
        assert_eq!((figures.p50_ms, figures.p95_ms, figures.max_ms), (10.0, 19.0, 500.0));
        assert_eq!((figures.markers, figures.unseen, figures.resolution_ms), (20, 1, 3.0));
        assert_eq!(summary(Vec::new(), &[], vec![1.0]), None);
    }
}
