//! Suites before and after they run, as lists.

use pgdyno_untrusted::ShellWord;

use crate::forms::{SuiteForm, SuitePlanForm};
use pgdyno_text::units;

/// Returns the runs of a suite in their order, with the command line of each cell, and their time.
#[must_use]
pub fn plan(form: &SuitePlanForm) -> String {
    let mut text = String::new();
    for (nth, run) in form.runs.iter().enumerate() {
        let takes = run.seconds.map_or_else(String::new, |seconds| format!("  {}", units::duration(seconds)));
        text += &format!("{:>3}. {} #{}{takes}\n", nth + 1, run.cell, run.repetition);
        if run.repetition == 1 {
            let words: Vec<_> = run.args.iter().map(|word| ShellWord(word).to_string()).collect();
            text += &format!("     pgdyno run {}\n", words.join(" "));
        }
    }
    let whole = form.seconds.map_or_else(
        || "not known, as some count transactions".to_owned(),
        |seconds| format!("{} without loads", units::duration(seconds)),
    );
    let budget = form.budget_s.map_or_else(String::new, |budget| format!("; budget: {}", units::duration(budget)));
    text + &format!("{}; time: {whole}{budget}\n", units::plural(form.runs.len() as u64, "run"))
}

/// Returns a line for each suite.
#[must_use]
pub fn list(suites: &[SuiteForm]) -> String {
    let line = |suite: &SuiteForm| {
        let SuiteForm { name, state, planned, complete, failed } = suite;
        format!("{name:<44} {state:<28} {complete} of {planned} complete, {failed} failed\n")
    };
    suites.iter().map(line).collect()
}
