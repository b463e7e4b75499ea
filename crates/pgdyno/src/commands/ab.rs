//! `pgdyno ab`: which of two is faster.

use jiff::Timestamp;
use pgdyno_life::events::EventSink as _;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{Failure, OrFail, Result};
use pgdyno_live::Progress;
use pgdyno_results::{AbRecord, AbSide, admit, run_id};

use crate::ab::{AbRun, Side, differ};
use crate::cli::AbArgs;
use crate::interrupt;

pub(crate) fn run(args: AbArgs) -> Result<Code> {
    admit_arguments(&args)?;
    let quiet = args.run.quiet;
    let order = args.run.order();
    let results = order.results().to_owned();
    let side = |differs: &[String]| -> Result<AbSide> {
        let mut order = order.clone();
        differs.iter().try_for_each(|difference| differ(&mut order, difference))?;
        Ok(AbSide { differs: differs.to_vec(), order })
    };
    let (a, b) = (side(&args.a)?, side(&args.b)?);
    let interrupt = interrupt::listen()?;
    let progress = Progress::new(quiet);
    admit(&results).or_fail(Code::Start)?;

    let started = Timestamp::now();
    let workload = a.order.workload.names.first().cloned().unwrap_or_default();
    let salt = started.as_nanosecond() as u64 ^ u64::from(std::process::id());
    let id = run_id(started, &format!("ab-{workload}"), salt);
    let mut record = AbRecord::begin(id, started, workload, a, b);
    (record.slice_s, record.budget_s) = (args.slice, args.budget);
    (record.margin, record.confidence) = (args.margin, args.confidence);

    let sides = [
        Side::bring_up("A", record.a.order.clone(), &progress)?,
        Side::bring_up("B", record.b.order.clone(), &progress)?,
    ];
    record.restarts = sides.iter().all(Side::is_own);
    let mut experiment = AbRun::new(record, sides, &results, &interrupt, &progress)?;
    let ended = experiment.go();
    let render = pgdyno_report::ab::format(&args.format)
        .ok_or_else(|| Failure::new(Code::Start, format!("unknown format '{}'", args.format)))?;
    if !experiment.record.units.is_empty() {
        let mut bytes = Vec::new();
        render(&experiment.record, &mut bytes).or_fail(Code::Start)?;
        super::print(&bytes)?;
    }
    progress.note(&format!("record: {}", experiment.path().display()));
    ended
}

fn admit_arguments(args: &AbArgs) -> Result<()> {
    let refuse = |error: &str, hint: &str| Err(Failure::new(Code::Start, error).hint(hint));
    let drive = &args.run.drive;
    match () {
        () if args.a.is_empty() && args.b.is_empty() => {
            refuse("A and B are the same", "say in what they differ: --a shared_buffers=1GB --b shared_buffers=8GB")
        }
        () if drive.time.is_some() || drive.transactions.is_some() || drive.ramp.is_some() => {
            refuse("an experiment has slices, and takes no -T, -t or --ramp", "give --slice and --budget")
        }
        () if drive.rate.is_some() => refuse(
            "with a rate both sides do as many transactions",
            "leave --rate out: the clients go as fast as they can",
        ),
        () if args.run.again.is_some() || args.run.json.is_some() => refuse(
            "an experiment has many runs: --again and --json are for one",
            "give --format json for the experiment",
        ),
        () if args.slice < 0.5 => refuse("a slice of less than half a second is all beginning", "give --slice 2s"),
        () => Ok(()),
    }
}
