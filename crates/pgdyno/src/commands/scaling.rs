//! `pgdyno scaling`: a figure against what grows.

use pgdyno_report::scaling::{FORMATS, scaling};
use pgdyno_results::{find_runs, read_record};

use crate::cli::ScalingArgs;
use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};

pub(crate) fn run(args: &ScalingArgs) -> Result<Code> {
    let mut records = Vec::new();
    for names in &args.runs {
        for path in find_runs(&args.out.out, names).or_fail(Code::Start)? {
            records.push(read_record(&path).or_fail(Code::Start)?);
        }
    }
    let scaling = scaling(records, &args.axis, args.metric).or_fail(Code::Start)?;
    // clap admits known formats only.
    let (_, render) = FORMATS
        .iter()
        .find(|(name, _)| *name == args.format)
        .ok_or_else(|| Failure::new(Code::Start, format!("unknown format '{}'", args.format)))?;
    let mut bytes = Vec::new();
    render(&scaling, super::look(), &mut bytes).or_fail(Code::Start)?;
    super::print(&bytes)?;
    Ok(Code::Success)
}
