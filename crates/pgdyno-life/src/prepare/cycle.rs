//! What is done to the server around a run: restart, caches, settings; each step with its evidence.
//!
//! [`between`] does it to a server that this process holds, for the next run on it. [`Around`] does it for a run, to
//! whatever server that has: a private one by pgdyno itself, a given one by the hooks of its target. [`warm`] warms up
//! caches by reading, and writes the checkpoint that would come into the measured window.

mod around;
mod caches;
pub(crate) mod warm;

use std::collections::BTreeMap;
use std::time::Instant;

use pgdyno_plan::Cycle;
use pgdyno_results::CycleRecord;

pub(crate) use around::Around;

use crate::events::EventSink;
use crate::failure::Result;
use crate::target::Server;

/// Does to a server that this process holds what a run wants done before its data is loaded: restarts it with these
/// settings, and has the operating system forget its files. Returns the evidence.
///
/// # Errors
/// When the server does not start with the settings; it runs on with those before, unless that fails, too.
pub fn between(
    server: &mut Server,
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
    // Also where it has them since the last run: the next one need not set them.
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

/// The record of a step that began then and has just ended.
pub(crate) fn record(step: &str, done: bool, what: impl Into<String>, began: Instant) -> CycleRecord {
    CycleRecord { step: step.to_owned(), what: what.into(), done, seconds: began.elapsed().as_secs_f64(), output: None }
}
