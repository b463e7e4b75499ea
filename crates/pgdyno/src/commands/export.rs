//! `pgdyno export`: runs as one table.

use std::io::IsTerminal;

use pgdyno_life::events::EventSink as _;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_results::{admit_file, table};

use super::list::selected;
use super::results::Results;
use crate::cli::ExportArgs;
use pgdyno_live::ProgressView;

pub(crate) fn run(args: &ExportArgs) -> Result<Code> {
    if args.format == "parquet" && args.output.is_none() && std::io::stdout().is_terminal() {
        return Err(CommandError::new(Code::Start, "Parquet is binary, and this is a terminal")
            .hint("name a file with -o FILE"));
    }
    args.output.as_deref().map_or(Ok(()), admit_file).or_fail(Code::Start)?;
    let Some(write) = table::format(&args.format) else {
        let (format, text) = (&args.format, "this build cannot write a table as");
        return Err(CommandError::new(Code::Start, format!("{text} {format}: it has no feature '{format}'")).hint(format!(
            "`cargo install --locked --features {format} --path crates/pgdyno` adds it, packages have it; or --format csv"
        )));
    };
    let progress = ProgressView::new(false);
    let mut records = Vec::new();
    for run in selected(&Results::open(&args.select.results)?, &args.select)? {
        match run.record {
            Ok(record) => records.push(record),
            Err(error) => progress.warn(&format!("left out: {error}")),
        }
    }
    let mut bytes = Vec::new();
    write(&records, &mut bytes).or_fail(Code::Start)?;
    match &args.output {
        Some(path) => pgdyno_results::write_whole(path, &bytes).or_fail(Code::Start)?,
        None => super::print(&bytes)?,
    }
    Ok(Code::Success)
}
