//! What the user left open, filled in.

use pgdyno_plan::recipe::Expanded;

use crate::cli::RunArgs;
use crate::life::workload_source;

/// Returns the arguments with all that the recipe says; what is given stays.
pub(super) fn fill(mut args: RunArgs, run: &Expanded) -> RunArgs {
    params(&mut args, run);
    settings(&mut args, run);
    drive(&mut args, run);
    data(&mut args, run);
    args.workload.workload = vec![run.workload.clone()];
    args.cycle.restart |= run.cycle.restart;
    args.cycle.drop_caches |= run.cycle.drop_caches;
    args.cycle.prewarm |= run.cycle.prewarm;
    args.cycle.checkpoint |= run.cycle.checkpoint;
    args
}

fn params(args: &mut RunArgs, run: &Expanded) {
    let given: Vec<String> =
        workload_source::given(&args.workload).into_iter().map(|(name, _)| name.to_owned()).collect();
    let open = run.params.iter().filter(|(name, _)| !given.contains(name));
    args.workload.params.extend(open.map(|(name, value)| (name.clone(), value.clone())));
}

fn settings(args: &mut RunArgs, run: &Expanded) {
    for (name, value) in &run.settings {
        if !args.target.settings.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            args.target.settings.push((name.clone(), value.clone()));
        }
    }
}

fn drive(args: &mut RunArgs, run: &Expanded) {
    let drive = &mut args.drive;
    drive.clients = drive.clients.or(run.clients);
    drive.threads = drive.threads.or(run.threads);
    args.loading.loaders = args.loading.loaders.or(run.loaders);
    drive.mode = drive.mode.or(run.mode);
    if drive.transactions.is_none() {
        drive.time = drive.time.or(Some(run.time_s));
        drive.ramp = drive.ramp.or(Some(run.ramp_s));
    }
}

fn data(args: &mut RunArgs, run: &Expanded) {
    args.replace |= run.fresh && !args.no_load;
    args.no_vacuum |= run.no_vacuum;
    if args.from_template.is_none() {
        args.from_template.clone_from(&run.from_template);
    }
}
