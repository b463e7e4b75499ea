//! The supervisor: a process between pgdyno and its private server, which outlives pgdyno by just as long
//! as it takes to end the server and to remove its directories.
//!
//! It is the same program, started with [`SUPERVISE`]. Its standard input carries one line, the [`Spec`];
//! after that a line is an [`Order`], and the end of the input means that pgdyno is gone, however it went: only pgdyno has
//! the other end of that pipe. What happens is written to its standard output, an [`Event`] a line. It leads a
//! session of its own, so that Ctrl-C does not reach the server before pgdyno has ended the run. Should the
//! supervisor itself be killed, Linux ends the postmaster, and whoever comes next removes the directories.

use std::io::{self, BufRead, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, Sender};

use rustix::process::{Pid, WaitId, WaitIdOptions};
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1};

use crate::account::Account;
use crate::find::Installation;
use crate::instance::{self, Instance};
use crate::kept;
use crate::places::Places;
use crate::postmaster::{Postmaster, Stop};
use crate::private::PrivateServer;
use crate::sizing::Setting;
use crate::{restart, startup};

/// The argument with which a program becomes a supervisor: its `main` then calls [`supervise_main`].
pub const SUPERVISE: &str = "__supervise";

/// What the supervisor is to start.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) places_root: PathBuf,
    /// Whether the server outlives who asked for it.
    pub(crate) kept: bool,
    pub(crate) installation: Installation,
    /// Whom the server runs as, where that is somebody else.
    pub(crate) account: Option<Account>,
    /// The account that may connect through the socket.
    pub(crate) caller: String,
    pub(crate) tcp: bool,
    pub(crate) settings: Vec<Setting>,
}

/// What may be asked of a supervisor whose server runs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Kill the server, and start it again on what it leaves.
    Crash,
    /// Shut it down, and start it again: with these settings, or with those that it has.
    Restart(Option<Vec<Setting>>),
}

/// What became of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    /// The server has this directory now.
    Directory(PathBuf),
    /// The data directory is being made.
    Initialising,
    /// The postmaster is starting.
    Starting,
    /// It accepts connections.
    Ready(PrivateServer),
    /// It did not start; its log ends so.
    Failed { what: String, log: Vec<String> },
    /// It ended although nobody asked it to; its log ends so.
    Died { what: String, log: Vec<String> },
}

/// What wakes the supervisor.
pub(crate) enum Wake {
    ParentGone,
    Asked(Order),
    Told(Stop),
    Ended,
}

/// The whole life of a supervisor. To be called on the main thread of a process that was started with
/// [`SUPERVISE`], before anything else; its standard input and output belong to it.
#[must_use]
pub fn supervise_main() -> ExitCode {
    // Fails only for who leads a group already, such as a user who types the hidden word.
    let _ = rustix::process::setsid();
    let _ = std::env::set_current_dir("/");
    let mut line = String::new();
    let mut spec: Spec = match io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(serde_json::Error::io)
        .and_then(|_| serde_json::from_str(&line))
    {
        Ok(spec) => spec,
        // Whoever started it has gone, or is no pgdyno.
        Err(_) => return ExitCode::FAILURE,
    };
    let (wake, woken) = mpsc::channel();
    if listen(&spec, &wake).is_err() {
        return ExitCode::FAILURE;
    }
    let places = Places::at(&spec.places_root);
    let instance = if spec.kept { Instance::kept(&places) } else { Instance::temporary(&places).map(Some) };
    let instance = match instance {
        Ok(Some(instance)) => instance,
        Ok(None) => return fail("a kept server is running already".to_owned(), Vec::new()),
        Err(error) => {
            let root = places.root().display();
            return fail(format!("cannot make a directory in {root}: {error}"), Vec::new());
        }
    };
    tell(&Event::Directory(instance.dir().to_owned()));
    match startup::start(&spec, &instance, &woken, None) {
        Ok((server, running)) => serve(&mut spec, instance, server, running, &wake, &woken),
        Err(refusal) => {
            let log = instance::log_tail(&instance.log());
            if !spec.kept {
                instance.remove();
            }
            match refusal {
                Some(what) => fail(what, log),
                None => ExitCode::SUCCESS,
            }
        }
    }
}

/// Tells whoever listens; the starter of a kept server is long gone.
pub(crate) fn tell(event: &Event) {
    if let Ok(line) = serde_json::to_string(event) {
        let mut out = io::stdout().lock();
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }
}

fn fail(what: String, log: Vec<String>) -> ExitCode {
    tell(&Event::Failed { what, log });
    ExitCode::FAILURE
}

/// Turns the end of the input and signals into messages.
fn listen(spec: &Spec, wake: &Sender<Wake>) -> io::Result<()> {
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
    // SIGTERM is also what a machine sends that goes down: a kept server's data must survive it.
    let usual = if spec.kept { Stop::Fast } else { Stop::Immediate };
    for (signal, stop) in [(SIGTERM, usual), (SIGINT, usual), (SIGHUP, usual), (SIGQUIT, Stop::Immediate)] {
        on_signal(signal, wake, move || Wake::Told(stop))?;
    }
    // Nobody has the input of a kept server's supervisor any more: its one order is a signal.
    on_signal(SIGUSR1, wake, || Wake::Asked(Order::Restart(None)))
}

/// Turns a signal into messages.
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

/// Waits until the server is not wanted any more, or dies.
fn serve(
    spec: &mut Spec,
    instance: Instance,
    mut server: Postmaster,
    mut running: PrivateServer,
    wake: &Sender<Wake>,
    woken: &Receiver<Wake>,
) -> ExitCode {
    if let Err(error) = announce(spec, &instance, &running) {
        server.stop(Stop::Fast);
        return fail(format!("cannot write the state of the kept server: {error}"), Vec::new());
    }
    watch(server.pid(), wake.clone());
    let mut proven = restart::proven(&instance);
    let mut died = false;
    loop {
        let stop = match woken.recv() {
            Ok(Wake::Told(stop)) => stop,
            // `wake` lives in this process, so the channel cannot close.
            Ok(Wake::ParentGone) | Err(_) => Stop::Immediate,
            Ok(Wake::Asked(order)) => {
                let started = match order {
                    Order::Crash => {
                        server.crash();
                        startup::start(spec, &instance, woken, None)
                    }
                    Order::Restart(settings) => {
                        server.stop(Stop::Fast);
                        restart::restart(spec, settings, &instance, &running, &proven, woken)
                    }
                };
                match started {
                    Ok((again, described)) => {
                        (server, running) = (again, described);
                        watch(server.pid(), wake.clone());
                        proven = restart::proven(&instance);
                        if announce(spec, &instance, &running).is_ok() {
                            continue;
                        }
                        // Nobody could find it any more.
                        Stop::Fast
                    }
                    Err(Some(what)) => {
                        tell(&Event::Failed { what, log: instance::log_tail(&instance.log()) });
                        died = true;
                        if spec.kept { Stop::Fast } else { continue }
                    }
                    Err(None) => Stop::Immediate,
                }
            }
            Ok(Wake::Ended) => {
                // The word of one that was made to crash comes when another runs.
                let Some(status) = server.ended().filter(|_| !died) else { continue };
                tell(&Event::Died { what: status.to_string(), log: instance::log_tail(&instance.log()) });
                died = true;
                if spec.kept {
                    Stop::Fast
                } else {
                    // Its directory stays for as long as pgdyno may want to read the log.
                    continue;
                }
            }
        };
        server.stop(stop);
        break;
    }
    if spec.kept {
        kept::remove_state(instance.dir());
    } else {
        instance.remove();
    }
    if died { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Tells how the server is reached: whoever listens, and whoever looks at the state of a kept one.
fn announce(spec: &Spec, instance: &Instance, running: &PrivateServer) -> io::Result<()> {
    if spec.kept {
        kept::write_state(instance.dir(), running)?;
    }
    tell(&Event::Ready(running.clone()));
    Ok(())
}

/// Sends [`Wake::Ended`] when this child has ended. It is not reaped, so that its number stays its own.
fn watch(child: i32, wake: Sender<Wake>) {
    std::thread::spawn(move || {
        if let Some(pid) = Pid::from_raw(child) {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while let Err(rustix::io::Errno::INTR) = rustix::process::waitid(WaitId::Pid(pid), options) {}
        }
        wake.send(Wake::Ended)
    });
}
