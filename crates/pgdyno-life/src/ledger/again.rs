//! `pgdyno check ledger`: looks again for the commits of a run, on any server.

use std::collections::HashMap;
use std::path::Path;

use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_plan::{Order, Plan};
use pgdyno_results::{LedgerEntry, LedgerRecord, RunRecord, read_ledger};
use pgdyno_workload::{LedgerMarkers, Workload};

use super::account::count_classes;
use super::outage;
use super::server::{find, settle};
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::plan::workload_source::{ClientSetup, WorkloadSource};
use crate::target::server_state::ServerState;

/// The commits of a run, and what a server has of them now.
#[derive(Debug)]
pub struct CheckedLedger {
    /// The account.
    pub ledger: LedgerRecord,
    /// The exit code: a loss that the settings of the run rule out has one of its own.
    pub code: Code,
}

/// Looks for the commits of the run in `directory` on the server of `options`. On a standby it waits until nothing changes.
///
/// # Errors
/// When the run has no ledger, or the server cannot be read.
pub fn check(directory: &Path, run: &RunRecord, options: &ConnectOptions) -> Result<CheckedLedger> {
    let Some(plan) = run.plan.drive.ledger else {
        let error = format!("run {} has no ledger", run.id);
        return Err(
            CommandError::new(Code::Start, error).hint("name a run of the workload ledger, or one with --ledger")
        );
    };
    let workload = workload(directory, &run.plan)?;
    let Some(ledger) = &workload.drive.ledger else {
        return Err(CommandError::new(Code::Start, format!("{} has no markers", run.plan.workload)));
    };
    let entries = read_ledger(directory).or_fail(Code::Start)?;
    let mut record = run.ledger.clone().unwrap_or_default();
    (record.run, record.transaction) = (run.plan.seed.cast_signed(), ledger.txns.join(", "));
    count_classes(&entries, &mut record);
    if run.ledger.is_none() {
        // The run was killed: the end of its window is unknown.
        outage::fill(&entries, plan.commit_timeout_s, 0, &mut record);
    }
    let first = match ledger.markers {
        LedgerMarkers::Rows(_) | LedgerMarkers::Keys(_) => HashMap::new(),
        LedgerMarkers::Orders => first_orders(&entries),
    };
    let mut admin = Admin::connect(options).or_fail(Code::Start)?;
    let found = find(ledger, record.run, &first, &entries, &mut admin);
    record.found = Some(found.map_err(|why| CommandError::new(Code::Run, why))?);
    record.not_read = None;
    let has_moved = record.timeline_after.is_some() && record.timeline_before != record.timeline_after;
    if !has_moved {
        // It may have moved since; a standby is another server in any case.
        record.timeline_after = ServerState::ask(&mut admin).or_fail(Code::Run)?.timeline;
    }
    settle(&mut record);
    let code = match (record.breaks_promise(), &record.unwritten) {
        (true, _) => Code::CommitsLost,
        (false, Some(_)) => Code::Run,
        (false, None) => Code::Success,
    };
    Ok(CheckedLedger { ledger: record, code })
}

/// Returns the workload of a run, from its plan.
fn workload(directory: &Path, plan: &Plan) -> Result<Workload> {
    let source = WorkloadSource::of_plan(plan, directory)?;
    let setup = ClientSetup {
        clients: plan.drive.clients,
        connections: plan.drive.connections,
        threads: plan.drive.threads,
        mode: plan.drive.mode,
        seed: plan.seed,
        has_two_servers: false,
    };
    source.build(&Order::of_plan(plan).workload, None, None, &setup)
}

/// Returns the first order of the run in each district that is known to its clients.
fn first_orders(entries: &[LedgerEntry]) -> HashMap<[i64; 2], i64> {
    let mut first = HashMap::new();
    for [w_id, d_id, o_id] in entries.iter().filter_map(|entry| entry.marker) {
        let known = first.entry([w_id, d_id]).or_insert(o_id);
        *known = o_id.min(*known);
    }
    first
}
