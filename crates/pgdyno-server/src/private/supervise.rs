//! The supervisor: a process between pgdyno and its private server, which outlives pgdyno only to end the server and
//! to remove its directories.
//!
//! It is the same program, started with [`SUPERVISE`](crate::SUPERVISE). The end of its standard input means that
//! pgdyno has ended, in whatever way: only pgdyno has the other end of that pipe. It leads a session of its own, so
//! that Ctrl-C does not reach the server before pgdyno has ended the run. If the supervisor itself is killed, Linux
//! ends the postmaster, and the next pgdyno removes the directories.

use std::io::{self, BufRead};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, Sender};

use crate::private::copy::{self, Durability};
use crate::private::instance::{self, Instance};
use crate::private::kept;
use crate::private::pipe::{Event, Order, Spec, report};
use crate::private::places::Places;
use crate::private::postmaster::{Postmaster, Stop};
use crate::private::restart::Proven;
use crate::private::server::{PrivateServer, Refused};
use crate::private::startup::Refusal;
use crate::private::wake::{Wake, listen, watch};
use crate::private::{restart, startup};

/// Runs a supervisor. Call it on the main thread of a process that was started with [`SUPERVISE`], before anything
/// else; its standard input and output belong to it.
#[must_use]
pub fn supervise_main() -> ExitCode {
    // Fails only for the leader of a group, such as a user who types the hidden argument.
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
        // The starter has ended, or is not pgdyno.
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
        Ok(None) => return fail("a kept server is already running".to_owned(), Vec::new()),
        Err(error) => {
            let root = places.root().display();
            return fail(format!("cannot make a directory in {root}: {error}"), Vec::new());
        }
    };
    report(&Event::Directory(instance.dir().to_owned()));
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

fn fail(what: String, log: Vec<String>) -> ExitCode {
    report(&Event::Failed { what, log });
    ExitCode::FAILURE
}

/// Waits until the server is not needed any more, or ends.
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
            Ok(Wake::Signal(stop)) => stop,
            // `wake` lives in this process, so the channel cannot close.
            Ok(Wake::ParentGone) | Err(_) => Stop::Immediate,
            Ok(Wake::Asked(Order::MarkSynced)) => {
                match mark_synced(&instance, spec) {
                    Ok(()) => report(&Event::Ready(running.clone())),
                    Err(error) => report(&Event::Failed { what: error.to_string(), log: Vec::new() }),
                }
                continue;
            }
            Ok(Wake::Asked(order)) => {
                let run = SupervisedRun { instance: &instance, running: &running, proven: &proven, woken };
                let started = obey(order, spec, &mut server, &run);
                match started {
                    Ok((again, described)) => {
                        (server, running) = (again, described);
                        watch(server.pid(), wake.clone());
                        proven = restart::proven(&instance);
                        if announce(spec, &instance, &running).is_ok() {
                            continue;
                        }
                        // No process could find it any more.
                        Stop::Fast
                    }
                    Err(Some(what)) => {
                        report(&Event::Failed { what, log: instance::log_tail(&instance.log()) });
                        died = true;
                        if spec.kept { Stop::Fast } else { continue }
                    }
                    Err(None) => Stop::Immediate,
                }
            }
            Ok(Wake::Ended) => {
                // The end of a killed server is reported after the next one runs.
                let Some(status) = server.ended().filter(|_| !died) else { continue };
                report(&Event::Died { what: status.to_string(), log: instance::log_tail(&instance.log()) });
                died = true;
                if spec.kept {
                    Stop::Fast
                } else {
                    // Keeps its directory as long as pgdyno may want to read the log.
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

/// Counts all that a server has written as synced.
fn mark_synced(instance: &Instance, spec: &Spec) -> io::Result<()> {
    let journal = startup::journal(spec, instance);
    journal.map_or_else(|| Err(io::Error::other("it has no journal")), |journal| journal.mark_synced())
}

/// A server that runs, and what it needs to be started again.
struct SupervisedRun<'a> {
    instance: &'a Instance,
    running: &'a PrivateServer,
    proven: &'a Proven,
    woken: &'a Receiver<Wake>,
}

/// Carries out an order: ends the server, and starts it again at its address.
fn obey(
    order: Order,
    spec: &mut Spec,
    server: &mut Postmaster,
    run: &SupervisedRun<'_>,
) -> Result<(Postmaster, PrivateServer), Refusal> {
    let SupervisedRun { instance, running, proven, woken } = *run;
    match order {
        Order::Crash => {
            server.crash();
            startup::start(spec, instance, woken, Some(running))
        }
        Order::MarkSynced => Err(Some("it runs, and is not started again".to_owned())),
        Order::LosePower => {
            server.crash();
            let journal = startup::journal(spec, instance).ok_or_else(|| Some("it has no journal".to_owned()))?;
            journal.undo().map_err(|error| Some(format!("its unsynced writes cannot be undone: {error}")))?;
            startup::start(spec, instance, woken, Some(running))
        }
        Order::RestartImmediately => {
            server.stop(Stop::Immediate);
            startup::start(spec, instance, woken, Some(running))
        }
        Order::Restart(settings) => {
            server.stop(Stop::Fast);
            restart::restart(spec, settings, instance, running, proven, woken)
        }
        Order::CopyTo(place) => {
            server.stop(Stop::Fast);
            let copied = copy::copy(&instance.data(), &place, spec.account.as_ref(), Durability::BeforeUse);
            let (server, mut running) = startup::start(spec, instance, woken, Some(running))?;
            let refused = |error| Refused { what: format!("its data cannot be copied: {error}"), log: Vec::new() };
            running.refused = copied.err().map(|error| Box::new(refused(error)));
            Ok((server, running))
        }
        Order::Adopt(place) => {
            server.stop(Stop::Fast);
            let data = instance.data();
            std::fs::remove_dir_all(&data)
                .and_then(|()| std::fs::rename(&place, &data))
                .map_err(|error| Some(format!("the copy cannot take the place of its data: {error}")))?;
            startup::start(spec, instance, woken, Some(running))
        }
    }
}

/// Reports the server's address to the listener, and writes it for status queries of a kept one.
fn announce(spec: &Spec, instance: &Instance, running: &PrivateServer) -> io::Result<()> {
    if spec.kept {
        kept::write_state(instance.dir(), running)?;
    }
    report(&Event::Ready(running.clone()));
    Ok(())
}
