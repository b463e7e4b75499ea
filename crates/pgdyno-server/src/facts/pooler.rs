//! Whether a pooler such as PgBouncer stands before the server, and for how long it hands out a connection.
//!
//! It is found out by what it does, for which no right is needed. A pooler gives each client a cancel key of its own, whose
//! process is not the one that answers. Two clients that meet the same process while both are connected share it:
//! transaction pooling. A pooler that keeps prepared statements knows one that another process has prepared.

use std::time::Duration;

use pgdyno_net::{Admin, AdminError, ConnectOptions};
use pgdyno_workload::Pooling;

use crate::facts::ask::{ask, first};

/// A pooler that has no connection free for so long is not waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// Two clients may miss each other where others are at work, too; in so many rounds they meet.
const ROUNDS: u32 = 8;

/// What the pooler between `admin`, which `options` have opened, and the server hands out; `None` where there is none. Takes
/// two more connections where there is one.
///
/// # Errors
/// When the connection is lost.
pub fn pooling(admin: &mut Admin, options: &ConnectOptions) -> Result<Option<Pooling>, AdminError> {
    match process(admin)? {
        Some(process) if process != admin.cancel_handle().process_id() => {}
        _ => return Ok(None),
    }
    let (Ok(mut one), Ok(mut other)) = (Admin::connect(options), Admin::connect(options)) else {
        return Ok(Some(Pooling::Session));
    };
    for admin in [&mut one, &mut other] {
        // Where the system refuses, the pooler's own limits are left.
        let _ = admin.wait_at_most(Some(PATIENCE));
    }
    // Where each has a process for itself there may be no more of them: then the second one waits in vain.
    Ok(Some(tried(&mut one, &mut other).unwrap_or(Pooling::Session)))
}

/// The process that answers; `None` where it does not tell.
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
            // Where it cannot be tried it is not counted on.
            let prepared = keeps_prepared(one, other).unwrap_or_default();
            return Ok(Pooling::Transaction { prepared });
        }
    }
    Ok(Pooling::Session)
}

/// Whether a statement that a client has prepared is there when it meets another process.
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
        // Where the pooler knows nothing of it, it is left in the process that is held.
        one.close_prepared(&name)?;
        one.execute("COMMIT")?;
        other.close_prepared(&name)?;
        if let Some(known) = known {
            return known;
        }
    }
    Ok(false)
}
