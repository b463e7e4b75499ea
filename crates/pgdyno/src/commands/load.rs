//! `pgdyno load`: create and load a workload's data, and check the rows.

use pgdyno_load::Moment;

use crate::cli::LoadArgs;
use crate::exit_code::Code;
use crate::failure::{OrFail, Result};
use crate::interrupt;
use crate::life::choice::{Choice, Crew};
use crate::life::data;
use crate::life::manner::LoadManner;

use super::check::{Place, print_set};

pub(crate) fn run(args: &LoadArgs) -> Result<Code> {
    let interrupt = interrupt::listen()?;
    let workload = Choice::read(&args.data.workload)?.build(&args.data.workload, None, None, &Crew::NOBODY)?;
    let place = Place::reach(&args.data, &*workload)?;
    let site = place.site(interrupt.control.stop_flag());
    if let Some(note) = pgdyno_server::unused_cluster(&mut place.admin()?).or_fail(Code::Start)? {
        site.progress.note(&note);
    }
    data::load(&site, &*workload, &LoadManner::asked(&args.loading).options(args.replace || args.force, args.force))?;
    let (set, _) = data::check(&site, &*workload, Moment::AfterLoad, "after the load")?;
    print_set(&set)
}
