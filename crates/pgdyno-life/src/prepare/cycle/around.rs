//! A run's own steps around it: by pgdyno on its private servers, by the hooks of the target on others.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, ConnectOptions, Interrupter};
use pgdyno_plan::targets::Hook;
use pgdyno_results::CycleRecord;

use super::{caches, record};
use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};
use crate::prepare::hooks;
use crate::target::{Named, Server, Whose};

/// How often a server that was restarted is asked whether it is there again.
const POLL: Duration = Duration::from_millis(50);

/// Who does what around a run, and where evidence of it goes.
pub(crate) struct Around<'a> {
    /// The target's entry, with its hooks.
    pub(crate) named: Option<&'a Named>,
    /// The target as records have it.
    pub(crate) target: &'a str,
    /// The run directory.
    pub(crate) directory: &'a Path,
    pub(crate) events: &'a dyn EventSink,
    /// Ends what is being done.
    pub(crate) stop: &'a AtomicBool,
    /// Ends the waits for the server.
    pub(crate) waits: &'a Interrupter,
}

impl Around<'_> {
    /// Whether the server can be restarted.
    pub(crate) fn can_restart(&self, server: &Server) -> bool {
        server.whose() != Whose::Given || self.hook(|hooks| &hooks.restart).is_some()
    }

    fn hook(&self, which: impl Fn(&pgdyno_plan::targets::Hooks) -> &Option<Hook>) -> Option<&Hook> {
        self.named.and_then(|named| which(&named.entry.hooks).as_ref())
    }

    /// Restarts the server where there is a way to, and waits until it is there again. Nobody else of this process may be
    /// connected.
    ///
    /// # Errors
    /// When the hook fails, or the server is not restarted by it. That there is no way is told in the evidence.
    pub(crate) fn restart(&self, server: &mut Server, evidence: &mut Vec<CycleRecord>) -> Result<()> {
        let began = Instant::now();
        match server.whose() {
            Whose::Ours => {
                let what = "started for this run: shared buffers are cold";
                evidence.push(record("restart", true, what, began));
                Ok(())
            }
            Whose::Kept => {
                self.events.note("restarting the kept private server");
                server.restart(&std::collections::BTreeMap::new())?;
                evidence.push(record("restart", true, "the kept private server was restarted on its data", began));
                Ok(())
            }
            Whose::Given => match (self.hook(|hooks| &hooks.restart), server.options.clone()) {
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
        // A hook may come back before the server does, or even before it goes.
        let deadline = Instant::now() + Duration::from_secs_f64(hook.timeout.seconds());
        let mut last = format!("it runs since {before} still");
        let outcome = loop {
            match Admin::connect(watched) {
                Ok(mut admin) => match started(&mut admin) {
                    Ok(now) if now != before => break Ok(now),
                    Ok(_) => {}
                    Err(error) => last = error.to_string(),
                },
                Err(error) => last = error.to_string(),
            }
            if self.stop.load(Ordering::Acquire) {
                break Err(Failure::new(Code::Interrupted, "interrupted while the server was restarted"));
            }
            if Instant::now() > deadline {
                let error = format!("hook restart ended well, and the server was not there again after it: {last}");
                break Err(Failure::new(Code::Hook, error).hint(format!(
                    "its time-out, {}, is also how long the server may take",
                    pgdyno_report::units::duration(hook.timeout.seconds())
                )));
            }
            std::thread::sleep(POLL);
        };
        done.seconds = began.elapsed().as_secs_f64();
        match &outcome {
            Ok(now) => done.what += &format!("; the server runs since {now}"),
            Err(failure) => (done.done, done.what) = (false, failure.text()),
        }
        evidence.push(done);
        outcome.map(drop)
    }

    /// Has the server's operating system forget its file cache, where there is a way to.
    ///
    /// # Errors
    /// When the hook fails. That there is no way is told in the evidence.
    pub(crate) fn drop_caches(&self, server: &Server, evidence: &mut Vec<CycleRecord>) -> Result<()> {
        self.events.note("dropping the file cache of the server's machine");
        let done = match self.hook(|hooks| &hooks.drop_caches).filter(|_| server.whose() == Whose::Given) {
            Some(hook) => self.run("drop_caches", hook, server.options.as_ref(), evidence)?,
            None => caches::drop_for(server),
        };
        evidence.push(done);
        Ok(())
    }

    /// Makes the server, and returns its connection string where the hook tells one.
    ///
    /// # Errors
    /// When there is no hook, or it fails.
    pub(crate) fn provision(&self, evidence: &mut Vec<CycleRecord>) -> Result<Option<String>> {
        let Some(hook) = self.hook(|hooks| &hooks.provision) else {
            let error = format!("--provision is given, and {} has no hook provision", self.target);
            return Err(Failure::new(Code::Start, error).hint("hooks belong to targets in pgdyno.toml"));
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

    /// Removes the server, where there is a hook for that.
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
        let own = [
            ("PGDYNO_TARGET", self.target.to_owned()),
            ("PGDYNO_RUN_DIR", std::path::absolute(self.directory).unwrap_or_default().display().to_string()),
        ];
        own.into_iter().chain(options.into_iter().flat_map(ConnectOptions::environment)).collect()
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
