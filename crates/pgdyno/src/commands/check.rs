//! `pgdyno check`: checks loaded data.

mod earlier;
mod isolation;
mod oracle;
mod output;

pub(super) use output::CheckOutput;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pgdyno_life::data;
use pgdyno_life::data::loaded::loaded;
use pgdyno_life::events::EventSink;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{Failure, OrFail, Result};
use pgdyno_life::interrupt::Interrupt;
use pgdyno_life::plan::workload_source::{ClientSetup, WorkloadSource};
use pgdyno_life::target::reach;
use pgdyno_life::target::reach::is_null;
use pgdyno_life::target::{Server, Target, named};
use pgdyno_load::{DataState, LoadError, Moment, SCHEMA, SCHEMA_CONDITION};
use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_plan::WorkloadOrder;
use pgdyno_workload::{Capabilities, Workload};

use crate::cli::{CheckArgs, DataArgs};
use crate::interrupt;
use pgdyno_live::Progress;

use super::confirm::confirm;

pub(crate) fn run(check: &CheckArgs) -> Result<Code> {
    if check.isolation {
        confirm(&check.data.target.order(), "check --isolation", check.consent.yes)?;
    }
    let interrupt = interrupt::listen()?;
    interrupt.attribute_to_signal(execute(check, &interrupt))
}

fn execute(check: &CheckArgs, interrupt: &Interrupt) -> Result<Code> {
    let args = &check.data;
    let order = args.workload.order();
    let source = WorkloadSource::read(&order)?;
    let workload = source.build(&order, None, None, &ClientSetup::NONE)?;
    if check.oracle.is_some() {
        oracle::admit(&workload)?;
    }
    let place = Place::reach(args, &workload, interrupt)?;
    let mut admin = place.admin()?;
    let workload = place.as_loaded(&mut admin, &order, &source, &workload)?;
    let stop = interrupt.control.stop_flag();
    let access = place.access(stop);
    let mut codes = Vec::new();
    let mut output = CheckOutput::new(args.format.is_json());
    if check.isolation {
        reach::admit_change(access.caps, "check --isolation")?;
        reach::admit_sessions(access.caps, "check --isolation")?;
        // The test's sessions end cleanly on a signal: they are cancelled and rolled back, so that none of them keeps
        // waiting.
        let plain = data::DataAccess { options: place.plain(), ..access };
        let tested = isolation::scenarios(&plain, &mut place.admin()?, &workload, check.isolation_level, &mut output);
        codes.push(interrupt.attribute_to_signal(tested).map_err(rolled_back)?);
        let target = Target::resolve(&args.target.order())?;
        codes.push(isolation::durability(&access, &target, &workload, stop, &mut output)?);
    }
    for data in &workload.data {
        let (set, noted) = data::check(&access, data.as_ref(), Moment::InFull, "as it is")?;
        if let Some(why) = noted.schema_unknown() {
            output.skipped(&set.when, SCHEMA, SCHEMA_CONDITION, &[why])?;
        }
        codes.push(output.set(&set)?);
        output.noted(data.as_ref(), &noted)?;
    }
    // The first session may have been idle for long.
    codes.push(earlier::compare(&access, &mut place.admin()?, &workload, &check.out, &mut output)?);
    if check.oracle.is_some() {
        codes.push(oracle::compare(&access, &mut place.admin()?, &workload, &mut output)?);
    }
    output.end()?;
    Ok(Code::first_bad(codes))
}

/// Adds to the failure what happened to the isolation tests when a signal ended them.
fn rolled_back(failure: Failure) -> Failure {
    let text = failure.text();
    match failure.code() {
        Code::Interrupted if !text.contains("rolled back") => Failure::new(
            Code::Interrupted,
            format!("{text}; the transactions under way were cancelled and rolled back"),
        ),
        _ => failure,
    }
}

/// The database of a single step.
pub(super) struct Place {
    server: Server,
    options: ConnectOptions,
    caps: Capabilities,
    progress: Arc<Progress>,
}

impl Place {
    /// Connects to the database of a given server, or of the kept private one.
    pub(super) fn reach(args: &DataArgs, workload: &Workload, interrupt: &Interrupt) -> Result<Self> {
        if workload.data.is_empty() {
            return Err(Failure::new(Code::Start, format!("{} has no data", workload.meta.id)));
        }
        let progress = Arc::new(Progress::new(args.quiet));
        // The first place of a command receives reports of long waits.
        let _ = interrupt.events.set(Arc::clone(&progress) as Arc<dyn EventSink>);
        let order = args.target.order();
        let server = Target::resolve(&order)?.reach(&order)?;
        let Some(options) = server.options.as_ref().map(|options| interrupt.options(options)) else {
            return Err(Failure::new(Code::Start, "there is no server to reach"));
        };
        let mut admin = Admin::connect(&options).or_fail(Code::Start)?;
        if is_null(&admin) {
            return Err(Failure::new(Code::Start, format!("{options} is a null server, which keeps no data")));
        }
        progress.note(&format!("target: {}", named(&mut admin, &options, &server.origin)?));
        let caps = pgdyno_server::capabilities(&mut admin, &options).or_fail(Code::Start)?;
        Ok(Self { server, options, caps, progress })
    }

    /// Returns what its server can do.
    pub(super) fn caps(&self) -> &Capabilities {
        &self.caps
    }

    /// Returns how to connect for code that handles signals itself.
    pub(super) fn plain(&self) -> &ConnectOptions {
        self.server.options.as_ref().unwrap_or(&self.options)
    }

    /// Opens a connection.
    pub(super) fn admin(&self) -> Result<Admin> {
        Admin::connect(&self.options).or_fail(Code::Start)
    }

    /// Returns the workload. The size and parameters that the arguments leave open are those of the loaded data.
    fn as_loaded(
        &self,
        admin: &mut Admin,
        order: &WorkloadOrder,
        source: &WorkloadSource,
        workload: &Workload,
    ) -> Result<Workload> {
        match loaded(admin, workload)? {
            Some(loaded) if loaded.complete => {
                if let Some(maker) = &loaded.maker {
                    self.progress.note(&format!("data loaded by {maker}"));
                }
                let workload = source.build(order, None, Some(&loaded), &ClientSetup::NONE)?;
                for data in &workload.data {
                    data::admit_size(admin, data.as_ref())?;
                }
                Ok(workload)
            }
            partial => {
                let id = workload.meta.id;
                for data in &workload.data {
                    match pgdyno_load::state(admin, data.as_ref()).or_fail(Code::Load)? {
                        DataState::Partial { damage, .. } if !damage.is_empty() => {
                            let error = format!("{} holds damaged data of {id}: {}", self.options, damage.join("; "));
                            let hint = format!("restore that, or load anew with `pgdyno load {id} --replace`");
                            return Err(Failure::new(Code::Check, error).hint(hint));
                        }
                        DataState::Taken(taken) => {
                            return Err(Failure::new(Code::Load, LoadError::Taken(Box::new(taken))));
                        }
                        _ => {}
                    }
                }
                let (what, does) = match partial {
                    Some(_) => ("an unfinished load", "goes on with it"),
                    None => ("no data", "loads it"),
                };
                let error = format!("{} holds {what} of {id}", self.options);
                Err(Failure::new(Code::Start, error).hint(format!("`pgdyno load {id}` {does}")))
            }
        }
    }

    /// Returns the access for steps of the life cycle.
    pub(super) fn access<'a>(&'a self, stop: &'a AtomicBool) -> data::DataAccess<'a> {
        for note in &self.server.notes {
            self.progress.warn(note);
        }
        let data_dir = self.server.data_dir();
        data::DataAccess { options: &self.options, caps: &self.caps, events: &*self.progress, stop, data_dir }
    }
}
