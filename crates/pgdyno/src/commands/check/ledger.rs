//! `pgdyno check ledger --run RUN`: looks again for the commits of a run.

use std::path::Path;

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::ledger;
use pgdyno_life::target::Target;
use pgdyno_plan::TargetOrder;
use pgdyno_report::forms::{ChecksForm, FORMAT_VERSION};
use pgdyno_results::{find_run, read_record};

use crate::cli::CheckArgs;
use crate::commands::{print_form, print_text};

/// The name by which the ledger of any run is checked.
const LEDGER: &str = "ledger";

pub(super) fn run(args: &CheckArgs, run: &str) -> Result<Code> {
    let order = &args.data.options.order;
    if order.workload.names != [LEDGER] {
        let error = "--run names a run with a ledger";
        return Err(CommandError::new(Code::Start, error).hint("write: pgdyno check ledger --run last"));
    }
    let path = find_run(&args.out, run).or_fail(Code::Start)?;
    let record = read_record(&path).or_fail(Code::Start)?;
    let of_run = record.plan.target_dsn.as_ref().or(record.plan.target.as_option());
    let named = order.target.target.as_ref().or(of_run).cloned();
    let target = Target::resolve(&TargetOrder { target: named, ..order.target.clone() })?;
    let Some(options) = target.given() else {
        let error = format!("the private server of run {} has ended", record.id);
        return Err(CommandError::new(Code::Start, error).hint("name a server with its data in --target"));
    };
    let checked = ledger::check(path.parent().unwrap_or(Path::new("")), &record, options)?;
    if args.data.format.is_json() {
        let ledger = Some(checked.ledger);
        print_form(&ChecksForm { format_version: FORMAT_VERSION, ledger, ..ChecksForm::default() })?;
    } else {
        let mut text = Vec::new();
        pgdyno_report::ledger::checked(&checked.ledger, &mut text).or_fail(Code::Run)?;
        print_text(&String::from_utf8_lossy(&text))?;
    }
    Ok(checked.code)
}
