//! What ran, on which server, with how many clients: a line each.

use pgdyno_plan::{Arrivals, Pace, Rate};
use pgdyno_results::RunRecord;

use crate::units::{bytes, count, duration, rate};

/// Returns a short description of the run.
pub(crate) fn what_ran(record: &RunRecord) -> String {
    let plan = &record.plan;
    let size = match plan.scale_name.as_str() {
        "" if plan.scripts.is_empty() => String::new(),
        "" => format!(", scale {}", count(plan.scale)),
        name => format!(", {name} {}", count(plan.scale)),
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
    let durability: Vec<String> = ["fsync", "full_page_writes", "synchronous_commit"]
        .iter()
        .filter_map(|name| server.settings.get(*name).filter(|v| *v != "on").map(|v| format!(", {name} {v}")))
        .collect();
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
    let plural =
        |n: usize, word: &str| if n == 1 { format!("1 {word}") } else { format!("{} {word}s", count(n as u64)) };
    let how = format!("{}{}, {pace}", plan.mode.name(), if plan.wire.is_native() { "" } else { " in libpq's form" });
    // Groups may differ in query mode and pace: their table has them.
    let (groups, how) = match plan.stages.as_slice() {
        [] => (String::new(), format!(", {how}")),
        [first, later @ ..] => {
            let later = if later.is_empty() { String::new() } else { format!(", stage {}", first.name) };
            (format!(" in {}", plural(first.groups.len(), "group")), later)
        }
    };
    let mut line = format!(
        "{}{groups}{} on {}{}{how}",
        plural(plan.stage_clients() as usize, "client"),
        plan.connections.map_or_else(String::new, |n| format!(" sharing {}", plural(n as usize, "connection"))),
        plural(record.client.threads.max(1), "thread"),
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
