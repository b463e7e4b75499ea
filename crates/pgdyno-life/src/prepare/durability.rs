//! The durability test: drives and kills a private server, and looks for the transactions that it acknowledged.

use std::time::{Duration, Instant};

use pgdyno_load::{Acknowledged, Moment, ScenarioError, commit_until_crash, lost};
use pgdyno_net::{Admin, ConnectOptions, Stop};
use pgdyno_server::{HeldServer, PrivateServer, Want, capabilities};
use pgdyno_text::units;
use pgdyno_workload::{Durability, Workload};
use pgdyno_workloads::registry;

use crate::data;
use crate::data::loading::{LoadSettings, default_loaders};
use crate::drive::cpus::cpus;
use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::target::{embedded_options, starting};

/// Clients that drive it.
const CLIENTS: u32 = 4;
/// How long they run.
const DRIVE: Duration = Duration::from_secs(3);
/// Further connections.
const OWN_CONNECTIONS: u32 = 16;
/// What a commit costs, and whether it is durable.
const SETTINGS: [&str; 3] = ["fsync", "synchronous_commit", "full_page_writes"];

/// The result of the test.
pub struct DurabilityOutcome {
    /// What was lost or is wrong; empty if nothing is.
    pub found: Vec<String>,
    /// What was done.
    pub remark: String,
    /// How long the test took.
    pub seconds: f64,
}

/// Starts a private server of the same programs and with the settings of `like`, loads the smallest data of the
/// workload, drives the server, kills it, and starts it again. Removes it afterwards, as every private server.
pub fn test(
    like: &PrivateServer,
    workload: &Workload,
    test: &Durability,
    events: &dyn EventSink,
    stop: &Stop,
) -> Result<DurabilityOutcome> {
    let began = Instant::now();
    let meta = workload.meta;
    let settings = like.settings().iter().map(|s| (s.name.clone(), s.value.clone())).collect();
    let options = embedded_options(CLIENTS + OWN_CONNECTIONS, false, settings)?;
    let want = Want::Directory(like.installation().bindir.clone());
    events.note("durability: a private server of its own is loaded, driven and killed");
    let mut server = HeldServer::start(&want, &options, &mut starting(events)).or_fail(Code::Server)?;
    let reach = |server: &HeldServer| server.server().connect_options("postgres");

    let workload = registry::build(meta.id, [(meta.scale_name, "1")]).or_fail(Code::Start)?;
    let target = reach(&server);
    let mut admin = Admin::connect(&target).or_fail(Code::Server)?;
    let caps = capabilities(&mut admin, &target).or_fail(Code::Server)?;
    let access = data::DataAccess { options: &target, caps: &caps, events, stop, data_dir: None };
    let loaders = default_loaders(cpus());
    for data in &workload.data {
        data::load(&access, data.as_ref(), &LoadSettings::of(loaders).options(false, false), None)?;
    }
    let shown = SETTINGS.map(|name| format!("{name}={}", admin.query_one(&format!("show {name}")).unwrap_or_default()));
    drop(admin);

    events.note(&format!("driving it with {CLIENTS} clients for {}", units::duration(DRIVE.as_secs_f64())));
    let crash = || {
        events.note("killing it with SIGKILL, and starting it again");
        server.crash().or_fail(Code::Server)
    };
    let (seen, crashed) = commit_until_crash(&target, test, CLIENTS, DRIVE, stop, crash).map_err(failure)?;
    crashed?;

    let target = reach(&server);
    let access = data::DataAccess { options: &target, ..access };
    let mut found = missing(&target, test, &seen)?;
    let (checks, broken) = broken_checks(&access, &workload)?;
    found.extend(broken);
    let remark = format!(
        "on a private server of its own, PostgreSQL {}, {}: {} were acknowledged and {} under way when it was killed; \
         all {checks} conditions were checked after its recovery. This does not test the loss of power",
        like.installation().version.text,
        shown.join(" "),
        units::count(seen.acknowledged.len() as u64),
        seen.unanswered,
    );
    Ok(DurabilityOutcome { found, remark, seconds: began.elapsed().as_secs_f64() })
}

/// Returns the acknowledged transactions that the server no longer has.
fn missing(target: &ConnectOptions, test: &Durability, seen: &Acknowledged) -> Result<Vec<String>> {
    let mut admin = Admin::connect(target).or_fail(Code::Server)?;
    let (mut found, all) = lost(&mut admin, test, seen).or_fail(Code::Check)?;
    let acknowledged = seen.acknowledged.len();
    if all > 0 {
        found.insert(0, format!("{} of {} are lost", units::count(all as u64), units::count(acknowledged as u64)));
    }
    if acknowledged == 0 {
        found.push("none was acknowledged, so nothing is proven".to_owned());
    }
    Ok(found)
}

/// Checks all data. Returns the number of checks, and those that do not hold.
fn broken_checks(access: &data::DataAccess<'_>, workload: &Workload) -> Result<(usize, Vec<String>)> {
    let mut checks = Vec::new();
    for data in &workload.data {
        checks.extend(data::check(access, data.as_ref(), Moment::InFull, "after the crash")?.0.checks);
    }
    let broken = checks.iter().filter(|check| !check.holds);
    let broken =
        broken.map(|check| format!("{} {} is broken: {}", check.name, check.condition, check.violations.join("; ")));
    Ok((checks.len(), broken.collect()))
}

/// Returns the connection failure of sessions that were to connect, or to be killed.
pub fn failure(error: ScenarioError) -> CommandError {
    let code = match error {
        ScenarioError::Interrupted | ScenarioError::NotRestored(_) => Code::Interrupted,
        ScenarioError::Connect(_) | ScenarioError::Thread(_) => Code::Start,
        ScenarioError::Refused(_) | ScenarioError::Changed { .. } => Code::Check,
    };
    CommandError::new(code, error)
}
