//! What checks print: a line for each as it ends, or all of them as JSON at the end.

use pgdyno_life::check::CheckSink;
use pgdyno_life::failure::Result;
use pgdyno_report::forms::{CheckOutcome, ChecksForm, FORMAT_VERSION, NotedForm, OutcomeForm};
use pgdyno_results::LoadRecord;
use pgdyno_text::units;

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

impl CheckSink for CheckOutput {
    fn heading(&mut self, text: &str) -> Result<()> {
        if self.form.is_none() { print_text(&format!("{text}\n")) } else { Ok(()) }
    }

    fn outcome(&mut self, outcome: OutcomeForm) -> Result<()> {
        match &mut self.form {
            Some(form) => form.checks.push(outcome),
            None => print_text(&line(&outcome))?,
        }
        Ok(())
    }

    fn noted(&mut self, noted: NotedForm) -> Result<()> {
        let Some(form) = &mut self.form else {
            return print_text(&format!(
                "noted  {:<24}           {}\n         {}; a run must leave this as it is\n",
                noted.name,
                noted.condition,
                noted.figures.join("; ")
            ));
        };
        form.noted.push(noted);
        Ok(())
    }
}

/// Returns the line of a check: its outcome, its name and its condition.
fn line(check: &OutcomeForm) -> String {
    let outcome = match check.outcome {
        CheckOutcome::Holds => "holds  ",
        CheckOutcome::Broken => "BROKEN ",
        CheckOutcome::Known => "known  ",
        // The longest outcome is wider than its column, and takes the room from the name.
        CheckOutcome::Skipped => "skipped ",
    };
    let time = check.seconds.map_or_else(String::new, units::duration);
    let (name, condition, width) = (&check.name, &check.condition, 31 - outcome.len());
    let mut text = format!("{outcome}{name:<width$} {time:>8}  {condition}\n");
    for note in &check.notes {
        text += &format!("         {note}\n");
    }
    text
}
