//! One file for each command.

mod ab;
mod agent;
mod browser;
mod cache;
mod capture;
mod central;
mod check;
mod cloud;
mod compare;
mod confirm;
mod doctor;
mod drop;
mod export;
mod fault;
mod fit;
mod frontier;
mod history;
mod list;
mod load;
mod manual;
pub(crate) mod pgbench;
mod plan;
mod report;
mod results;
mod run;
mod scaling;
mod search;
mod serve;
mod server;
mod show;
mod store;
mod study;
mod suite;
mod sweep;
pub(crate) mod version;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::plan::resolve::RunRequest;
use pgdyno_plan::Order;
use pgdyno_report::forms;
use pgdyno_results::{find_run, read_record};
use pgdyno_study::suite::sweep::Sweep;
use pgdyno_text::paint::Paint;
use pgdyno_text::wrap;
use pgdyno_untrusted::{PaintedText, TerminalText};
use serde::Serialize;

use crate::arguments;
use crate::cli::{Cli, Command, RunArgs, help, hints};

/// Wraps text at the width of the terminal that standard output is, if it is one.
pub(crate) fn fit_terminal() {
    let stdout = std::io::stdout();
    if stdout.is_terminal()
        && let Ok(size) = rustix::termios::tcgetwinsize(&stdout)
    {
        wrap::fit(size.ws_col.into());
    }
}

/// Runs the command.
pub(crate) fn run(cli: Cli) -> Result<Code> {
    match cli.command {
        Command::Run(args) => run::run(args),
        Command::Plan(args) => plan::run(args),
        Command::Load(args) => load::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Drop(args) => drop::run(&args),
        Command::List { what } => list::run(&what),
        Command::Report(args) => report::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::History(args) => history::run(&args),
        Command::Scaling(args) => scaling::run(&args),
        Command::Ab(args) => ab::run(args),
        Command::Search(args) => search::run(args),
        Command::Frontier(args) => frontier::run(args),
        Command::Suite { action } => suite::run(&action),
        Command::Export(args) => export::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Store { action } => store::run(&action),
        Command::Doctor(args) => doctor::run(&args),
        Command::Fault { action } => fault::run(&action),
        Command::Cloud { action } => cloud::run(&action),
        Command::Capture(args) => capture::run(&args),
        Command::Fit(args) => fit::run(&args),
        Command::Agent(args) => agent::run(args),
        Command::Agents(args) => agent::list(&args),
        Command::Server { action } => server::run(action),
        Command::Cache { action } => cache::run(&action),
        // `main` takes it to the drop-in before.
        Command::Pgbench { .. } => {
            Err(CommandError::new(Code::Start, "pgbench is the first argument, or the program's name"))
        }
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { directory } => manual::pages(&directory),
    }
}

/// Runs the command for each value of the options that have several.
pub(crate) fn sweep(cli: Cli, sweep: &Sweep) -> Result<Code> {
    match cli {
        Cli { command: Command::Run(args), .. } => sweep::run(args, sweep),
        cli => run(cli),
    }
}

/// Prints help, the version, or errors in the arguments. clap's exit code for errors is 2, which means an error during
/// a run here.
pub(crate) fn usage(error: clap::Error) -> ExitCode {
    let args = arguments::all();
    // If the stream is closed, the text is lost.
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // No arguments at all ask for help.
        if args.len() < 2 {
            let _ = print_help(args);
            return Code::Success.into();
        }
        let _ = error.print();
        return Code::Start.into();
    }
    if error.kind() == clap::error::ErrorKind::DisplayHelp && hints::means_a_host(args) {
        return report(&CommandError::new(Code::Start, "-h asks for help, and takes no host").hint(hints::PLACE));
    }
    if error.kind() == clap::error::ErrorKind::DisplayHelp {
        let _ = print_help(args);
        return Code::Success.into();
    }
    let (error, hint) = hints::explained(error, args);
    // clap wraps help, but no errors.
    let _ = match error.use_stderr() && std::io::stderr().is_terminal() {
        true => write!(std::io::stderr(), "{}", wrap::folded(&error.render().to_string())),
        false => error.print(),
    };
    if let Some(hint) = hint {
        let _ = writeln!(std::io::stderr(), "\n  hint: {hint}");
    }
    if error.use_stderr() { Code::Start.into() } else { Code::Success.into() }
}

/// Prints the help that the arguments ask for. All of it is text of this program.
fn print_help(args: &[OsString]) -> Result<()> {
    let help = help::answer(args);
    write_out(help::painted(&help, &Paint(look().colour)).as_bytes())
}

/// Prints a failure and returns its exit code.
pub(crate) fn report(failure: &CommandError) -> ExitCode {
    let mut lines = failure.chain().into_iter();
    let mut text = format!("error: {}\n", lines.next().unwrap_or_default());
    for cause in lines {
        text += &format!("  caused by: {cause}\n");
    }
    if let Some(hint) = failure.remedy() {
        text += &format!("  hint: {hint}\n");
    }
    if std::io::stderr().is_terminal() {
        text = wrap::folded(&text);
    }
    let text = TerminalText(&text).to_string();
    // If standard error is closed, the message is lost.
    let _ = write!(std::io::stderr(), "{}", Paint(is_coloured(&std::io::stderr())).message(&text));
    failure.code().into()
}

/// Reads the request of a command line: the plan of a record again, or a new run. A suite or a search passes the order
/// by standard input. What a record asks for beyond its SQL has to be confirmed, shells of its scripts if they are `carried_out`.
fn request(args: RunArgs, carried_out: bool) -> Result<RunRequest> {
    if args.order_of_input {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).or_fail(Code::Start)?;
        let order = serde_json::from_str(&line).or_fail(Code::Start)?;
        return RunRequest::read(Order { suite: args.suite_run, out: Some(args.out.out), ..order });
    }
    let Some(name) = args.again.clone() else { return RunRequest::read(args.order()) };
    let path = find_run(&args.out.out, &name).or_fail(Code::Start)?;
    let record = read_record(&path).or_fail(Code::Start)?;
    let yes = args.consent.yes;
    let given = args.order();
    let request = RunRequest::again(&record.plan, path.parent().unwrap_or(Path::new("")), given.clone())?;
    confirm::confirm_record(&request.asks(&given, carried_out)?, yes)?;
    Ok(request)
}

/// Opens a page in the browser. Where that is not possible, its path is on the screen already.
fn open_page(page: &Path) {
    if let Err(error) = browser::open(page) {
        let text = format!("warning: {} was not opened in a browser: {error}\n", page.display());
        let text = TerminalText(&text).to_string();
        let _ = write!(std::io::stderr(), "{}", Paint(is_coloured(&std::io::stderr())).message(&text));
    }
}

/// Writes data for a program to standard output: as it is to a pipe, without what a terminal would obey to a terminal.
fn print(bytes: &[u8]) -> Result<()> {
    match std::str::from_utf8(bytes) {
        Ok(text) if std::io::stdout().is_terminal() => write_out(PaintedText(text).to_string().as_bytes()),
        _ => write_out(bytes),
    }
}

/// Writes lines to standard output, without what a terminal would obey: they may contain text of others, and end on a
/// terminal later.
fn print_lines(text: &str) -> Result<()> {
    write_out(plain(text).as_bytes())
}

/// Writes what a renderer has made to standard output: text as [`print_lines`] does, other formats as [`print`] does.
fn print_rendered(format: &str, bytes: &[u8]) -> Result<()> {
    print(&plain_rendered(format, bytes))
}

/// Formats that programs read: they are written as they are.
const DATA_FORMATS: [&str; 4] = ["csv", "html", "json", "parquet"];

/// Returns what a renderer has made; text without what a terminal would obey, colours apart.
fn plain_rendered<'a>(format: &str, bytes: &'a [u8]) -> Cow<'a, [u8]> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !DATA_FORMATS.contains(&format) => Cow::Owned(plain(text).into_bytes()),
        _ => Cow::Borrowed(bytes),
    }
}

/// Returns text without what a terminal would obey. Colours stay where they are wanted.
fn plain(text: &str) -> String {
    if look().colour { PaintedText(text).to_string() } else { TerminalText(text).to_string() }
}

/// Writes to standard output. A reader that has ended, such as `head`, is no error.
fn write_out(bytes: &[u8]) -> Result<()> {
    match std::io::stdout().write_all(bytes).and_then(|()| std::io::stdout().flush()) {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => written.or_fail(Code::Start),
    }
}

/// Writes text of whole lines to standard output, wrapped on a terminal; a pipe gets each line as it is.
fn print_text(text: &str) -> Result<()> {
    match std::io::stdout().is_terminal() {
        true => print_lines(&wrap::folded(text)),
        false => print_lines(text),
    }
}

/// Returns the columns that a line of a list may have: those of a terminal, or any number on a pipe, whose reader wants one line
/// for each entry.
fn columns() -> Option<usize> {
    std::io::stdout().is_terminal().then_some(pgdyno_text::wrap::COLUMNS)
}

/// Writes a form to standard output as JSON.
fn print_form(form: &impl Serialize) -> Result<()> {
    let mut bytes = Vec::new();
    forms::write(form, &mut bytes).or_fail(Code::Start)?;
    print(&bytes)
}

/// Returns the look of standard output: with colours on a terminal, unless `NO_COLOR` is set.
fn look() -> pgdyno_text::TextStyle {
    pgdyno_text::TextStyle { colour: is_coloured(&std::io::stdout()), verbose: false }
}

fn is_coloured(output: &impl IsTerminal) -> bool {
    output.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
