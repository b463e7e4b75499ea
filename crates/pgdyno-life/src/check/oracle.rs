//! `pgdyno check --oracle duckdb`: compares the answers to the workload's queries with those of DuckDB over the same
//! rows, which are made again, at any scale factor and with any parameters.

mod duckdb;

use crate::data;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use pgdyno_load::Moment;
use pgdyno_net::Admin;
use pgdyno_workload::{Check, Workload};

use super::{CheckSink, report_set, skip};
use duckdb::DuckDb;

/// Refuses workloads that have no queries to compare.
pub(super) fn admit(workload: &Workload) -> Result<()> {
    match workload.drive.oracle(None) {
        Some(_) => Ok(()),
        None => {
            let error =
                format!("--oracle compares the answers of queries, and {} has none to compare", workload.meta.id);
            Err(CommandError::new(Code::Start, error).hint("leave --oracle out, or check tproc-h"))
        }
    }
}

/// Compares all answers, and passes on the result of each.
pub(super) fn compare(
    access: &data::DataAccess<'_>,
    admin: &mut Admin,
    workload: &Workload,
    output: &mut dyn CheckSink,
) -> Result<Code> {
    let duckdb = DuckDb::find(access.stop)?;
    let mut codes = Vec::new();
    for data in &workload.data {
        let stamp = pgdyno_load::complete_stamp(admin, data.as_ref()).or_fail(Code::Load)?;
        let changes = stamp.and_then(|stamp| stamp.changes);
        let Some(oracle) = workload.drive.oracle(changes.as_deref()) else {
            let error = format!("the stamp says '{}': a refresh function was interrupted", changes.unwrap_or_default());
            return Err(CommandError::new(Code::Check, error).hint("the next `pgdyno run` repairs the data"));
        };
        let steps = oracle.tables.len() + oracle.queries.len();
        for (nth, table) in oracle.tables.iter().enumerate() {
            access.events.step(&format!("{}: rows of {}", duckdb.version, table.name), nth, steps);
            duckdb.load(table)?;
        }
        let mut checks: Vec<Check> = Vec::new();
        for (nth, query) in oracle.queries.iter().enumerate() {
            access.events.step(&format!("{}: {}", duckdb.version, query.name), oracle.tables.len() + nth, steps);
            checks.push((query.check)(&duckdb.answer(query)?));
        }
        access.events.ended();
        output.heading(&format!("answers with the parameters of a run, against {}:", duckdb.version))?;
        let (set, _) =
            data::check(access, data.as_ref(), Moment::Only(&checks), &format!("against {}", duckdb.version))?;
        codes.push(report_set(&set, output)?);
        for name in oracle.left_out {
            let why = "without indexes the server takes hours";
            skip(output, &set.when, [name, why], &[])?;
        }
    }
    Ok(Code::first_bad(codes))
}
