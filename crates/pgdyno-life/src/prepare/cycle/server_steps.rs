//! The steps of one run on its server: done by pgdyno on private servers, by the hooks of the target on others.

use std::path::Path;
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, ConnectOptions, Interrupter, Stop};
use pgdyno_plan::targets::Hook;
use pgdyno_results::CycleRecord;

use super::{caches, record};
use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::prepare::hooks;
use crate::target::{Named, Owner, TargetServer};

/// How often a restarted server is asked if it accepts connections.
const POLL: Duration = Duration::from_millis(50);

/// The steps of a run on its server, and where their evidence goes.
pub(crate) struct ServerSteps<'a> {
    /// The target's entry, with its hooks.
    pub(crate) named: Option<&'a Named>,
    /// The target as records name it.
    pub(crate) target: &'a str,
    /// The run directory.
    pub(crate) directory: &'a Path,
    pub(crate) events: &'a dyn EventSink,
    /// Ends the current step.
    pub(crate) stop: &'a Stop,
    /// Ends the waits for the server.
    pub(crate) waits: &'a Interrupter,
}

impl ServerSteps<'_> {
    /// Returns true if the server can be restarted.
    pub(crate) fn can_restart(&self, server: &TargetServer) -> bool {
        server.owner() != Owner::Given || self.hook(|hooks| &hooks.restart).is_some()
    }

    fn hook(&self, which: impl Fn(&pgdyno_plan::targets::Hooks) -> &Option<Hook>) -> Option<&Hook> {
        self.named.and_then(|named| which(&named.entry.hooks).as_ref())
    }

    /// Restarts the server if there is a way to do that, and waits until it accepts connections again. This process may
    /// have no other connection to it.
    ///
    /// # Errors
    /// When the hook fails, or does not restart the server. If there is no way to restart it, the evidence says so.
    pub(crate) fn restart(&self, server: &mut TargetServer, evidence: &mut Vec<CycleRecord>) -> Result<()> {
        let began = Instant::now();
        match server.owner() {
            Owner::Ours => {
                let what = "started for this run: shared buffers are cold";
                evidence.push(record("restart", true, what, began));
                Ok(())
            }
            Owner::Kept => {
                self.events.note("restarting the kept private server");
                server.restart(&std::collections::BTreeMap::new())?;
                evidence.push(record("restart", true, "the kept private server was restarted on its data", began));
                Ok(())
            }
            Owner::Given => match (self.hook(|hooks| &hooks.restart), server.options().cloned()) {
                (Some(hook), Some(options)) => self.restart_by_hook(hook, &options, evidence),
                _ => {
                    let why = "not done: pgdyno has not started this server, and its target has no hook restart";
                    evidence.push(record("restart", false, why, began));
                    Ok(())
                }
            },
        }
    }

    fn restart_by_hook(&self, hook: &Hook, options: &ConnectOptions, evidence: &mut Vec<CycleRecord>) -> Result<()> {
        let started = |admin: &mut Admin| {
            admin.promptly("when it was started", |admin| admin.query_one("select pg_postmaster_start_time()"))
        };
        let watched = &options.interrupted_by(self.waits);
        let before = Admin::connect(watched)
            .or_fail(Code::Start)
            .and_then(|mut admin| started(&mut admin).or_fail(Code::Start))?;
        let began = Instant::now();
        let mut done = self.run("restart", hook, Some(options), evidence)?;
        // A hook may return before the server is up, or even before it is down.
        let deadline = Instant::now() + Duration::from_secs_f64(hook.timeout.seconds());
        let mut last = format!("it has been running since {before}");
        let outcome = loop {
            match Admin::connect(watched) {
                Ok(mut admin) => match started(&mut admin) {
                    Ok(now) if now != before => break Ok(now),
                    Ok(_) => {}
                    Err(error) => last = error.to_string(),
                },
                Err(error) => last = error.to_string(),
            }
            if self.stop.is_requested() {
                break Err(CommandError::new(Code::Interrupted, "interrupted while the server was restarted"));
            }
            if Instant::now() > deadline {
                let error = format!("hook restart succeeded, but the server did not come back: {last}");
                break Err(CommandError::new(Code::Hook, error).hint(format!(
                    "its time-out, {}, is also how long the server may take",
                    pgdyno_text::units::duration(hook.timeout.seconds())
                )));
            }
            std::thread::sleep(POLL);
        };
        done.seconds = began.elapsed().as_secs_f64();
        match &outcome {
            Ok(now) => done.what += &format!("; the server has been running since {now}"),
            Err(failure) => (done.done, done.what) = (false, failure.text()),
        }
        evidence.push(done);
        outcome.map(drop)
    }

    /// Drops the server's files from the operating system's cache, if there is a way to do that.
    ///
    /// # Errors
    /// When the hook fails. If there is no way to do it, the evidence says so.
    pub(crate) fn drop_caches(&self, server: &TargetServer, evidence: &mut Vec<CycleRecord>) -> Result<()> {
        self.events.note("dropping the file cache of the server's machine");
        let done = match self.hook(|hooks| &hooks.drop_caches).filter(|_| server.owner() == Owner::Given) {
            Some(hook) => self.run("drop_caches", hook, server.options(), evidence)?,
            None => caches::drop_for(server),
        };
        evidence.push(done);
        Ok(())
    }

    /// Makes the server, and returns its connection string if the hook prints one.
    ///
    /// # Errors
    /// When there is no hook, or it fails.
    pub(crate) fn provision(&self, evidence: &mut Vec<CycleRecord>) -> Result<Option<String>> {
        let Some(hook) = self.hook(|hooks| &hooks.provision) else {
            let error = format!("--provision is given, and {} has no hook provision", self.target);
            return Err(CommandError::new(Code::Start, error).hint("hooks belong to targets in pgdyno.toml"));
        };
        self.events.note("hook provision");
        match hooks::provision(hook, self.directory, &self.environment(None), self.stop) {
            Ok((done, dsn)) => {
                evidence.push(done);
                Ok(dsn)
            }
            Err(failed) => {
                let (failed, failure) = *failed;
                evidence.push(failed);
                Err(failure)
            }
        }
    }

    /// Removes the server, if there is a hook for that.
    ///
    /// # Errors
    /// When the hook fails.
    pub(crate) fn teardown(&self, options: Option<&ConnectOptions>, evidence: &mut Vec<CycleRecord>) -> Result<()> {
        let Some(hook) = self.hook(|hooks| &hooks.teardown) else {
            evidence.push(record("teardown", false, "not done: the target has no hook teardown", Instant::now()));
            return Ok(());
        };
        let done = self.run("teardown", hook, options, evidence)?;
        evidence.push(done);
        Ok(())
    }

    fn environment(&self, options: Option<&ConnectOptions>) -> Vec<(&'static str, String)> {
        environment(self.target, self.directory, options)
    }

    fn run(
        &self,
        name: &str,
        hook: &Hook,
        options: Option<&ConnectOptions>,
        evidence: &mut Vec<CycleRecord>,
    ) -> Result<CycleRecord> {
        self.events.note(&format!("hook {name}"));
        hooks::run(name, hook, self.directory, &self.environment(options), self.stop).map_err(|failed| {
            let (failed, failure) = *failed;
            evidence.push(failed);
            failure
        })
    }
}

/// Returns the environment of a command of the user around a run in this directory.
pub(crate) fn environment(
    target: &str,
    directory: &Path,
    options: Option<&ConnectOptions>,
) -> Vec<(&'static str, String)> {
    let own = [
        ("PGDYNO_TARGET", target.to_owned()),
        ("PGDYNO_RUN_DIR", std::path::absolute(directory).unwrap_or_default().display().to_string()),
    ];
    own.into_iter().chain(options.into_iter().flat_map(ConnectOptions::environment)).collect()
}
