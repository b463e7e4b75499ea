//! `pgdyno show`: shows a recipe, or a workload and its parameters.

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};
use pgdyno_life::plan::recipe_order;
use pgdyno_report::forms::RecipeForm;
use pgdyno_workload::{Meta, Param, WorkloadOption};
use pgdyno_workloads::{families, options};

use super::list::workloads_form;
use crate::cli::ShowArgs;

pub(crate) fn run(args: &ShowArgs) -> Result<Code> {
    if let Some(meta) = families::meta(&args.name) {
        let meta = meta.or_fail(Code::Start)?;
        match args.format.is_json() {
            true => super::print_form(&workloads_form(&[meta]))?,
            false => super::print_text(&workload(meta))?,
        }
        return Ok(Code::Success);
    }
    let recipe = recipe_order::recipe(&args.name)?;
    match args.format.is_json() {
        true => super::print_form(&RecipeForm::from(&recipe))?,
        false => super::print_text(&pgdyno_report::recipe(&recipe))?,
    }
    Ok(Code::Success)
}

/// Returns what a workload does, and its parameters with the options that set them.
fn workload(meta: &Meta) -> String {
    let rows: Vec<_> = meta.params.iter().map(|param| (given(param), param)).collect();
    let width = rows.iter().map(|(given, _)| given.chars().count()).max().unwrap_or_default();
    let line = |(given, param): &(String, &Param)| {
        let value = if param.is_fixed() { "always" } else { "default:" };
        format!("  {given:<width$}  {} [{value} {}]\n", param.help, param.default)
    };
    let params = match rows.is_empty() {
        true => "It has no parameters.\n".to_owned(),
        false => format!("Parameters:\n{}", rows.iter().map(line).collect::<String>()),
    };
    let id = meta.id;
    format!(
        "{id}: {}\n{params}`pgdyno run {id} --help` has the options, `pgdyno plan {id}` what a run does.\n",
        meta.summary
    )
}

/// Returns how a parameter is given.
fn given(param: &Param) -> String {
    let name = |option: &WorkloadOption| match option.spec.short {
        Some(letter) => format!("-{letter}, --{}", option.spec.name),
        None => format!("--{}", option.spec.name),
    };
    let names: Vec<_> = options::all().filter(|option| option.param == param.name).map(name).collect();
    match (param.is_fixed(), names.is_empty()) {
        (true, _) => param.name.to_owned(),
        (false, true) => format!("-D {}=…", param.name),
        (false, false) => names.join(", "),
    }
}
