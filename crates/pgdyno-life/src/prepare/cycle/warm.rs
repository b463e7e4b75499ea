//! Before the warm-up: fills caches by reading, and writes the checkpoint that is due.

use std::time::Instant;

use pgdyno_net::{Admin, AdminError, Stop};
use pgdyno_results::CycleRecord;
use pgdyno_text::units;
use pgdyno_workload::{Capabilities, DataSet};

use super::record;
use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};

const PREWARM: &str = "prewarm";

/// Reads the workload's tables, partitions and indexes into shared buffers, tables first.
///
/// # Errors
/// When the connection is lost, or the user ends it. If it is not possible, the record says so.
pub(crate) fn prewarm(
    admin: &mut Admin,
    data: &dyn DataSet,
    caps: &Capabilities,
    events: &dyn EventSink,
    stop: &Stop,
) -> Result<CycleRecord> {
    let began = Instant::now();
    let not_done = |why: &dyn std::fmt::Display| record(PREWARM, false, format!("not done: {why}"), began);
    if caps.distributed_tables {
        return Ok(not_done(&"the tables are spread over nodes"));
    }
    let stored = match pgdyno_load::stored(admin, data) {
        Ok(stored) => stored,
        Err(error) => return Ok(not_done(&error)),
    };
    let there = admin.query("select from pg_extension where extname = 'pg_prewarm'").map(|rows| !rows.rows.is_empty());
    let there = there.or_fail(Code::Start)?;
    if !there && let Err(error) = admin.execute("create extension pg_prewarm") {
        return refused(error, &not_done);
    }
    events.note("reading the data into shared buffers");
    let (mut outcome, mut failed) = (Ok(()), None);
    for (nth, relation) in stored.iter().enumerate() {
        events.step("prewarm", nth, stored.len());
        if stop.is_requested() {
            outcome =
                Err(CommandError::new(Code::Interrupted, "interrupted while the data was read into shared buffers"));
            break;
        }
        let read = format!("select pg_prewarm({}::oid::regclass)", relation.oid);
        failed = admin.patiently(|admin| admin.query(&read)).err();
        if failed.is_some() {
            break;
        }
    }
    events.ended();
    if !there && !failed.as_ref().is_some_and(AdminError::is_lost) {
        // The user's database keeps the extensions that it had.
        admin.execute("drop extension pg_prewarm").or_fail(Code::Start)?;
    }
    if let Some(error) = failed {
        return refused(error, &not_done);
    }
    outcome?;
    let bytes = units::bytes(stored.iter().map(|relation| relation.bytes).sum());
    let what = format!("{} tables and indexes, {bytes}, by pg_prewarm", stored.len());
    Ok(record(PREWARM, true, what, began))
}

/// Writes a checkpoint, so that the one that is due does not fall into the measured window.
///
/// # Errors
/// When the connection is lost. If the role may not do it, the record says so.
pub(crate) fn checkpoint(admin: &mut Admin) -> Result<CycleRecord> {
    let began = Instant::now();
    match admin.patiently(|admin| admin.execute("checkpoint")) {
        Ok(_) => Ok(record("checkpoint", true, "by CHECKPOINT", began)),
        Err(error) => refused(error, &|why| record("checkpoint", false, format!("not done: {why}"), began)),
    }
}

/// Returns the server's refusal as text; a lost connection is an error.
fn refused(error: AdminError, not_done: &dyn Fn(&dyn std::fmt::Display) -> CycleRecord) -> Result<CycleRecord> {
    if error.is_lost() { Err(error).or_fail(Code::Start) } else { Ok(not_done(&error)) }
}
