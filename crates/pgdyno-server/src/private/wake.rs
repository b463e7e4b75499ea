//! Events of a supervisor: orders, the end of its pgdyno, signals and the end of its server.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::Sender;

use rustix::process::{Pid, WaitId, WaitIdOptions};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1};

use crate::private::pipe::{Order, Spec};
use crate::private::postmaster::Stop;

/// An event that wakes the supervisor.
pub(crate) enum Wake {
    ParentGone,
    Asked(Order),
    Signal(Stop),
    Ended,
}

/// Sends the end of the input and signals as events.
pub(crate) fn listen(spec: &Spec, wake: &Sender<Wake>) -> io::Result<()> {
    if !spec.kept {
        let wake = wake.clone();
        std::thread::spawn(move || {
            for line in io::stdin().lines() {
                let order = line.and_then(|line| serde_json::from_str(&line).map_err(io::Error::from));
                let Ok(order) = order else { break };
                if wake.send(Wake::Asked(order)).is_err() {
                    break;
                }
            }
            wake.send(Wake::ParentGone)
        });
    }
    // A machine that shuts down sends SIGTERM, too: a kept server's data must survive it.
    let usual = if spec.kept { Stop::Fast } else { Stop::Immediate };
    for (signal, stop) in [(SIGTERM, usual), (SIGINT, usual), (SIGHUP, usual), (SIGQUIT, Stop::Immediate)] {
        on_signal(signal, wake, move || Wake::Signal(stop))?;
    }
    // The input of a kept server's supervisor is closed: its only order is a signal.
    on_signal(SIGUSR1, wake, || Wake::Asked(Order::Restart(None)))
}

/// Sends a signal as an event.
fn on_signal(signal: i32, wake: &Sender<Wake>, message: impl Fn() -> Wake + Send + 'static) -> io::Result<()> {
    let (mut reader, writer) = UnixStream::pair()?;
    signal_hook::low_level::pipe::register(signal, writer)?;
    let wake = wake.clone();
    std::thread::spawn(move || {
        while reader.read(&mut [0]).is_ok() {
            if wake.send(message()).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// Sends [`Wake::Ended`] when this child has ended. Does not reap it, so that its process id is not reused.
pub(crate) fn watch(child: i32, wake: Sender<Wake>) {
    std::thread::spawn(move || {
        if let Some(pid) = Pid::from_raw(child) {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while let Err(rustix::io::Errno::INTR) = rustix::process::waitid(WaitId::Pid(pid), options) {}
        }
        wake.send(Wake::Ended)
    });
}
