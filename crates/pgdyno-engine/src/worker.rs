//! One engine thread: the only place with a poller, sockets and the clock.

mod backoff;
mod chores;
mod coalesce;
mod half_read;
mod lone;
mod unread;

use std::io;
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use pgdyno_measure::{GroupInterval, IntervalPart, Phase, WorkerUsage};
use pgdyno_net::{ConnectError, Interrupter, cancel_all};
use pgdyno_wire::frontend;
use pgdyno_workload::Note;

use crate::connect::Link;
use crate::errands::{Answer, Request};
use crate::errors::ErrorSample;
use crate::fleet::Fleet;
use crate::pin::pin;
use crate::routes::EndpointWork;
use crate::stage::WhenDone;
use crate::stopwatch::Stopwatch;
use crate::usage::{be_punctual, thread_cpu_ns, thread_usage, usage_since};
use crate::{Stop, Tick};
use backoff::Backoff;
use coalesce::Coalescing;
use lone::PATIENCE;
use pgdyno_poll::{Poller, Ready, Waker};
use unread::Unread;

/// Size of one read in bytes. Shared by all clients of a thread.
const RECEIVE_BYTES: usize = 256 * 1024;
/// Limits of a turn of clients without a server, between two looks at sockets and timers: how many, and for how long.
const RUN_AT_ONCE: usize = 256;
const RUN_AT_ONCE_NS: u64 = 1_000_000;
/// Limits of all cancel requests together, usually and when the user waits for the end.
const CANCELLING: Duration = Duration::from_secs(3);
const CANCELLING_AT_ONCE: Duration = Duration::from_millis(500);

/// A worker's report to the coordinator.
pub(crate) enum Report {
    /// Counts of one interval.
    Part { worker: usize, part: IntervalPart },
    /// A client lost its connection.
    Lost { why: String },
    /// A client could not open a connection for its transaction.
    ConnectFailed { client: u32, error: ConnectError },
    /// A lost connection could not be opened again.
    NotReopened(ConnectError),
    /// Messages of scripts and server for the user, and the room that the notices take.
    Notes { notes: Vec<Note>, notice_bytes: usize },
    /// A client was aborted.
    Aborted { worker: usize },
    /// An error that ends the run.
    Fatal(String),
    /// The worker is done.
    Done {
        errors: Vec<(pgdyno_wire::SqlState, ErrorSample)>,
        unfinished: usize,
        aborted: usize,
        lost: usize,
        /// Work by endpoint, if there are readers.
        endpoints: Vec<EndpointWork>,
    },
}

/// Lengths of the phases, the same for all workers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) origin: Instant,
    pub(crate) ramp_ns: u64,
    pub(crate) measure_ns: Option<u64>,
    pub(crate) interval_ns: u64,
    pub(crate) grace_ns: u64,
    pub(crate) reconnect_ns: u64,
    pub(crate) coalesce_ns: u64,
    /// Of the run.
    pub(crate) seed: u64,
}

impl Timing {
    /// Returns the first planned end of an interval after `elapsed`, which counts from the origin. A worker that was
    /// interrupted has edges of its own.
    pub(crate) fn next_edge(&self, elapsed: Duration) -> u64 {
        let now = elapsed.as_nanos() as u64;
        let (start, end) = match self.measure_ns {
            _ if now < self.ramp_ns => (0, Some(self.ramp_ns)),
            Some(measure_ns) if now < self.ramp_ns.saturating_add(measure_ns) => {
                (self.ramp_ns, Some(self.ramp_ns + measure_ns))
            }
            _ => (self.ramp_ns, None),
        };
        let edge = start + ((now - start) / self.interval_ns + 1) * self.interval_ns;
        end.map_or(edge, |end| edge.min(end))
    }
}

/// Connections of a worker to the other threads.
pub(crate) struct Channels<'a> {
    pub(crate) stop: &'a Stop,
    pub(crate) when_done: Option<&'a WhenDone>,
    pub(crate) reports: Sender<Report>,
    pub(crate) errands: Errands,
}

/// Channels to and from the threads that may block.
pub(crate) struct Errands {
    /// To the threads that open connections.
    pub(crate) connect: Sender<Request>,
    pub(crate) answer: Sender<Answer>,
    pub(crate) answers: Receiver<Answer>,
    pub(crate) waker: Waker,
}

pub(crate) struct Worker<'a> {
    index: usize,
    fleet: Fleet,
    links: Vec<Option<Link>>,
    poller: Poller,
    timing: Timing,
    clock: Stopwatch,
    channels: Channels<'a>,
    /// Clients whose lost connection is being replaced.
    reviving: usize,
    /// Whether the group that ends the stage is done on this thread.
    group_is_done: bool,
    backoff: Backoff,
    /// Answers awaited, those for lost connections included.
    awaited: usize,
    buffer: Vec<u8>,
    unread: Unread,
    coalescing: Coalescing,
    /// Sockets that may have more to read than one turn takes.
    half_read: Vec<Ready>,
    phase: Phase,
    /// End of the phase, if it has one.
    phase_end: Option<Tick>,
    interval: u64,
    interval_start: Tick,
    /// Next end of an interval or of the phase.
    next_edge: Tick,
    usage: WorkerUsage,
    /// By line, whether it belongs to a group that is not in the stage's figures; empty if none does.
    beside: Vec<bool>,
    /// CPU time for these lines, all in all.
    beside_ns: u64,
    /// Whole intervals in which this thread did not run, all in all.
    absent_ns: u64,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(
        index: usize,
        fleet: Fleet,
        beside: Vec<bool>,
        links: Vec<Option<Link>>,
        poller: Poller,
        timing: Timing,
        channels: Channels<'a>,
    ) -> Self {
        let backoff = Backoff::new(timing.seed, fleet.first_id(), timing.reconnect_ns);
        let mut worker = Self {
            index,
            fleet,
            links,
            poller,
            timing,
            clock: Stopwatch::starting_at(timing.origin),
            channels,
            reviving: 0,
            group_is_done: false,
            backoff,
            awaited: 0,
            buffer: vec![0; RECEIVE_BYTES],
            unread: Unread::default(),
            coalescing: Coalescing::new(timing.coalesce_ns),
            half_read: Vec::new(),
            phase: Phase::Ramp,
            phase_end: None,
            interval: 0,
            interval_start: Tick(0),
            next_edge: Tick(0),
            usage: WorkerUsage::default(),
            beside,
            beside_ns: 0,
            absent_ns: 0,
        };
        if timing.ramp_ns > 0 {
            worker.enter(Phase::Ramp, Tick(0), Some(timing.ramp_ns));
        } else {
            worker.enter(Phase::Measure, Tick(0), timing.measure_ns);
        }
        worker
    }

    #[inline]
    fn now(&self) -> Tick {
        self.clock.now()
    }

    /// Runs to the end, on this CPU if one is given. If the poller fails, the thread ends early, and reports that.
    pub(crate) fn run(mut self, cpu: Option<usize>) {
        if let Err(error) = self.drive(cpu) {
            self.report(Report::Fatal(format!("engine thread {} died: {error}", self.index)));
        }
        self.finish();
    }

    fn drive(&mut self, cpu: Option<usize>) -> io::Result<()> {
        if let Some(cpu) = cpu
            && let Err(e) = pin(cpu)
        {
            self.report(Report::Fatal(format!("engine thread {} cannot be pinned to CPU {cpu}: {e}", self.index)));
        }
        be_punctual();
        // Drivers that start together begin at a moment in the future.
        std::thread::sleep(self.timing.origin.saturating_duration_since(Instant::now()));
        self.usage = self.usage_so_far();
        for line in 0..self.fleet.lines() {
            self.attach(line, self.now())?;
        }
        for i in 0..self.fleet.len() {
            let now = self.now();
            self.fleet.advance(i, now);
            self.note_first_text(i);
            self.write_client(i, now);
        }
        self.run_errands();
        let mut ready = Vec::new();
        let mut now = self.now();
        loop {
            self.pass_edges(now);
            if self.phase != Phase::Drain
                && (self.channels.stop.is_requested()
                    || self.is_stage_over()
                    || self.fleet.active() + self.reviving == 0)
            {
                self.cut(now);
            }
            if self.is_drained(now) {
                break;
            }
            let others = self.fleet.lines() > 1;
            if !others && self.waits_for_reply(now) {
                self.wait_for_reply(&mut now)?;
                self.after_turn(&mut now)?;
                continue;
            }
            let asked = if others || self.next_deadline().is_some() { self.now() } else { now };
            // If no other socket is ready, none waits while this one is served.
            let polls = others && self.unread.is_poll_due(asked);
            let timeout = if polls || self.sleep(asked) { Some(Duration::ZERO) } else { self.timeout(asked) };
            let more = self.poller.wait(timeout, &mut ready)?;
            let waited = timeout != Some(Duration::ZERO);
            // A socket that was ready alone after a wait did not wait. This costs nothing where each reply wakes the
            // thread.
            let since = if waited && ready.len() == 1 {
                None
            } else {
                now = self.now();
                Some(self.unread.answered(now, waited, more))
            };
            if self.coalescing.is_on() {
                self.coalescing.answered(ready.len(), self.now());
            }
            if !self.half_read.is_empty() {
                self.read_on(&mut now)?;
            }
            for event in ready.drain(..) {
                self.on_ready(event, since, &mut now)?;
            }
            self.after_turn(&mut now)?;
        }
        Ok(())
    }

    /// Does what is due after sockets were served.
    #[inline]
    fn after_turn(&mut self, now: &mut Tick) -> io::Result<()> {
        self.fire(now);
        if self.fleet.has_runnable() {
            self.run_some(now);
        }
        if self.awaited > 0 {
            self.take_answers(now)?;
        }
        if self.backoff.next().is_some_and(|at| at <= *now) {
            self.end_pauses(*now);
        }
        self.run_errands();
        if let Some(fatal) = self.fleet.take_fatal() {
            self.report(Report::Fatal(fatal));
        }
        Ok(())
    }

    /// Records when the first text of this thread is sent, if client `i` is about to send it. Computing it may take a while.
    fn note_first_text(&mut self, i: usize) {
        if let Some(line) = self.fleet.line_of(i).filter(|_| self.timing.ramp_ns == 0)
            && !self.fleet.output(line).is_empty()
        {
            let now = self.now();
            self.fleet.first_text(i, now);
        }
    }

    /// Takes over the connection of line `i`.
    fn attach(&mut self, i: usize, now: Tick) -> io::Result<()> {
        let Some(link) = self.links.get_mut(i).and_then(Option::as_mut) else {
            return Ok(());
        };
        self.poller.add(link.transport.as_fd(), i)?;
        if self.fleet.lines() == 1 {
            link.waits = link.transport.wait_in_reads(PATIENCE)?;
        }
        self.fleet.report_connected(i, link.cancel.process_id(), &link.peer);
        let input = std::mem::take(&mut link.input);
        if let Err(error) = self.fleet.receive(i, now, &input) {
            self.lose(i, now, &error.to_string());
        }
        Ok(())
    }

    /// Returns true if the group that ends the stage is done on all threads. Informs the others when it is done on this
    /// one.
    fn is_stage_over(&mut self) -> bool {
        let Some(when_done) = self.channels.when_done else { return false };
        if !self.group_is_done && self.fleet.active_in(when_done.group) + self.reviving == 0 {
            self.group_is_done = true;
            when_done.thread_is_done();
            if when_done.is_over() {
                self.channels.stop.wake();
            }
        }
        when_done.is_over()
    }

    /// Returns true if nothing is left to wait for, or no time is left.
    fn is_drained(&self, now: Tick) -> bool {
        self.phase == Phase::Drain
            && (self.fleet.active() == 0
                || self.channels.stop.is_at_once()
                || self.phase_end.is_some_and(|end| now >= end))
    }

    /// Runs clients that wait for nothing, a few at a time and within the interval.
    fn run_some(&mut self, now: &mut Tick) {
        let end = self.next_edge.min(now.after(RUN_AT_ONCE_NS));
        for _ in 0..RUN_AT_ONCE {
            *now = self.now();
            if *now >= end {
                return;
            }
            let Some(i) = self.fleet.run_one(*now) else { return };
            self.write_client(i, *now);
        }
    }

    /// Runs clients whose time has come. Reads the clock for each: if many are due at once, the last ones run later.
    fn fire(&mut self, now: &mut Tick) {
        // Timers that are set meanwhile are later than this, so that the loop ends.
        let due = *now;
        while self.fleet.next_deadline().is_some_and(|deadline| deadline <= due) {
            *now = self.now();
            self.pass_edges(*now);
            if let Some(i) = self.fleet.fire_one(*now) {
                self.write_client(i, *now);
            }
        }
    }

    /// Returns when the next client goes on without the server, or a pause ends.
    #[inline]
    fn next_deadline(&self) -> Option<Tick> {
        match (self.fleet.next_deadline(), self.backoff.next()) {
            (Some(client), Some(pause)) => Some(client.min(pause)),
            (client, pause) => client.or(pause),
        }
    }

    /// Returns how long to wait after `now`: 0 while a client can go on at once, or a socket has more to read.
    fn timeout(&self, now: Tick) -> Option<Duration> {
        if self.fleet.has_runnable() || !self.half_read.is_empty() {
            return Some(Duration::ZERO);
        }
        let next = match self.next_deadline() {
            Some(deadline) => deadline.min(self.next_edge),
            None if self.phase == Phase::Drain => self.next_edge,
            // The coordinator wakes all threads at the edges: a timer for each wait would cost more.
            None => return None,
        };
        Some(Duration::from_nanos(next.since(now)))
    }

    /// Sleeps for a while, if replies are to be read together. Returns whether it did.
    fn sleep(&mut self, now: Tick) -> bool {
        if !self.coalescing.is_on() || self.fleet.has_runnable() || !self.half_read.is_empty() {
            return false;
        }
        let deadline = self.next_deadline().map_or(self.next_edge, |deadline| deadline.min(self.next_edge));
        let until = self.coalescing.until(now, deadline);
        if let Some(until) = until {
            std::thread::sleep(Duration::from_nanos(until.since(now)));
        }
        until.is_some()
    }

    /// Returns the usage of this thread so far.
    fn usage_so_far(&self) -> WorkerUsage {
        WorkerUsage { beside_ns: self.beside_ns, absent_ns: self.absent_ns, ..thread_usage() }
    }

    /// Serves a socket. `since` is the earliest time at which it can have become ready; `None` if it was ready alone
    /// after a wait.
    #[inline]
    fn on_ready(&mut self, event: Ready, since: Option<Tick>, now: &mut Tick) -> io::Result<()> {
        match self.beside.get(event.key) {
            Some(true) => self.serve_beside(event, since, now),
            _ => self.serve(event, since, now),
        }
    }

    /// Serves a socket of a group that is not in the stage's figures, such as a stream of queries, and counts the CPU time. There
    /// are few replies of such groups.
    #[cold]
    fn serve_beside(&mut self, event: Ready, since: Option<Tick>, now: &mut Tick) -> io::Result<()> {
        let before_ns = thread_cpu_ns();
        let served = self.serve(event, since, now);
        self.beside_ns += thread_cpu_ns().saturating_sub(before_ns);
        served
    }

    #[inline]
    fn serve(&mut self, event: Ready, since: Option<Tick>, now: &mut Tick) -> io::Result<()> {
        let i = event.key;
        if event.writable {
            *now = self.now();
            self.write(i, *now);
        }
        if !event.readable {
            return Ok(());
        }
        if self.links[i].as_ref().is_some_and(|link| link.half_read) {
            // It is read in its turn.
            self.half_read.iter_mut().filter(|more| more.key == i).for_each(|more| more.closed |= event.closed);
            return Ok(());
        }
        let mut first = true;
        let mut taken = 0;
        loop {
            let Some(link) = &mut self.links[i] else {
                return Ok(());
            };
            let read = link.read(&mut self.buffer);
            let is_tls = link.transport.is_tls();
            // One reading of the clock for each read: its replies ended now, and what follows starts now.
            *now = self.now();
            self.pass_edges(*now);
            if std::mem::take(&mut first) {
                let unread_ns = match since {
                    Some(since) => now.since(since.max(self.fleet.asked_at(i))),
                    None => {
                        self.unread.answered(*now, true, false);
                        0
                    }
                };
                self.fleet.read_after(i, unread_ns);
            }
            match read {
                Ok(0) => {
                    self.lose(i, *now, "server closed the connection unexpectedly");
                    return Ok(());
                }
                Ok(count) => {
                    let drained = count < self.buffer.len() && !event.closed && !is_tls;
                    if let Err(error) = self.fleet.receive(i, *now, &self.buffer[..count]) {
                        self.lose(i, *now, &error.to_string());
                        return Ok(());
                    }
                    self.write(i, *now);
                    self.write_handed(*now);
                    taken += count;
                    if drained {
                        return Ok(());
                    }
                    // However much it sends, the other clients and the timers have their turn.
                    if taken >= RECEIVE_BYTES {
                        self.leave_half_read(event);
                        return Ok(());
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    self.lose(i, *now, &e.to_string());
                    return Ok(());
                }
            }
        }
    }

    /// Sends the output of client `i`.
    #[inline]
    fn write_client(&mut self, i: usize, now: Tick) {
        if let Some(line) = self.fleet.line_of(i) {
            self.write(line, now);
        }
        self.write_handed(now);
    }

    /// Sends the output of lines that were assigned.
    #[inline]
    fn write_handed(&mut self, now: Tick) {
        while let Some(line) = self.fleet.take_handed() {
            self.write(line, now);
        }
    }

    /// Sends the output of a line, as far as the socket takes it.
    #[inline]
    fn write(&mut self, i: usize, now: Tick) {
        let out = self.fleet.output(i);
        let Some(link) = self.links.get_mut(i).and_then(Option::as_mut) else {
            return;
        };
        match link.send(out) {
            Ok(all_sent) if link.blocked != all_sent => {}
            Ok(all_sent) => {
                link.blocked = !all_sent;
                // A socket in the poller can be modified, or it is closed already: then the next read fails.
                drop(self.poller.want_write(link.transport.as_fd(), i, link.blocked));
            }
            Err(e) => self.lose(i, now, &e.to_string()),
        }
    }

    /// Closes every interval and phase that has ended.
    #[inline]
    fn pass_edges(&mut self, now: Tick) {
        let mut last = None;
        while now >= self.next_edge {
            let edge = self.next_edge;
            // Both ends at one look: the coordinator wakes all threads at each end, and this one did not run.
            self.absent_ns += last.map_or(0, |last| edge.since(last));
            last = Some(edge);
            let ends_phase = self.phase_end.is_some_and(|end| edge >= end);
            if ends_phase {
                self.close_window(edge);
            }
            self.close_interval(edge);
            if ends_phase {
                match self.phase {
                    Phase::Ramp => self.enter(Phase::Measure, edge, self.timing.measure_ns),
                    Phase::Measure => self.drain(edge, now),
                    Phase::Drain => {
                        self.next_edge = Tick(u64::MAX);
                        return;
                    }
                }
            } else {
                self.set_edge();
            }
        }
    }

    /// Ends the phase now.
    fn cut(&mut self, now: Tick) {
        self.close_window(now);
        self.close_interval(now);
        self.drain(now, now);
    }

    /// Records what is in flight, if the measured window is what ends now.
    fn close_window(&mut self, end: Tick) {
        if self.phase == Phase::Measure {
            self.fleet.close_window(end);
        }
    }

    fn drain(&mut self, from: Tick, now: Tick) {
        self.enter(Phase::Drain, from, Some(self.timing.grace_ns));
        self.fleet.stop(now);
    }

    fn enter(&mut self, phase: Phase, from: Tick, length_ns: Option<u64>) {
        self.phase = phase;
        if phase == Phase::Measure {
            self.fleet.open_window();
        }
        self.phase_end = length_ns.map(|ns| from.after(ns));
        self.interval_start = from;
        self.set_edge();
    }

    fn set_edge(&mut self) {
        let end = self.interval_start.after(self.timing.interval_ns);
        self.next_edge = self.phase_end.map_or(end, |phase_end| phase_end.min(end));
    }

    fn close_interval(&mut self, end: Tick) {
        let usage = self.usage_so_far();
        let fleet = &mut self.fleet;
        let groups = (0..fleet.groups()).map(|group| {
            let recorder = fleet.recorder(group);
            GroupInterval { part: recorder.take(), in_flight: recorder.in_flight() }
        });
        let groups = groups.collect();
        let part = IntervalPart {
            phase: self.phase,
            index: self.interval,
            start_ns: self.interval_start.0,
            end_ns: end.0,
            groups,
            workers: vec![usage_since(usage, self.usage)],
        };
        self.usage = usage;
        self.interval += 1;
        self.interval_start = end;
        self.report(Report::Part { worker: self.index, part });
    }

    /// Cancels statements that are still running on the server, closes the other connections, and reports.
    fn finish(mut self) {
        let now = self.now();
        let end = now.max(self.interval_start);
        self.close_window(end);
        self.close_interval(end);
        self.fleet.finish(now);
        self.run_errands();
        let unfinished: Vec<usize> = self.fleet.busy().collect();
        let running: Vec<_> =
            unfinished.iter().filter_map(|&i| self.links[i].as_ref().map(|link| (*link.cancel).clone())).collect();
        if !running.is_empty() {
            let interrupter = Interrupter::new();
            self.channels.stop.interrupts_cancelling(&interrupter);
            let patience = if self.channels.stop.is_at_once() { CANCELLING_AT_ONCE } else { CANCELLING };
            cancel_all(&running, patience, &interrupter);
        }
        for link in self.links.iter_mut().flatten() {
            say_goodbye(link);
        }
        let backoff = &mut self.backoff;
        let replaced = self.fleet.lost_lines().filter(|(line, lasts)| *lasts && backoff.until(*line) > now).count();
        let (aborted, lost) = (self.fleet.aborted(), self.fleet.lost() - replaced);
        let errors = self.fleet.errors().into_iter().collect();
        let endpoints = self.fleet.take_work_by_endpoint();
        self.report(Report::Done { errors, unfinished: unfinished.len(), aborted, lost, endpoints });
    }

    fn report(&self, report: Report) {
        // The coordinator listens until all workers are done.
        drop(self.channels.reports.send(report));
    }
}

fn say_goodbye(link: &mut Link) {
    let mut goodbye = Vec::new();
    frontend::terminate(&mut goodbye);
    // Closing the connection has the same effect.
    drop(link.send(&mut goodbye));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_those_of_the_phases_and_the_intervals_within_them() {
        let ms = Duration::from_millis;
        let timing = Timing {
            origin: Instant::now(),
            ramp_ns: 1_500_000_000,
            measure_ns: Some(2_200_000_000),
            interval_ns: 1_000_000_000,
            grace_ns: 0,
            reconnect_ns: 0,
            coalesce_ns: 0,
            seed: 1,
        };
        let edges = [0, 999, 1000, 1499, 1500, 2500, 3500, 3699, 3700].map(|at| timing.next_edge(ms(at)) / 1_000_000);
        assert_eq!(edges, [1000, 1000, 1500, 1500, 2500, 3500, 3700, 3700, 4500]);
    }
}
