//! The machines of server and driver are looked at while the clients are at work.

mod means;

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_results::{LeftOutRecord, MachineRecord};
use pgdyno_server::os::{
    DRIVER_MACHINE, DRIVER_PROCESSES, MACHINE, MachineWatch, Machines, OsMetrics, PROCESSES, ServerSession, Told,
};
use pgdyno_server::{Frame, Machine};

use self::means::Means;
use super::{Order, Sink};

/// How often orders and samples are asked for.
const POLL: Duration = Duration::from_millis(100);

/// A session that leads to a server's processes on another machine is not wanted any longer than this.
const LEADING: Duration = Duration::from_secs(30);

/// Looks at the machines.
pub(super) struct Watcher {
    machines: MachineWatch,
    told: Receiver<Told>,
    /// The session that leads to the server's processes, while that is wanted, and since when.
    leading: Option<(Admin, Instant)>,
    window: (Option<Instant>, Option<Instant>),
    server: Means,
    driver: Means,
    left_out: Vec<LeftOutRecord>,
    transactions: u64,
}

/// What was seen of the machines in the measured window.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) server: Option<MachineRecord>,
    pub(super) driver: Option<MachineRecord>,
    pub(super) left_out: Vec<LeftOutRecord>,
    /// Transactions that the server has counted for it.
    pub(super) transactions: u64,
}

/// Those of a session that finds out whose process it is: its begin and two questions.
const TRANSACTIONS: u64 = 3;

impl Watcher {
    /// Begins to look at the machines of this program and of the server at `options`.
    pub(super) fn begin(options: &ConnectOptions, os_metrics: Option<OsMetrics>) -> Self {
        let local = options.is_local();
        let by_ssh = matches!(os_metrics, Some(OsMetrics::Ssh(_)));
        let seen_by = os_metrics.as_ref().map_or_else(|| "local".to_owned(), OsMetrics::name);
        // Without a session the machine is seen all the same, only its processes are not.
        let mut admin = (local || by_ssh).then(|| Admin::connect(options).ok()).flatten();
        let session = admin.as_mut().and_then(|admin| ServerSession::of(admin).ok().flatten());
        let transactions = if admin.is_some() { TRANSACTIONS } else { 0 };
        let here = os_metrics.is_none();
        let (sender, told) = channel();
        let machines = MachineWatch::begin(Machines { local, session, os_metrics }, sender);
        let usable_cpus = usable_cpus();
        Self {
            machines,
            told,
            leading: admin.filter(|_| by_ssh).map(|admin| (admin, Instant::now())),
            window: (None, None),
            server: Means::of(seen_by, usable_cpus.filter(|_| here)),
            driver: Means::of("local".to_owned(), usable_cpus),
            left_out: Vec::new(),
            transactions,
        }
    }

    /// Looks until it is told to end.
    pub(super) fn watch(mut self, sink: &Sink<'_>, orders: &Receiver<Order>) -> Seen {
        loop {
            match orders.recv_timeout(POLL) {
                Ok(Order::WindowOpens(at)) => self.window.0 = Some(at),
                Ok(Order::WindowCloses(at)) => self.window.1 = Some(at),
                Ok(Order::End) | Err(RecvTimeoutError::Disconnected) => return self.end(sink),
                Err(RecvTimeoutError::Timeout) => {}
            }
            while let Ok(told) = self.told.try_recv() {
                self.take(told, sink);
            }
            self.leading = self.leading.take().filter(|(_, since)| since.elapsed() < LEADING);
        }
    }

    fn take(&mut self, told: Told, sink: &Sink<'_>) {
        match told {
            Told::Frame(frame) => {
                self.count(&frame);
                sink.take(frame);
            }
            Told::LeftOut { source, why } => {
                self.left_out.push(LeftOutRecord { source: source.to_owned(), why });
            }
        }
    }

    /// Counts what lies in the measured window.
    fn count(&mut self, frame: &Frame) {
        let (Some(opened), closed) = self.window else { return };
        if frame.at <= opened || closed.is_some_and(|closed| frame.at > closed) {
            return;
        }
        match frame.source {
            MACHINE => self.server.take_machine(frame),
            // One who looks at them has found them.
            PROCESSES => {
                self.leading = None;
                self.server.take_processes(frame);
            }
            DRIVER_MACHINE => self.driver.take_machine(frame),
            DRIVER_PROCESSES => self.driver.take_processes(frame),
            _ => {}
        }
    }

    fn end(mut self, sink: &Sink<'_>) -> Seen {
        // Whoever tells of something has ended after this.
        self.machines.end();
        while let Ok(told) = self.told.try_recv() {
            self.take(told, sink);
        }
        let Self { server, driver, left_out, transactions, .. } = self;
        Seen { server: server.record(), driver: driver.record(), left_out, transactions }
    }
}

/// CPUs that this container may use of its machine, where that is less than all.
fn usable_cpus() -> Option<f64> {
    let machine = Machine::look();
    let limit = machine.cpu_limit.unwrap_or(f64::INFINITY).min(f64::from(machine.cpus));
    Some(limit).filter(|limit| limit.is_finite())
}
