//! The statements that a run starts with, as pgbench does: they only help.

use pgdyno_load::steps::{self, ServerStep};
use pgdyno_net::Admin;
use pgdyno_workload::{Capabilities, DataSet};

use crate::exit_code::Code;
use crate::failure::{OrFail, Result};

/// How a user leaves these statements out without a warning.
const OPTION: &str = "--no-vacuum leaves it out without a warning";

/// Executes the statements. Returns what was left out, in sentences: all of them where the server takes no writes, and those
/// that it refuses.
pub(crate) fn before_run(admin: &mut Admin, data: &dyn DataSet, caps: &Capabilities) -> Result<Vec<String>> {
    let statements = data.before_run();
    let read_only = match &caps.read_only {
        _ if caps.standby => Some("the server is a standby"),
        Some(_) => Some("default_transaction_read_only is on"),
        None => None,
    };
    if let Some(why) = read_only.filter(|_| !statements.is_empty()) {
        return Ok(vec![format!("{why}, so this was left out before the run: {}", statements.join("; "))]);
    }
    admin.keep_notices();
    // Notices that came while the connection started are shown by the clients' connections.
    admin.take_notices();
    let mut left_out = Vec::new();
    for sql in statements {
        let step = step(sql);
        let warn = |warning| left_out.push(format!("before the run, {sql}: {warning} ({OPTION})"));
        step.decide(admin.patiently(|admin| admin.execute(sql))).or_fail(Code::Start)?.or_warn(warn);
        // VACUUM skips, with a warning, tables that the role may not vacuum.
        let warnings = admin.take_notices().into_iter().filter(|notice| notice.severity == "WARNING");
        left_out.extend(warnings.map(|warning| format!("before the run, {sql}: {}", warning.message)));
    }
    Ok(left_out)
}

/// Returns the step that a statement is.
fn step(sql: &str) -> &'static ServerStep {
    if sql.starts_with("truncate") { &steps::TRUNCATE } else { &steps::VACUUM }
}
