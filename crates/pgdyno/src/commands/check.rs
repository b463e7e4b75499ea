//! `pgdyno check`: checks loaded data.

mod ledger;
mod output;

pub(super) use output::CheckOutput;

use std::sync::Arc;

use pgdyno_life::check::{CheckRequest, check};
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::Result;
use pgdyno_live::ProgressView;

use super::confirm::confirm;
use crate::cli::CheckArgs;
use crate::interrupt;

pub(crate) fn run(args: &CheckArgs) -> Result<Code> {
    let (workload, target) = (args.data.options.order.workload.clone(), args.data.options.order.target.clone());
    if let Some(run) = &args.run {
        return ledger::run(args, run);
    }
    if args.isolation {
        confirm(&target, "check --isolation", args.consent.yes)?;
    }
    let request = CheckRequest {
        workload: &workload,
        target: &target,
        has_isolation: args.isolation,
        isolation_level: args.isolation_level,
        has_oracle: args.oracle.is_some(),
        results: &args.out,
    };
    let interrupt = interrupt::listen()?;
    let mut output = CheckOutput::new(args.data.format.is_json());
    let checked = check(&request, &interrupt, Arc::new(ProgressView::new(args.data.quiet)), &mut output);
    interrupt.attribute_to_signal(checked.and_then(|code| output.end().map(|()| code)))
}
