//! Causes the faults of a run while its clients drive, in a thread of its own.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use pgdyno_measure::{Interval, ThreadCounts};
use pgdyno_net::{Admin, ConnectOptions, Stop};
use pgdyno_plan::{FaultKind, FaultPlan};
use pgdyno_results::{EventRecord, FaultOutcome, FaultRecord, FaultServerRecord};
use pgdyno_server::PatroniMember;
use pgdyno_untrusted::append_to_file;
use pgdyno_wire::ErrorClass;

use crate::events::EventSink;
use crate::network_drop::NetworkDrop;
use crate::prepare::hooks::{Ended, run_program};
use crate::target::TargetServer;
use crate::target::server_state::ServerState;

/// The kind of the events of faults.
const EVENT: &str = "fault";
/// The file with the output of programs.
const OUTPUT: &str = "fault.log";
/// How long the server may take to answer pgdyno's own session.
const ANSWERING: Duration = Duration::from_secs(5);
/// How often the server is tried after a fault.
const POLL: Duration = Duration::from_millis(10);
/// How long a failover that was ordered may take to begin, and how often the server is looked at meanwhile.
const ORDERED_WITHIN: Duration = Duration::from_secs(300);
const ORDERED_POLL: Duration = Duration::from_millis(200);
/// The backend that connected last: pgdyno's own sessions are older than those of clients.
const BACKEND: &str = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() \
     AND datname = current_database() ORDER BY backend_start DESC LIMIT 1";

/// What the faults of a run need.
pub(super) struct FaultSubject<'a> {
    pub(super) plan: &'a FaultPlan,
    /// Length of the warm-up.
    pub(super) ramp: Duration,
    pub(super) server: &'a mut TargetServer,
    /// How clients connect.
    pub(super) options: ConnectOptions,
    pub(super) events: &'a dyn EventSink,
    /// Set by the user to end the run.
    pub(super) stop: &'a Stop,
    /// The run directory.
    pub(super) directory: PathBuf,
    /// The environment of a program.
    pub(super) environment: Vec<(&'static str, String)>,
    /// Whether agents run the clients: they report lost connections in their intervals alone.
    pub(super) has_agents: bool,
}

/// What clients noticed so far.
#[derive(Default)]
struct EffectCounts {
    lost: AtomicU64,
    failed: AtomicU64,
    /// Whether the clients have ended.
    is_over: AtomicBool,
}

/// The thread that causes faults.
pub(super) struct Faults<'scope> {
    counts: Arc<EffectCounts>,
    signals: Sender<Instant>,
    thread: ScopedJoinHandle<'scope, Vec<CausedFault>>,
    ramp_s: f64,
    has_agents: bool,
}

/// A fault, and the counts when it began.
struct CausedFault {
    record: FaultRecord,
    before: [u64; 2],
}

impl<'scope> Faults<'scope> {
    /// Starts the thread, which waits for the start of the clients.
    pub(super) fn begin<'env>(scope: &'scope Scope<'scope, 'env>, subject: FaultSubject<'env>) -> Self {
        let (signals, inbox) = mpsc::channel();
        let counts = Arc::new(EffectCounts::default());
        let (ramp_s, has_agents) = (subject.ramp.as_secs_f64(), subject.has_agents);
        let causer = FaultCauser { subject, counts: Arc::clone(&counts), inbox };
        Self { counts, signals, thread: scope.spawn(move || causer.cause_all()), ramp_s, has_agents }
    }

    /// Marks the start of the clients.
    pub(super) fn started(&self, at: Instant) {
        // Fails only if the thread has ended, which reports why.
        let _ = self.signals.send(at);
    }

    /// Counts a client that lost its connection, or could not open one.
    pub(super) fn lost(&self) {
        self.counts.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts what clients noticed in an interval.
    pub(super) fn interval(&self, interval: &Interval) {
        self.counts.add(&interval.part, self.has_agents);
    }

    /// Ends the thread after the clients have ended: a program that still runs is ended. Returns the faults, and their events.
    pub(super) fn end(self) -> (Vec<FaultRecord>, Vec<EventRecord>) {
        self.counts.is_over.store(true, Ordering::Release);
        drop(self.signals);
        // Its panic was reported.
        let caused = self.thread.join().unwrap_or_default();
        let last = self.counts.now();
        let after: Vec<_> = caused.iter().skip(1).map(|next| next.before).chain([last]).collect();
        let records: Vec<_> = caused.into_iter().zip(after).map(|(fault, after)| fault.judged(after)).collect();
        let events = records.iter().filter_map(|record| event(record, self.ramp_s)).collect();
        (records, events)
    }
}

/// Classes of failures that a run without a fault may have, too: they are no sign of one.
const USUAL: [ErrorClass; 4] = [ErrorClass::Serialization, ErrorClass::Deadlock, ErrorClass::Data, ErrorClass::Script];

/// Returns the failures of other classes. `failed` is in the order of [`ErrorClass::ALL`].
fn unusual(failed: &[u64]) -> u64 {
    let by_class = ErrorClass::ALL.iter().zip(failed);
    by_class.filter(|(class, _)| !USUAL.contains(class)).map(|(_, number)| number).sum()
}

impl EffectCounts {
    /// Adds the failed transactions of an interval that a fault may have caused, and with agents the lost connections.
    fn add(&self, part: &ThreadCounts, has_agents: bool) {
        let failed = part.txns.iter().map(|txn| unusual(&txn.failed)).sum();
        self.failed.fetch_add(failed, Ordering::Relaxed);
        if has_agents {
            self.lost.fetch_add(part.lost, Ordering::Relaxed);
        }
    }

    /// Returns the lost connections and the failed transactions until now.
    fn now(&self) -> [u64; 2] {
        [&self.lost, &self.failed].map(|count| count.load(Ordering::Relaxed))
    }
}

impl CausedFault {
    /// Returns the record with what clients noticed until these counts were reached.
    fn judged(self, after: [u64; 2]) -> FaultRecord {
        let [connections_lost, transactions_failed] = [0, 1].map(|nth| after[nth].saturating_sub(self.before[nth]));
        let mut record = FaultRecord { connections_lost, transactions_failed, ..self.record };
        if record.outcome == FaultOutcome::Done && !record.has_effect() {
            record.outcome = FaultOutcome::NoEffect;
        }
        record
    }
}

/// Returns the mark of a fault in charts, whose times count from the start of the clients.
fn event(record: &FaultRecord, ramp_s: f64) -> Option<EventRecord> {
    let until_s = record.available_s.into_iter().chain(record.ended_s).reduce(f64::max);
    Some(EventRecord {
        kind: EVENT.to_owned(),
        text: format!("fault {}", record.kind),
        from_s: ramp_s + record.began_s?,
        until_s: until_s.map(|until_s| ramp_s + until_s),
    })
}

/// Puts into a record how its fault came out.
fn set_outcome(record: &mut FaultRecord, caused: Result<(), String>) {
    (record.outcome, record.why) = match caused {
        Ok(()) => (FaultOutcome::Done, None),
        Err(why) => (FaultOutcome::Failed, Some(why)),
    };
}

/// The work of the thread.
struct FaultCauser<'a> {
    subject: FaultSubject<'a>,
    counts: Arc<EffectCounts>,
    inbox: Receiver<Instant>,
}

impl FaultCauser<'_> {
    /// Causes each fault at its time.
    fn cause_all(mut self) -> Vec<CausedFault> {
        // Without a start there is no window.
        let window = self.inbox.recv().ok().map(|started| started + self.subject.ramp);
        if let Err(failure) = self.subject.server.prepare_fault(self.subject.plan.kind.kind()) {
            self.subject.events.warn(&failure.text());
        }
        let mut caused = Vec::new();
        for at_s in self.subject.plan.times() {
            let is_due = window.filter(|window| self.waits_until(*window + Duration::from_secs_f64(at_s)));
            let before = self.counts.now();
            let record = FaultRecord { kind: self.subject.plan.kind.to_string(), at_s, ..FaultRecord::default() };
            let record = match is_due {
                Some(window) => self.cause(window, record),
                None => record,
            };
            caused.push(CausedFault { record, before });
        }
        caused
    }

    /// Waits for a time. Returns false if the clients end before.
    fn waits_until(&self, due: Instant) -> bool {
        let is_due = self.inbox.recv_timeout(due.saturating_duration_since(Instant::now()));
        matches!(is_due, Err(RecvTimeoutError::Timeout)) && !self.is_unwanted()
    }

    /// Returns true if the clients have ended, or are about to.
    fn is_unwanted(&self) -> bool {
        self.subject.stop.is_requested() || self.counts.is_over.load(Ordering::Acquire)
    }

    /// Causes a fault, and waits until the server is back.
    fn cause(&mut self, window: Instant, mut record: FaultRecord) -> FaultRecord {
        let since = |at: Instant| at.saturating_duration_since(window).as_secs_f64();
        record.server_before = self.look();
        let backend = match self.subject.plan.kind.kind() {
            FaultKind::CrashBackend => self.backend(),
            _ => None,
        };
        self.subject.events.note(&format!("fault {}", record.kind));
        record.began_s = Some(since(Instant::now()));
        match self.subject.plan.kind.kind() {
            FaultKind::Program | FaultKind::Failover(_) => self.run_program(&mut record),
            FaultKind::NetworkDrop => {
                let dropped = self.drop_packets();
                record.packets_dropped = dropped.as_ref().ok().copied();
                set_outcome(&mut record, dropped.map(drop));
            }
            FaultKind::PatroniKill => set_outcome(&mut record, self.kill_member()),
            kind => {
                let caused = self.subject.server.cause(kind, backend);
                set_outcome(&mut record, caused.map_err(|failure| failure.text()));
            }
        }
        record.ended_s = Some(since(Instant::now()));
        // The order of a failover may return before there is one: until then the former primary answers.
        let is_ordered =
            matches!(self.subject.plan.kind.kind(), FaultKind::Failover(_)) && record.outcome == FaultOutcome::Done;
        let every = self.subject.plan.every_s.map_or(ORDERED_WITHIN, Duration::from_secs_f64);
        let ordered_until = Instant::now() + ORDERED_WITHIN.min(every);
        while record.available_s.is_none() && !self.is_unwanted() {
            record.server_after = self.look();
            let is_former = record.server_after.is_some() && record.server_after == record.server_before;
            match record.server_after {
                Some(_) if is_ordered && is_former && Instant::now() < ordered_until => {
                    std::thread::sleep(ORDERED_POLL);
                }
                Some(_) if is_ordered && is_former => break,
                Some(_) => record.available_s = Some(since(Instant::now())),
                None => std::thread::sleep(POLL),
            }
        }
        record
    }

    /// Drops packets for the time of the fault, or until the clients have ended. Returns how many were dropped.
    fn drop_packets(&self) -> Result<u64, String> {
        let time = self.subject.plan.kind.lasts().unwrap_or_default();
        let admin = self.session().ok_or("no server accepts a session: its address is not known")?;
        let address =
            admin.server().address().ok_or_else(|| format!("{} is a socket of this machine", admin.server()))?;
        // Otherwise its end would be among the packets.
        drop(admin);
        let dropping = NetworkDrop::begin(address, time)?;
        let until = Instant::now() + time;
        while Instant::now() < until && !self.is_unwanted() {
            std::thread::sleep(POLL.min(until.saturating_duration_since(Instant::now())));
        }
        dropping.end()
    }

    /// Kills the member of a cluster that the fault names.
    fn kill_member(&self) -> Result<(), String> {
        PatroniMember::find(self.subject.plan.kind.member().unwrap_or_default())?.kill()
    }

    /// Runs the program of the user, or the one that orders a failover.
    fn run_program(&self, record: &mut FaultRecord) {
        let FaultSubject { plan, directory, environment, .. } = &self.subject;
        let program = match plan.kind.argv() {
            [] => std::path::absolute(plan.kind.as_str()).map(|file| vec![file.into()]),
            argv => Ok(argv.iter().map(OsString::from).collect()),
        };
        let ran = program.and_then(|argv| {
            let log = append_to_file(&directory.join(OUTPUT))?;
            record.output = Some(OUTPUT.to_owned());
            run_program(&argv, log, environment, &|| self.is_unwanted())
        });
        (record.outcome, record.why) = match ran {
            Ok(Ended::By(status)) => {
                record.exit_code = status.code();
                match status.success() {
                    true => (FaultOutcome::Done, None),
                    false => (FaultOutcome::Failed, Some(format!("its program failed ({status})"))),
                }
            }
            Ok(Ended::Stopped | Ended::TooLate) if self.subject.stop.is_requested() => {
                (FaultOutcome::Interrupted, None)
            }
            Ok(Ended::Stopped | Ended::TooLate) => {
                (FaultOutcome::Failed, Some("its program had not ended when the run ended".to_owned()))
            }
            Err(error) => (FaultOutcome::Failed, Some(format!("its program cannot be run: {error}"))),
        };
    }

    /// Opens a session in the same way as clients.
    fn session(&self) -> Option<Admin> {
        Admin::connect(&self.subject.options.with_answer_timeout(ANSWERING)).ok()
    }

    /// Returns the server that clients reach; `None` if none accepts a session that may write.
    fn look(&self) -> Option<FaultServerRecord> {
        let mut admin = self.session()?;
        let ServerState { started, takes_writes, timeline } = ServerState::ask(&mut admin).ok()?;
        let timeline = timeline.and_then(|digits| u32::from_str_radix(&digits, 16).ok());
        let address = admin.server().to_string();
        takes_writes.then_some(FaultServerRecord { started, timeline, address })
    }

    /// Returns the process of a client's session.
    fn backend(&self) -> Option<i32> {
        self.session()?.query_one(BACKEND).ok()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_that_are_usual_without_a_fault_show_none() {
        let of = |class: ErrorClass| {
            let mut failed = [0; ErrorClass::ALL.len()];
            failed[class as usize] = 3;
            unusual(&failed)
        };
        assert_eq!([ErrorClass::Serialization, ErrorClass::Data, ErrorClass::Script].map(of), [0, 0, 0]);
        let part = ThreadCounts { lost: 2, ..ThreadCounts::default() };
        let counted = |has_agents| {
            let counts = EffectCounts::default();
            counts.add(&part, has_agents);
            counts.now()
        };
        assert_eq!([true, false].map(counted), [[2, 0], [0, 0]], "otherwise each loss was counted when it happened");
        assert_eq!([ErrorClass::Connection, ErrorClass::Unknown, ErrorClass::Other].map(of), [3, 3, 3]);
    }
}
