//! Checks every cell of a suite before the first run starts.

use std::collections::BTreeMap;
use std::path::Path;

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::plan::resolve::{self, Resolved, RunRequest};
use pgdyno_life::plan::workload_source::WorkloadSource;
use pgdyno_life::target::Target;
use pgdyno_net::ConnectOptions;
use pgdyno_plan::suite::{Cell, Suite};
use pgdyno_plan::{Cycle, Order, Plan, TargetOrder, targets};
use pgdyno_workload::Workload;
use pgdyno_workloads::options::Options;
use pgdyno_workloads::registry;

/// Reads the order of a run from arguments of the command line, where a suite has some that are no options with keys.
pub type ReadOrder<'a> = &'a dyn Fn(Vec<String>) -> Result<Order>;

/// The run of a cell, resolved.
pub struct CellDraft {
    pub(crate) plan: Plan,
    pub(crate) source: WorkloadSource,
    pub(crate) workload: Workload,
    target: Target,
    /// The order of its run.
    pub(crate) order: Order,
    /// The target and its settings, including those of a recipe.
    pub target_order: TargetOrder,
    /// Settings of the server that it needs.
    pub(crate) settings: BTreeMap<String, String>,
    pub(crate) cycle: Cycle,
}

impl CellDraft {
    /// Returns true if it runs on a private server, which the suite starts and holds.
    pub(crate) fn is_private(&self) -> bool {
        self.target.is_private()
    }

    /// Returns how to connect to its server, if that is a given one.
    pub(crate) fn given(&self) -> Option<&ConnectOptions> {
        self.target.given()
    }

    /// Returns the order of its run on a target with the address `dsn`, under its name, after these steps were done for
    /// it.
    pub(crate) fn order_at(&self, dsn: &str, name: &str, done: Vec<(String, String)>) -> Order {
        let mut order = self.order.clone();
        (order.target.target, order.target.shown_as) = (Some(dsn.into()), Some(name.into()));
        order.cycle.done = done;
        order
    }

    /// Returns its warm-up and measured window, if they are times.
    pub fn seconds(&self) -> Option<f64> {
        self.plan.drive.time_s.map(|time| self.plan.drive.ramp_s + time)
    }
}

/// Reads and checks a suite's file.
pub fn read(file: &Path, text: &str) -> Result<Suite> {
    let absolute = std::path::absolute(file).or_fail(Code::Start)?;
    let base = absolute.parent().unwrap_or(Path::new("")).to_string_lossy().into_owned();
    Suite::read::<Options>(&file.display().to_string(), text, &base, &is_recipe).or_fail(Code::Start)
}

/// Returns true if a name is a recipe's: neither a workload's, nor that of a directory or script.
fn is_recipe(name: &str) -> bool {
    let is_path = name.starts_with('.') || name.starts_with('/');
    name.ends_with(".toml")
        || (name.contains('/') && !is_path && !name.ends_with(".sql") && registry::find(name).is_err())
}

/// Checks all cells: arguments, names, files, targets. Connects to no server.
pub fn drafts(suite: &Suite, file: &Path, config: &Path, read: ReadOrder<'_>) -> Result<Vec<CellDraft>> {
    let wrong = |cell: &Cell, failure: CommandError| {
        // The key has the target.
        let is_secret = targets::holds_password(cell.target.as_str());
        let key = if is_secret { String::new() } else { format!(" ({})", cell.key) };
        let what = format!("{}: run {}{key}: {}", file.display(), cell.entry, failure.text());
        match failure.remedy() {
            Some(hint) => CommandError::new(Code::Start, what).hint(hint),
            None => CommandError::new(Code::Start, what),
        }
    };
    suite.cells.iter().map(|cell| draft(cell, config, read).map_err(|failure| wrong(cell, failure))).collect()
}

fn draft(cell: &Cell, config: &Path, read: ReadOrder<'_>) -> Result<CellDraft> {
    let mut order = if cell.has_own_args { read(cell.args.clone())? } else { cell.order.clone() };
    if let Some(what) = with_password(cell, &order) {
        let error =
            format!("the connection string of {what} holds a password, and a copy of the suite's file is stored");
        return Err(
            CommandError::new(Code::Start, error).hint("keep passwords in ~/.pgpass, a service file or PGPASSWORD")
        );
    }
    if let Some(target) = cell.target.as_option() {
        (order.target.target, order.target.config) = (Some(target.clone()), Some(config.to_owned()));
    }
    let request = RunRequest::read(order.clone())?;
    resolve::admit_json(&request.order)?;
    let resolve::PlanDraft { target, resolved: Resolved { plan, workload, .. }, .. } = request.draft()?;
    let RunRequest { order: Order { target: target_order, .. }, source, .. } = request;
    if order.target.tcp {
        return Err(CommandError::new(
            Code::Start,
            "a suite reaches its private servers by their sockets: leave --tcp out",
        ));
    }
    Ok(CellDraft {
        cycle: plan.cycle,
        settings: plan.settings.clone(),
        plan,
        source,
        workload,
        target,
        order,
        target_order,
    })
}

/// Returns which of a cell's connection strings holds a password.
fn with_password(cell: &Cell, order: &Order) -> Option<&'static str> {
    let target = order.target.target.iter().map(|target| target.as_str());
    let targets = target.chain([cell.target.as_str()]).map(|dsn| ("its target", dsn));
    let queries = order.analytics.target.iter().map(|dsn| ("its server of queries", dsn.as_str()));
    let readers = order.drive.readers.iter().map(|dsn| ("a reader", dsn.as_str()));
    let meeting = order.meeting.meet.iter().map(|dsn| ("its meeting database", dsn.as_str()));
    let mut all = targets.chain(queries).chain(readers).chain(meeting);
    all.find(|(_, dsn)| targets::holds_password(dsn)).map(|(what, _)| what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_are_distinguished_from_workloads_and_paths() {
        assert!(is_recipe("alloydb/tpcb-full") && is_recipe("./mine.toml"));
        assert!(!is_recipe("tpcb-like") && !is_recipe("./sensor-1") && !is_recipe("/x/a.sql") && !is_recipe("x/a.sql"));
    }
}
