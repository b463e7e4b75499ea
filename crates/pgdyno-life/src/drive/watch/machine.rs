//! Samples the machines of server and driver while the clients run.

mod means;

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use pgdyno_results::{LeftOutRecord, MachineRecord};
use pgdyno_server::os::{
    DRIVER_MACHINE, DRIVER_PROCESSES, MACHINE, MachineReport, MachineWatch, Machines, OsMetrics, PROCESSES,
};
use pgdyno_server::{Frame, MachineFacts};

use self::means::Means;
use super::{Signal, Sink};

/// How long the watcher waits for a signal or a sample.
const POLL: Duration = Duration::from_millis(100);

/// Samples the machines in a thread.
pub(super) struct Watcher {
    machines: MachineWatch,
    reports: Receiver<MachineReport>,
    window: (Option<Instant>, Option<Instant>),
    server: Means,
    driver: Means,
    left_out: Vec<LeftOutRecord>,
}

/// Means of the machines in the measured window.
#[derive(Debug, Default)]
pub(super) struct MachineMeans {
    pub(super) server: Option<MachineRecord>,
    pub(super) driver: Option<MachineRecord>,
    pub(super) left_out: Vec<LeftOutRecord>,
}

impl Watcher {
    /// Starts to sample the machines.
    pub(super) fn begin(machines: Machines) -> Self {
        let how = machines.os_metrics.as_ref();
        let (here, seen_by) = (how.is_none(), how.map_or_else(|| "local".to_owned(), OsMetrics::name));
        let (sender, reports) = channel();
        let usable_cpus = usable_cpus();
        Self {
            machines: MachineWatch::begin(machines, sender),
            reports,
            window: (None, None),
            server: Means::of(seen_by, usable_cpus.filter(|_| here)),
            driver: Means::of("local".to_owned(), usable_cpus),
            left_out: Vec::new(),
        }
    }

    /// Samples until the signal to end.
    pub(super) fn watch(mut self, sink: &Sink<'_>, signals: &Receiver<Signal>) -> MachineMeans {
        loop {
            match signals.recv_timeout(POLL) {
                Ok(Signal::WindowOpens(at)) => self.window.0 = Some(at),
                Ok(Signal::WindowCloses(at)) => self.window.1 = Some(at),
                Ok(Signal::End) | Err(RecvTimeoutError::Disconnected) => return self.end(sink),
                Err(RecvTimeoutError::Timeout) => {}
            }
            while let Ok(report) = self.reports.try_recv() {
                self.take(report, sink);
            }
        }
    }

    fn take(&mut self, report: MachineReport, sink: &Sink<'_>) {
        match report {
            MachineReport::Frame(frame) => {
                self.count(&frame);
                sink.take(frame);
            }
            MachineReport::LeftOut { source, why } => {
                self.left_out.push(LeftOutRecord { source: source.to_owned(), why });
            }
        }
    }

    /// Adds samples that lie in the measured window.
    fn count(&mut self, frame: &Frame) {
        let (Some(opened), closed) = self.window else { return };
        if frame.at <= opened || closed.is_some_and(|closed| frame.at > closed) {
            return;
        }
        match frame.source {
            MACHINE => self.server.take_machine(frame),
            PROCESSES => self.server.take_processes(frame),
            DRIVER_MACHINE => self.driver.take_machine(frame),
            DRIVER_PROCESSES => self.driver.take_processes(frame),
            _ => {}
        }
    }

    fn end(mut self, sink: &Sink<'_>) -> MachineMeans {
        // All senders have ended after this.
        self.machines.end();
        while let Ok(report) = self.reports.try_recv() {
            self.take(report, sink);
        }
        MachineMeans { server: self.server.record(), driver: self.driver.record(), left_out: self.left_out }
    }
}

/// Returns the number of CPUs that this container may use, if that is less than all.
fn usable_cpus() -> Option<f64> {
    let machine = MachineFacts::look();
    let limit = machine.cpu_limit.unwrap_or(f64::INFINITY).min(f64::from(machine.cpus));
    Some(limit).filter(|limit| limit.is_finite())
}
