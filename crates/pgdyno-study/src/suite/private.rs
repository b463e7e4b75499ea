//! The private servers of a suite: one for each private target, kept from run to run, so that data is loaded once.

use std::collections::BTreeMap;

use pgdyno_life::data::keep::load_before_runs;
use pgdyno_life::events::EventSink;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::interrupt::Interrupt;
use pgdyno_life::prepare::cycle;
use pgdyno_life::target::{Demand, Target, TargetServer};
use pgdyno_net::{Admin, quote};
use pgdyno_plan::{Cycle, Order};
use pgdyno_results::CycleRecord;

use super::check::CellDraft;
use crate::private_server::name_standby;

/// A server and its settings at the start.
struct RunningServer {
    server: TargetServer,
    settings: BTreeMap<String, String>,
    /// The name of the data that its own database holds, loaded before the first run or copied at the start.
    home: Option<String>,
}

/// The servers by the names of their targets.
#[derive(Default)]
pub(super) struct Privates {
    held: BTreeMap<String, RunningServer>,
}

impl Privates {
    /// Prepares the server of a target for a run, and returns the order of the run there. It is sized for all runs on
    /// it.
    pub(super) fn ready(
        &mut self,
        target: &str,
        draft: &CellDraft,
        demand: Demand,
        progress: &dyn EventSink,
        interrupt: &Interrupt,
    ) -> Result<Order> {
        let mut evidence = Vec::new();
        // The kept server has the settings that it has.
        let fits = |held: &RunningServer| held.server.is_own() || held.settings == draft.settings;
        let held = match self.held.remove(target).filter(fits) {
            Some(mut held) => {
                if held.settings != draft.settings || draft.cycle.restart || draft.cycle.drop_caches {
                    evidence = cycle::between(&mut held.server, draft.cycle, &draft.settings, progress)?;
                    held.settings = draft.settings.clone();
                }
                held
            }
            None => {
                let mut server = Target::resolve(&draft.target_order)?.hold(&draft.target_order, demand, progress)?;
                server.announce(progress)?;
                let stop = &interrupt.stop;
                let is_there = load_before_runs(&mut server, &draft.plan, &draft.workload, progress, stop)?;
                let home = database(draft).filter(|_| is_there);
                let mut held = RunningServer { server, settings: draft.settings.clone(), home };
                if draft.cycle.restart {
                    evidence.push(done("restart", "started for this run: its own caches are cold"));
                }
                if draft.cycle.drop_caches {
                    let rest = Cycle { restart: false, ..draft.cycle };
                    evidence.extend(cycle::between(&mut held.server, rest, &draft.settings, progress)?);
                }
                held
            }
        };
        if !draft.settings.is_empty() && evidence.iter().all(|record| record.step != "settings") {
            evidence.push(done("settings", "given to the private server at its start"));
        }
        // A server that could not be prepared is not kept: the next run gets a new one.
        let held = self.held.entry(target.to_owned()).or_insert(held);
        reach(target, held, draft, &evidence, interrupt)
    }

    /// Forgets servers that have ended; returns why.
    pub(super) fn bury(&mut self) -> Vec<String> {
        let mut deaths = Vec::new();
        self.held.retain(|target, held| match held.server.death() {
            None => true,
            Some(death) => {
                deaths.push(format!(
                    "the private server of {target} is gone, and the next run on it gets a new one: {death}"
                ));
                false
            }
        });
        deaths
    }

    /// Ends the server of a target that is not needed any more.
    pub(super) fn release(&mut self, target: &str) {
        self.held.remove(target);
    }
}

/// Returns the name of the database for the data of a run; all of its data sets are in it.
fn database(draft: &CellDraft) -> Option<String> {
    draft.workload.data.first().map(|data| format!("pgdyno_{}", pgdyno_load::identity(data.as_ref())))
}

fn done(step: &str, what: &str) -> CycleRecord {
    CycleRecord { step: step.to_owned(), what: what.to_owned(), done: true, ..CycleRecord::default() }
}

/// Returns the order of a run with the server's address, in a database for data like its own.
fn reach(
    target: &str,
    held: &RunningServer,
    draft: &CellDraft,
    evidence: &[CycleRecord],
    interrupt: &Interrupt,
) -> Result<Order> {
    let Some(options) = held.server.options() else {
        return Err(CommandError::new(Code::Server, "the private server has no address"));
    };
    let mut admin = Admin::connect(&interrupt.options(options)).or_fail(Code::Start)?;
    let other = database(draft).filter(|name| held.home.as_ref() != Some(name));
    let options = if let Some(name) = &other {
        let there = format!("select 1 from pg_catalog.pg_database where datname = {}", quote::literal(name));
        if admin.query_opt(&there).or_fail(Code::Server)?.is_none() {
            admin.execute(&format!("create database {}", quote::identifier(name))).or_fail(Code::Server)?;
        }
        options.with_database(name)
    } else {
        options.clone()
    };
    let done = evidence.iter().filter(|record| record.done);
    let done = done.map(|record| (record.step.clone(), record.what.clone())).collect();
    let mut order = draft.order_at(&options.to_string(), target, done);
    name_standby(&mut order, &held.server, |standby| match &other {
        Some(name) => standby.with_database(name),
        None => standby,
    })?;
    Ok(order)
}
