//! Detects a pooler such as PgBouncer before the server, and its pooling mode.
//!
//! It is detected by its behaviour, which needs no rights. PgBouncer gives each client a cancel key of its own, whose
//! process id is not that of the backend; Pgpool-II passes keys on, but sessions of the server outlive its clients
//! ([`outlives`]). If two connected clients meet the same backend, they share it: transaction
//! pooling. A pooler supports prepared statements if it knows one that was prepared on another backend.

use std::time::Duration;

use pgdyno_net::{Admin, AdminError, ConnectOptions};
use pgdyno_workload::Pooling;

use crate::facts::ask::{ask, first};
use crate::facts::outlives::outlives;

/// Time limit of waits for a pooler without a free connection.
const PATIENCE: Duration = Duration::from_secs(10);
/// Rounds in which two clients try to meet on one backend: they may miss each other while others are active.
const ROUNDS: u32 = 8;

/// Returns the pooling mode between `admin`, which `options` have opened, and the server; `None` without a pooler.
/// Opens two more connections if there is one, and one more to look for it unless the server sees this end of `admin`.
///
/// # Errors
/// When the connection is lost.
pub fn pooling(admin: &mut Admin, options: &ConnectOptions) -> Result<Option<Pooling>, AdminError> {
    let Some(process) = process(admin)? else { return Ok(None) };
    if process == admin.cancel_handle().process_id() && !outlives(admin, options)? {
        return Ok(None);
    }
    let (Ok(mut one), Ok(mut other)) = (Admin::connect(options), Admin::connect(options)) else {
        return Ok(Some(Pooling::Session));
    };
    for admin in [&mut one, &mut other] {
        admin.wait_at_most(PATIENCE);
    }
    // With session pooling no backend may be left: the second client waits in vain then.
    Ok(Some(tried(&mut one, &mut other).unwrap_or(Pooling::Session)))
}

/// Returns the backend's process id; `None` if unknown.
fn process(admin: &mut Admin) -> Result<Option<i32>, AdminError> {
    let answer = admin.promptly("which process answers", |admin| ask(admin, "SELECT pg_backend_pid()"))?;
    Ok(first(answer).and_then(|pid| pid.parse().ok()))
}

fn tried(one: &mut Admin, other: &mut Admin) -> Result<Pooling, AdminError> {
    for _ in 0..ROUNDS {
        let before = process(one)?;
        match other.execute("BEGIN") {
            Err(error) if error.to_string().contains("statement pooling") => return Ok(Pooling::Statement),
            begun => drop(begun?),
        }
        let held = process(other)?;
        let after = process(one)?;
        other.execute("COMMIT")?;
        if held == before || after != before {
            // If it cannot be tried, it counts as unsupported.
            let prepared = keeps_prepared(one, other).unwrap_or_default();
            return Ok(Pooling::Transaction { prepared });
        }
    }
    Ok(Pooling::Session)
}

/// Returns true if a client's prepared statement exists when it meets another backend.
fn keeps_prepared(one: &mut Admin, other: &mut Admin) -> Result<bool, AdminError> {
    for round in 0..ROUNDS {
        let name = format!("pgdyno_probe_{}_{round}", std::process::id());
        other.execute("BEGIN")?;
        let prepared_by = process(other)?;
        other.prepare(&name, "SELECT 1")?;
        other.execute("COMMIT")?;
        one.execute("BEGIN")?;
        let is_held = process(one)? == prepared_by;
        let known = is_held.then(|| -> Result<bool, AdminError> {
            other.execute("BEGIN")?;
            let known = other.execute_prepared(&name).is_ok();
            other.execute("ROLLBACK")?;
            Ok(known)
        });
        // If the pooler does not track it, it stays in the backend.
        one.close_prepared(&name)?;
        one.execute("COMMIT")?;
        other.close_prepared(&name)?;
        if let Some(known) = known {
            return known;
        }
    }
    Ok(false)
}
