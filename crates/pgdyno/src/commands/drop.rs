//! `pgdyno drop`: drops data that pgdyno loaded.

use std::sync::Arc;

use pgdyno_life::data::reached::Reached;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, Result};
use pgdyno_life::interrupt::Interrupt;
use pgdyno_life::plan::workload_source::{ClientSetup, WorkloadSource};
use pgdyno_life::target::reach;
use pgdyno_load::drop_data;
use pgdyno_report::forms::{DropForm, FORMAT_VERSION};

use crate::cli::DropArgs;
use crate::interrupt;
use pgdyno_live::ProgressView;

use super::confirm::confirm;

pub(crate) fn run(args: &DropArgs) -> Result<Code> {
    // The workload must be named: no default drops anything.
    if args.data.options.order.workload.names.is_empty() {
        let error = "no workload is named, and drop has no default";
        return Err(
            CommandError::new(Code::Start, error).hint("name the workload whose data to drop: `pgdyno drop tpcb-like`")
        );
    }
    confirm(&args.data.options.order.target, "drop", args.consent.yes)?;
    let interrupt = interrupt::listen()?;
    interrupt.attribute_to_signal(execute(args, &interrupt))
}

fn execute(args: &DropArgs, interrupt: &Interrupt) -> Result<Code> {
    let order = args.data.options.order.workload.clone();
    let workload = WorkloadSource::read(&order)?.build(&order, None, None, &ClientSetup::NONE)?;
    let progress = Arc::new(ProgressView::new(args.data.quiet));
    let (database, mut admin) = Reached::reach(&args.data.options.order.target, &workload, interrupt, progress)?;
    reach::admit_change(database.caps(), "drop")?;
    let (mut names, mut stamped) = (Vec::new(), false);
    // Data that was loaded last may depend on data that was loaded first.
    for data in workload.data.iter().rev() {
        let dropped = drop_data(&mut admin, data.as_ref(), args.force).map_err(|error| {
            let error = error.asked(database.plain());
            if names.is_empty() {
                return CommandError::new(Code::Load, error);
            }
            let failure = CommandError::new(Code::Load, format!("{error}; dropped before: {}", names.join(", ")));
            match error.remedy() {
                Some(remedy) => failure.hint(remedy),
                None => failure,
            }
        })?;
        names.extend(dropped.relations.into_iter().chain(dropped.routines));
        stamped |= dropped.stamp;
    }
    if args.data.format.is_json() {
        super::print_form(&DropForm { format_version: FORMAT_VERSION, dropped: names, stamp: stamped })?;
        return Ok(Code::Success);
    }
    let text = match (names.is_empty(), stamped) {
        (true, false) => "nothing to drop\n".to_owned(),
        (true, true) => "dropped the stamp of a load that was never finished\n".to_owned(),
        (false, _) => format!("dropped {}\n", names.join(", ")),
    };
    super::print_text(&text)?;
    Ok(Code::Success)
}
