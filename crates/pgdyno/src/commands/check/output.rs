//! What checks print: a line for each as it ends, or all of them as JSON at the end.

use pgdyno_life::data;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::Result;
use pgdyno_load::{Baseline, NOT_CHECKABLE};
use pgdyno_report::forms::{ChecksForm, FORMAT_VERSION, NotedForm, Outcome, OutcomeForm};
use pgdyno_results::{CheckSet, LoadRecord};
use pgdyno_text::units;
use pgdyno_workload::DataSet;

use crate::commands::{print_form, print_text};

/// Prints checks, or keeps them for JSON.
pub(in crate::commands) struct CheckOutput {
    /// Kept until the end; absent for text.
    form: Option<ChecksForm>,
}

impl CheckOutput {
    /// Returns the output as JSON, or as text.
    pub(in crate::commands) fn new(is_json: bool) -> Self {
        Self { form: is_json.then(|| ChecksForm { format_version: FORMAT_VERSION, ..ChecksForm::default() }) }
    }

    /// Prints a line of text about the checks that follow.
    pub(super) fn heading(&mut self, text: &str) -> Result<()> {
        if self.form.is_none() { print_text(&format!("{text}\n")) } else { Ok(()) }
    }

    /// Prints the outcome of a check.
    pub(super) fn outcome(&mut self, outcome: OutcomeForm) -> Result<()> {
        match &mut self.form {
            Some(form) => form.checks.push(outcome),
            None => print_text(&line(&outcome))?,
        }
        Ok(())
    }

    /// Prints that something was not checked, and why.
    pub(super) fn skipped(&mut self, when: &str, name: &str, condition: &str, why: &[&str]) -> Result<()> {
        self.outcome(OutcomeForm {
            when: when.to_owned(),
            name: name.to_owned(),
            condition: condition.to_owned(),
            outcome: Outcome::Skipped,
            seconds: None,
            notes: why.iter().map(|why| (*why).to_owned()).collect(),
        })
    }

    /// Prints a set of checks; wrong data has exit code 12.
    pub(in crate::commands) fn set(&mut self, set: &CheckSet) -> Result<Code> {
        for check in &set.checks {
            let outcome = match (check.holds, &check.refused, &check.known) {
                (true, ..) => Outcome::Holds,
                (false, Some(_), _) => Outcome::Skipped,
                (false, None, Some(_)) => Outcome::Known,
                (false, None, None) => Outcome::Broken,
            };
            let refused = check.refused.iter().map(|why| match why.strip_prefix(NOT_CHECKABLE) {
                Some(why) => why.to_owned(),
                None => format!("the server cannot run this query: {why}"),
            });
            self.outcome(OutcomeForm {
                when: set.when.clone(),
                name: check.name.clone(),
                condition: check.condition.clone(),
                outcome,
                seconds: Some(check.seconds).filter(|_| check.refused.is_none()),
                notes: refused.chain(check.known.iter().chain(&check.violations).cloned()).collect(),
            })?;
        }
        Ok(if data::holds(set) { Code::Success } else { Code::Check })
    }

    /// Prints the figures that must not change: only a run can check them.
    pub(super) fn noted(&mut self, data: &dyn DataSet, noted: &Baseline) -> Result<()> {
        let checks = data.checks();
        for (name, figures) in noted.figures() {
            let condition = checks.iter().find(|check| check.name == name).map_or("", |check| check.condition);
            match &mut self.form {
                Some(form) => {
                    let (name, condition) = (name.to_owned(), condition.to_owned());
                    form.noted.push(NotedForm { name, condition, figures });
                }
                None => print_text(&format!(
                    "noted  {name:<24}           {condition}\n         {}; a run must leave this as it is\n",
                    figures.join("; ")
                ))?,
            }
        }
        Ok(())
    }

    /// Keeps a load for JSON; as text it was reported as it went on.
    pub(in crate::commands) fn loaded(&mut self, load: LoadRecord) {
        if let Some(form) = &mut self.form {
            form.loads.push(load);
        }
    }

    /// Prints what was kept.
    pub(in crate::commands) fn end(self) -> Result<()> {
        self.form.map_or(Ok(()), |form| print_form(&form))
    }
}

/// Returns the line of a check: its outcome, its name and its condition.
fn line(check: &OutcomeForm) -> String {
    let outcome = match check.outcome {
        Outcome::Holds => "holds  ",
        Outcome::Broken => "BROKEN ",
        Outcome::Known => "known  ",
        // The longest outcome is wider than its column, and takes the room from the name.
        Outcome::Skipped => "skipped ",
    };
    let time = check.seconds.map_or_else(String::new, units::duration);
    let (name, condition, width) = (&check.name, &check.condition, 31 - outcome.len());
    let mut text = format!("{outcome}{name:<width$} {time:>8}  {condition}\n");
    for note in &check.notes {
        text += &format!("         {note}\n");
    }
    text
}
