//! `pgdyno plan`: every step of a run, and nothing done. What a given server holds is looked at.

use std::time::Duration;

use pgdyno_life::data::loaded::{Loaded, loaded};
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::Result;
use pgdyno_life::plan::recipe_order;
use pgdyno_life::plan::resolve::{self, Draft};
use pgdyno_life::stage::is_null;
use pgdyno_life::target::Target;
use pgdyno_net::Admin;
use pgdyno_plan::RecipePlan;
use pgdyno_workload::Workload;

use crate::cli::RunArgs;

pub(crate) fn run(args: RunArgs) -> Result<Code> {
    let (order, recipe) = recipe_order::apply(args.order())?;
    let Draft { source, target, mut setup, workload, mut plan } = resolve::draft(&order, recipe)?;
    let seen = if order.from_template.is_some() { Look::Nothing } else { look(&target, &workload) };
    let (workload, unseen) = match seen {
        Look::Nothing => (workload, None),
        Look::Unreachable(why) => (workload, Some(why)),
        Look::Loaded(loaded) => {
            (resolve::fit(&order, &source, &loaded, target.is_local(), &mut setup, &mut plan)?, None)
        }
    };
    let mut text = format!("plan {} of {}\n", resolve::hash(&plan), plan.workload);
    if let Some(place) = target.given().map(ToString::to_string).filter(|place| *place != plan.target) {
        text += &format!("    target {}: {place}\n", plan.target);
    }
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
    let before_run: Vec<_> = workload.data.iter().flat_map(|data| data.before_run()).copied().collect();
    if !before_run.is_empty() && !plan.no_vacuum {
        text += &format!(
            "before the run: {} (left out on a standby, where the role may not, and with --no-vacuum)\n",
            before_run.join("; ")
        );
    }
    if let Some(recipe) = &plan.recipe {
        text += &of_recipe(recipe)?;
    }
    if let Some(why) = unseen {
        text += &format!("note: what the target holds is not known: {why}\n");
    }
    for advice in workload.drive.advice(plan.clients) {
        text += &format!("warning: {advice}\n");
    }
    super::print(text.as_bytes())?;
    Ok(Code::Success)
}

/// A server that lets nobody in for so long is left out of the plan.
const PATIENCE: Duration = Duration::from_secs(3);
/// So is one that does not say for so long what it holds.
const ANSWERING: Duration = Duration::from_secs(10);

/// What a look at the target brought.
enum Look {
    /// There is no data of the workload's kind, or no server yet.
    Nothing,
    Loaded(Loaded),
    Unreachable(String),
}

/// Looks at what a given server holds. Only reads.
fn look(target: &Target, workload: &Workload) -> Look {
    let Some(options) = target.given().filter(|_| !workload.data.is_empty()) else { return Look::Nothing };
    match Admin::connect(&options.with_connect_timeout_at_most(PATIENCE).with_answer_timeout(ANSWERING)) {
        Err(error) => Look::Unreachable(error.to_string()),
        Ok(admin) if is_null(&admin) => Look::Nothing,
        Ok(mut admin) => match loaded(&mut admin, workload) {
            Ok(Some(loaded)) if loaded.complete => Look::Loaded(loaded),
            Ok(_) => Look::Nothing,
            Err(failure) => Look::Unreachable(failure.text()),
        },
    }
}

/// What the document says beside the numbers.
fn of_recipe(recipe: &RecipePlan) -> Result<String> {
    let mut text = String::new();
    if !recipe.published.is_empty() {
        let figures = pgdyno_report::guide::figures(&recipe.published);
        text += &format!("published for {}: {figures}\n", recipe.machine);
    }
    let document = recipe_order::recipe(&recipe.name)?;
    let size = document.sizes.iter().filter(|size| size.name == recipe.size);
    for note in document.notes.iter().chain(size.flat_map(|size| &size.notes)) {
        text += &format!("note: {note}\n");
    }
    Ok(text)
}
