//! `pgdyno fault list`: which faults a run can cause on a target.

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::Result;
use pgdyno_life::plan::fault::{PossibleFault, possible};
use pgdyno_report::forms::{FORMAT_VERSION, FaultForm, FaultsForm};
use pgdyno_text::wrap;

use crate::cli::{FaultAction, FaultListArgs};

/// Columns before what a fault does.
const NAME: usize = 22;

pub(crate) fn run(action: &FaultAction) -> Result<Code> {
    match action {
        FaultAction::List(args) => list(args),
    }
}

fn list(args: &FaultListArgs) -> Result<Code> {
    let (target, faults) = possible(&args.order())?;
    let faults: Vec<_> = faults.into_iter().map(form).collect();
    if args.format.is_json() {
        super::print_form(&FaultsForm { format_version: FORMAT_VERSION, target: target.to_string(), faults })?;
        return Ok(Code::Success);
    }
    let mut text = format!("Faults that `pgdyno run --fault` can cause on {target}:\n\n").into_bytes();
    for fault in &faults {
        // Memory takes every line.
        let _ = write(fault, &mut text);
    }
    super::print_lines(&String::from_utf8_lossy(&text))?;
    Ok(Code::Success)
}

fn write(fault: &FaultForm, text: &mut Vec<u8>) -> std::io::Result<()> {
    let mark = if fault.possible { "ok" } else { "-" };
    let blank = " ".repeat(NAME);
    if fault.name.len() > NAME - 4 {
        text.extend_from_slice(format!("{mark:<3}{}\n", fault.name).as_bytes());
        wrap::hanging(text, &blank, NAME, &fault.what)?;
    } else {
        wrap::hanging(text, &format!("{mark:<3}{:<1$}", fault.name, NAME - 3), NAME, &fault.what)?;
    }
    match (&fault.missing, &fault.remedy) {
        (Some(missing), Some(remedy)) => wrap::hanging(text, &blank, NAME, &format!("missing: {missing}; {remedy}")),
        _ => wrap::hanging(text, &blank, NAME, &format!("needs {}", fault.needs)),
    }
}

fn form(fault: PossibleFault) -> FaultForm {
    let (missing, remedy) = fault.missing.map(|(what, remedy)| (what, remedy.to_owned())).unzip();
    FaultForm {
        name: fault.kind.name(),
        what: fault.kind.what(),
        needs: fault.kind.needs().to_owned(),
        possible: missing.is_none(),
        missing,
        remedy,
    }
}
