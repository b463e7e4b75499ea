//! `pgdyno run`: the whole life cycle.

use std::path::PathBuf;
use std::sync::Arc;

use pgdyno_life::events::EventSink;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::record::Recording;
use pgdyno_life::record::page;
use pgdyno_life::run as life;
use pgdyno_plan::RESULTS;
use pgdyno_study::objectives::of_workload;

use super::confirm::confirm;
use super::store;
use crate::cli::RunCommand;
use crate::interrupt;
use pgdyno_live::ProgressView;
use pgdyno_text::TextStyle;

/// The format for people.
const TEXT: &str = "text";

pub(crate) fn run(command: RunCommand) -> Result<Code> {
    let RunCommand { run: args, slo, format, open } = command;
    let (quiet, full_screen, until_eof) = (args.quiet, !args.no_live, args.until_eof);
    let look = TextStyle { verbose: args.verbose, ..super::look() };
    let (yes, is_child) = (args.consent.yes, args.order_of_input);
    let dsn = args.store.dsn();
    let mut request = super::request(args, true)?;
    if !slo.is_empty() {
        let draft = request.draft()?;
        let objectives = of_workload(slo, &draft.resolved.workload.drive.txns())?;
        request.order.objectives = objectives.iter().map(ToString::to_string).collect();
    }
    if !is_child {
        confirm(&request.order.target, "run", yes)?;
    }
    let interrupt = interrupt::listen()?;
    if until_eof {
        interrupt::end_with_input(&interrupt)?;
    }
    let progress = Arc::new(ProgressView::new(quiet).details(look.verbose).full_screen(full_screen));
    // Set once, just after it was created.
    let _ = interrupt.events.set(Arc::clone(&progress) as Arc<dyn EventSink>);
    let store = dsn.map(|dsn| store::admit(&dsn, "run", &*progress)).transpose()?;
    let ran = life::run_request(&request, &interrupt, &*progress)?;
    let (code, failure) = (ran.code, ran.failure);
    if let Some(recording) = ran.recording {
        let directory = recording.path().to_owned();
        let page = show(recording, &ran.unwritten, &format, look, &progress)?;
        if let Some(page) = page.filter(|_| open) {
            super::open_page(&page);
        }
        if let Some(store) = store {
            store::push_ended(&store, &directory, format == TEXT, &*progress)?;
        }
    }
    failure.map_or(Ok(code), Err)
}

/// Shows how a run ended, and returns the path of its page; `None` if it has none.
fn show(
    mut recording: Recording,
    unwritten: &[String],
    format: &str,
    look: TextStyle,
    progress: &ProgressView,
) -> Result<Option<PathBuf>> {
    progress.ended();
    let has_figures = recording.record.summary.is_some();
    let is_text = format == TEXT;
    if has_figures || !is_text {
        print_report(&recording, format, look)?;
    }
    for error in unwritten {
        progress.warn(error);
    }
    let directory = recording.path().display().to_string();
    // Another format is read by a program: only the report is on standard output.
    let print_line = |text: String| match is_text {
        true => super::print_lines(&text),
        false => {
            progress.note(text.trim_end());
            Ok(())
        }
    };
    if !has_figures {
        print_line(format!("record: {directory}\n"))?;
        return Ok(None);
    }
    // The result of the run is valid even if its page cannot be written.
    let written = page::write(&mut recording);
    let warn = |failure: &CommandError| {
        progress.warn(&format!("the page of this run could not be written: {}", failure.text()));
    };
    let page = written.inspect_err(warn).ok();
    let shown = page.as_ref().map(|page| page.display());
    if is_text {
        let open =
            shown.map_or_else(|| format!("no page; the record is in {directory}"), |page| format!("open {page}"));
        let more = if look.verbose { "" } else { &format!("MORE    pgdyno report {} -v\n", name(&directory)) };
        print_line(format!("{more}\n{}  {open}\n", pgdyno_report::answer(&recording.record, look)))?;
    } else {
        print_line(shown.map_or_else(|| format!("record: {directory}\n"), |page| format!("page: {page}\n")))?;
    }
    Ok(page)
}

/// Returns the name of the newest run for `pgdyno report`: `last` where it looks by default.
fn name(directory: &str) -> &str {
    let in_default = directory.split_once('/').is_some_and(|(parent, _)| parent == RESULTS);
    if in_default { "last" } else { directory }
}

fn print_report(recording: &Recording, format: &str, look: TextStyle) -> Result<()> {
    let render = pgdyno_report::format(format)
        .ok_or_else(|| CommandError::new(Code::Start, format!("unknown format '{format}'")))?;
    let mut bytes = if format == TEXT { b"\n".to_vec() } else { Vec::new() };
    render(&recording.record, look, &mut bytes).or_fail(Code::Start)?;
    super::print_rendered(format, &bytes)
}
