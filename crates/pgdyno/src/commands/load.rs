//! `pgdyno load`: create and load a workload's data, and check the rows.

use pgdyno_load::{LoadOptions, Moment};

use crate::cli::LoadArgs;
use crate::exit_code::Code;
use crate::failure::Result;
use crate::interrupt;
use crate::life::choice::{Choice, Crew};
use crate::life::choose;
use crate::life::data;

use super::check::{Place, print_set};

pub(crate) fn run(args: &LoadArgs) -> Result<Code> {
    let interrupt = interrupt::listen()?;
    let workload = Choice::read(&args.data.workload)?.build(&args.data.workload, None, None, &Crew::NOBODY)?;
    let place = Place::reach(&args.data, &*workload)?;
    let site = place.site(interrupt.control.stop_flag());
    let mut admin = place.admin()?;
    let loaders = args.loaders.map_or_else(choose::default_loaders, usize::from);
    data::load(&site, &*workload, &LoadOptions { loaders, force: args.force, replace: args.replace || args.force })?;
    let (set, _) = data::check(&site, &mut admin, &*workload, Moment::AfterLoad, "after the load")?;
    print_set(&set)
}
