//! `pgdyno show`: a recipe.

use crate::cli::ShowArgs;
use crate::exit_code::Code;
use crate::failure::Result;
use crate::life::guide;

pub(crate) fn run(args: &ShowArgs) -> Result<Code> {
    let text = pgdyno_report::recipe(&guide::recipe(&args.recipe)?);
    super::print(text.as_bytes())?;
    Ok(Code::Success)
}
