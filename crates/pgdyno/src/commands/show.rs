//! `pgdyno show`: a recipe.

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::Result;
use pgdyno_life::recipe_args;

use crate::cli::ShowArgs;

pub(crate) fn run(args: &ShowArgs) -> Result<Code> {
    let text = pgdyno_report::recipe(&recipe_args::recipe(&args.recipe)?);
    super::print(text.as_bytes())?;
    Ok(Code::Success)
}
