//! `pgdyno fault list`: which faults a run can cause on a target.

use std::io::{self, Write as _};

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::Result;
use pgdyno_life::plan::fault::{PossibleFault, possible};
use pgdyno_report::forms::{FORMAT_VERSION, FaultForm, FaultsForm};
use pgdyno_text::wrap;

use crate::cli::{FaultAction, FaultListArgs};

/// Columns before what a fault does.
const NAME: usize = 23;

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
    let mut text = Vec::new();
    // Memory takes every line.
    let _ = write(&target.to_string(), &faults, &mut text);
    super::print_lines(&String::from_utf8_lossy(&text))?;
    Ok(Code::Success)
}

/// Writes the faults that the target can have, those of which that is not known, and the others by what is missing.
fn write(target: &str, faults: &[FaultForm], text: &mut Vec<u8>) -> io::Result<()> {
    wrap::wrapped(text, &format!("Faults that `pgdyno run --fault` can cause on {target}:"), "")?;
    writeln!(text)?;
    faults.iter().filter(|fault| fault.possible).try_for_each(|fault| entry_with_needs(fault, text))?;
    let mut unknown: Vec<_> = faults.iter().filter_map(|fault| fault.unknown.as_ref()).collect();
    unknown.dedup();
    for what in unknown {
        writeln!(text)?;
        wrap::wrapped(text, &format!("Not known: {what}"), "")?;
        let mut of_program = faults.iter().filter(|fault| fault.unknown.as_ref() == Some(what));
        of_program.try_for_each(|fault| entry_with_needs(fault, text))?;
    }
    let mut why = Vec::new();
    for (missing, remedy) in faults.iter().filter_map(|fault| fault.missing.as_ref().zip(fault.remedy.as_ref())) {
        if !why.contains(&(missing, remedy)) {
            why.push((missing, remedy));
        }
    }
    for (missing, remedy) in why {
        writeln!(text)?;
        wrap::wrapped(text, &format!("Not there: {missing}; {remedy}"), "")?;
        faults
            .iter()
            .filter(|fault| fault.missing.as_ref() == Some(missing))
            .try_for_each(|fault| entry(fault, text))?;
    }
    Ok(())
}

/// Writes the name of a fault, what it does, and what it needs.
fn entry_with_needs(fault: &FaultForm, text: &mut Vec<u8>) -> io::Result<()> {
    entry(fault, text)?;
    wrap::hanging(text, &" ".repeat(NAME), NAME, &format!("needs {}", fault.needs))
}

/// Writes the name of a fault, and what it does.
fn entry(fault: &FaultForm, text: &mut Vec<u8>) -> io::Result<()> {
    if fault.name.len() + 4 > NAME {
        writeln!(text, "  {}", fault.name)?;
        return wrap::hanging(text, &" ".repeat(NAME), NAME, &fault.what);
    }
    wrap::hanging(text, &format!("  {:<1$}", fault.name, NAME - 2), NAME, &fault.what)
}

fn form(fault: PossibleFault) -> FaultForm {
    let (missing, remedy) = fault.missing.map(|(what, remedy)| (what, remedy.to_owned())).unzip();
    FaultForm {
        name: fault.kind.name(),
        what: fault.kind.what(),
        needs: fault.kind.needs().to_owned(),
        possible: missing.is_none() && fault.unknown.is_none(),
        missing,
        remedy,
        unknown: fault.unknown,
    }
}
