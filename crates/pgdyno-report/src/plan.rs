//! A plan and its steps as text.

use crate::forms::PlanForm;
use crate::guide;

/// Returns a plan as text, with the notes of its recipe.
#[must_use]
pub fn text(form: &PlanForm, recipe_notes: &[String]) -> String {
    let plan = &form.plan;
    let mut text = format!("plan {} of {}\n", form.hash, plan.workload);
    if let Some(place) = &form.address {
        text += &format!("    target {}: {place}\n", plan.target);
    }
    for line in plan.recipe.iter().flat_map(guide::lines) {
        text += &format!("    {line}\n");
    }
    let width = form.steps.iter().map(|step| step.name.len()).max().unwrap_or_default().max(8);
    for (i, step) in form.steps.iter().enumerate() {
        let below = format!("\n{:width$}       ", "");
        text += &format!("{:>2}. {:<width$} {}\n", i + 1, step.name, step.what.replace('\n', &below));
    }
    for script in plan.scripts.iter().filter(|_| plan.scripts.len() > 1) {
        text += &format!("    {} weighs {}\n", script.file, script.weight);
    }
    for (name, value) in &plan.params {
        text += &format!("    {name} = {value}\n");
    }
    for created in &form.creates {
        text += &format!("the load {created}\n");
    }
    if !form.before_run.is_empty() {
        text += &format!(
            "before the run: {} (left out on a standby, where the role may not, and with --no-vacuum)\n",
            form.before_run.join("; ")
        );
    }
    if let Some(recipe) = plan.recipe.as_ref().filter(|recipe| !recipe.published.is_empty()) {
        text += &format!("published for {}: {}\n", recipe.machine, guide::figures(&recipe.published));
    }
    for note in recipe_notes {
        text += &format!("note: {note}\n");
    }
    if !form.undecided.is_empty() {
        text += &format!("note: decided when the server has answered: {}\n", form.undecided.join(", "));
    }
    for note in &form.notes {
        text += &format!("note: {note}\n");
    }
    for warning in &form.warnings {
        text += &format!("warning: {warning}\n");
    }
    text
}
