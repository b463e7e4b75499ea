//! `pgdyno doctor`: finds what would distort a measurement.

use std::time::Duration;

use pgdyno_doctor::{Examination, FORMATS, FindingSeverity, machine, server};
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::target::reach::is_null;
use pgdyno_life::target::{self, Access, Target, named};
use pgdyno_net::Admin;

use super::report::{admit, put_as};
use crate::cli::DoctorArgs;
use crate::interrupt;

/// How long the server may take to answer what the checks begin with, and a connection to be made.
const ANSWERING: Duration = Duration::from_secs(10);
const CONNECTING: Duration = Duration::from_secs(30);

pub(crate) fn run(args: &DoctorArgs) -> Result<Code> {
    admit(args.output.as_ref())?;
    let interrupt = interrupt::listen()?;
    let order = args.order();
    let target = Target::resolve(&order)?;
    let place = match &target.access {
        // Without a target and without one in the environment: the machine alone.
        Access::Private(_) if args.target.is_none() => None,
        Access::Null => {
            let error = "a null server has no settings and no sessions to examine";
            return Err(CommandError::new(Code::Start, error).hint("name a PostgreSQL server, or leave --target out"));
        }
        Access::Pair { .. } => {
            let error = "a private primary and its standby exist only during their run";
            return Err(CommandError::new(Code::Start, error).hint("examine --target embedded"));
        }
        Access::None | Access::Private(_) | Access::Given(_) => {
            let reached = target.reach(&order)?;
            let Some(options) = reached.options().map(|options| interrupt.options(options)) else {
                return Err(CommandError::new(Code::Start, "there is no server to reach"));
            };
            let options = options.with_answer_timeout(ANSWERING).with_default_connect_timeout(CONNECTING);
            let mut admin = Admin::connect(&options).or_fail(Code::Start)?;
            if is_null(&admin) {
                return Err(CommandError::new(Code::Start, format!("{options} is a null server: nothing to examine")));
            }
            let description = named(&mut admin, &options, &reached.origin)?;
            let examined = server::examine(&mut admin, &options, description).or_fail(Code::Start);
            Some(interrupt.attribute_to_signal(examined)?)
        }
    };
    let machine = machine::examine(target::places()?.root());
    let examination = Examination::new([machine].into_iter().chain(place).collect());
    put_as(&examination, FORMATS, &args.format, args.verbose, args.output.as_ref())?;
    Ok(match examination.severity {
        FindingSeverity::Passed | FindingSeverity::Note => Code::Success,
        FindingSeverity::Warning => Code::Disturbed,
        FindingSeverity::Error => Code::Unfit,
    })
}
