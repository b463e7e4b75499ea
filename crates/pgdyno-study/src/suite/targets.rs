//! The targets of a suite: locks, provisions and prepares them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use pgdyno_life::events::EventSink;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::interrupt::Interrupt;
use pgdyno_life::prepare::hooks;
use pgdyno_life::target::lock::TargetLock;
use pgdyno_life::target::{Demand, named};
use pgdyno_net::{Admin, ConnectError, ConnectOptions, Env};
use pgdyno_plan::Order;
use pgdyno_plan::suite::{Provision, Suite};
use pgdyno_plan::targets::{Hook, Targets as File, holds_password};

use super::check::CellDraft;
use super::execution::{ExecutionState, SuiteExecution};
use super::private::Privates;

/// The targets of a suite in progress.
pub(super) struct Targets<'a> {
    suite: &'a Suite,
    drafts: &'a [CellDraft],
    interrupt: &'a Interrupt,
    progress: &'a dyn EventSink,
    /// The entries of `pgdyno.toml`, if their hooks are used.
    file: File,
    privates: Privates,
    /// The locks, by database.
    locks: BTreeMap<String, TargetLock>,
    /// Targets whose provisioning failed, and why: their other runs do not try again.
    unprovisioned: BTreeMap<String, String>,
}

impl<'a> Targets<'a> {
    /// Locks every target that is up, so that two suites do not disturb each other's runs. A target that cannot be
    /// reached now affects only its own runs.
    pub(super) fn take(
        suite: &'a Suite,
        drafts: &'a [CellDraft],
        state: &ExecutionState,
        interrupt: &'a Interrupt,
        progress: &'a dyn EventSink,
    ) -> Result<Self> {
        let file = match suite.provision {
            Provision::Never => File::default(),
            Provision::Target => read(&state.config)?,
        };
        let mut targets = Self {
            suite,
            drafts,
            interrupt,
            progress,
            file,
            privates: Privates::default(),
            locks: BTreeMap::new(),
            unprovisioned: BTreeMap::new(),
        };
        for (cell, draft) in suite.cells.iter().zip(drafts) {
            let Some(options) = draft.given() else { continue };
            if targets.hook(cell.target.as_str(), |hooks| &hooks.provision).is_some() {
                continue;
            }
            match Admin::connect(&interrupt.options(options)) {
                Ok(mut admin) => {
                    if !targets.locks.contains_key(&options.to_string()) {
                        progress.note(&format!("target {}: {}", cell.target, named(&mut admin, options, "given")?));
                    }
                    targets.lock(options, state)?;
                }
                Err(error @ ConnectError::Interrupted { .. }) => return Err(error).or_fail(Code::Start),
                Err(error) => progress.warn(&format!("{} cannot be reached now: {error}", cell.target)),
            }
        }
        Ok(targets)
    }

    fn lock(&mut self, options: &ConnectOptions, state: &ExecutionState) -> Result<()> {
        let progress = self.progress;
        let warn: &dyn Fn(&str) = &|warning| progress.warn(warning);
        match self.locks.entry(options.to_string()) {
            Entry::Vacant(free) => {
                free.insert(TargetLock::take(options, &format!("suite {}", state.name()), self.interrupt, warn)?);
                Ok(())
            }
            // A restart of the server has removed the lock.
            Entry::Occupied(mut held) => held.get_mut().retake(options, self.interrupt, warn),
        }
    }

    /// Prepares the target of a cell for its run, and returns the order of the run there.
    pub(super) fn ready(&mut self, cell: usize, execution: &mut SuiteExecution) -> Result<Order> {
        let (drafts, target) = (self.drafts, self.suite.cells[cell].target.as_str());
        let draft = &drafts[cell];
        let is_harmed = draft.plan.fault.as_ref().is_some_and(|fault| fault.kind.kind().needs_private_server());
        if draft.is_private() && is_harmed {
            // The run starts a server of its own.
            return Ok(draft.order.clone());
        }
        if draft.is_private() {
            let same = self.suite.cells.iter().zip(drafts).filter(|(other, _)| other.target.as_str() == target);
            let same: Vec<_> = same.map(|(_, draft)| draft).collect();
            let demand = Demand {
                clients: same.iter().map(|draft| draft.plan.links()).max().unwrap_or_default(),
                is_analytic: same.iter().all(|draft| draft.workload.drive.is_analytic),
                ..Demand::of(&draft.plan, &draft.workload, &draft.target_order)
            };
            return self.privates.ready(target, draft, demand, self.progress, self.interrupt);
        }
        if let Some(hook) = self.hook(target, |hooks| &hooks.provision).cloned()
            && !execution.state.provisioned.contains_key(target)
        {
            if let Some(why) = self.unprovisioned.get(target) {
                return Err(CommandError::new(Code::Start, why.clone()));
            }
            match self.provision(&hook, target, execution) {
                Ok(dsn) => execution.state.provisioned.insert(target.to_owned(), dsn),
                Err(failure) => {
                    self.unprovisioned.insert(target.to_owned(), failure.text());
                    // A server that was made only in part is removed as well.
                    self.tear_down(target, execution);
                    return Err(failure);
                }
            };
            execution.write()?;
        }
        if let Some(Some(dsn)) = execution.state.provisioned.get(target) {
            let options = ConnectOptions::resolve(dsn, &Env::from_process()).or_fail(Code::Start)?;
            self.lock(&options, &execution.state)?;
            return Ok(draft.order_at(dsn, target, Vec::new()));
        }
        if let Some(options) = draft.given() {
            self.lock(options, &execution.state)?;
        }
        Ok(draft.order.clone())
    }

    /// Checks after a run which servers have ended.
    pub(super) fn look(&mut self) {
        for death in self.privates.bury() {
            self.progress.warn(&death);
        }
    }

    /// Leaves a target after its last run.
    pub(super) fn leave(&mut self, target: &str, execution: &mut SuiteExecution) -> Result<()> {
        self.privates.release(target);
        let Some(dsn) = execution.state.provisioned.get(target) else { return Ok(()) };
        // A connection that holds a lock could prevent a server from stopping.
        let address = match dsn {
            Some(dsn) => Some(ConnectOptions::resolve(dsn, &Env::from_process()).or_fail(Code::Run)?.to_string()),
            None => self.given(target).map(ToString::to_string),
        };
        address.and_then(|address| self.locks.remove(&address));
        if self.tear_down(target, execution) {
            execution.state.provisioned.remove(target);
            execution.write()?;
        }
        Ok(())
    }

    /// Removes the server, if there is a hook for that. Returns true if it is gone.
    fn tear_down(&self, target: &str, execution: &SuiteExecution) -> bool {
        let Some(hook) = self.hook(target, |hooks| &hooks.teardown) else { return true };
        let stop = &self.interrupt.stop;
        let ended = self
            .hook_context("teardown", target, execution)
            .and_then(|(dir, env)| hooks::run("teardown", hook, &dir, &env, stop).map_err(|failed| failed.1));
        if let Err(failure) = &ended {
            self.progress.warn(&format!("{target} may still be running and cost money: {}", failure.text()));
        }
        ended.is_ok()
    }

    /// Returns how to connect to a given target, by its address in the configuration.
    fn given(&self, target: &str) -> Option<&ConnectOptions> {
        let nth = self.suite.cells.iter().position(|cell| cell.target.as_str() == target)?;
        self.drafts[nth].given()
    }

    fn hook(&self, target: &str, which: impl Fn(&pgdyno_plan::targets::Hooks) -> &Option<Hook>) -> Option<&Hook> {
        self.file.find(target).and_then(|target| which(&target.hooks).as_ref())
    }

    /// Makes the server, and returns its connection string if the hook prints one.
    fn provision(&self, hook: &Hook, target: &str, execution: &SuiteExecution) -> Result<Option<String>> {
        let (dir, env) = self.hook_context("provision", target, execution)?;
        let made = hooks::provision(hook, &dir, &env, &self.interrupt.stop);
        let (_, dsn) = made.map_err(|failed| failed.1)?;
        match dsn {
            Some(dsn) if holds_password(&dsn) => {
                let error = format!("the connection string that provisioning {target} gave holds a password");
                Err(CommandError::new(Code::Start, error).hint("put it into ~/.pgpass, and leave it out of `dsn=`"))
            }
            dsn => Ok(dsn),
        }
    }

    /// Returns the directory for the output of a hook, and its environment.
    fn hook_context(
        &self,
        name: &str,
        target: &str,
        execution: &SuiteExecution,
    ) -> Result<(PathBuf, [(&'static str, String); 2])> {
        let dir = execution.dir.join("targets").join(target);
        std::fs::create_dir_all(&dir).or_fail(Code::Run)?;
        self.progress.note(&format!("hook {name} of {target}"));
        Ok((dir, [("PGDYNO_TARGET", target.to_owned()), ("PGDYNO_SUITE", execution.state.name())]))
    }
}

fn read(config: &Path) -> Result<File> {
    let name = config.display().to_string();
    let text = std::fs::read_to_string(config).map_err(|error| {
        CommandError::new(Code::Start, format!("failed to read {name}, whose hooks the suite needs: {error}"))
    })?;
    File::read(&name, &text).or_fail(Code::Start)
}
