//! `pgdyno run`: the whole life cycle.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pgdyno_engine::{FileLimit, raise_file_limit};
use pgdyno_plan::Order;
use pgdyno_results::Status;

use crate::cli::RunArgs;
use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};
use crate::interrupt::{self, Interrupt};
use crate::life::events::EventSink;
use crate::life::page;
use crate::life::recipe_args;
use crate::life::record::Recording;
use crate::life::resolve::{self, Draft};
use crate::life::run::Run;
use crate::life::verdict::End;
use crate::progress::Progress;

pub(crate) fn run(args: RunArgs) -> Result<Code> {
    let (quiet, full_screen, until_eof) = (args.quiet, !args.watch.no_live, args.until_eof);
    let (order, recipe) = recipe_args::apply(args.order())?;
    let order = &order;
    let interrupt = interrupt::listen()?;
    if until_eof {
        interrupt::end_with_input(&interrupt)?;
    }
    let progress = Arc::new(Progress::new(quiet).full_screen(full_screen));
    // Set once, a moment after it was made.
    let _ = interrupt.events.set(Arc::clone(&progress) as Arc<dyn EventSink>);
    let Draft { source, target, setup, workload, plan } = resolve::draft(order, recipe)?;
    admit_files(plan.links(), &progress)?;
    pgdyno_results::admit(order.results()).or_fail(Code::Start)?;
    resolve::admit_json(order)?;

    let (named, local) = (target.named.clone(), target.is_local());
    let mut run = Run { order, source, setup, local, workload, plan, named, interrupt: &interrupt, events: &*progress };
    let mut recording = None;
    let lived = interrupt.blamed(run.carry_out(target, &mut recording));
    match recording {
        Some(recording) => conclude(lived, recording, &interrupt, order, &progress),
        // It came to nothing that would be worth a record.
        None => lived.map(|end| end.code),
    }
}

/// Writes down how a run ended, and shows it.
fn conclude(
    lived: Result<End>,
    mut recording: Recording,
    interrupt: &Interrupt,
    order: &Order,
    progress: &Progress,
) -> Result<Code> {
    let (status, reason, code) = match &lived {
        Ok(end) => (end.status, end.reason.clone(), end.code),
        Err(failure) if failure.code() == Code::Interrupted => {
            (Status::Interrupted, Some(failure.text()), Code::Interrupted)
        }
        Err(failure) => (Status::Failed, Some(failure.text()), failure.code()),
    };
    // A server that goes with whoever started the run says nothing about the run.
    let orphaned = interrupt.orphaned.load(Ordering::Acquire) && status == Status::Failed;
    let (status, code) = if orphaned { (Status::Interrupted, Code::Interrupted) } else { (status, code) };
    let troubles = recording.end(status, reason, code, order.json.as_deref());
    // What was measured stands, in what could be written; whoever looks for the rest is told by the exit code.
    let code = if troubles.is_empty() || code != Code::Success { code } else { Code::Run };
    progress.ended();
    if recording.record.summary.is_some() {
        print_report(&recording)?;
    }
    for trouble in &troubles {
        progress.warn(trouble);
    }
    super::print(format!("record: {}\n", recording.path().display()).as_bytes())?;
    if recording.record.summary.is_some() {
        // The run is what it is, whether or not there is a picture of it.
        match page::write(&mut recording) {
            Ok(file) => super::print(format!("page: {}\n", file.display()).as_bytes())?,
            Err(failure) => progress.warn(&format!("there is no page of this run: {}", failure.text())),
        }
    }
    lived.map(|_| code)
}

fn print_report(recording: &Recording) -> Result<()> {
    let render = pgdyno_report::format("text").ok_or_else(|| Failure::new(Code::Start, "no text format"))?;
    let mut bytes = b"\n".to_vec();
    render(&recording.record, super::look(), &mut bytes).or_fail(Code::Start)?;
    super::print(&bytes)
}

/// Raises the limit of open files, or says that it cannot be raised.
fn admit_files(clients: u32, progress: &Progress) -> Result<()> {
    match raise_file_limit(clients) {
        FileLimit::Enough => Ok(()),
        FileLimit::Raised { from, to } => {
            progress.note(&format!("raised the limit of open files from {from} to {to}"));
            Ok(())
        }
        FileLimit::TooLow { needed, hard } => {
            let error = format!("{clients} clients need {needed} open files, and the hard limit is {hard}");
            Err(Failure::new(Code::Start, error)
                .hint("raise it (ulimit -Hn, limits.conf, LimitNOFILE=), or lower --clients"))
        }
    }
}
