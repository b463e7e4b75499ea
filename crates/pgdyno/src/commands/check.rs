//! `pgdyno check`: is the data still right?

use std::sync::atomic::AtomicBool;

use pgdyno_load::{Baseline, Moment};
use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_report::units;
use pgdyno_results::CheckSet;
use pgdyno_workload::{Capabilities, Workload};

use crate::cli::{DataArgs, WorkloadArgs};
use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};
use crate::interrupt;
use crate::life::choice::{Choice, Crew};
use crate::life::data;
use crate::progress::Progress;
use crate::target::{Server, Target};

pub(crate) fn run(args: &DataArgs) -> Result<Code> {
    let interrupt = interrupt::listen()?;
    let choice = Choice::read(&args.workload)?;
    let workload = choice.build(&args.workload, None, None, &Crew::NOBODY)?;
    let place = Place::reach(args, &*workload)?;
    let mut admin = place.admin()?;
    let workload = place.as_loaded(&mut admin, &args.workload, &choice, &*workload)?;
    let site = place.site(interrupt.control.stop_flag());
    let (set, noted) = data::check(&site, &mut admin, &*workload, Moment::AtRest, "as it is")?;
    let code = print_set(&set)?;
    super::print(note(&*workload, &noted).as_bytes())?;
    Ok(code)
}

/// What only a run can prove: the figures that it must leave as they are.
fn note(workload: &dyn Workload, noted: &Baseline) -> String {
    let checks = workload.checks();
    let line = |(name, rows): (&str, Vec<String>)| {
        let condition = checks.iter().find(|c| c.name == name).map_or("", |c| c.condition);
        let figures = rows.join("; ");
        format!("noted  {name:<24}           {condition}\n         {figures}; a run must leave this as it is\n")
    };
    noted.figures().map(line).collect()
}

/// The database that a single step works on.
pub(super) struct Place {
    server: Server,
    options: ConnectOptions,
    caps: Capabilities,
    progress: Progress,
}

impl Place {
    /// Reaches the database of a given server, or of the private one that is kept.
    pub(super) fn reach(args: &DataArgs, workload: &dyn Workload) -> Result<Self> {
        if !workload.meta().has_data() {
            return Err(Failure::new(Code::Start, format!("{} has no data", workload.meta().id)));
        }
        let progress = Progress::new(args.quiet);
        let server = Target::resolve(&args.target)?.reach()?;
        let Some(options) = server.options.clone() else {
            return Err(Failure::new(Code::Start, "there is no server to reach"));
        };
        let mut admin = Admin::connect(&options).or_fail(Code::Start)?;
        let caps = pgdyno_server::capabilities(&mut admin).or_fail(Code::Start)?;
        Ok(Self { server, options, caps, progress })
    }

    /// A connection.
    pub(super) fn admin(&self) -> Result<Admin> {
        Admin::connect(&self.options).or_fail(Code::Start)
    }

    /// The workload with the size and parameters that are loaded, where the arguments leave them open.
    fn as_loaded(
        &self,
        admin: &mut Admin,
        args: &WorkloadArgs,
        choice: &Choice,
        workload: &dyn Workload,
    ) -> Result<Box<dyn Workload>> {
        match data::loaded(admin, workload)? {
            Some(loaded) => choice.build(args, None, Some(&loaded), &Crew::NOBODY),
            None => {
                let id = workload.meta().id;
                let error = format!("{} holds no data of {id}", self.options);
                Err(Failure::new(Code::Start, error).hint(format!("`pgdyno load {id}` loads it")))
            }
        }
    }

    /// For the steps of the life cycle.
    pub(super) fn site<'a>(&'a self, stop: &'a AtomicBool) -> data::Site<'a> {
        for note in &self.server.notes {
            self.progress.warn(note);
        }
        data::Site { options: &self.options, caps: &self.caps, progress: &self.progress, stop }
    }
}

/// Prints a set of checks; broken data is exit code 12.
pub(super) fn print_set(set: &CheckSet) -> Result<Code> {
    let mut text = String::new();
    for check in &set.checks {
        let verdict = if check.holds { "holds " } else { "BROKEN" };
        let time = units::duration(check.seconds);
        text += &format!("{verdict} {:<24} {time:>8}  {}\n", check.name, check.condition);
        for violation in &check.violations {
            text += &format!("         {violation}\n");
        }
    }
    super::print(text.as_bytes())?;
    Ok(if data::holds(set) { Code::Success } else { Code::Check })
}
