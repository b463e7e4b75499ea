//! `pgdyno scaling`: shows how a figure grows along an axis.

use std::path::{Path, PathBuf};

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};
use pgdyno_life::record::page::with_timeline;
use pgdyno_report::html;
use pgdyno_report::scaling::{FORMATS, Scaling, scaling};
use pgdyno_results::{RunRecord, read_record};

use super::report::{PAGE, admit, put_as, put_page};
use super::results::Results;
use crate::cli::ScalingArgs;

/// The default name of the page in the results directory.
pub(super) const PAGE_FILE: &str = "scaling.html";

pub(crate) fn run(args: &ScalingArgs) -> Result<Code> {
    admit(args.output.as_ref())?;
    let results = Results::open(&args.results)?;
    let mut named = Vec::new();
    for names in &args.runs {
        for path in results.find_runs(names)? {
            let record = read_record(&path).or_fail(Code::Start)?;
            named.push((path, record));
        }
    }
    let records = named.iter().map(|(_, record)| record.clone()).collect();
    let scaling = scaling(records, &args.axis, args.metric.as_deref()).or_fail(Code::Start)?;
    if args.format == PAGE {
        return page(&results, &scaling, named, args);
    }
    results.release();
    put_as(&scaling, FORMATS, &args.format, false, args.output.as_ref())
}

/// Writes the page of the runs that are included.
fn page(results: &Results, scaling: &Scaling, named: Vec<(PathBuf, RunRecord)>, args: &ScalingArgs) -> Result<Code> {
    let included = |record: &RunRecord| scaling.left_out.iter().all(|(id, _)| *id != record.id);
    for (path, _) in named.iter().filter(|(_, record)| included(record)) {
        results.complete(path)?;
    }
    let bytes = rendered(scaling, named, results.directory())?;
    results.release();
    put_page(&bytes, args.output.as_ref(), results.directory(), PAGE_FILE)
}

/// Returns the page of a scaling: of the runs that are included, each with the path of its record.
pub(super) fn rendered(scaling: &Scaling, named: Vec<(PathBuf, RunRecord)>, results: &Path) -> Result<Vec<u8>> {
    let mut runs: Vec<html::ReportRun> = Vec::new();
    for (path, record) in named {
        let left_out = scaling.left_out.iter().any(|(id, _)| *id == record.id);
        if !left_out && runs.iter().all(|run| run.record.id != record.id) {
            runs.push(with_timeline(&path, record, results)?);
        }
    }
    let mut bytes = Vec::new();
    html::write_scaling(scaling, runs, &mut bytes).or_fail(Code::Start)?;
    Ok(bytes)
}
