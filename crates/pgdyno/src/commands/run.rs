//! `pgdyno run`: the whole life cycle.

use std::sync::Arc;

use pgdyno_life::events::EventSink;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{Failure, OrFail, Result};
use pgdyno_life::record::Recording;
use pgdyno_life::record::page;
use pgdyno_life::run as life;

use crate::cli::RunArgs;
use crate::interrupt;
use pgdyno_live::Progress;

pub(crate) fn run(args: RunArgs) -> Result<Code> {
    let (quiet, full_screen, until_eof) = (args.quiet, !args.watch.no_live, args.until_eof);
    let request = super::request(args)?;
    let interrupt = interrupt::listen()?;
    if until_eof {
        interrupt::end_with_input(&interrupt)?;
    }
    let progress = Arc::new(Progress::new(quiet).full_screen(full_screen));
    // Set once, just after it was created.
    let _ = interrupt.events.set(Arc::clone(&progress) as Arc<dyn EventSink>);
    let ran = life::run_request(&request, &interrupt, &*progress)?;
    let (code, failure) = (ran.code, ran.failure);
    if let Some(recording) = ran.recording {
        show(recording, &ran.unwritten, &progress)?;
    }
    failure.map_or(Ok(code), Err)
}

/// Shows how a run ended.
fn show(mut recording: Recording, unwritten: &[String], progress: &Progress) -> Result<()> {
    progress.ended();
    if recording.record.summary.is_some() {
        print_report(&recording)?;
    }
    for error in unwritten {
        progress.warn(error);
    }
    super::print(format!("record: {}\n", recording.path().display()).as_bytes())?;
    if recording.record.summary.is_some() {
        // The result of the run stands even if its page cannot be written.
        match page::write(&mut recording) {
            Ok(file) => super::print(format!("page: {}\n", file.display()).as_bytes())?,
            Err(failure) => progress.warn(&format!("there is no page of this run: {}", failure.text())),
        }
    }
    Ok(())
}

fn print_report(recording: &Recording) -> Result<()> {
    let render = pgdyno_report::format("text").ok_or_else(|| Failure::new(Code::Start, "no text format"))?;
    let mut bytes = b"\n".to_vec();
    render(&recording.record, super::look(), &mut bytes).or_fail(Code::Start)?;
    super::print(&bytes)
}
