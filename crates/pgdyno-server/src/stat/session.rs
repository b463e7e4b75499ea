//! The session of the sampler, and its cost.

use std::time::{Duration, Instant};

use pgdyno_net::{Admin, AdminError, ConnectError, ConnectOptions, TextRows};

use crate::facts::backend::LocalBackend;

/// Its application_name.
const APPLICATION_NAME: &str = "pgdyno sampler";

/// Settings that keep a look cheap and short, whatever happens to the server: it waits for no lock, and is given up
/// if the server is too busy.
const SETTINGS: [(&str, &str); 3] = [("statement_timeout", "5s"), ("lock_timeout", "100ms"), ("jit", "off")];

/// Time limit for a silent server: the settings above do not help if the network is down.
const PATIENCE: Duration = Duration::from_secs(10);

/// Cost of sampling.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cost {
    /// Texts sent; each is a transaction, and so is the start of each session.
    pub(super) queries: u64,
    pub(super) sessions: u64,
    /// Total time of the answers.
    pub(super) waited: Duration,
    /// CPU time of the sessions, if visible.
    pub(super) cpu: Option<Duration>,
}

/// A connection of the sampler.
#[derive(Debug)]
pub(super) struct Session {
    admin: Admin,
    backend: Option<LocalBackend>,
    /// The `application_name` of the clients' sessions.
    clients: Option<String>,
    /// Whether prepared statements stay. Behind a pooler the next statement may run in another session.
    keeps: bool,
    cost: Cost,
}

impl Session {
    pub(super) fn open(options: &ConnectOptions, before: Cost) -> Result<Self, ConnectError> {
        let named = options.with_application_name(APPLICATION_NAME).with_connect_timeout_at_most(PATIENCE);
        let mut admin = match Admin::connect(&named.with_settings(SETTINGS)) {
            // Poolers refuse settings, and a later SET would apply to the next client of the session.
            Err(ConnectError::Refused { .. } | ConnectError::Server { .. }) => Admin::connect(&named)?,
            connected => connected?,
        };
        admin.wait_at_most(PATIENCE);
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

    /// Returns the server's address, for messages.
    pub(super) fn peer(&self) -> &str {
        self.admin.peer()
    }

    /// Returns true if prepared statements stay.
    pub(super) fn keeps(&self) -> bool {
        self.keeps
    }

    /// Lifts limits on idle sessions.
    pub(super) fn lift_idle_limits(&mut self) -> Result<(), AdminError> {
        self.cost.queries += 1;
        self.admin.lift_idle_limits()
    }

    /// Returns the `application_name` of the clients' sessions, which is the default of this session's.
    pub(super) fn clients(&self) -> Option<&str> {
        self.clients.as_deref()
    }

    /// Runs statements as one transaction.
    pub(super) fn run(&mut self, sql: &str) -> Result<Vec<TextRows>, AdminError> {
        let began = Instant::now();
        let answer = self.admin.query_all(sql);
        self.cost.queries += 1;
        self.cost.waited += began.elapsed();
        answer
    }

    /// Returns the rows of one statement; `None` if it is refused.
    pub(super) fn ask(&mut self, sql: &str) -> Result<Option<Vec<Vec<Option<String>>>>, AdminError> {
        match self.run(sql) {
            Ok(mut results) => Ok(results.pop().map(|rows| rows.rows)),
            Err(error) if error.is_lost() => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Prepares `sql`, so that looks need no planning, and returns the text that executes it.
    pub(super) fn prepare(&mut self, name: &str, sql: &str) -> Result<String, AdminError> {
        if !self.keeps {
            return Ok(sql.to_owned());
        }
        self.run(&format!("PREPARE pgdyno_{name} AS {sql}"))?;
        Ok(format!("EXECUTE pgdyno_{name}"))
    }

    /// Prepares statements by name, and runs each once, in one text. Returns the texts that execute them; `None` if one is refused, or
    /// nothing can be prepared.
    pub(super) fn prepare_all(&mut self, named: &[(&str, &str)]) -> Result<Option<Vec<String>>, AdminError> {
        if !self.keeps {
            return Ok(None);
        }
        let execute = |name: &str| format!("EXECUTE pgdyno_{name}");
        let both = |(name, sql): &(&str, &str)| format!("PREPARE pgdyno_{name} AS {sql};{}", execute(name));
        match self.run(&named.iter().map(both).collect::<Vec<_>>().join(";")) {
            Ok(_) => Ok(Some(named.iter().map(|(name, _)| execute(name)).collect())),
            Err(error) if error.is_lost() => Err(error),
            // What was prepared before the refusal stays.
            Err(_) => self.run("DEALLOCATE ALL").map(|_| None),
        }
    }

    /// Notes that prepared statements are gone: from now on nothing is prepared.
    pub(super) fn forgets(&mut self) {
        self.keeps = false;
    }

    /// Returns its cost so far, including earlier sessions.
    pub(super) fn cost(&self) -> Cost {
        let own = self.backend.as_ref().and_then(LocalBackend::cpu);
        let cpu = own.map_or(self.cost.cpu, |own| Some(own + self.cost.cpu.unwrap_or_default()));
        Cost { cpu, ..self.cost }
    }
}
