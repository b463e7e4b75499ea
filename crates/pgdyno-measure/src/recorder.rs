//! Counts of one engine thread in one interval.

use pgdyno_wire::ErrorClass;

use crate::{ClientSpread, ClientWork, Delays, InFlight, Latency, StatementRows};

/// Counters and latencies of one kind of transaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TxnPart {
    /// Transactions that began.
    pub started: u64,
    /// Transactions that were committed.
    pub committed: u64,
    /// Transactions that the workload itself rolled back (TPC-C clause 2.4.1.4).
    pub rolled_back: u64,
    /// Transactions that failed for good, by class, in the order of [`ErrorClass::ALL`].
    pub failed: [u64; ErrorClass::ALL.len()],
    /// Transactions that were tried more than once.
    pub retried: u64,
    /// Tries after the first.
    pub retries: u64,
    /// Scheduled transactions that did not begin, because they were later than the limit.
    pub skipped: u64,
    /// Transactions that took longer than the latency limit.
    pub late: u64,
    /// Service time: first byte sent to ReadyForQuery, of completed transactions.
    pub service: Latency,
    /// Response time: intended start to ReadyForQuery. Kept only if a schedule makes it differ from the service time.
    pub response: Option<Latency>,
    /// Schedule lag: intended start to first byte sent, of completed transactions. Kept only with a schedule.
    pub lag: Option<Latency>,
}

impl TxnPart {
    fn new(scheduled: bool) -> Self {
        let latency = || scheduled.then(Latency::default);
        Self { response: latency(), lag: latency(), ..Self::default() }
    }

    /// Returns the transactions that ended without an error.
    #[must_use]
    pub fn completed(&self) -> u64 {
        self.committed + self.rolled_back
    }

    /// Returns the transactions that failed for good, of all classes.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Returns the latency that a user experiences: response time with a schedule, else service time.
    #[must_use]
    pub fn response_or_service(&self) -> &Latency {
        self.response.as_ref().unwrap_or(&self.service)
    }

    /// Adds another part of the same kind.
    pub fn merge(&mut self, other: &Self) {
        self.started += other.started;
        self.committed += other.committed;
        self.rolled_back += other.rolled_back;
        for (mine, theirs) in self.failed.iter_mut().zip(other.failed) {
            *mine += theirs;
        }
        self.retried += other.retried;
        self.retries += other.retries;
        self.skipped += other.skipped;
        self.late += other.late;
        self.service.merge(&other.service);
        for (mine, theirs) in [(&mut self.response, &other.response), (&mut self.lag, &other.lag)] {
            if let Some(theirs) = theirs {
                mine.get_or_insert_default().merge(theirs);
            }
        }
    }
}

/// Counters and latencies of one statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StmtPart {
    /// Executions that failed.
    pub failed: u64,
    /// Executions that failed and whose transaction was retried.
    pub retried: u64,
    /// Time from sending it, or from the end of the statement before it in the same batch, to its end.
    pub latency: Latency,
    /// Rows that it returned, if they were counted.
    pub rows: Option<Box<StatementRows>>,
}

impl StmtPart {
    /// Adds another part of the same statement.
    pub fn merge(&mut self, other: &Self) {
        self.failed += other.failed;
        self.retried += other.retried;
        self.latency.merge(&other.latency);
        if let Some(rows) = &other.rows {
            self.rows.get_or_insert_default().merge(rows);
        }
    }
}

/// Counts of one thread, or of all threads, in some time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThreadCounts {
    /// By kind of transaction.
    pub txns: Vec<TxnPart>,
    /// By statement.
    pub stmts: Vec<StmtPart>,
    /// Connections lost.
    pub lost: u64,
    /// Connections replaced after a loss.
    pub reconnected: u64,
    /// Longest time of a client without its connection.
    pub outage_ns_max: u64,
    /// Connections opened for one transaction each.
    pub connected: u64,
    /// Total time of opening these.
    pub connecting_ns: u64,
    /// Notices of the server that were dropped because too many were waiting.
    pub notices_dropped: u64,
    /// Arrivals of the schedule up to the end of the run; `None` without a schedule, or before its end.
    pub scheduled: Option<u64>,
    /// Transactions that were due and had not begun at the end of the run, for lack of a free client or connection.
    pub still_waiting: u64,
    /// Waiting time of the one of these that was due first.
    pub still_waiting_ns_max: u64,
    /// Transactions that had begun and not ended at the end of the measured window.
    pub in_flight: Vec<InFlight>,
    /// What each client did in the measured window, at its end.
    pub clients: ClientSpread,
    /// When the first text was sent, from the start of the stage, if that was at its start.
    pub first_text_ns: Option<u64>,
    /// Counts of the workload beside transactions.
    pub tallies: Vec<u64>,
    /// Time from the wake-up of a thread that found several replies to the reading of each; 0 for a single reply.
    pub read_delay: Delays,
    /// Delay between a timer's time and its service.
    pub timer_lateness: Delays,
}

/// With more statements than this, their latencies have no percentiles: each histogram takes 290 kB.
const HISTOGRAMS: usize = 500;

impl ThreadCounts {
    /// Returns an empty part for so many kinds of transactions and statements.
    #[must_use]
    pub fn new(txns: usize, stmts: usize, scheduled: bool) -> Self {
        Self {
            txns: (0..txns).map(|_| TxnPart::new(scheduled)).collect(),
            stmts: vec![
                StmtPart {
                    latency: if stmts > HISTOGRAMS { Latency::sums_only() } else { Latency::default() },
                    ..StmtPart::default()
                };
                stmts
            ],
            ..Self::default()
        }
    }

    /// Adds another part of the same shape; an empty part takes the other's shape.
    pub fn merge(&mut self, other: &Self) {
        self.txns.resize_with(self.txns.len().max(other.txns.len()), TxnPart::default);
        self.stmts.resize_with(self.stmts.len().max(other.stmts.len()), StmtPart::default);
        for (mine, theirs) in self.txns.iter_mut().zip(&other.txns) {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.stmts.iter_mut().zip(&other.stmts) {
            mine.merge(theirs);
        }
        self.lost += other.lost;
        self.reconnected += other.reconnected;
        self.outage_ns_max = self.outage_ns_max.max(other.outage_ns_max);
        self.connected += other.connected;
        self.connecting_ns += other.connecting_ns;
        self.notices_dropped += other.notices_dropped;
        if let Some(scheduled) = other.scheduled {
            *self.scheduled.get_or_insert_default() += scheduled;
        }
        self.still_waiting += other.still_waiting;
        self.still_waiting_ns_max = self.still_waiting_ns_max.max(other.still_waiting_ns_max);
        self.in_flight.extend_from_slice(&other.in_flight);
        self.clients.merge(&other.clients);
        self.first_text_ns = [self.first_text_ns, other.first_text_ns].into_iter().flatten().min();
        self.tallies.resize(self.tallies.len().max(other.tallies.len()), 0);
        for (mine, theirs) in self.tallies.iter_mut().zip(&other.tallies) {
            *mine += theirs;
        }
        self.read_delay.merge(&other.read_delay);
        self.timer_lateness.merge(&other.timer_lateness);
    }

    /// Returns the sum of all kinds of transactions.
    #[must_use]
    pub fn all(&self) -> TxnPart {
        let mut all = TxnPart::default();
        for txn in &self.txns {
            all.merge(txn);
        }
        all
    }
}

/// Records the part of a thread.
#[derive(Debug)]
pub struct Recorder {
    part: ThreadCounts,
    scheduled: bool,
    in_flight: u64,
}

impl Recorder {
    /// Returns a recorder for so many kinds of transactions and statements; it ignores others. `scheduled` keeps
    /// response times apart from service times, because they differ with a rate.
    #[must_use]
    pub fn new(txns: usize, stmts: usize, scheduled: bool) -> Self {
        Self { part: ThreadCounts::new(txns, stmts, scheduled), scheduled, in_flight: 0 }
    }

    /// Keeps response times apart from service times, as with a rate: clients wait before their transactions begin.
    /// Drops earlier counts.
    pub fn schedule(&mut self) {
        self.scheduled = true;
        self.take();
    }

    /// Counts this many tallies beside transactions.
    pub fn count_tallies(&mut self, tallies: usize) {
        self.part.tallies = vec![0; tallies];
    }

    /// Returns the tallies, to add to them.
    #[inline]
    pub fn tallies(&mut self) -> &mut [u64] {
        &mut self.part.tallies
    }

    /// Returns the counts since the last call.
    pub fn take(&mut self) -> ThreadCounts {
        let mut empty = ThreadCounts::new(self.part.txns.len(), self.part.stmts.len(), self.scheduled);
        empty.tallies = vec![0; self.part.tallies.len()];
        std::mem::replace(&mut self.part, empty)
    }

    /// Returns the number of transactions in flight.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Counts the start of a transaction.
    #[inline]
    pub fn started(&mut self, txn: usize) {
        self.part.txns[txn].started += 1;
        self.in_flight += 1;
    }

    /// Counts scheduled transactions that were skipped.
    pub fn skipped(&mut self, txn: usize, count: u64) {
        self.part.txns[txn].skipped += count;
    }

    /// Counts a dropped notice of the server.
    pub fn notice_dropped(&mut self) {
        self.part.notices_dropped += 1;
    }

    /// Records the number of scheduled arrivals up to the end of the run.
    pub fn scheduled_until_end(&mut self, count: u64) {
        *self.part.scheduled.get_or_insert_default() += count;
    }

    /// Records the number of transactions that were due and had not begun at the end of the run, and the waiting time
    /// of the first.
    pub fn still_waiting(&mut self, count: u64, longest_ns: u64) {
        self.part.still_waiting += count;
        self.part.still_waiting_ns_max = self.part.still_waiting_ns_max.max(longest_ns);
    }

    /// Records that a text was sent, if none was before.
    pub fn first_text(&mut self, at_ns: u64) {
        self.part.first_text_ns.get_or_insert(at_ns);
    }

    /// Records a transaction that had not ended at the end of the measured window.
    pub fn in_flight_at_end(&mut self, transaction: InFlight) {
        self.part.in_flight.push(transaction);
    }

    /// Records what a client did in the measured window.
    pub fn client_at_end(&mut self, work: ClientWork) {
        self.part.clients.add(work);
    }

    /// Counts a retry of a transaction.
    pub fn retried(&mut self, txn: usize, first_retry: bool) {
        let txn = &mut self.part.txns[txn];
        txn.retries += 1;
        txn.retried += u64::from(first_retry);
    }

    /// Counts a completed transaction: `committed`, or rolled back by the workload.
    #[inline]
    pub fn completed(&mut self, txn: usize, committed: bool, service_ns: u64, response_ns: u64, late: bool) {
        let txn = &mut self.part.txns[txn];
        if committed {
            txn.committed += 1;
        } else {
            txn.rolled_back += 1;
        }
        txn.late += u64::from(late);
        txn.service.record(service_ns);
        if let Some(response) = &mut txn.response {
            response.record(response_ns);
        }
        if let Some(lag) = &mut txn.lag {
            lag.record(response_ns.saturating_sub(service_ns));
        }
        self.in_flight -= 1;
    }

    /// Counts a transaction that failed for good.
    pub fn failed(&mut self, txn: usize, class: ErrorClass) {
        self.part.txns[txn].failed[class as usize] += 1;
        self.in_flight -= 1;
    }

    /// Counts a statement that succeeded.
    #[inline]
    pub fn statement(&mut self, stmt: usize, latency_ns: u64) {
        if let Some(stmt) = self.part.stmts.get_mut(stmt) {
            stmt.latency.record(latency_ns);
        }
    }

    /// Adds the rows of a statement that succeeded.
    pub fn rows(&mut self, stmt: usize, rows: &StatementRows) {
        if let Some(stmt) = self.part.stmts.get_mut(stmt) {
            stmt.rows.get_or_insert_default().merge(rows);
        }
    }

    /// Counts a statement that failed.
    pub fn statement_failed(&mut self, stmt: usize) {
        if let Some(stmt) = self.part.stmts.get_mut(stmt) {
            stmt.failed += 1;
        }
    }

    /// Counts a failed statement whose transaction is retried.
    pub fn statement_retried(&mut self, stmt: usize) {
        if let Some(stmt) = self.part.stmts.get_mut(stmt) {
            stmt.retried += 1;
        }
    }

    /// Counts a connection that was opened for one transaction.
    pub fn connected(&mut self, took_ns: u64) {
        self.part.connected += 1;
        self.part.connecting_ns += took_ns;
    }

    /// Records the delay between the thread's wake-up and the reading of a reply.
    #[inline]
    pub fn read_after(&mut self, ns: u64) {
        self.part.read_delay.record(ns);
    }

    /// Records the delay of a timer.
    #[inline]
    pub fn timer_late(&mut self, ns: u64) {
        self.part.timer_lateness.record(ns);
    }

    /// Counts a lost connection.
    pub fn lost(&mut self) {
        self.part.lost += 1;
    }

    /// Counts a replaced connection, and the time without it.
    pub fn reconnected(&mut self, outage_ns: u64) {
        self.part.reconnected += 1;
        self.part.outage_ns_max = self.part.outage_ns_max.max(outage_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn taking_a_part_leaves_an_empty_one_and_the_gauge() {
        let mut recorder = Recorder::new(1, 1, true);
        recorder.started(0);
        recorder.started(0);
        recorder.completed(0, true, 10, 20, false);
        assert_eq!(recorder.take().txns[0].committed, 1);
        assert_eq!(recorder.in_flight(), 1);
        assert_eq!(recorder.take().txns[0].started, 0);
    }

    #[test]
    fn parts_of_very_many_statements_stay_small() {
        let mut recorder = Recorder::new(1, 60_000, false);
        for stmt in 0..60_000 {
            recorder.statement(stmt, 1_000 + stmt as u64);
        }
        let part = recorder.take();
        assert!(part.stmts.iter().all(|stmt| !stmt.latency.has_histogram() && stmt.latency.count() == 1));
        assert!(size_of::<StmtPart>() <= 128, "a part of all is below 8 MB: {}", size_of::<StmtPart>());
        let mut merged = ThreadCounts::default();
        merged.merge(&part);
        assert_eq!((merged.stmts[59_999].latency.mean_ns(), merged.stmts[0].latency.percentiles()), (60_999.0, None));
    }

    #[test]
    fn nothing_is_made_for_statements_that_are_not_reached() {
        let mut recorder = Recorder::new(2, HISTOGRAMS, true);
        recorder.statement(7, 1_000);
        recorder.started(0);
        recorder.completed(0, true, 1_000, 1_000, false);
        let part = recorder.take();
        let made = part.stmts.iter().filter(|stmt| stmt.latency.has_histogram()).count();
        assert_eq!((made, part.txns[1].service.has_histogram()), (1, false));
        assert!(part.stmts[7].latency.percentiles().is_some());
    }

    #[test]
    fn error_classes_are_counted_where_their_names_say() {
        let mut recorder = Recorder::new(1, 0, false);
        for (i, class) in ErrorClass::ALL.into_iter().enumerate() {
            recorder.started(0);
            recorder.failed(0, class);
            assert_eq!(class as usize, i);
        }
        assert_eq!(recorder.take().txns[0].failed, [1; ErrorClass::ALL.len()]);
    }

    proptest! {
        /// Every counter of a merged part is the sum of its parts: no field is forgotten or assigned.
        #[test]
        fn merging_adds_every_field(ops in proptest::collection::vec((0usize..2, 0u8..8, 1u64..1_000_000), 0..60), cut in 0usize..60) {
            let apply = |ops: &[(usize, u8, u64)]| {
                let mut r = Recorder::new(2, 2, true);
                for &(i, op, ns) in ops {
                    match op {
                        0 => { r.started(i); r.completed(i, true, ns, ns * 2, ns > 500) }
                        1 => { r.started(i); r.completed(i, false, ns, ns, false) }
                        2 => { r.started(i); r.failed(i, ErrorClass::ALL[ns as usize % ErrorClass::ALL.len()]) }
                        3 => { r.skipped(i, 1); r.retried(i, ns % 2 == 0) }
                        4 => { r.statement(i, ns); r.statement_failed(i); r.statement_retried(i) }
                        5 => { r.read_after(ns); r.timer_late(ns * 3) }
                        6 => {
                            r.notice_dropped();
                            r.scheduled_until_end(ns);
                            r.still_waiting(ns % 7, ns);
                            r.first_text(5);
                            r.in_flight_at_end(InFlight { txn: i, service_ns: ns, response_ns: ns });
                        }
                        _ => { r.lost(); r.reconnected(ns); r.connected(ns) }
                    }
                }
                r.take()
            };
            let cut = cut.min(ops.len());
            let mut merged = apply(&ops[..cut]);
            merged.merge(&apply(&ops[cut..]));
            prop_assert!(merged == apply(&ops));
        }
    }
}
