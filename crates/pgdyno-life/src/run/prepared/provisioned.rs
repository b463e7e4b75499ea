//! A server that the target's hook has made for a run, and its removal.

use std::time::Instant;

use pgdyno_net::ConnectOptions;

use super::steps;
use crate::failure::Result;
use crate::prepare::cycle;
use crate::run::context::RunContext;
use crate::target::Target;

/// A server that is removed however the run ends, also if it was made only in part: by [`Provisioned::remove`], or when this
/// value is dropped.
pub(super) struct Provisioned<'a> {
    context: &'a RunContext<'a>,
    /// How to connect to it, if that is known.
    address: Option<ConnectOptions>,
    is_there: bool,
}

/// Records the steps that a parent process did, and has the target's hook make the server if the plan says so. Returns the
/// target, which has the address of the new server.
///
/// # Errors
/// When the record cannot begin, or the hook fails.
pub(super) fn provision<'a>(context: &'a RunContext<'a>, target: Target) -> Result<(Target, Option<Provisioned<'a>>)> {
    let done = &context.request.order.cycle.done;
    let is_asked = context.draft.plan.cycle.provision;
    if !is_asked && done.is_empty() {
        return Ok((target, None));
    }
    let mut evidence: Vec<_> =
        done.iter().map(|(step, what)| cycle::record(step, true, what, Instant::now())).collect();
    context.record.begin()?;
    context.record.note_steps(&mut evidence);
    if !is_asked || context.is_done("provision") {
        return Ok((target, None));
    }
    let mut provisioned = Provisioned { context, address: None, is_there: true };
    let directory = context.record.path();
    let made = steps::until_first_signal(context, &directory).provision(&mut evidence);
    context.record.note_steps(&mut evidence);
    let target = match made? {
        Some(dsn) => target.provisioned(&dsn)?,
        None => target,
    };
    provisioned.address = target.given().cloned();
    Ok((target, Some(provisioned)))
}

impl Provisioned<'_> {
    /// Removes the server.
    ///
    /// # Errors
    /// When the hook fails. That was reported.
    pub(super) fn remove(mut self) -> Result<()> {
        self.remove_now()
    }

    fn remove_now(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.is_there) {
            return Ok(());
        }
        let mut evidence = Vec::new();
        let directory = self.context.record.path();
        let steps = steps::until_second_signal(self.context, &directory);
        let teardown = steps.teardown(self.address.as_ref(), &mut evidence);
        self.context.record.note_steps(&mut evidence);
        teardown.inspect_err(|failure| self.context.events.warn(&failure.text()))
    }
}

impl Drop for Provisioned<'_> {
    fn drop(&mut self) {
        // The failure was reported.
        drop(self.remove_now());
    }
}
