//! `pgdyno load`: creates and loads a workload's data, and checks the rows.

use std::sync::Arc;

use pgdyno_life::agents::load::{LoadFacts, LoadTeam, SharedLoad};
use pgdyno_life::check::report_set;
use pgdyno_life::data;
use pgdyno_life::data::loaded::stamped;
use pgdyno_life::data::loading::LoadSettings;
use pgdyno_life::data::reached::Reached;
use pgdyno_life::events::EventSink as _;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};
use pgdyno_life::interrupt::Interrupt;
use pgdyno_life::plan::workload_source::{ClientSetup, WorkloadSource};
use pgdyno_live::ProgressView;
use pgdyno_load::Moment;

use crate::cli::LoadArgs;
use crate::interrupt;

use super::check::CheckOutput;
use super::confirm::confirm;

pub(crate) fn run(args: &LoadArgs) -> Result<Code> {
    confirm(&args.data.options.order.target, "load", args.consent.yes)?;
    let interrupt = interrupt::listen()?;
    interrupt.attribute_to_signal(execute(args, &interrupt))
}

fn execute(args: &LoadArgs, interrupt: &Interrupt) -> Result<Code> {
    let order = args.data.options.order.workload.clone();
    let source = WorkloadSource::read(&order)?;
    let workload = source.build(&order, None, None, &ClientSetup::NONE)?;
    let meeting = args.data.options.order.meeting.clone();
    let gathering = ProgressView::new(args.data.quiet);
    let what = (order.id(), &*workload.drive);
    let team = LoadTeam::gather(&meeting, &args.data.options.order.target, what, interrupt, &gathering)?;
    let progress = Arc::new(ProgressView::new(args.data.quiet));
    let (database, mut admin) = Reached::reach(&args.data.options.order.target, &workload, interrupt, progress)?;
    if let Some(team) = &team {
        if let Some(warning) = team.look(database.plain(), &mut admin, interrupt)? {
            gathering.warn(&warning);
        }
        // The agents may have taken their time.
        admin = database.admin()?;
    }
    // Loaded or partly loaded data decides what the arguments leave open.
    let there = stamped(&mut admin, &workload)?;
    let workload = source.build(&order, None, there.as_ref(), &ClientSetup::NONE)?;
    let access = database.access(&interrupt.stop);
    if let Some(note) = pgdyno_server::unused_cluster(&mut admin).or_fail(Code::Start)? {
        access.events.note(&note);
    }
    drop(admin);
    let loading = args.data.options.order.loading.clone();
    let how = LoadSettings::of_step(&loading).options(args.data.options.order.replace || args.force, args.force);
    let mut output = CheckOutput::new(args.data.format.is_json());
    for data in &workload.data {
        let data = data.as_ref();
        let shared = match &team {
            Some(team) => {
                let (loaded, loaders) = (there.as_ref(), loading.loaders);
                let facts =
                    LoadFacts { target: database.plain(), workload: &order, loaded, caps: access.caps, loaders };
                Some(team.share(&facts, data)?)
            }
            None => None,
        };
        output.loaded(data::load(&access, data, &how, shared.as_ref().map(SharedLoad::helpers))?);
        if let Some(shared) = shared {
            shared.end(access.events)?;
        }
    }
    drop(team);
    let mut codes = Vec::new();
    for data in &workload.data {
        let (set, _) = data::check(&access, data.as_ref(), Moment::AfterLoad, "after the load")?;
        codes.push(report_set(&set, &mut output)?);
    }
    output.end()?;
    Ok(Code::first_bad(codes))
}
