//! Steps on the server around a run: restart, caches, settings; each with its evidence.
//!
//! [`between`] prepares a server that this process holds for its next run. [`ServerSteps`] are the steps of one run on
//! any server: pgdyno does them on a private server, the hooks of its target on a given one. [`warm`] fills caches by
//! reading, and writes the checkpoint that would otherwise fall into the measured window.

mod caches;
mod server_steps;
pub(crate) mod warm;

use std::collections::BTreeMap;
use std::time::Instant;

use pgdyno_plan::Cycle;
use pgdyno_results::CycleRecord;

pub(crate) use server_steps::{ServerSteps, environment};

use crate::events::EventSink;
use crate::failure::Result;
use crate::target::TargetServer;

/// Prepares a server that this process holds before the data of a run is loaded: restarts it with these settings, and
/// drops its files from the operating system's cache. Returns the evidence.
///
/// # Errors
/// When the server does not start with the settings. It then runs with the previous ones, unless that fails, too.
pub fn between(
    server: &mut TargetServer,
    cycle: Cycle,
    settings: &BTreeMap<String, String>,
    events: &dyn EventSink,
) -> Result<Vec<CycleRecord>> {
    let mut evidence = Vec::new();
    let others = server.settings_given().is_some_and(|given| given != *settings);
    if cycle.restart || others {
        events.note("restarting the private server");
        let began = Instant::now();
        server.restart(settings)?;
        evidence.push(record("restart", true, "the private server was restarted on its data", began));
    }
    // Also if it has them since the previous run: the next run need not set them.
    if others || !settings.is_empty() {
        let names: Vec<_> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let what = if names.is_empty() { "none but pgdyno's own".to_owned() } else { names.join(", ") };
        evidence.push(record(
            "settings",
            true,
            format!("of the private server from its start: {what}"),
            Instant::now(),
        ));
    }
    if cycle.drop_caches {
        events.note("dropping the file cache");
        evidence.push(caches::drop_for(server));
    }
    Ok(evidence)
}

/// Returns the record of a step that began then and has just ended.
pub(crate) fn record(step: &str, done: bool, what: impl Into<String>, began: Instant) -> CycleRecord {
    CycleRecord { step: step.to_owned(), what: what.into(), done, seconds: began.elapsed().as_secs_f64(), output: None }
}
