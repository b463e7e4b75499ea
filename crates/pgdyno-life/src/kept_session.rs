//! Sessions of pgdyno's own that last as long as a run. They have nothing to do while clients run, so that a time limit of the
//! role, a proxy or a balancer may end them: limits are lifted, and a session that is lost is opened again.

use std::time::{Duration, Instant};

use pgdyno_net::{Admin, AdminError, ConnectError, ConnectOptions, looking_in};
use pgdyno_server::{ServerIdentity, connect_to};
use pgdyno_workload::Capabilities;

use crate::exit_code::Code;
use crate::failure::{OrFail, Result};
use crate::target::lock;

/// Time for an idle session, and then for a new one, to answer.
const ANSWERING: Duration = Duration::from_secs(5);

/// How long an answer shows that the session is there, unless its connection has ended since.
const JUST_NOW: Duration = Duration::from_secs(1);

/// A session that is opened again where it is lost, on the same server if that can be reached.
pub(crate) struct KeptSession {
    options: ConnectOptions,
    admin: Admin,
    server: Option<ServerIdentity>,
    /// Whether its settings and locks last: behind some poolers they pass to another client.
    keeps_state: bool,
    /// Time limit of every answer.
    patience: Option<Duration>,
    /// Whether it marks the server as one that a run measures.
    is_marked: bool,
    /// Process ids of its backends: the server may not have noticed the loss of a connection.
    backends: Vec<i32>,
    /// How often it was opened again.
    losses: u64,
    /// Transactions that only kept it alive.
    looks: u64,
    /// When it last answered whether it is there.
    answered_at: Option<Instant>,
}

impl KeptSession {
    /// Returns `admin`, which `options` have opened, without the time limits of its role and database.
    ///
    /// # Errors
    /// When the connection is lost.
    pub(crate) fn new(admin: Admin, options: &ConnectOptions, caps: &Capabilities) -> Result<Self> {
        let keeps_state = caps.pooling.is_none_or(|pooling| pooling.keeps_sessions());
        let mut this = Self {
            options: options.clone(),
            admin,
            server: None,
            keeps_state,
            patience: None,
            is_marked: false,
            backends: Vec::new(),
            losses: 0,
            looks: 0,
            answered_at: None,
        };
        this.settle().or_fail(Code::Start)?;
        this.server = ServerIdentity::of(&mut this.admin).or_fail(Code::Start)?;
        Ok(this)
    }

    /// Opens a session on the server of another one.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn beside(other: &Self, patience: Duration) -> Result<Self> {
        let admin = connect_to(&other.options, other.server.as_ref()).or_fail(Code::Start)?;
        let mut this = Self {
            options: other.options.clone(),
            admin,
            server: other.server.clone(),
            keeps_state: other.keeps_state,
            patience: Some(patience),
            is_marked: false,
            backends: Vec::new(),
            losses: 0,
            looks: 0,
            answered_at: None,
        };
        this.settle().or_fail(Code::Start)?;
        Ok(this)
    }

    /// Prepares a new session.
    fn settle(&mut self) -> std::result::Result<(), AdminError> {
        if let Some(patience) = self.patience {
            self.admin.wait_at_most(patience);
        }
        if self.keeps_state {
            self.admin.lift_time_limits()?;
            self.backends.push(self.admin.cancel_handle().process_id());
        }
        Ok(())
    }

    /// Returns the server that it was opened on, if that says which one it is.
    pub(crate) fn server(&self) -> Option<&ServerIdentity> {
        self.server.as_ref()
    }

    /// Returns the session as it is.
    pub(crate) fn as_is(&mut self) -> &mut Admin {
        &mut self.admin
    }

    /// Returns the session; opens it again if it is lost.
    ///
    /// # Errors
    /// When it is lost, and no new connection can be opened.
    pub(crate) fn ready(&mut self) -> Result<&mut Admin> {
        if !self.was_there_just_now() && !self.is_there() {
            self.reopen().or_fail(Code::Start)?;
        }
        Ok(&mut self.admin)
    }

    /// Returns the result of `ask`. If the session is lost, opens it again and asks once more.
    ///
    /// # Errors
    /// When the second session is lost, too.
    pub(crate) fn ask<T>(
        &mut self,
        ask: impl Fn(&mut Admin) -> std::result::Result<T, AdminError>,
    ) -> std::result::Result<T, AdminError> {
        match ask(&mut self.admin) {
            Err(error) if error.is_lost() && self.reopen().is_ok() => ask(&mut self.admin),
            answer => answer,
        }
    }

    /// Returns true if the server answers, over a new connection if this one is lost.
    pub(crate) fn answers(&mut self) -> bool {
        self.is_there() || self.reopen().is_ok()
    }

    /// Limits every answer from now on.
    pub(crate) fn wait_at_most(&mut self, patience: Duration) {
        self.patience = Some(patience);
        self.admin.wait_at_most(patience);
    }

    /// Marks the server as one that a run measures, also after a loss of the session. Returns another run that does; `None`
    /// behind a pooler whose sessions pass to other clients. `warn` takes what is left out.
    ///
    /// # Errors
    /// When the connection is lost.
    pub(crate) fn mark(&mut self, warn: &mut dyn FnMut(String)) -> Result<Option<String>> {
        if !self.keeps_state {
            return Ok(None);
        }
        let beside = lock::mark_run(&mut self.admin, warn)?;
        self.is_marked = true;
        Ok(beside)
    }

    /// Returns another run that marks the server.
    pub(crate) fn other_run(&mut self) -> Option<String> {
        if !self.is_marked {
            return None;
        }
        // That they are not seen was reported when the mark was set.
        lock::other_run_than(&mut self.admin, &self.backends).unwrap_or_default()
    }

    /// Does `work`, and keeps the session alive meanwhile.
    pub(crate) fn kept_alive<T>(&mut self, work: impl FnOnce() -> T) -> T {
        self.report_counts();
        looking_in(|| self.look_in(), work)
    }

    /// Lets the server count what the session has done: with the next look it would count as work of the run. PostgreSQL 15 and
    /// later.
    fn report_counts(&mut self) {
        if self.admin.parameters().server_version_num().is_some_and(|version| version >= 150_000) {
            // Without it a few transactions too many are counted.
            let _ = self.admin.execute("select pg_stat_force_next_flush()");
        }
    }

    /// Asks for nothing, so that nothing in between takes the connection for idle. Opens it again if it is lost.
    pub(crate) fn look_in(&mut self) {
        self.looks += 1;
        // The next look tries again.
        let _ = self.answers();
    }

    /// Returns how often it was opened again.
    pub(crate) fn losses(&self) -> u64 {
        self.losses
    }

    /// Returns the number of transactions that only kept it alive.
    pub(crate) fn looks(&self) -> u64 {
        self.looks
    }

    /// Returns true if it need not be asked: a server may be far away.
    fn was_there_just_now(&mut self) -> bool {
        self.answered_at.is_some_and(|at| at.elapsed() < JUST_NOW) && self.admin.is_untouched()
    }

    /// Returns true if the session answers. It is given up if it does not do so soon: what drops idle connections need not
    /// say so.
    fn is_there(&mut self) -> bool {
        match self.admin.within(ANSWERING, |admin| admin.execute("select 1")) {
            Ok(_) => {
                self.answered_at = Some(Instant::now());
                true
            }
            Err(error) => !error.is_lost(),
        }
    }

    fn reopen(&mut self) -> std::result::Result<(), ConnectError> {
        let options = self.options.with_connect_timeout_at_most(ANSWERING).with_answer_timeout(ANSWERING);
        self.admin = connect_to(&options, self.server.as_ref())?;
        self.losses += 1;
        // What fails here is lost, which the next statement reports.
        let _ = self.settle();
        if self.is_marked {
            lock::mark_again(&mut self.admin);
        }
        Ok(())
    }
}
