//! The answers to the workload's queries, compared with those of the last run over the same rows by their digests.

use std::path::Path;
use std::time::Instant;

use crate::data::DataAccess;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use pgdyno_measure::Digest;
use pgdyno_net::{Admin, TextRows};
use pgdyno_results::{Answer, CheckRecord, CheckSet, RunRecord, Status, answers, list_runs, read_record};
use pgdyno_workload::Workload;

use super::{CheckSink, report_set};

/// Compares the answers with those of the last run in `results`, and passes on the result of each. Returns success if
/// there is no such run.
pub(super) fn compare(
    access: &DataAccess<'_>,
    admin: &mut Admin,
    workload: &Workload,
    results: &Path,
    output: &mut dyn CheckSink,
) -> Result<Code> {
    let Some(data) = workload.data.first() else { return Ok(Code::Success) };
    let stamp = pgdyno_load::complete_stamp(admin, data.as_ref()).or_fail(Code::Load)?;
    let rows_read = stamp.and_then(|stamp| workload.drive.rows_read(stamp.changes.as_deref(), false));
    let Some(rows_read) = rows_read else { return Ok(Code::Success) };
    let Some(run) = last_run(results, workload.meta.id, &rows_read)? else { return Ok(Code::Success) };
    let of_run = answers(&run);
    let mut checks = Vec::new();
    // The limits of role and database are for users.
    admin.execute("begin transaction read only").or_fail(Code::Check)?;
    admin.execute("set local statement_timeout = 0").or_fail(Code::Check)?;
    admin.wait_without_limit();
    for (nth, before) in of_run.iter().enumerate() {
        access.events.step(&format!("digest of {}", before.query), nth, of_run.len());
        let began = Instant::now();
        let rows = admin.query(before.sql).map_err(|error| failed(access, before.query, &error.reason()))?;
        let now = Answer::of_one(before.query, before.sql, rows.rows.len() as u64, digest(&rows).unordered);
        let holds = now.is_that_of(before);
        let other = match now.rows() == before.rows() {
            true => format!("{} rows as there, of which some differ", now.rows()),
            false => format!("expected {} rows, found {}", before.rows(), now.rows()),
        };
        checks.push(CheckRecord {
            name: format!("digest of {}", before.query),
            condition: "the rows are those of that run".to_owned(),
            holds,
            known: None,
            refused: None,
            seconds: began.elapsed().as_secs_f64(),
            violations: if holds { Vec::new() } else { vec![other] },
        });
    }
    access.events.ended();
    admin.execute("rollback").or_fail(Code::Check)?;
    output.heading(&format!("answers beside those of run {}, which read the same rows:", run.id))?;
    report_set(&CheckSet { when: "beside an earlier run".to_owned(), checks }, output)
}

fn failed(access: &DataAccess<'_>, query: &str, error: &dyn std::fmt::Display) -> CommandError {
    match access.stop.is_requested() {
        true => CommandError::new(Code::Interrupted, format!("interrupted during the digest of {query}")),
        false => CommandError::new(Code::Check, format!("{query} failed: {error}")),
    }
}

/// Returns the newest complete run whose queries read these rows.
fn last_run(results: &Path, workload: &str, rows_read: &str) -> Result<Option<RunRecord>> {
    let runs = list_runs(results).or_fail(Code::Start)?;
    let fits = |record: &RunRecord| {
        record.status == Status::Complete
            && record.plan.workload == workload
            && record.rows_read.as_deref() == Some(rows_read)
            && !answers(record).is_empty()
    };
    // A record that cannot be read is no reason to check less.
    Ok(runs.iter().rev().filter_map(|run| read_record(&run.join(pgdyno_results::RECORD)).ok()).find(fits))
}

/// Returns the digest of rows as the server sent them.
fn digest(rows: &TextRows) -> Digest {
    let mut digest = Digest::default();
    let mut body = Vec::new();
    for row in &rows.rows {
        body.clear();
        body.extend_from_slice(&(row.len() as u16).to_be_bytes());
        for value in row {
            let text = value.as_deref();
            body.extend_from_slice(&text.map_or(-1, |text| text.len() as i32).to_be_bytes());
            body.extend_from_slice(text.unwrap_or_default().as_bytes());
        }
        digest.row(&body);
    }
    digest
}
