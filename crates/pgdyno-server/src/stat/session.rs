//! The session that samples are taken over, and what it costs.

use std::time::{Duration, Instant};

use pgdyno_net::{Admin, AdminError, ConnectError, ConnectOptions, Rows};

use crate::facts::backend::LocalBackend;

/// The name that the server shows for it.
const APPLICATION_NAME: &str = "pgdyno sampler";

/// Settings that keep a look cheap and short, whatever happens to the server: it waits for nobody's lock, and is given up
/// where the server has no time for it.
const SETTINGS: [(&str, &str); 3] = [("statement_timeout", "5s"), ("lock_timeout", "100ms"), ("jit", "off")];

/// A server that does not say a word for so long is not waited for: the settings above do not help where the network is
/// gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// What sampling has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cost {
    /// Texts that were sent; each is a transaction, and so is the beginning of each session.
    pub(super) queries: u64,
    pub(super) sessions: u64,
    /// How long the answers took.
    pub(super) waited: Duration,
    /// CPU time of the sessions, where it can be seen.
    pub(super) cpu: Option<Duration>,
}

/// A connection of the sampler's own.
#[derive(Debug)]
pub(super) struct Session {
    admin: Admin,
    backend: Option<LocalBackend>,
    /// The `application_name` of the clients' sessions.
    clients: Option<String>,
    /// Whether what is prepared stays prepared. Behind a pooler the next statement may meet another session.
    keeps: bool,
    cost: Cost,
}

impl Session {
    pub(super) fn open(options: &ConnectOptions, before: Cost) -> Result<Self, ConnectError> {
        let named = options.with_application_name(APPLICATION_NAME).with_connect_timeout_at_most(PATIENCE);
        let mut admin = match Admin::connect(&named.with_settings(SETTINGS)) {
            // Poolers refuse settings, and to set them later would set them for whoever has the session next.
            Err(ConnectError::Refused { .. } | ConnectError::Server { .. }) => Admin::connect(&named)?,
            connected => connected?,
        };
        // Where the system refuses, the server's own limits are left.
        let _ = admin.wait_at_most(Some(PATIENCE));
        let cost = Cost { sessions: before.sessions + 1, ..before };
        let clients = options.application_name().map(str::to_owned);
        let mut session = Self { admin, backend: None, clients, keeps: true, cost };
        if options.is_local() {
            session.find_backend();
        }
        Ok(session)
    }

    fn find_backend(&mut self) {
        let Ok(Some(rows)) = self.ask("SELECT pg_backend_pid(), current_setting('data_directory', true)") else {
            return;
        };
        if let Some([Some(pid), Some(data)]) = rows.first().map(Vec::as_slice) {
            self.backend = pid.parse().ok().and_then(|pid| LocalBackend::of(pid, data));
        }
    }

    /// The `application_name` of the clients' sessions, which is the one that this session was to have.
    pub(super) fn clients(&self) -> Option<&str> {
        self.clients.as_deref()
    }

    /// Runs statements that are one transaction.
    pub(super) fn run(&mut self, sql: &str) -> Result<Vec<Rows>, AdminError> {
        let began = Instant::now();
        let answer = self.admin.query_all(sql);
        self.cost.queries += 1;
        self.cost.waited += began.elapsed();
        answer
    }

    /// The rows of one statement; none where it is refused.
    pub(super) fn ask(&mut self, sql: &str) -> Result<Option<Vec<Vec<Option<String>>>>, AdminError> {
        match self.run(sql) {
            Ok(mut results) => Ok(results.pop().map(|rows| rows.rows)),
            Err(error) if error.is_lost() => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Prepares `sql`, so that nothing is planned anew at each look, and returns what is to be sent then.
    pub(super) fn prepare(&mut self, name: &str, sql: &str) -> Result<String, AdminError> {
        if !self.keeps {
            return Ok(sql.to_owned());
        }
        self.run(&format!("PREPARE pgdyno_{name} AS {sql}"))?;
        Ok(format!("EXECUTE pgdyno_{name}"))
    }

    /// What was prepared is not there any more: from now on nothing is.
    pub(super) fn forgets(&mut self) {
        self.keeps = false;
    }

    /// What it has cost so far, together with the sessions before it.
    pub(super) fn cost(&self) -> Cost {
        let own = self.backend.as_ref().and_then(LocalBackend::cpu);
        let cpu = own.map_or(self.cost.cpu, |own| Some(own + self.cost.cpu.unwrap_or_default()));
        Cost { cpu, ..self.cost }
    }
}
