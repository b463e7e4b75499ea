//! Watches machines: which source for which machine, and where samples go.

use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::beat::Wake;
use super::observer::Observer;
use super::os_metrics::OsMetrics;
use super::report::{MachineReport, Sink};
use super::server::ServerSession;
use super::tally::Tally;
use super::{command, local, ssh};

/// The machines of a run.
#[derive(Clone, Debug, Default)]
pub struct Machines {
    /// Whether the server is on this machine, according to its address.
    pub local: bool,
    /// A session on the server, by which its processes are found.
    pub session: Option<ServerSession>,
    /// Source of the server machine's samples, if the user gave one.
    pub os_metrics: Option<OsMetrics>,
}

/// Threads that look at the machines; dropping it ends them.
#[derive(Debug)]
pub struct MachineWatch {
    threads: Vec<(Sender<Wake>, JoinHandle<()>)>,
}

impl MachineWatch {
    /// Starts looking. Reports sources that cannot be read; they are no error.
    #[must_use]
    pub fn begin(machines: Machines, reports: Sender<MachineReport>) -> Self {
        // A receiver that refuses a report ends the watch.
        let sink: &Sink = &(Arc::new(move |what| drop(reports.send(what))) as Sink);
        let mut watch = Self { threads: Vec::new() };
        let Machines { local, session, os_metrics } = machines;
        // A server that seems to be here, and is sampled elsewhere, may be behind a tunnel.
        let watch_driver = (!local || os_metrics.is_some()).then(|| session.clone().filter(|_| local));
        match os_metrics {
            None if local => {
                let observer = Observer::of_server(Tally::here(session));
                watch.start(sink, super::MACHINE, move |wake, _, report| local::watch(observer, &wake, &report));
            }
            None => sink(MachineReport::LeftOut {
                source: super::MACHINE,
                why: "the server is on another machine; --os-metrics \"ssh user@host\", or a command that prints CSV, \
                      would show that machine"
                    .to_owned(),
            }),
            Some(OsMetrics::Ssh(words)) => {
                let observer = Observer::of_server(Tally::elsewhere(session));
                watch.start(sink, super::MACHINE, move |wake, own, report| {
                    ssh::watch(Command::new("ssh"), &words, observer, &own, &wake, &report)
                });
            }
            Some(OsMetrics::Command { command, cpus }) => {
                watch.start(sink, super::MACHINE, move |wake, own, report| {
                    command::watch(&command, cpus, &own, &wake, &report)
                });
            }
        }
        if let Some(session) = watch_driver {
            let (source, observer) = (super::DRIVER_MACHINE, Observer::of_driver(Tally::here(session)));
            watch.start(sink, source, move |wake, _, report| local::watch(observer, &wake, &report));
        }
        watch
    }

    fn start(
        &mut self,
        sink: &Sink,
        source: &'static str,
        work: impl FnOnce(Receiver<Wake>, Sender<Wake>, Sink) + Send + 'static,
    ) {
        let (sender, wake) = channel();
        let (own, report) = (sender.clone(), Arc::clone(sink));
        let thread = std::thread::Builder::new().name(source.to_owned()).spawn(move || work(wake, own, report));
        match thread {
            Ok(thread) => self.threads.push((sender, thread)),
            Err(error) => {
                sink(MachineReport::LeftOut { source, why: format!("no thread could be started for it: {error}") })
            }
        }
    }
}

impl Drop for MachineWatch {
    fn drop(&mut self) {
        self.end();
    }
}

impl MachineWatch {
    /// Ends the watch. No report follows after it returns.
    pub fn end(&mut self) {
        for (wake, _) in &self.threads {
            // A failed thread has ended already.
            let _ = wake.send(Wake::Stop);
        }
        for (_, thread) in self.threads.drain(..) {
            // Its panic was reported.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Frame;

    /// Returns frames of a source, one after the other.
    #[cfg(target_os = "linux")]
    fn next(reports: &Receiver<MachineReport>, source: &str) -> Frame {
        loop {
            match reports.recv_timeout(Duration::from_secs(60)).unwrap() {
                MachineReport::Frame(frame) if frame.source == source => return frame,
                MachineReport::Frame(_) => {}
                left_out @ MachineReport::LeftOut { .. } => panic!("{left_out:?}"),
            }
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_server_elsewhere_leaves_the_drivers_machine_and_a_word() {
        let busy = pgdyno_testing::busy::Busy::start(1);
        let pid = busy.pid() as i32;
        let ticks = || crate::os::process::Process::look(pid).unwrap().ticks();
        let (sender, reports) = channel();
        let watch = MachineWatch::begin(Machines::default(), sender);
        let Ok(MachineReport::LeftOut { source: "machine", why }) = reports.recv() else {
            panic!("nothing is left out")
        };
        assert!(why.contains("--os-metrics \"ssh user@host\""), "{why}");
        // Between two looks: the usage of this process and its child is the driver's, and no more than all.
        let first = next(&reports, "driver_processes");
        let begun = ticks();
        let second = next(&reports, "driver_processes");
        let grown = ticks() - begun;
        drop((watch, busy));
        let cpus = |kind: &str| -> f64 {
            let row = second.rows.iter().find(|row| row[0].as_deref() == Some(kind)).unwrap();
            row[1].as_ref().unwrap().parse().unwrap()
        };
        let seconds = second.at.duration_since(first.at).as_secs_f64();
        // The looks have other times than this test, and tests beside this one belong to the driver, too.
        let child = grown as f64 / 100.0 / seconds;
        assert!(cpus("driver") > 0.4 * child, "{} of {child}: {:?}", cpus("driver"), second.rows);
        let all = std::thread::available_parallelism().unwrap().get() as f64;
        assert!(cpus("driver") + cpus("other") + cpus("kernel") < 1.2 * all.max(child), "{:?}", second.rows);
        // The watch has ended, and its threads with it.
        while reports.try_recv().is_ok() {}
        assert_eq!(reports.try_recv(), Err(std::sync::mpsc::TryRecvError::Disconnected));
    }
}
