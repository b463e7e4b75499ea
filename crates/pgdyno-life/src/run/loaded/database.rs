//! The database of a run: the target's own, or a copy of a template.

use pgdyno_load::{Fresh, TemplateDatabase};
use pgdyno_net::ConnectOptions;
use pgdyno_results::CopyRecord;
use pgdyno_workload::Capabilities;

use crate::data::copies;
use crate::failure::Result;
use crate::kept_session::KeptSession;
use crate::run::context::RunContext;

/// The database that the clients use, and pgdyno's own session there.
pub(crate) struct Database<'a> {
    /// Closed before the copy is dropped.
    pub(crate) session: KeptSession,
    /// How to connect to it.
    pub(crate) options: ConnectOptions,
    /// What its server can do.
    pub(crate) caps: Capabilities,
    /// The copy, if it is one.
    pub(super) _copy: Option<DatabaseCopy<'a>>,
}

/// A copy that is dropped with this value.
pub(super) struct DatabaseCopy<'a> {
    context: &'a RunContext<'a>,
    fresh: Option<Fresh>,
}

impl<'a> DatabaseCopy<'a> {
    /// Copies the template and records that. Nobody may be connected to it.
    ///
    /// # Errors
    /// When the server fails to copy, or the user ends the run.
    pub(super) fn make(context: &'a RunContext<'a>, template: &TemplateDatabase) -> Result<(Self, ConnectOptions)> {
        let stop = &context.interrupt.stop;
        let run = context.record.read(|recording| recording.record.id.clone());
        let fresh = copies::make(template, &run, stop, context.view)?;
        let copy = CopyRecord {
            template: template.name().to_owned(),
            database: fresh.name().to_owned(),
            seconds: fresh.seconds,
            bytes: fresh.bytes,
            method: Some(fresh.method.name().to_owned()),
        };
        context.record.edit(|recording| recording.record.copy = Some(copy));
        let options = context.interrupt.options(&fresh.options());
        Ok((Self { context, fresh: Some(fresh) }, options))
    }
}

impl Drop for DatabaseCopy<'_> {
    fn drop(&mut self) {
        let Some(fresh) = self.fresh.take() else { return };
        self.context.events.note(&format!("dropping {}", fresh.name()));
        if let Err(error) = fresh.remove() {
            self.context.events.warn(&error.to_string());
        }
    }
}
