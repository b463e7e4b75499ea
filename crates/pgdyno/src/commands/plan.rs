//! `pgdyno plan`: prints every step of a run, and does none. Reads what a given server contains.

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::Result;
use pgdyno_life::plan::preview::{preview, recipe_notes};

use crate::cli::PlanCommand;

pub(crate) fn run(command: PlanCommand) -> Result<Code> {
    let form = preview(&super::request(command.run, false)?)?;
    match command.format.is_json() {
        true => super::print_form(&form)?,
        false => super::print_text(&pgdyno_report::plan::text(&form, &recipe_notes(&form.plan)))?,
    }
    Ok(Code::Success)
}
