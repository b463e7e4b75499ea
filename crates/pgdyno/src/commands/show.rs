//! `pgdyno show`: shows a recipe.

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::Result;
use pgdyno_life::plan::recipe_order;

use crate::cli::ShowArgs;

pub(crate) fn run(args: &ShowArgs) -> Result<Code> {
    let text = pgdyno_report::recipe(&recipe_order::recipe(&args.recipe)?);
    super::print_text(&text)?;
    Ok(Code::Success)
}
