//! What ran, on which server, with how many clients: a line each.

use pgdyno_plan::{Arrivals, Pace, Rate};
use pgdyno_results::{RunRecord, ServerRecord};

use crate::units::{bytes, count, duration, rate, size};

/// Returns the workload and its size: `tproc-c, 4 warehouses`.
pub(crate) fn workload(record: &RunRecord) -> String {
    let plan = &record.plan;
    let size = match plan.scale_name.as_str() {
        "" if plan.scripts.is_empty() => String::new(),
        "" => format!(", scale {}", count(plan.scale)),
        name => match name.strip_suffix('s') {
            Some(one) => format!(", {}", plural(plan.scale, one)),
            None => format!(", {name} {}", size(plan)),
        },
    };
    format!("{}{size}", plan.workload)
}

/// Returns a number of things.
pub(crate) fn plural(n: u64, one: &str) -> String {
    format!("{} {one}{}", count(n), if n == 1 { "" } else { "s" })
}

/// Returns the server in a few words, and how the workload is run on it.
pub(crate) fn server_and_way(record: &RunRecord) -> String {
    let plan = &record.plan;
    let Some(server) = &record.server else { return line_of_server(record) };
    let version = server.version.split(" on ").next().unwrap_or_default();
    let version = version.split(" (").next().unwrap_or_default().to_owned();
    let is_private = server.origin.starts_with("private");
    let place = match &server.place {
        _ if is_private => "private server".to_owned(),
        Some(place) => place.to_string(),
        None => server.origin.clone(),
    };
    let way = ["profile", "call"].into_iter().filter_map(|name| Some(format!("{name} {}", plan.params.get(name)?)));
    let by_another = record.data_from.as_ref().filter(|from| !from.starts_with("pgdyno "));
    let parts = [version, place].into_iter().chain(way);
    let parts = parts.chain(durability(server));
    let parts = parts.chain(by_another.map(|from| format!("data loaded by {from}")));
    parts.collect::<Vec<_>>().join(", ")
}

/// Returns the settings that make commits less durable than usual.
fn durability(server: &ServerRecord) -> Vec<String> {
    ["fsync", "full_page_writes", "synchronous_commit"]
        .iter()
        .filter_map(|name| server.settings.get(*name).filter(|v| *v != "on").map(|v| format!("{name} {v}")))
        .collect()
}

/// Returns a short description of the run.
pub(crate) fn what_ran(record: &RunRecord) -> String {
    let plan = &record.plan;
    let size = match plan.scale_name.as_str() {
        "" if plan.scripts.is_empty() => String::new(),
        "" => format!(", scale {}", count(plan.scale)),
        name => format!(", {name} {}", size(plan)),
    };
    let how = |name| plan.params.get(name).map_or_else(String::new, |value| format!(", {name} {value}"));
    let by_another = record.data_from.as_ref().filter(|from| !from.starts_with("pgdyno "));
    let from = by_another.map_or_else(String::new, |from| format!(", data loaded by {from}"));
    format!("{}{size}{}{}{from}", plan.workload, how("profile"), how("call"))
}

/// Returns the server in one line.
pub(crate) fn line_of_server(record: &RunRecord) -> String {
    let Some(server) = &record.server else {
        return match record.plan.target.as_str() {
            "none" => "no server: pgdyno itself is measured".to_owned(),
            target => format!("target {target}: the run did not come as far as to look at the server"),
        };
    };
    let version = server.version.split(" on ").next().unwrap_or(&server.version);
    let size = server.database_bytes.map_or_else(String::new, |n| format!(", database {}", bytes(n)));
    let buffers = server.settings.get("shared_buffers").map_or_else(String::new, |v| format!(", shared_buffers {v}"));
    let durability: Vec<String> = durability(server).iter().map(|setting| format!(", {setting}")).collect();
    let isolation = server.settings.get("default_transaction_isolation").filter(|level| *level != "read committed");
    let isolation = isolation.map_or_else(String::new, |level| format!(", {level}"));
    let tls = server.tls.as_ref().map_or_else(String::new, |tls| format!(", {tls}"));
    let standby = if server.standby { ", a standby" } else { "" };
    let pooler =
        server.pooling.as_ref().map_or_else(String::new, |word| format!(", through a pooler ({word} pooling)"));
    format!("{version} ({}){standby}{pooler}{size}{buffers}{}{isolation}{tls}", server.origin, durability.concat())
}

/// Returns database, user, host and port; none if the record lacks them.
pub(crate) fn line_of_place(record: &RunRecord) -> Option<String> {
    record.server.as_ref()?.place.as_ref().map(ToString::to_string)
}

/// Returns clients, threads and pace in one line.
pub(crate) fn line_of_drive(record: &RunRecord) -> String {
    let plan = &record.plan;
    let pace = match plan.pace {
        Pace::ClosedLoop => "closed loop".to_owned(),
        Pace::Rate(Rate { per_s, arrivals }) => {
            let how = match arrivals {
                Arrivals::Poisson => "Poisson",
                Arrivals::Uniform => "uniform",
            };
            format!("{}/s offered, {how} arrivals", rate(per_s))
        }
    };
    let how = format!("{}{}, {pace}", plan.mode.name(), if plan.wire.is_native() { "" } else { " in libpq's form" });
    // Groups may differ in query mode and pace: their table has them.
    let (groups, how) = match plan.stages.as_slice() {
        [] => (String::new(), format!(", {how}")),
        [first, later @ ..] => {
            let later = if later.is_empty() { String::new() } else { format!(", stage {}", first.name) };
            (format!(" in {}", plural(first.groups.len() as u64, "group")), later)
        }
    };
    let mut line = format!(
        "{}{groups}{} on {}{}{how}",
        plural(u64::from(plan.stage_clients()), "client"),
        plan.connections.map_or_else(String::new, |n| format!(" sharing {}", plural(u64::from(n), "connection"))),
        plural(record.client.threads.max(1) as u64, "thread"),
        plan.pinned(),
    );
    if let Some(summary) = &record.summary {
        line += &format!("; measured {}", duration(summary.duration_s));
        let (ramp_s, _) = plan.window();
        if ramp_s > 0.0 {
            line += &format!(" after {} of warm-up", duration(ramp_s));
        }
    }
    line
}
