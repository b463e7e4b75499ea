//! The private server of a study: one for all of its runs, which load nothing again.

use pgdyno_life::data::keep::load_before_runs;
use pgdyno_life::events::EventSink;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, Result};
use pgdyno_life::interrupt::Interrupt;
use pgdyno_life::plan::resolve::RunRequest;
use pgdyno_life::target::{Demand, Target, TargetServer};

use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_plan::{Order, TargetName, TargetOrder};

/// Starts the private server that a request asks for, sized by `demand` of what one of its runs demands, with the data in it; directs the
/// order there. The server must live until the last run has ended. Does nothing if another server is asked for.
///
/// # Errors
/// When the server does not start, or the data cannot be loaded.
pub fn private_server(
    request: &RunRequest,
    order: &mut Order,
    demand: impl FnOnce(Demand) -> Demand,
    progress: &dyn EventSink,
    interrupt: &Interrupt,
) -> Result<Option<TargetServer>> {
    let (target, wanted) = (request.target()?, &request.order.target);
    if !target.is_private() {
        return Ok(None);
    }
    let planned = request.draft()?.resolved;
    let demand = demand(Demand::of(&planned.plan, &planned.workload, wanted));
    let (shown_as, has_settings) = (target.name(), !target.settings.is_empty());
    let mut server = target.hold(wanted, demand, progress)?;
    server.announce(progress)?;
    let stop = &interrupt.stop;
    interrupt.attribute_to_signal(load_before_runs(&mut server, &planned.plan, &planned.workload, progress, stop))?;
    direct(order, &server, shown_as, has_settings)?;
    Ok(Some(server))
}

/// Names the given server that the runs of a study use, and write to: its version and place. Private servers are named at their start.
///
/// # Errors
/// When the server does not answer.
pub fn announce_given(
    target: Target,
    order: &TargetOrder,
    progress: &dyn EventSink,
    interrupt: &Interrupt,
) -> Result<()> {
    if target.given().is_none() {
        return Ok(());
    }
    let mut server = target.bring_up(order, Demand::default(), progress)?;
    server.interrupted_by(interrupt);
    interrupt.attribute_to_signal(server.announce(progress))
}

/// Directs an order to a private server, which was started with the order's settings if it has some.
///
/// # Errors
/// When the server has no address.
pub fn direct(order: &mut Order, server: &TargetServer, shown_as: TargetName, has_settings: bool) -> Result<()> {
    let options =
        server.options().ok_or_else(|| CommandError::new(Code::Server, "the private server has no address"))?;
    if !order.watch.no_samples {
        count_statements(options);
    }
    (order.target.target, order.target.shown_as) = (Some(options.to_string().into()), Some(shown_as));
    name_standby(order, server, |standby| standby)?;
    if has_settings {
        order.cycle.done.push(("settings".to_owned(), "given to the private server at its start".to_owned()));
    }
    Ok(())
}

/// Puts the address of the standby of a private pair where an order has its name. `to_database` chooses the database.
///
/// # Errors
/// When its address cannot be a part of a connection string.
pub(crate) fn name_standby(
    order: &mut Order,
    server: &TargetServer,
    to_database: impl FnOnce(ConnectOptions) -> ConnectOptions,
) -> Result<()> {
    let Some(standby) = server.standby()? else { return Ok(()) };
    let standby = to_database(standby).to_string();
    let named = order.analytics.target.iter_mut().chain(&mut order.drive.readers);
    named.filter(|name| *name == TargetName::STANDBY).for_each(|name| name.clone_from(&standby));
    Ok(())
}

/// Creates `pg_stat_statements`, which runs do only on a private server of their own; this one is shared by all runs of a study. A
/// build without the extension has no such counts.
fn count_statements(options: &ConnectOptions) {
    if let Ok(mut admin) = Admin::connect(options) {
        let _ = admin.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
    }
}
