//! The server of a run, and its sessions by purpose.

use std::path::Path;

use pgdyno_net::{Admin, ConnectOptions};

use crate::data::keep;
use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::{OrFail, Result};
use crate::interrupt::Interrupt;
use crate::prepare::settings::Changed;
use crate::target::{Owner, TargetServer};

/// What a session is for. It decides which settings the session has, and which signal ends its waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionPurpose {
    /// To look at the server and to prepare it: without the settings of the run, until the first signal.
    Setup,
    /// To load, drive, sample and check: with the settings of the run, until the first signal, or the second one while
    /// clients drive.
    Measure,
    /// To restore what the run has changed: without the settings of the run, until the second signal.
    Restore,
}

/// The server of a run.
pub(crate) struct RunServer<'a> {
    server: TargetServer,
    interrupt: &'a Interrupt,
    /// Settings that were set for the run.
    pub(super) changed: Changed,
}

impl<'a> RunServer<'a> {
    pub(super) fn new(server: TargetServer, interrupt: &'a Interrupt) -> Self {
        Self { server, interrupt, changed: Changed::default() }
    }

    /// Returns how to connect; `None` without a server.
    pub(crate) fn options(&self, purpose: SessionPurpose) -> Option<ConnectOptions> {
        let options = self.server.options()?;
        Some(match purpose {
            SessionPurpose::Setup => self.interrupt.options(options),
            SessionPurpose::Measure => self.interrupt.options(&self.changed.options(options)),
            SessionPurpose::Restore => self.interrupt.last_options(options),
        })
    }

    /// Opens a session on the server that was announced, if that can be reached; `None` without a server.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn connect(&self, purpose: SessionPurpose) -> Result<Option<Admin>> {
        self.options(purpose).map(|options| self.server.connect(&options)).transpose().or_fail(Code::Start)
    }

    /// Reports the database and the server before anything is done there. Returns the session that it opened for that, to prepare
    /// the server; `None` without a server.
    ///
    /// # Errors
    /// When the server cannot be reached, or accepts the connection and does not answer.
    pub(super) fn announce(&mut self, events: &dyn EventSink) -> Result<Option<Admin>> {
        let Some(options) = self.options(SessionPurpose::Setup) else { return Ok(None) };
        match self.server.announce_by(&options, events)? {
            None => self.connect(SessionPurpose::Setup),
            session => Ok(session),
        }
    }

    /// Returns the owner.
    pub(crate) fn owner(&self) -> Owner {
        self.server.owner()
    }

    /// Returns where it comes from, for the record.
    pub(crate) fn origin(&self) -> &str {
        &self.server.origin
    }

    /// Returns what the user should know about it, so far.
    pub(crate) fn notes(&self) -> &[String] {
        &self.server.notes
    }

    /// Adds what the user should know about it.
    pub(crate) fn note(&mut self, note: String) {
        self.server.notes.push(note);
    }

    /// Returns the data directory of a private server.
    pub(crate) fn data_dir(&self) -> Option<&Path> {
        self.server.data_dir()
    }

    /// Returns why the private server has ended, if it has.
    pub(crate) fn death(&mut self) -> Option<String> {
        self.server.death()
    }

    /// Returns true if it is a private server of this process whose data may be kept.
    pub(crate) fn can_keep_data(&self) -> bool {
        self.server.can_keep_data()
    }

    /// Keeps a copy of its data. Nobody may be connected.
    ///
    /// # Errors
    /// When the server does not start again.
    pub(crate) fn keep_data(&mut self, events: &dyn EventSink) -> Result<()> {
        keep::keep(&mut self.server, events)
    }

    /// Returns the server itself.
    pub(crate) fn server(&self) -> &TargetServer {
        &self.server
    }

    /// Returns the server itself, for steps that restart it, and for faults.
    pub(crate) fn server_mut(&mut self) -> &mut TargetServer {
        &mut self.server
    }
}
