//! `pgdyno show`: a recipe.

use crate::cli::ShowArgs;
use crate::exit_code::Code;
use crate::failure::Result;
use crate::life::recipe_args;

pub(crate) fn run(args: &ShowArgs) -> Result<Code> {
    let text = pgdyno_report::recipe(&recipe_args::recipe(&args.recipe)?);
    super::print(text.as_bytes())?;
    Ok(Code::Success)
}
