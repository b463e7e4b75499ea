//! `pgdyno run`: the whole life cycle.

use pgdyno_engine::{FileLimit, raise_file_limit};
use pgdyno_results::Status;

use crate::cli::RunArgs;
use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};
use crate::interrupt;
use crate::life::choice::Choice;
use crate::life::choose;
use crate::life::cluster;
use crate::life::copies;
use crate::life::data;
use crate::life::record::Recording;
use crate::life::stage::{Stage, is_null};
use crate::progress::Progress;

pub(crate) fn run(args: &RunArgs) -> Result<Code> {
    let interrupt = interrupt::listen()?;
    let progress = Progress::new(args.quiet);
    let choice = Choice::read(&args.workload)?;
    let target = choose::target(args, &choice)?;
    let mut crew = choose::crew(args, &choice, &target)?;
    let (size, local) = (Some(choose::default_size(args)), target.is_local());
    let mut workload = choice.build(&args.workload, size, None, &crew)?;
    choose::settle(args, &*workload, local, &mut crew)?;
    let mut plan = choose::plan(args, &choice, &*workload, &target, &crew)?;
    admit_files(plan.links(), &progress)?;
    pgdyno_results::admit(&args.out.out).or_fail(Code::Start)?;

    let mut server = target.bring_up(&args.target, plan.links(), &progress)?;
    let template = copies::template(&server, &plan)?;
    let mut admin = match &template {
        None => server.admin()?,
        Some(template) => Some(copies::look(template)?),
    };
    if let Some(admin) = admin.as_mut().filter(|admin| !is_null(admin)) {
        let visible = template.as_ref().is_none_or(|template| template.options().is_some());
        // What is loaded decides where the arguments do not.
        if let Some(loaded) = if visible { data::loaded(admin, &*workload)? } else { None } {
            workload = choice.build(&args.workload, size, Some(&loaded), &crew)?;
            choose::settle(args, &*workload, local, &mut crew)?;
            choose::fit(&mut plan, &*workload, &crew);
        }
        data::admit(admin, plan.links())?;
        let caps = pgdyno_server::capabilities(admin).or_fail(Code::Start)?;
        cluster::settle(&caps, &*workload, args.drive.mode, &mut plan, &progress)?;
        server.notes.extend(pgdyno_server::unused_cluster(admin).or_fail(Code::Start)?);
    }

    let mut recording = Recording::begin(&plan, &*workload, &args.out.out)?;
    for note in &server.notes {
        recording.record.warnings.push(note.clone());
    }
    recording.record.warnings.extend(workload.advice(plan.clients));
    for warning in &recording.record.warnings {
        progress.warn(warning);
    }
    let mut stage = Stage {
        plan: &plan,
        workload: &*workload,
        interrupt: &interrupt,
        progress: &progress,
        recording: &mut recording,
        foreign: false,
    };
    let lived = stage.live(&mut server, admin, template.as_ref());
    let (status, reason, code) = match &lived {
        Ok(end) => (end.status, end.reason.clone(), end.code),
        Err(failure) if failure.code() == Code::Interrupted => {
            (Status::Interrupted, Some(failure.text()), Code::Interrupted)
        }
        Err(failure) => (Status::Failed, Some(failure.text()), failure.code()),
    };
    let troubles = recording.end(status, reason, code, args.json.as_deref());
    progress.clear();
    if recording.record.summary.is_some() {
        print_report(&recording)?;
    }
    for trouble in &troubles {
        progress.warn(trouble);
    }
    super::print(format!("record: {}\n", recording.path().display()).as_bytes())?;
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
