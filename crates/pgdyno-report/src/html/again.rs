//! The command line of a plan.

use pgdyno_plan::options::{self, Bearing, Reported};
use pgdyno_plan::{Plan, TargetName};
use pgdyno_results::RunRecord;
use pgdyno_untrusted::ShellWord;

/// Returns the arguments that make the same plan again, `pgdyno` first. Leaves out what a run took from its
/// environment, such as a password.
#[must_use]
pub fn command_line(record: &RunRecord) -> Vec<String> {
    let plan = &record.plan;
    let mut line = vec!["pgdyno".to_owned(), "run".to_owned()];
    match plan.recipe.as_ref().filter(|recipe| recipe.departures.is_empty()) {
        Some(recipe) => {
            line.push(recipe.name.clone());
            match &recipe.fitted {
                Some(_) => line.push("--fit".to_owned()),
                None => line.extend(["--size".to_owned(), recipe.size.clone()]),
            }
            if !recipe.variant.is_empty() {
                line.extend(["--variant".to_owned(), recipe.variant.clone()]);
            }
            if let Some(cut) = &recipe.shortened {
                line.push(format!("--short={}", cut.by));
            }
            // The recipe sets the others.
            let is_open = |kept: Reported| (kept.bearing)(plan) == Bearing::None;
            line.extend(options::arguments(plan, |option| option.kept.reported().is_some_and(is_open)));
        }
        None => {
            line.extend(what(plan));
            line.extend(options::arguments(plan, |_| true));
        }
    }
    line.extend(target(record));
    line
}

/// Returns the arguments quoted for a POSIX shell.
pub(super) fn shell(arguments: &[String]) -> String {
    arguments.iter().map(|argument| ShellWord(argument).to_string()).collect::<Vec<_>>().join(" ")
}

/// Returns the workload: a name, a directory, or scripts with their weights.
fn what(plan: &Plan) -> Vec<String> {
    if let Some(directory) = &plan.directory {
        return vec![directory.clone()];
    }
    if plan.scripts.is_empty() {
        return vec![plan.workload.clone()];
    }
    let weight = |weight| if plan.scripts.len() > 1 { format!("@{weight}") } else { String::new() };
    plan.scripts.iter().map(|script| format!("{}{}", script.file, weight(script.weight))).collect()
}

fn target(record: &RunRecord) -> Vec<String> {
    let named = record.target.as_ref().map(|target| target.name.as_str());
    let name = named.or_else(|| record.plan.target.as_option().map(TargetName::as_str));
    name.map(|name| vec!["--target".to_owned(), name.to_owned()]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_plan::{Fitted, RecipePlan, Shortened};
    use std::path::Path;

    fn record() -> RunRecord {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
        pgdyno_results::read_record(&path).unwrap()
    }

    #[test]
    fn a_plan_is_a_command_line() {
        assert_eq!(
            shell(&command_line(&record())),
            "pgdyno run tproc-c -D all-warehouses=false -D call=procedure -D seed=1 -w 1 -c 2 -j 1 -T 12 --ramp 1 \
             -M prepared --max-tries 1 --random-seed 2867917161118594 --loaders 2 --target embedded"
        );
    }

    #[test]
    fn a_recipe_is_named_unless_it_was_departed_from() {
        let mut record = record();
        record.plan.recipe = Some(RecipePlan {
            name: "alloydb/tpcc-full".to_owned(),
            size: "16vcpu".to_owned(),
            fitted: Some(Fitted::default()),
            shortened: Some(Shortened { by: 20.0, ..Default::default() }),
            ..Default::default()
        });
        let line = shell(&command_line(&record));
        assert!(line.starts_with("pgdyno run alloydb/tpcc-full --fit --short=20 --random-seed "), "{line}");
        record.plan.recipe.iter_mut().for_each(|recipe| recipe.departures.push("-c 3".to_owned()));
        assert!(shell(&command_line(&record)).starts_with("pgdyno run tproc-c "));
    }
}
