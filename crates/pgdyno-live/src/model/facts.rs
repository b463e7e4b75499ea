//! Facts that do not change while a run goes on.

use pgdyno_plan::Plan;
use pgdyno_text::units;

/// The workload, the target and the length of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// The workload and its size.
    pub(crate) workload: String,
    /// Clients, threads and rate.
    pub(crate) drivers: String,
    /// The server, without passwords.
    pub(crate) target: String,
    /// Whether there is a server with statistics.
    pub(crate) has_server: bool,
    /// Whether sampling is switched off.
    pub(crate) unsampled: bool,
    /// Connections that the clients open.
    pub(crate) links: u32,
    /// Warm-up in seconds.
    pub(crate) ramp_s: f64,
    /// The measured window in seconds; absent with a number of transactions.
    pub(crate) time_s: Option<f64>,
    /// Transactions of all clients, instead of a time.
    pub(crate) transactions: Option<u64>,
    /// Whether latencies count from the scheduled start.
    pub(crate) scheduled: bool,
    /// Kinds of transactions.
    pub(crate) txns: Vec<String>,
}

impl Facts {
    /// Returns the facts of a plan whose workload has these kinds of transactions.
    pub(crate) fn of(plan: &Plan, txns: Vec<String>) -> Self {
        let mut workload = plan.workload.clone();
        if !plan.scale_name.is_empty() {
            workload += &format!(", {}", units::sized(&plan.scale_name, &plan.size()));
        }
        let mut drivers = units::plural(u64::from(plan.stage_clients()), "client");
        if let Some(connections) = plan.drive.connections {
            drivers += &format!(" on {}", units::plural(u64::from(connections), "connection"));
        }
        drivers += &format!(", {}", units::plural(plan.drive.threads as u64, "thread"));
        let offered = plan.offered();
        if let Some(offered) = &offered {
            drivers += &format!(", {offered}");
        }
        let (ramp_s, time_s) = plan.window();
        Self {
            workload,
            drivers,
            target: plan.target.to_string(),
            has_server: plan.target.kind().is_postgres(),
            unsampled: plan.watch.off,
            links: plan.links(),
            ramp_s,
            time_s,
            transactions: plan.drive.transactions.map(|each| each * u64::from(plan.stage_clients())),
            scheduled: offered.is_some() || plan.drive.connections.is_some(),
            txns,
        }
    }
}
