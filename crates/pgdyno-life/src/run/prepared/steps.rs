//! The steps of this run on its server, until a signal ends them.

use std::path::Path;

use crate::prepare::cycle::ServerSteps;
use crate::run::context::RunContext;

/// Returns steps that the first signal ends. `directory` is the run directory.
pub(super) fn until_first_signal<'a>(context: &'a RunContext<'_>, directory: &'a Path) -> ServerSteps<'a> {
    let interrupt = context.interrupt;
    let (stop, waits) = (&interrupt.stop, interrupt.waits());
    ServerSteps { stop, waits, ..until_second_signal(context, directory) }
}

/// Returns steps that the second signal ends.
pub(super) fn until_second_signal<'a>(context: &'a RunContext<'_>, directory: &'a Path) -> ServerSteps<'a> {
    ServerSteps {
        named: context.named,
        target: context.draft.plan.target.as_str(),
        directory,
        events: context.view,
        stop: &context.interrupt.last_stop,
        waits: context.interrupt.last_waits(),
    }
}
