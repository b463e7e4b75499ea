//! Connections that come and go: errands, their results, losses.

use std::io;
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use pgdyno_measure::Phase;

use super::{Errands, Report, Worker, say_goodbye};
use crate::Tick;
use crate::errands::{self, Answer, Request};
use crate::fleet::Errand;

/// The reason of [`Errand::Lose`].
const NO_USE: &str = "the server did not answer in time, or is read-only";

impl Worker<'_> {
    pub(super) fn lose(&mut self, i: usize, now: Tick, why: &str) {
        self.disconnect(i, false);
        let mattered = self.fleet.is_wanted(i);
        let aborted = self.fleet.aborted();
        self.fleet.lose(i, now, why);
        self.write_handed(now);
        if !mattered || self.phase == Phase::Drain {
            return;
        }
        if self.fleet.aborted() > aborted {
            self.report(Report::Aborted { worker: self.index });
            return;
        }
        let why = match self.fleet.endpoint_of(i) {
            0 => why.to_owned(),
            reader => format!("reader {reader}: {why}"),
        };
        self.report(Report::Lost { why });
        if self.timing.reconnect_ns > 0 {
            self.reviving += 1;
            let at = self.backoff.lost(i, now);
            self.reconnect_at(i, at, now);
        }
    }

    /// Schedules the replacement of a lost connection, if that time has not passed.
    fn reconnect_at(&mut self, line: usize, at: Tick, now: Tick) {
        if at > now {
            self.backoff.pause(line, at);
            return;
        }
        let left = Duration::from_nanos(self.backoff.until(line).since(now));
        let request = Request { client: line, until: Some(Instant::now() + left) };
        self.awaited += usize::from(self.channels.errands.connect.send(request).is_ok());
    }

    /// Requests the connections whose pause is over.
    #[cold]
    pub(super) fn end_pauses(&mut self, now: Tick) {
        while let Some(line) = self.backoff.pop_due(now) {
            if self.phase != Phase::Drain {
                self.reconnect_at(line, now, now);
            }
        }
    }

    /// Closes the connection of client `i`, with a Terminate message if it is still open.
    pub(super) fn disconnect(&mut self, i: usize, goodbye: bool) {
        if let Some(mut link) = self.links.get_mut(i).and_then(Option::take) {
            drop(self.poller.remove(link.transport.as_fd()));
            if goodbye {
                say_goodbye(&mut link);
            }
        }
    }

    /// Passes errands to the threads that may block, and notes to the coordinator.
    #[inline]
    pub(super) fn run_errands(&mut self) {
        while let Some(errand) = self.fleet.take_errand() {
            match errand {
                Errand::Disconnect(i) => {
                    self.disconnect(i, true);
                    if self.fleet.is_given_up(i) {
                        self.report(Report::Aborted { worker: self.index });
                    }
                }
                Errand::Renew(i) => {
                    self.disconnect(i, true);
                    if self.timing.reconnect_ns > 0 && self.phase != Phase::Drain {
                        let now = self.now();
                        self.fleet.miss(i, now);
                        self.reviving += 1;
                        let at = self.backoff.lost(i, now);
                        self.reconnect_at(i, at, now);
                    }
                }
                Errand::Lose(line) => {
                    let now = self.now();
                    self.lose(line, now, NO_USE);
                }
                Errand::GivenUp => self.report(Report::Aborted { worker: self.index }),
                Errand::Connect(i) => {
                    let request = Request { client: i, until: None };
                    self.awaited += usize::from(self.channels.errands.connect.send(request).is_ok());
                }
                Errand::Shell(i) => {
                    let Errands { answer, waker, .. } = &self.channels.errands;
                    errands::shell(i, self.fleet.shell(i), answer.clone(), waker.clone());
                    self.awaited += 1;
                }
            }
        }
        let notes = self.fleet.take_notes();
        if !notes.is_empty() {
            let notice_bytes = self.fleet.take_notice_bytes();
            self.report(Report::Notes { notes, notice_bytes });
        }
    }

    pub(super) fn take_answers(&mut self, now: &mut Tick) -> io::Result<()> {
        while self.awaited > 0 {
            let Ok(answer) = self.channels.errands.answers.try_recv() else {
                return Ok(());
            };
            self.awaited -= 1;
            *now = self.now();
            self.pass_edges(*now);
            match answer {
                Answer::Shell { client, number, outcome } => {
                    self.fleet.shell_done(client, *now, number, outcome);
                    self.write_client(client, *now);
                }
                Answer::Connected { client, link, notes, took_ns } => {
                    if !notes.is_empty() {
                        self.report(Report::Notes { notes, notice_bytes: 0 });
                    }
                    let was_lost = self.fleet.is_lost(client);
                    self.reviving -= usize::from(was_lost);
                    match link {
                        Ok(_) if was_lost && self.phase == Phase::Drain => {}
                        // Too late: no transaction begins any more.
                        _ if !was_lost && !self.fleet.is_connecting(client) => {}
                        Ok(link) => {
                            if was_lost {
                                self.backoff.opened(client, *now);
                            }
                            self.links[client] = Some(*link);
                            self.fleet.attach(client, *now, took_ns);
                            self.attach(client, *now)?;
                            self.write(client, *now);
                            self.write_handed(*now);
                        }
                        Err(error) if was_lost => {
                            error.into_iter().for_each(|error| self.report(Report::NotReopened(error)));
                            if let Some(at) = self.backoff.refused(client, *now) {
                                self.reviving += 1;
                                self.reconnect_at(client, at, *now);
                            }
                        }
                        Err(error) => {
                            self.fleet.cannot_connect(client, *now);
                            if let Some(error) = error {
                                self.report(Report::ConnectFailed { client: self.fleet.id(client), error });
                            }
                            self.report(Report::Aborted { worker: self.index });
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
