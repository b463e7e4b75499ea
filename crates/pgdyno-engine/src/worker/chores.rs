//! What a worker has others do, or does for connections that come and go: errands, their answers, losses.

use std::io;
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use pgdyno_measure::Phase;
use pgdyno_workload::Note;

use super::{Errands, Report, Worker, say_goodbye};
use crate::Tick;
use crate::errands::{self, Answer, Request};
use crate::fleet::Errand;

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
            self.tell(Report::Aborted { worker: self.index });
            return;
        }
        self.tell(Report::Lost { why: why.to_owned() });
        if self.timing.reconnect_ns > 0 {
            let until = Instant::now() + Duration::from_nanos(self.timing.reconnect_ns);
            let asked = usize::from(self.channels.errands.connect.send(Request { client: i, until }).is_ok());
            self.reviving += asked;
            self.awaited += asked;
        }
    }

    /// Closes the connection of client `i`, with a goodbye where it still stands.
    pub(super) fn disconnect(&mut self, i: usize, goodbye: bool) {
        if let Some(mut link) = self.links.get_mut(i).and_then(Option::take) {
            drop(self.poller.remove(link.transport.as_fd()));
            if goodbye {
                say_goodbye(&mut link);
            }
        }
    }

    /// Hands on what clients want of those who may wait, and what they want the user to read.
    #[inline]
    pub(super) fn run_errands(&mut self) {
        while let Some(errand) = self.fleet.take_errand() {
            match errand {
                Errand::Disconnect(i) => {
                    self.disconnect(i, true);
                    if self.fleet.is_given_up(i) {
                        self.tell(Report::Aborted { worker: self.index });
                    }
                }
                Errand::GivenUp => self.tell(Report::Aborted { worker: self.index }),
                Errand::Connect(i) => {
                    let request = Request { client: i, until: Instant::now() };
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
        self.tell_notes(notes);
    }

    #[inline]
    fn tell_notes(&self, notes: Vec<Note>) {
        if !notes.is_empty() {
            self.tell(Report::Notes(notes));
        }
    }

    pub(super) fn take_answers(&mut self, now: &mut Tick) -> io::Result<()> {
        while self.awaited > 0 {
            let Ok(answer) = self.channels.errands.answers.try_recv() else {
                return Ok(());
            };
            self.awaited -= 1;
            *now = self.now();
            match answer {
                Answer::Shell { client, number, outcome } => {
                    self.fleet.shell_done(client, *now, number, outcome);
                    self.write_client(client, *now);
                }
                Answer::Connected { client, link, notes, took_ns } => {
                    self.tell_notes(notes);
                    let was_lost = self.fleet.is_lost(client);
                    self.reviving -= usize::from(was_lost);
                    match link {
                        Ok(_) if was_lost && self.phase == Phase::Drain => {}
                        Ok(link) => {
                            self.links[client] = Some(*link);
                            self.fleet.attach(client, *now, took_ns);
                            self.attach(client, *now)?;
                            self.write(client, *now);
                            self.write_handed(*now);
                        }
                        Err(_) if was_lost => {}
                        Err(error) => {
                            self.fleet.cannot_connect(client);
                            self.tell(Report::ConnectFailed { client: self.fleet.id(client), error });
                            self.tell(Report::Aborted { worker: self.index });
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
