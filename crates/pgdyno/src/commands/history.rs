//! `pgdyno history`: shows a figure over all comparable runs, and where it changed.

use pgdyno_life::events::EventSink as _;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};
use pgdyno_live::ProgressView;
use pgdyno_report::history::{FORMATS, HistoryVerdict, histories};
use pgdyno_results::{RunRecord, read_record};

use super::list::selected;
use super::report::{admit, put_as};
use super::results::Results;
use crate::cli::HistoryArgs;

pub(crate) fn run(args: &HistoryArgs) -> Result<Code> {
    admit(args.output.as_ref())?;
    let records = records(args)?;
    let histories = histories(&records.iter().collect::<Vec<_>>(), &args.options()).or_fail(Code::Start)?;
    put_as(&histories, FORMATS, &args.format, false, args.output.as_ref())?;
    Ok(match histories.verdict() {
        HistoryVerdict::Slower => Code::Slower,
        HistoryVerdict::Undecided if !args.pass_if_unsure => Code::Unsure,
        _ => Code::Success,
    })
}

/// Returns the records of the runs that are named, or of all, as far as they are selected.
fn records(args: &HistoryArgs) -> Result<Vec<RunRecord>> {
    let results = Results::open(&args.select.results)?;
    if args.runs.is_empty() {
        let progress = ProgressView::new(false);
        let readable = |run: super::list::Listed| match run.record {
            Ok(record) => Some(record),
            Err(error) => {
                progress.warn(&format!("left out: {error}"));
                None
            }
        };
        return Ok(selected(&results, &args.select)?.into_iter().filter_map(readable).collect());
    }
    let selection = args.select.selection();
    let mut records: Vec<RunRecord> = Vec::new();
    for names in &args.runs {
        for path in results.find_runs(names)? {
            let record = read_record(&path).or_fail(Code::Start)?;
            if selection.admits(&record) {
                records.push(record);
            }
        }
    }
    records.sort_by(|a, b| (&a.started_at, &a.id).cmp(&(&b.started_at, &b.id)));
    let last = args.select.last.map_or(usize::MAX, |last| usize::try_from(last).unwrap_or(usize::MAX));
    Ok(records.split_off(records.len().saturating_sub(last)))
}
