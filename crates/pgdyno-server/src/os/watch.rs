//! Who looks at which machine, and where what is seen goes.

use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::beat::Wake;
use super::observer::Observer;
use super::os_metrics::OsMetrics;
use super::server::ServerSession;
use super::tally::Tally;
use super::told::{Sink, Told};
use super::{command, local, ssh};

/// The machines of a run.
#[derive(Clone, Debug, Default)]
pub struct Machines {
    /// Whether the server is on this machine, as far as its address tells.
    pub local: bool,
    /// A session on the server, by which its processes are found.
    pub session: Option<ServerSession>,
    /// How the server's machine is looked at, where the user says.
    pub os_metrics: Option<OsMetrics>,
}

/// The threads that look at the machines, until it is dropped.
#[derive(Debug)]
pub struct MachineWatch {
    threads: Vec<(Sender<Wake>, JoinHandle<()>)>,
}

impl MachineWatch {
    /// Begins to look. What cannot be looked at is told, and never an error.
    #[must_use]
    pub fn begin(machines: Machines, told: Sender<Told>) -> Self {
        // Who does not want to hear any more ends the watch.
        let sink: &Sink = &(Arc::new(move |what| drop(told.send(what))) as Sink);
        let mut watch = Self { threads: Vec::new() };
        let Machines { local, session, os_metrics } = machines;
        // A server that seems to be here, and is looked at elsewhere, may be at the end of a tunnel.
        let watch_driver = (!local || os_metrics.is_some()).then(|| session.clone().filter(|_| local));
        match os_metrics {
            None if local => {
                let observer = Observer::of_server(Tally::here(session));
                watch.start(sink, super::MACHINE, move |wake, _, tell| local::watch(observer, &wake, &tell));
            }
            None => sink(Told::LeftOut {
                source: super::MACHINE,
                why: "the server is on another machine; --os-metrics \"ssh user@host\", or a command that prints CSV, \
                      would show that machine"
                    .to_owned(),
            }),
            Some(OsMetrics::Ssh(words)) => {
                let observer = Observer::of_server(Tally::elsewhere(session));
                watch.start(sink, super::MACHINE, move |wake, own, tell| {
                    ssh::watch(Command::new("ssh"), &words, observer, &own, &wake, &tell)
                });
            }
            Some(OsMetrics::Command { command, cpus }) => {
                watch.start(sink, super::MACHINE, move |wake, own, tell| {
                    command::watch(&command, cpus, &own, &wake, &tell)
                });
            }
        }
        if let Some(session) = watch_driver {
            let (source, observer) = (super::DRIVER_MACHINE, Observer::of_driver(Tally::here(session)));
            watch.start(sink, source, move |wake, _, tell| local::watch(observer, &wake, &tell));
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
        let (own, tell) = (sender.clone(), Arc::clone(sink));
        let thread = std::thread::Builder::new().name(source.to_owned()).spawn(move || work(wake, own, tell));
        match thread {
            Ok(thread) => self.threads.push((sender, thread)),
            Err(error) => sink(Told::LeftOut { source, why: format!("no thread could be started for it: {error}") }),
        }
    }
}

impl Drop for MachineWatch {
    fn drop(&mut self) {
        self.end();
    }
}

impl MachineWatch {
    /// Ends the looking. When this returns the last word is said.
    pub fn end(&mut self) {
        for (wake, _) in &self.threads {
            // One that has given up is gone already.
            let _ = wake.send(Wake::Stop);
        }
        for (_, thread) in self.threads.drain(..) {
            // A panic there has been told of.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Frame;

    /// Frames of a source, one after the other.
    #[cfg(target_os = "linux")]
    fn next(heard: &Receiver<Told>, source: &str) -> Frame {
        loop {
            match heard.recv_timeout(Duration::from_secs(60)).unwrap() {
                Told::Frame(frame) if frame.source == source => return frame,
                Told::Frame(_) => {}
                left_out @ Told::LeftOut { .. } => panic!("{left_out:?}"),
            }
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_server_elsewhere_leaves_the_drivers_machine_and_a_word() {
        let mut busy = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let pid = busy.id() as i32;
        let ticks = || crate::os::process::Process::look(pid).unwrap().ticks();
        let (told, heard) = channel();
        let watch = MachineWatch::begin(Machines::default(), told);
        let Ok(Told::LeftOut { source: "machine", why }) = heard.recv() else { panic!("nothing is left out") };
        assert!(why.contains("--os-metrics \"ssh user@host\""), "{why}");
        // Between two looks: what this process and its child used is the driver's, and no more than all.
        let first = next(&heard, "driver_processes");
        let begun = ticks();
        let second = next(&heard, "driver_processes");
        let grown = ticks() - begun;
        drop(watch);
        busy.kill().unwrap();
        busy.wait().unwrap();
        let cpus = |kind: &str| -> f64 {
            let row = second.rows.iter().find(|row| row[0].as_deref() == Some(kind)).unwrap();
            row[1].as_ref().unwrap().parse().unwrap()
        };
        let seconds = second.at.duration_since(first.at).as_secs_f64();
        // The looks and ours are not of the same moments, and tests beside this one are the driver, too.
        let child = grown as f64 / 100.0 / seconds;
        assert!(cpus("driver") > 0.4 * child, "{} of {child}: {:?}", cpus("driver"), second.rows);
        let all = std::thread::available_parallelism().unwrap().get() as f64;
        assert!(cpus("driver") + cpus("other") + cpus("kernel") < 1.2 * all.max(child), "{:?}", second.rows);
        // The watch has ended, and its threads with it.
        while heard.try_recv().is_ok() {}
        assert_eq!(heard.try_recv(), Err(std::sync::mpsc::TryRecvError::Disconnected));
    }
}
