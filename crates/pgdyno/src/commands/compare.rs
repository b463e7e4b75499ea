//! `pgdyno compare`: compares runs with runs.

use std::path::{Path, PathBuf};

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::record::page::with_timeline;
use pgdyno_measure::compare::Held;
use pgdyno_report::compare::{ChangeVerdict, CompareOptions, ComparedRun, Comparison, FORMATS, compare, counts};
use pgdyno_report::html;
use pgdyno_results::{RunRecord, Series, read_record, read_series};

use super::report::{PAGE, admit, put_as, put_page};
use super::results::Results;
use crate::cli::CompareArgs;

/// The default name of the page in the results directory.
const PAGE_FILE: &str = "compare.html";

/// A record and its path.
pub(crate) type Named = (PathBuf, RunRecord);

pub(crate) fn run(args: &CompareArgs) -> Result<Code> {
    admit(args.output.as_ref())?;
    let results = Results::open(&args.results)?;
    let sides = [records(&results, &args.base)?, records(&results, &args.new)?];
    for (path, _) in sides.iter().flatten() {
        results.complete(path)?;
    }
    let directory = results.directory();
    let named = (args.format == PAGE).then(|| sides.clone());
    let options = CompareOptions {
        metric: args.metric.clone(),
        confidence: args.confidence,
        loss_max: args.fail_if_slower,
        anyway: args.anyway,
        run_noise: args.run_noise,
    };
    let [base, new] = with_intervals(directory, sides)?;
    let comparison = compare(base, new, &options).or_fail(Code::Start)?;
    match named {
        Some(sides) => {
            let page = page(directory, &comparison, &sides)?;
            results.release();
            put_page(&page, args.output.as_ref(), directory, PAGE_FILE)?;
        }
        None => {
            results.release();
            put_as(&comparison, FORMATS, &args.format, false, args.output.as_ref())?;
        }
    }
    match comparison.limit.map(|limit| limit.held) {
        Some(Some(Held::No)) => Ok(Code::Slower),
        // A gate that never fails would look like one that passes.
        Some(None) if comparison.verdict == ChangeVerdict::NotComparable => {
            let error =
                format!("--fail-if-slower has nothing to judge, the runs are not comparable: {}", comparison.reason);
            Err(CommandError::new(Code::Start, error)
                .hint("name runs of the same work, or ask for a verdict with --anyway"))
        }
        Some(None | Some(Held::Unknown { .. })) if !args.pass_if_unsure => Ok(Code::Unsure),
        _ => Ok(Code::Success),
    }
}

/// Returns both sides with the intervals that their comparison needs.
///
/// # Errors
/// When a run's intervals cannot be read.
pub(crate) fn with_intervals(results: &Path, [base, new]: [Vec<Named>; 2]) -> Result<[Vec<ComparedRun>; 2]> {
    // Several runs are compared by their figures alone, and an hour of histograms takes seconds to read.
    let by_interval = is_single(&base) && is_single(&new);
    let side = |records: Vec<Named>| {
        let run = |(path, record): Named| {
            let wanted = by_interval && counts(&record);
            let series =
                if wanted { read_series(&path, &record, results).or_fail(Code::Start)? } else { Series::default() };
            Ok(ComparedRun { record, series })
        };
        records.into_iter().map(run).collect::<Result<Vec<_>>>()
    };
    Ok([side(base)?, side(new)?])
}

/// Returns the page of a comparison, with those runs of `sides` that are included.
///
/// # Errors
/// When a file of a run cannot be read.
pub(crate) fn page(results: &Path, comparison: &Comparison, sides: &[Vec<Named>; 2]) -> Result<Vec<u8>> {
    let mut runs = Vec::new();
    for (side, named) in comparison.sides.iter().zip(sides) {
        for id in &side.runs {
            let found = named.iter().find(|(_, record)| record.id == *id);
            if let Some((path, record)) = found {
                runs.push(with_timeline(path, record.clone(), results)?);
            }
        }
    }
    let mut bytes = Vec::new();
    html::write_comparison(comparison, runs, &mut bytes).or_fail(Code::Start)?;
    Ok(bytes)
}

fn records(results: &Results, names: &str) -> Result<Vec<Named>> {
    let paths = results.find_runs(names)?;
    paths.into_iter().map(|path| read_record(&path).or_fail(Code::Start).map(|record| (path, record))).collect()
}

/// Returns true if at most one run is to be included.
fn is_single(records: &[Named]) -> bool {
    let mut counted = records.iter().filter(|(_, record)| counts(record)).map(|(_, r)| &r.id);
    let first = counted.next();
    counted.all(|id| Some(id) == first)
}
