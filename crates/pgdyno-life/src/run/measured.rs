//! The third room of a run: the clients have driven the server, and what the server says afterwards is known.
//!
//! [`Measured`] owns the outcome of the engine or of the agents, which replace it, the samples of the run, and the rooms before.

mod after;

use std::time::Duration;

use pgdyno_load::steps;
use pgdyno_results::{RECORD, ServerRecord};
use pgdyno_server::os::{Machines, ServerSession};
use pgdyno_workload::Capabilities;

pub(crate) use self::after::After;
use crate::drive::team::TeamOfRun;
use crate::drive::{Driven, DrivenServer, Driver, watch};
use crate::events::RunEvent;
use crate::failure::Result;
use crate::kept_session::KeptSession;
use crate::record::figures;
use crate::record::run_files::RunFiles;
use crate::record::warnings::errors;
use crate::run::context::RunContext;
use crate::run::loaded::{Database, Loaded};
use crate::run::prepared::{Prepared, SessionPurpose};
use crate::run::queries::options_of_queries;
use crate::target::Owner;

/// How long the server may take to report its counts.
const SAMPLING: Duration = Duration::from_secs(5);

/// What was measured, and the rooms before.
pub(crate) struct Measured<'a> {
    pub(crate) driven: Driven,
    pub(crate) after: After,
    /// The files of the run, read back; an error says why they could not be read. `None` without samples.
    pub(crate) files: Option<std::result::Result<RunFiles, String>>,
    pub(crate) loaded: Loaded<'a>,
}

impl<'a> Measured<'a> {
    /// Closes the database, drops it if it is a copy, and returns the server.
    pub(crate) fn close(self) -> Prepared<'a> {
        let Loaded { database, prepared, .. } = self.loaded;
        drop(database);
        prepared
    }
}

/// Has the clients drive the server, and looks at the data after that.
///
/// # Errors
/// When the clients could not start.
pub(crate) fn measure<'a>(context: &RunContext<'_>, mut loaded: Loaded<'a>) -> Result<Measured<'a>> {
    let mut driven = match loaded.database.take() {
        Some(mut database) => {
            let driven = drive_database(context, &mut loaded, &mut database.0);
            loaded.database = Some(database);
            driven?
        }
        None => drive_without_data(context, &loaded)?,
    };
    if let Some(watched) = driven.watched.take() {
        watch::note(watched, context);
    }
    for remedy in errors::remedies(&figures::errors(&driven.outcome), &loaded.plan) {
        context.view.warn(&remedy.to_string());
    }
    let files = read_files(context);
    let read = files.as_ref().and_then(|files| files.as_ref().ok());
    let after = after::observe(context, &mut loaded, &driven, read);
    Ok(Measured { driven, after, files, loaded })
}

/// Drives with these parts.
fn drive(context: &RunContext<'_>, driver: Driver<'_>) -> Result<Driven> {
    let txns = driver.workload.drive.txns().iter().map(|txn| txn.name.to_owned()).collect::<Vec<_>>();
    context.events.event(&RunEvent::DriveBegins { plan: driver.plan, transactions: &txns });
    context.interrupt.driving(|| driver.drive())
}

/// Drives a null server, or nothing at all: there is no data and there are no statistics.
fn drive_without_data(context: &RunContext<'_>, loaded: &Loaded<'_>) -> Result<Driven> {
    let Loaded { plan, workload, prepared, .. } = loaded;
    let options = prepared.server.options(SessionPurpose::Measure);
    if let Some(options) = &options {
        let server = ServerRecord {
            version: "pgdyno null server".to_owned(),
            origin: "the figures are the driver's ceiling, no database's".to_owned(),
            local: options.is_local(),
            ..ServerRecord::default()
        };
        context.record.edit(|recording| recording.record.server = Some(server));
    }
    let caps = Capabilities::default();
    let server = DrivenServer::without_statistics(options.as_ref(), &caps);
    let team = TeamOfRun::of(context, &prepared.facts);
    drive(context, Driver { context, plan, workload, team, server })
}

/// Drives the server in the database with the data.
fn drive_database(context: &RunContext<'_>, loaded: &mut Loaded<'_>, database: &mut Database<'_>) -> Result<Driven> {
    let Loaded { plan, workload, watchers, analytics_server, readers, prepared, .. } = loaded;
    let Database { session, options, caps, .. } = database;
    // Counters of one node miss the others, and their sum counts a transaction on several nodes several times.
    let is_counted = !caps.distributed_tables && watchers.counters;
    let sampler = is_counted.then(|| sampler(context, session)).flatten();
    let admin = session.ready()?;
    let machines = Machines {
        local: options.is_local(),
        // Without it the machine is still read, only its processes are not.
        session: ServerSession::of(admin).ok().flatten().and_then(|session| session.with_nodes(admin).ok()),
        os_metrics: watch::os_metrics(&context.request.order.watch, context.named),
    };
    if let Some(server) = analytics_server {
        context.events.note("waiting until the standby has replayed all that the primary has");
        server.use_database(plan, options);
        server.await_replay(admin, &context.interrupt.stop)?;
    }
    let of_queries = options_of_queries(plan, workload, analytics_server.as_ref(), options);
    if !readers.is_empty() {
        context.events.note("waiting until the readers have replayed all that the target has");
    }
    for reader in readers.iter_mut() {
        reader.use_database(plan, options);
        reader.await_replay(admin, &context.interrupt.stop)?;
        reader.admit_tables(workload, caps)?;
    }
    let server = DrivenServer {
        caps,
        options: Some(options),
        of_queries: of_queries.as_ref(),
        readers,
        sampler,
        is_watched: watchers.samples,
        is_private: prepared.server.owner() != Owner::Given,
        machines,
        held: Some(prepared.server.server_mut()),
        identity: session.server().cloned(),
    };
    let team = TeamOfRun::of(context, &prepared.facts);
    session.kept_alive(|| drive(context, Driver { context, plan, workload, team, server }))
}

/// Opens the session that reads the counters. It is used while the clients run: a server that does not answer must not delay
/// their end.
fn sampler(context: &RunContext<'_>, session: &KeptSession) -> Option<KeptSession> {
    let opened = KeptSession::beside(session, SAMPLING);
    opened.inspect_err(|failure| context.events.left_out(&steps::COUNTERS.left_out(&failure.text()))).ok()
}

/// Reads the intervals and the samples back, which the page also needs.
fn read_files(context: &RunContext<'_>) -> Option<std::result::Result<RunFiles, String>> {
    let record = context.record.snapshot().filter(|record| record.samples.is_some())?;
    let directory = context.record.path();
    Some(RunFiles::read(&directory.join(RECORD), &record, &directory).map_err(|error| error.to_string()))
}
