//! Samples of the server's counters at the ends of the measured window, and before and after all clients.

use std::time::{Duration, Instant};

use pgdyno_net::ConnectOptions;
use pgdyno_server::{DiskReads, Sample, ServerWork};

use super::watch::Watch;
use crate::kept_session::KeptSession;

/// How long ended sessions may take to report their statistics.
const SETTLING: Duration = Duration::from_secs(3);

/// The server's processes are read every so many intervals, because some start and end. With many clients a reading
/// costs milliseconds.
const INTERVALS_PER_LOOK: u64 = 10;

/// Intervals between two looks at the session for samples, which has nothing to do between them.
const INTERVALS_PER_LOOK_IN: u64 = 2;

/// Samples of the server's counters.
pub(super) struct Samples<'a> {
    options: Option<&'a ConnectOptions>,
    session: Option<KeptSession>,
    reads: Option<DiskReads>,
    intervals: u64,
    before: Option<Sample>,
    window: (Option<Sample>, Option<Sample>),
}

/// What the server counted.
pub(super) struct Counted {
    /// In the measured window.
    pub(super) window: Option<ServerWork>,
    /// From before the first client connected until after the last one left.
    pub(super) whole: Option<ServerWork>,
    /// Bytes that its processes read from disks in the measured window, if known.
    pub(super) disk_reads: Option<DiskReads>,
}

impl<'a> Samples<'a> {
    pub(super) fn new(session: Option<KeptSession>, options: Option<&'a ConnectOptions>) -> Self {
        let mut samples = Self { options, session, reads: None, intervals: 0, before: None, window: (None, None) };
        samples.before = samples.take();
        samples
    }

    fn take(&mut self) -> Option<Sample> {
        match self.session.as_mut()?.ask(Sample::take) {
            Ok(sample) => sample,
            // The server is lost: the run reports why.
            Err(_) => {
                self.session = None;
                None
            }
        }
    }

    /// Forgets all: the server is not that of all clients.
    pub(super) fn leave_out(&mut self) {
        *self = Self { options: None, session: None, reads: None, intervals: 0, before: None, window: (None, None) };
    }

    /// Returns when the server of its session was started.
    pub(super) fn started(&self) -> Option<&str> {
        Some(self.session.as_ref()?.server()?.started.as_str())
    }

    /// Keeps the session alive after an interval.
    pub(super) fn look_in(&mut self) {
        self.intervals += 1;
        if self.intervals.is_multiple_of(INTERVALS_PER_LOOK_IN)
            && let Some(session) = &mut self.session
        {
            session.look_in();
        }
    }

    /// Returns the number of transactions that only kept the session alive.
    pub(super) fn looks(&self) -> u64 {
        self.session.as_ref().map_or(0, KeptSession::looks)
    }

    /// Samples at the start of the measured window.
    pub(super) fn open(&mut self, watch: Option<&Watch<'_>>) {
        if self.window.0.is_none() {
            watch.iter().for_each(|watch| watch.window_opens());
            self.window.0 = self.take();
            // If the connection is lost, the run reports why.
            let begin = |(admin, options)| DiskReads::begin(admin, options).ok().flatten();
            self.reads = self.session.as_mut().map(KeptSession::as_is).zip(self.options).and_then(begin);
        }
    }

    /// Samples after an interval of the window.
    pub(super) fn go_on(&mut self) {
        if self.intervals.is_multiple_of(INTERVALS_PER_LOOK)
            && let Some(reads) = &mut self.reads
        {
            reads.go_on();
        }
    }

    /// Samples at its end.
    pub(super) fn close(&mut self, watch: Option<&Watch<'_>>) {
        if self.window.1.is_none() {
            watch.iter().for_each(|watch| watch.window_closes());
            if let Some(reads) = &mut self.reads {
                reads.go_on();
            }
            self.window.1 = self.take();
        }
    }

    /// Waits until the sessions of the clients, which have disconnected, have reported, and returns what the server counted.
    pub(super) fn end(mut self) -> Counted {
        let after = self.settle();
        Counted {
            window: between(self.window.0.as_ref(), self.window.1.as_ref()),
            whole: between(self.before.as_ref(), after.as_ref()),
            disk_reads: self.reads,
        }
    }

    /// Waits until the sessions of the clients, which have disconnected, have reported: the counters no longer change
    /// then.
    fn settle(&mut self) -> Option<Sample> {
        let patience = Instant::now() + SETTLING;
        // Before PostgreSQL 15 the same figures are returned for half a second.
        let version = self.session.as_mut().and_then(|session| session.as_is().parameters().server_version_num());
        let pause = Duration::from_millis(if version.is_some_and(|version| version < 150_000) { 600 } else { 100 });
        let mut last = self.take()?;
        loop {
            std::thread::sleep(pause);
            let next = self.take()?;
            // The query itself counts as up to two transactions.
            let still = next.since(&last).is_none_or(|work| work.transactions() <= 3);
            if still || Instant::now() > patience {
                return Some(next);
            }
            last = next;
        }
    }
}

fn between(first: Option<&Sample>, last: Option<&Sample>) -> Option<ServerWork> {
    last?.since(first?)
}
