//! `pgdyno check`: is the data still right?

mod isolation;

use std::sync::atomic::AtomicBool;

use pgdyno_load::{Baseline, Moment};
use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_report::units;
use pgdyno_results::CheckSet;
use pgdyno_workload::{Capabilities, Workload};

use crate::cli::{CheckArgs, DataArgs, WorkloadArgs};
use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};
use crate::interrupt;
use crate::life::choice::{Choice, Crew};
use crate::life::data;
use crate::life::loaded::loaded;
use crate::progress::Progress;
use crate::target::{Server, Target};

pub(crate) fn run(check: &CheckArgs) -> Result<Code> {
    let args = &check.data;
    let interrupt = interrupt::listen()?;
    let choice = Choice::read(&args.workload)?;
    let workload = choice.build(&args.workload, None, None, &Crew::NOBODY)?;
    let place = Place::reach(args, &*workload)?;
    let mut admin = place.admin()?;
    let workload = place.as_loaded(&mut admin, &args.workload, &choice, &*workload)?;
    let stop = interrupt.control.stop_flag();
    let site = place.site(stop);
    let mut codes = Vec::new();
    if check.isolation {
        codes.push(isolation::scenarios(&site, &mut admin, &*workload, check.isolation_level)?);
        codes.push(isolation::durability(&site, &Target::resolve(&args.target)?, &*workload, stop)?);
    }
    let (set, noted) = data::check(&site, &*workload, Moment::AtRest, "as it is")?;
    codes.push(print_set(&set)?);
    super::print(note(&*workload, &noted).as_bytes())?;
    Ok(codes.into_iter().find(|code| *code != Code::Success).unwrap_or(Code::Success))
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
        let server = Target::resolve(&args.target)?.reach(&args.target)?;
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
        match loaded(admin, workload)? {
            Some(loaded) if loaded.complete => choice.build(args, None, Some(&loaded), &Crew::NOBODY),
            partial => {
                let id = workload.meta().id;
                let what = if partial.is_some() { "an unfinished load" } else { "no data" };
                let error = format!("{} holds {what} of {id}", self.options);
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

/// What is said of one check.
#[derive(Clone, Copy)]
enum Verdict {
    Holds,
    Broken,
    Skipped,
}

/// One check and what is to be said of it, a line each.
fn line(verdict: Verdict, name: &str, seconds: Option<f64>, condition: &str, notes: &[String]) -> String {
    let verdict = match verdict {
        Verdict::Holds => "holds  ",
        Verdict::Broken => "BROKEN ",
        // The widest word takes its room from the name.
        Verdict::Skipped => "skipped ",
    };
    let time = seconds.map_or_else(String::new, units::duration);
    let width = 31 - verdict.len();
    let mut text = format!("{verdict}{name:<width$} {time:>8}  {condition}\n");
    for note in notes {
        text += &format!("         {note}\n");
    }
    text
}

/// Prints a set of checks; broken data is exit code 12.
pub(super) fn print_set(set: &CheckSet) -> Result<Code> {
    let mut text = String::new();
    for check in &set.checks {
        let verdict = if check.holds { Verdict::Holds } else { Verdict::Broken };
        text += &line(verdict, &check.name, Some(check.seconds), &check.condition, &check.violations);
    }
    super::print(text.as_bytes())?;
    Ok(if data::holds(set) { Code::Success } else { Code::Check })
}
