//! Asks before anything is written to a server that only the environment names.

use std::io::{self, IsTerminal, Write};

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{Failure, OrFail, Result};
use pgdyno_life::target::Target;
use pgdyno_plan::TargetOrder;

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
    eprint!("The PG* environment names the server: {options}\n{command} writes there. Go on? [y/N] ");
    io::stderr().flush().or_fail(Code::Start)?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).or_fail(Code::Start)?;
    if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    Err(Failure::new(Code::Start, "nothing was written").hint("name the server by --target, or give --yes"))
}
