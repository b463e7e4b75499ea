//! Fills in what the user left open.

use pgdyno_plan::Order;
use pgdyno_plan::recipe::Expanded;

use crate::plan::workload_source;

/// Returns the order with everything that the recipe says; options of the user stay.
pub(super) fn fill(mut order: Order, run: &Expanded) -> Order {
    params(&mut order, run);
    settings(&mut order, run);
    drive(&mut order, run);
    data(&mut order, run);
    order.workload.names = vec![run.workload.clone()];
    order.cycle.restart |= run.cycle.restart;
    order.cycle.drop_caches |= run.cycle.drop_caches;
    order.cycle.prewarm |= run.cycle.prewarm;
    order.cycle.checkpoint |= run.cycle.checkpoint;
    order
}

fn params(order: &mut Order, run: &Expanded) {
    let given: Vec<String> =
        workload_source::given(&order.workload).into_iter().map(|(name, _)| name.to_owned()).collect();
    let open = run.params.iter().filter(|(name, _)| !given.contains(name));
    order.workload.params.extend(open.map(|(name, value)| (name.clone(), value.clone())));
}

fn settings(order: &mut Order, run: &Expanded) {
    for (name, value) in &run.settings {
        if !order.target.settings.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            order.target.settings.push((name.clone(), value.clone()));
        }
    }
}

fn drive(order: &mut Order, run: &Expanded) {
    let drive = &mut order.drive;
    drive.clients = drive.clients.or(run.clients);
    drive.threads = drive.threads.or(run.threads);
    order.loading.loaders = order.loading.loaders.or(run.loaders);
    drive.mode = drive.mode.or(run.mode);
    if drive.transactions.is_none() && run.time_s.is_some() {
        drive.time = drive.time.or(run.time_s);
        drive.ramp = drive.ramp.or(Some(run.ramp_s));
    }
}

fn data(order: &mut Order, run: &Expanded) {
    order.replace |= run.fresh && !order.no_load;
    order.no_vacuum |= run.no_vacuum;
    if order.from_template.is_none() {
        order.from_template.clone_from(&run.from_template);
    }
}
