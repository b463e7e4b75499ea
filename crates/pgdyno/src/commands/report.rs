//! `pgdyno report`: a report again, from the record.

use pgdyno_results::{find_run, read_record};

use crate::cli::ReportArgs;
use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};

pub(crate) fn run(args: &ReportArgs) -> Result<Code> {
    let path = find_run(&args.out.out, &args.run).or_fail(Code::Start)?;
    let record = read_record(&path).or_fail(Code::Start)?;
    // clap admits known formats only.
    let render = pgdyno_report::format(&args.format)
        .ok_or_else(|| Failure::new(Code::Start, format!("unknown format '{}'", args.format)))?;
    let mut bytes = Vec::new();
    render(&record, super::look(), &mut bytes).or_fail(Code::Start)?;
    super::print(&bytes)?;
    Ok(Code::Success)
}
