//! `pgdyno show`: shows a recipe.

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::Result;
use pgdyno_life::plan::recipe_order;
use pgdyno_report::forms::RecipeForm;

use crate::cli::ShowArgs;

pub(crate) fn run(args: &ShowArgs) -> Result<Code> {
    let recipe = recipe_order::recipe(&args.recipe)?;
    match args.format.is_json() {
        true => super::print_form(&RecipeForm::from(&recipe))?,
        false => super::print_text(&pgdyno_report::recipe(&recipe))?,
    }
    Ok(Code::Success)
}
