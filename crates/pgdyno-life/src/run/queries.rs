//! How streams of queries connect.

use pgdyno_net::ConnectOptions;
use pgdyno_plan::Plan;
use pgdyno_server::stat::name_of_streams;
use pgdyno_workload::{GroupWork, Stage, Workload};

use crate::target::analytics::{AnalyticsServer, with_settings};

/// Returns how streams of queries connect, if that is not as all clients do.
pub(crate) fn options_of_queries(
    plan: &Plan,
    workload: &Workload,
    analytics_server: Option<&AnalyticsServer>,
    options: &ConnectOptions,
) -> Option<ConnectOptions> {
    let settings = &plan.drive.analytics.settings;
    let other = analytics_server.map(|server| match &plan.from_template {
        // A copy of the database has a name of its own, on the standby, too.
        Some(_) => server.options.with_database(options.dbname()),
        None => server.options.clone(),
    });
    let name = session_name(plan, workload, options);
    if other.is_none() && settings.is_empty() && name.is_none() {
        return None;
    }
    let options = other.as_ref().unwrap_or(options);
    let options = name.map_or_else(|| options.clone(), |name| options.with_application_name(&name));
    Some(with_settings(&options, settings))
}

/// Returns the name of the sessions of streams, where they run beside transactions: samples distinguish both by it.
fn session_name(plan: &Plan, workload: &Workload, options: &ConnectOptions) -> Option<String> {
    let is_mixed = |stage: &Stage| {
        [GroupWork::Transactions, GroupWork::Queries]
            .iter()
            .all(|work| stage.groups.iter().any(|group| group.work == *work))
    };
    // Shared connections serve both.
    let has_own = plan.drive.connections.is_none() && workload.drive.stages.iter().any(is_mixed);
    options.application_name().filter(|_| has_own).and_then(name_of_streams)
}
