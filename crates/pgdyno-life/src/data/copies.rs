//! A fresh copy of a database for one run.

use pgdyno_load::{CopyMethod, Fresh, FreshError, TemplateDatabase};
use pgdyno_net::{Admin, ConnectOptions, Stop};
use pgdyno_plan::Plan;
use pgdyno_text::units;

use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::interrupt::Interrupt;

/// Returns the template of the plan, if it has one, on the server that `options` lead to. A copy of it is dropped even after
/// the first Ctrl-C.
pub(crate) fn template(
    options: Option<&ConnectOptions>,
    plan: &Plan,
    interrupt: &Interrupt,
) -> Result<Option<TemplateDatabase>> {
    let (Some(options), Some(name)) = (options, &plan.from_template) else { return Ok(None) };
    let hint = "--from-template takes the name of a database on the target's server; without a name it copies the \
                target's own";
    match TemplateDatabase::find(options, name) {
        Err(error @ FreshError::Absent { .. }) => Err(CommandError::new(Code::Start, error).hint(hint)),
        found => {
            found.map(|template| Some(template.reached(|beside| interrupt.last_options(beside)))).or_fail(Code::Start)
        }
    }
}

/// Opens a connection to the template or, if it accepts none, to another database of the server.
pub(crate) fn look(template: &TemplateDatabase, interrupt: &Interrupt) -> Result<Admin> {
    let options = template.options().unwrap_or_else(|| template.beside().clone());
    Admin::connect(&interrupt.options(&options)).or_fail(Code::Start)
}

/// Makes the copy for the run of this name.
pub(crate) fn make(template: &TemplateDatabase, run: &str, stop: &Stop, events: &dyn EventSink) -> Result<Fresh> {
    let bytes = template.bytes().map_or_else(String::new, |n| format!(", {}", units::bytes(n)));
    events.note(&format!("copying database {}{bytes}", template.name()));
    let fresh = Fresh::make(template, run, stop).map_err(|error| {
        let code = match &error {
            FreshError::Interrupted { .. } => Code::Interrupted,
            FreshError::Connect(_) | FreshError::Absent { .. } => Code::Start,
            FreshError::Copy { .. } | FreshError::Drop { .. } => Code::Load,
        };
        CommandError::new(code, error)
    })?;
    for note in &fresh.notes {
        events.note(note);
    }
    let how = match fresh.method {
        CopyMethod::Files => "copied",
        CopyMethod::Clone => "cloned",
    };
    events.note(&format!("{how} it to {}, in {}", fresh.name(), units::duration(fresh.seconds)));
    Ok(fresh)
}
