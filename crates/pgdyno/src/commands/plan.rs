//! `pgdyno plan`: every step of a run, and nothing done.

use pgdyno_plan::RecipePlan;

use crate::cli::RunArgs;
use crate::exit_code::Code;
use crate::failure::Result;
use crate::life::choice::Choice;
use crate::life::choose;
use crate::life::guide;

pub(crate) fn run(args: RunArgs) -> Result<Code> {
    let (args, recipe) = guide::apply(args)?;
    let args = &args;
    let choice = Choice::read(&args.workload)?;
    let target = choose::target(args, &choice)?;
    let mut crew = choose::crew(args, &choice, &target)?;
    let workload = choice.build(&args.workload, Some(choose::default_size(args)), None, &crew)?;
    choose::settle(args, &*workload, target.is_local(), &mut crew)?;
    let mut plan = choose::plan(args, &choice, &*workload, &target, &crew)?;
    plan.recipe = recipe;
    let mut text = format!("plan {} of {}\n", choose::hash(&plan), plan.workload);
    for line in plan.recipe.iter().flat_map(pgdyno_report::guide::lines) {
        text += &format!("    {line}\n");
    }
    let steps = pgdyno_plan::steps(&plan);
    let width = steps.iter().map(|step| step.name.len()).max().unwrap_or_default().max(8);
    for (i, step) in steps.iter().enumerate() {
        text += &format!("{:>2}. {:<width$} {}\n", i + 1, step.name, step.what);
    }
    for script in plan.scripts.iter().filter(|_| plan.scripts.len() > 1) {
        text += &format!("    {} weighs {}\n", script.file, script.weight);
    }
    for (name, value) in &plan.params {
        text += &format!("    {name} = {value}\n");
    }
    if let Some(recipe) = &plan.recipe {
        text += &of_recipe(recipe)?;
    }
    for advice in workload.advice(plan.clients) {
        text += &format!("warning: {advice}\n");
    }
    super::print(text.as_bytes())?;
    Ok(Code::Success)
}

/// What the document says beside the numbers.
fn of_recipe(recipe: &RecipePlan) -> Result<String> {
    let mut text = String::new();
    if !recipe.published.is_empty() {
        let figures = pgdyno_report::guide::figures(&recipe.published);
        text += &format!("published for {}: {figures}\n", recipe.machine);
    }
    let document = guide::recipe(&recipe.name)?;
    let size = document.sizes.iter().filter(|size| size.name == recipe.size);
    for note in document.notes.iter().chain(size.flat_map(|size| &size.notes)) {
        text += &format!("note: {note}\n");
    }
    Ok(text)
}
