//! `pgdyno fit`: makes a workload directory of a capture, on a copy of the database.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use pgdyno_capture::{Fidelity, FitError, FitOrder, FittedStatement, fit};
use pgdyno_life::events::EventSink;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_live::ProgressView;
use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_report::fidelity::{headline, others};
use pgdyno_results::write_inside;
use pgdyno_text::paint::Paint;
use pgdyno_text::{brief, wrap};
use pgdyno_workload::Pooling;

use super::capture::{captured, given};
use crate::cli::FitArgs;
use crate::interrupt;

pub(crate) fn run(args: &FitArgs) -> Result<Code> {
    let captured = captured(&args.capture)?;
    admit_directory(&args.output)?;
    let interrupt = interrupt::listen()?;
    let options = given(
        &args.order(),
        "a fit executes statements on a copy of the captured database, and none is named",
        &interrupt,
    )?;
    admit_sessions(&options)?;
    let events: Arc<dyn EventSink> = Arc::new(ProgressView::new(args.quiet));
    let order = FitOrder { captured_server: args.captured_server, replace: args.replace, time_share: args.time_share };
    let mut progress = |done: usize, of: usize| {
        events.step("fitting statements", done, of);
        interrupt.stop.is_requested()
    };
    let fitted = fit(&captured, &options, &order, &mut progress);
    events.ended();
    let fitted = interrupt.attribute_to_signal(fitted.map_err(failed))?;
    for (name, text) in &fitted.files {
        write_inside(&args.output, name, text.as_bytes()).or_fail(Code::Start)?;
    }
    let mut text = Vec::new();
    show(&fitted.fidelity, &fitted.warnings, &mut text).or_fail(Code::Start)?;
    let directory = args.output.display();
    writeln!(text, "\n{directory}  (pgdyno run {directory} --from-template --target …)").or_fail(Code::Start)?;
    super::print_lines(&String::from_utf8_lossy(&text))?;
    Ok(Code::Success)
}

/// Refuses a pooler that gives each transaction any session: a fit prepares statements and changes settings of its own.
fn admit_sessions(options: &ConnectOptions) -> Result<()> {
    let mut admin = Admin::connect(options).or_fail(Code::Start)?;
    match pgdyno_server::pooling(&mut admin, options).or_fail(Code::Start)? {
        None | Some(Pooling::Session) => Ok(()),
        Some(Pooling::Transaction { .. } | Pooling::Statement) => {
            let error = "a fit needs a session of its own, but the pooler hands out a connection for each transaction";
            let hint = "connect to the server itself, not through the pooler, or use session pooling";
            Err(CommandError::new(Code::Start, error).hint(hint))
        }
    }
}

/// Refuses a directory that has files.
fn admit_directory(directory: &Path) -> Result<()> {
    match fs::read_dir(directory).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Ok(false) => {
            let error = format!("{} has files: a fit writes a new directory", directory.display());
            Err(CommandError::new(Code::Start, error).hint("name another one in -o, or remove it"))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(CommandError::new(Code::Start, format!("cannot write to {}: {error}", directory.display()))),
    }
}

fn failed(error: FitError) -> CommandError {
    let code = if matches!(error, FitError::Interrupted) { Code::Interrupted } else { Code::Start };
    let remedy = error.remedy();
    let failure = CommandError::new(code, error);
    match remedy {
        Some(remedy) => failure.hint(remedy),
        None => failure,
    }
}

/// Writes what was fitted: the answer, the statements that are not representative, and the others.
fn show(fidelity: &Fidelity, warnings: &[String], out: &mut dyn Write) -> io::Result<()> {
    let shares = (fidelity.representative_time_share, fidelity.representative_calls_share);
    wrap::wrapped(out, &headline(shares.0, shares.1), "")?;
    if let Some(others) = others(fidelity.statements.iter().map(|statement| statement.time_share).sum()) {
        wrap::wrapped(out, &others, "")?;
    }
    warnings.iter().try_for_each(|warning| wrap::entry(out, &Paint(super::look().colour), "WARNING", warning))?;
    writeln!(out, "\n  time  rows/call          blocks/call        statement")?;
    writeln!(out, "        captured  copy     captured  copy")?;
    let (ok, others): (Vec<_>, Vec<_>) = fidelity.statements.iter().partition(|statement| statement.is_representative);
    others.into_iter().chain(ok).try_for_each(|statement| show_statement(statement, out))?;
    show_undetermined(fidelity, out)?;
    if fidelity.transactions.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n per s  transaction")?;
    for transaction in &fidelity.transactions {
        let mut statements: Vec<(&str, usize)> = Vec::new();
        for file in transaction.statements.iter().map(|file| file.trim_end_matches(".sql")) {
            match statements.last_mut().filter(|(last, _)| *last == file) {
                Some((_, times)) => *times += 1,
                None => statements.push((file, 1)),
            }
        }
        let statement = |(file, times): &(&str, usize)| match times {
            1 => (*file).to_owned(),
            times => format!("{file} × {times}"),
        };
        let statements: Vec<_> = statements.iter().map(statement).collect();
        let name = transaction.script.trim_end_matches(".sql");
        let rate = brief::number(transaction.calls_per_s);
        wrap::hanging(out, &format!("{rate:>6}  "), 8, &format!("{name}: {}", statements.join(", ")))?;
    }
    Ok(())
}

/// Writes of which statements the skew over keys is not determined, by the reason.
fn show_undetermined(fidelity: &Fidelity, out: &mut dyn Write) -> io::Result<()> {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for statement in &fidelity.statements {
        if let Some(why) = statement.keys.as_ref().and_then(|keys| keys.undetermined.as_deref()) {
            by_reason.entry(why).or_default().push(statement.script.trim_end_matches(".sql"));
        }
    }
    for (why, scripts) in by_reason {
        let text = format!("Skew over keys is not determined: {why} ({})", wrap::one_line(&scripts.join(", ")));
        writeln!(out)?;
        wrap::wrapped(out, &text, "")?;
    }
    Ok(())
}

fn show_statement(statement: &FittedStatement, out: &mut dyn Write) -> io::Result<()> {
    let number = |figure: Option<f64>| figure.map_or_else(|| "-".to_owned(), brief::number);
    writeln!(
        out,
        "{:>6}  {:<9} {:<8} {:<9} {:<8} {}{}",
        brief::percent(statement.time_share),
        brief::number(statement.captured_rows_per_call),
        number(statement.rows_per_call),
        brief::number(statement.captured_blocks_per_call),
        number(statement.blocks_per_call),
        if statement.is_representative { "" } else { "! " },
        statement.script.trim_end_matches(".sql")
    )?;
    let below = |out: &mut dyn Write, text: &str| wrap::hanging(out, "        ", 8, text);
    match (&statement.left_out, &statement.values) {
        (Some(why), _) => below(out, &format!("left out: {}", wrap::one_line(why))),
        (None, Some(values)) => below(out, values),
        (None, None) => Ok(()),
    }
}
