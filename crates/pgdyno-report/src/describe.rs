//! What ran, on which server, with how many clients: a line each.

use pgdyno_plan::{Arrivals, Pace, QueryMode, Rate, StagePlan};
use pgdyno_results::{RunRecord, ServerRecord, Summary};
use pgdyno_text::units::{bytes, count, duration, plural, rate};

/// Returns the workload and its size: `tproc-c, 4 warehouses`.
pub(crate) fn workload(record: &RunRecord) -> String {
    let plan = &record.plan;
    let size = match plan.scale_name.as_str() {
        "" if plan.scripts.is_empty() || plan.directory.is_some() && plan.scale == 1 => String::new(),
        "" => format!(", scale {}", count(plan.scale)),
        name => match name.strip_suffix('s') {
            Some(one) => format!(", {}", plural(plan.scale, one)),
            None => format!(", {name} {}", plan.size()),
        },
    };
    format!("{}{size}", plan.workload)
}

/// Returns version and place: `PostgreSQL 18.1, database bench, user ann, host db1, port 5432`. A private server has no place of
/// its own.
pub(crate) fn server_and_place(server: &ServerRecord) -> String {
    let version = server.version.split(" on ").next().unwrap_or_default();
    let version = version.split(" (").next().unwrap_or_default();
    match &server.place {
        _ if server.is_private() => format!("{version}, private server"),
        Some(place) => format!("{version}, {place}"),
        None => format!("{version}, {}", server.origin),
    }
}

/// Returns the server in a few words, and how the workload is run on it.
pub(crate) fn server_and_way(record: &RunRecord) -> String {
    let plan = &record.plan;
    let labels = record.labels.iter().map(|(name, value)| format!("{name}={value}"));
    let Some(server) = &record.server else {
        return std::iter::once(line_of_server(record)).chain(labels).collect::<Vec<_>>().join(", ");
    };
    let mode = (plan.drive.mode != QueryMode::Prepared).then(|| format!("query mode {}", plan.drive.mode.name()));
    let copy = record.copy.as_ref().map(|copy| format!("on a fresh copy of database {}", copy.template));
    let target = record.target.as_ref().map(|target| format!("target {}", target.name));
    let parts = std::iter::once(server_and_place(server)).chain(target).chain(mode).chain(way(record)).chain(copy);
    let parts = parts.chain(circumstances(server));
    let parts = parts.chain(record.settings_set.iter().map(|setting| format!("{} = {}", setting.name, setting.shown)));
    let parts = parts.chain(analytic_settings(record)).chain(data_from(record));
    parts.chain(labels).collect::<Vec<_>>().join(", ")
}

/// Settings that decide how fast a server analyses.
const ANALYTIC: [&str; 7] = [
    "work_mem",
    "hash_mem_multiplier",
    "max_parallel_workers_per_gather",
    "max_parallel_workers",
    "jit",
    "random_page_cost",
    "maintenance_work_mem",
];

/// Returns the settings that decide most about analytical queries, as far as they are known: `work_mem = 64MB`.
fn analytic_settings(record: &RunRecord) -> Vec<String> {
    let Some(server) =
        record.server.as_ref().filter(|_| ["tproc-h", "tproc-ds"].contains(&record.plan.workload.as_str()))
    else {
        return Vec::new();
    };
    let is_set = |name: &str| record.settings_set.iter().any(|setting| setting.name == name);
    let settings = ANALYTIC.into_iter().filter(|name| !is_set(name));
    settings.filter_map(|name| Some(format!("{name} = {}", server.settings.get(name)?))).collect()
}

/// Returns the nodes, a pooler before the server, settings that make commits less durable than usual, the isolation level, and TLS.
fn circumstances(server: &ServerRecord) -> Vec<String> {
    let nodes = server.cluster.as_ref().map(|cluster| {
        let delegated = match cluster.delegated {
            Some(true) => ", calls delegated",
            Some(false) => ", calls not delegated",
            None => "",
        };
        format!("Citus {} on {}{delegated}", cluster.version, cluster.label)
    });
    let pooler = server.pooling.as_ref().map(|word| format!("through a pooler ({word} pooling)"));
    let durability = less_durable(server).map(|(name, value)| format!("{name} {value}"));
    let isolation = isolation(server).map(str::to_owned);
    let endpoints = &server.endpoints;
    let spread = (endpoints.len() > 1).then(|| format!("clients on {} servers", endpoints.len()));
    nodes.into_iter().chain(pooler).chain(spread).chain(durability).chain(isolation).chain(server.tls.clone()).collect()
}

/// Returns the settings that make commits less durable than usual, with their values.
pub(crate) fn less_durable(server: &ServerRecord) -> impl Iterator<Item = (&'static str, &str)> {
    let settings = ["fsync", "full_page_writes", "synchronous_commit"].into_iter();
    settings.filter_map(|name| Some((name, unusual(server, name, "on")?)))
}

/// Returns the isolation level, unless it is the usual one.
pub(crate) fn isolation(server: &ServerRecord) -> Option<&str> {
    unusual(server, "default_transaction_isolation", "read committed")
}

/// Returns the value of a setting, unless it is the usual one or not known.
fn unusual<'a>(server: &'a ServerRecord, name: &str, usual: &str) -> Option<&'a str> {
    server.settings.get(name).map(String::as_str).filter(|value| *value != usual)
}

/// Returns workload, size and how it was run: the title of a page.
pub(crate) fn what_ran(record: &RunRecord) -> String {
    std::iter::once(workload(record)).chain(way(record)).chain(data_from(record)).collect::<Vec<_>>().join(", ")
}

/// Returns the parameters that decide the rules of the workload: `profile spec`, `distribution zipfian`.
fn way(record: &RunRecord) -> impl Iterator<Item = String> {
    let params = &record.plan.params;
    ["profile", "call", "distribution", "rand-type"]
        .into_iter()
        .filter_map(|name| Some(format!("{name} {}", params.get(name)?)))
}

/// Returns the program that loaded the data, if it was another one.
fn data_from(record: &RunRecord) -> Option<String> {
    let from = record.data_from.as_ref().filter(|from| !from.starts_with("pgdyno "));
    from.map(|from| format!("data loaded by {from}"))
}

/// Returns the server in one line.
pub(crate) fn line_of_server(record: &RunRecord) -> String {
    let Some(server) = &record.server else {
        return match record.plan.target.as_option() {
            None => "no server: pgdyno itself is measured".to_owned(),
            Some(target) => format!("target {target}: the run ended before it had looked at the server"),
        };
    };
    let version = server.version.split(" on ").next().unwrap_or(&server.version);
    let size = server.database_bytes.map_or_else(String::new, |n| format!(", database {}", bytes(n)));
    let buffers = server.settings.get("shared_buffers").map_or_else(String::new, |v| format!(", shared_buffers {v}"));
    let standby = if server.standby { ", a standby" } else { "" };
    let rest: Vec<_> = circumstances(server).iter().map(|fact| format!(", {fact}")).collect();
    format!("{version} ({}){standby}{size}{buffers}{}", server.origin, rest.concat())
}

/// Returns database, user, host and port; none if the record lacks them.
pub(crate) fn line_of_place(record: &RunRecord) -> Option<String> {
    record.server.as_ref()?.place.as_ref().map(ToString::to_string)
}

/// Returns the number of clients: `8 clients in 2 groups`; of each stage, if there are several: `power (1 client, 21 s), throughput
/// (4 clients in 2 groups, 65 s)`.
pub(crate) fn clients(record: &RunRecord) -> String {
    let plan = &record.plan;
    let of_stage = |stage: &StagePlan| {
        let groups = if stage.groups.len() > 1 { format!(" in {} groups", stage.groups.len()) } else { String::new() };
        format!("{}{groups}", plural(u64::from(stage.clients()), "client"))
    };
    let connections = plan.drive.connections.map(|n| format!(" sharing {}", plural(u64::from(n), "connection")));
    let clients = match plan.drive.stages.as_slice() {
        [] => plural(u64::from(plan.drive.clients), "client"),
        [one] => of_stage(one),
        all => all
            .iter()
            .map(|stage| format!("{} ({}{})", stage.name, of_stage(stage), took(record, stage)))
            .collect::<Vec<_>>()
            .join(", "),
    };
    let drivers = plan.drive.agents.map(|n| format!(" of {}", plural(u64::from(n), "driver")));
    format!("{clients}{}{}", connections.unwrap_or_default(), drivers.unwrap_or_default())
}

/// Returns how long a stage took: `, 21 s`; nothing if it did not begin.
fn took(record: &RunRecord, stage: &StagePlan) -> String {
    let groups =
        record.stages.iter().find(|known| known.name == stage.name).into_iter().flat_map(|stage| &stage.groups);
    let longest = groups.map(|group| group.summary.duration_s).fold(0.0, f64::max);
    if longest > 0.0 { format!(", {}", duration(longest)) } else { String::new() }
}

/// Returns how long a run measured; `None` with several stages, whose lengths are with their clients.
pub(crate) fn measured(record: &RunRecord, summary: &Summary) -> Option<String> {
    (record.plan.drive.stages.len() < 2).then(|| duration(summary.duration_s))
}

/// Returns clients, threads and pace in one line.
pub(crate) fn line_of_drive(record: &RunRecord) -> String {
    let plan = &record.plan;
    let pace = match plan.drive.pace {
        Pace::ClosedLoop => "closed loop".to_owned(),
        Pace::Rate(Rate { per_s, arrivals }) => {
            let how = match arrivals {
                Arrivals::Poisson => "Poisson",
                Arrivals::Uniform => "uniform",
            };
            format!("{}/s offered{}, {how} arrivals", rate(per_s), plan.drive.stepped())
        }
    };
    let how = format!(
        "{}{}, {pace}",
        plan.drive.mode.name(),
        if plan.drive.wire.is_native() { "" } else { " in libpq's form" }
    );
    // Groups may differ in query mode and pace: their table has them.
    let how = match plan.drive.stages.as_slice() {
        [] => format!(", {how}"),
        _ => String::new(),
    };
    let mut line = format!(
        "{} on {}{}{how}",
        clients(record),
        plural(record.client.threads.max(1) as u64, "thread"),
        plan.drive.pinned(),
    );
    if let Some(measured) = record.summary.as_ref().and_then(|summary| measured(record, summary)) {
        line += &format!("; measured {measured}");
        let (ramp_s, _) = plan.window();
        if ramp_s > 0.0 {
            line += &format!(" after {} of warm-up", duration(ramp_s));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use pgdyno_results::ClusterRecord;

    use super::*;

    #[test]
    fn the_nodes_of_a_cluster_are_named_with_the_server() {
        let (version, label) = ("13.2.2".to_owned(), "c2+2w2".to_owned());
        let cluster = ClusterRecord { version, label, delegated: Some(false), ..ClusterRecord::default() };
        let server = ServerRecord { cluster: Some(cluster), ..ServerRecord::default() };
        assert_eq!(circumstances(&server), ["Citus 13.2.2 on c2+2w2, calls not delegated"]);
    }
}
