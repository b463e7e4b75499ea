//! Asks before anything is written to a server that only the environment names.

use std::io::{self, IsTerminal, Write};

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::plan::resolve::RunRequest;
use pgdyno_life::target::Target;
use pgdyno_plan::{Order, TargetOrder};
use pgdyno_untrusted::TerminalText;

/// Asks on a terminal whether to go on, if the server comes from the `PG*` variables or a service file: a shell may have
/// them from other work. Asks nothing where the command line names the target, with `--yes`, and where nobody can answer.
///
/// # Errors
/// When the answer is not yes.
pub(super) fn confirm(order: &TargetOrder, command: &str, yes: bool) -> Result<()> {
    if yes || order.target.is_some() || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(());
    }
    let target = Target::resolve(order)?;
    let Some(options) = target.given() else { return Ok(()) };
    match agrees(&format!("The PG* environment names the server: {options}\n{command} writes there. Go on?"))? {
        true => Ok(()),
        false => {
            Err(CommandError::new(Code::Start, "nothing was written")
                .hint("name the server by --target, or give --yes"))
        }
    }
}

/// Asks on a terminal whether to do what a record asks for beyond its SQL; elsewhere it must be confirmed by `--yes`.
///
/// # Errors
/// When it is not confirmed.
pub(super) fn confirm_record(asked: &[String], yes: bool) -> Result<()> {
    if asked.is_empty() || yes {
        return Ok(());
    }
    let asked = asked.join(" and ");
    let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    if is_terminal && agrees(&format!("The record asks for {asked}, which the command line does not name. Go on?"))? {
        return Ok(());
    }
    let error = format!("the record asks for {asked}, which the command line does not name; nothing was done");
    Err(CommandError::new(Code::Start, error).hint("read the record, then give --yes, or another --target"))
}

/// Asks the same of the orders of a study that is to go on.
///
/// # Errors
/// As [`confirm_record`], and when an order cannot be read.
pub(super) fn confirm_resumed(orders: &[&Order], yes: bool) -> Result<()> {
    let mut asked = Vec::new();
    for order in orders {
        asked.extend(RunRequest::read((*order).clone())?.asks(&Order::default(), true)?);
    }
    asked.sort();
    asked.dedup();
    confirm_record(&asked, yes)
}

/// Asks a question on the terminal.
pub(super) fn agrees(question: &str) -> Result<bool> {
    write!(io::stderr(), "{} [y/N] ", TerminalText(question)).or_fail(Code::Start)?;
    io::stderr().flush().or_fail(Code::Start)?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).or_fail(Code::Start)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
