//! The second room of a run: the plan is final, and the data is there, checked, and as the plan says.
//!
//! [`Loaded`] owns the server of the room before, and for a server with data the session, the database or its copy, and what was
//! read there before the clients begin.

mod before;
mod checks;
mod database;
mod provide;
mod settled;
mod values;

use pgdyno_load::Baseline;
use pgdyno_plan::Plan;
use pgdyno_workload::Workload;

pub(crate) use self::checks::{note_checks, server_counts, table_sizes};
pub(crate) use self::database::Database;
use self::settled::Settled;
use crate::failure::Result;
use crate::ledger::LedgerBefore;
use crate::run::context::RunContext;
use crate::run::prepared::Prepared;
use crate::target::analytics::AnalyticsServer;
use crate::target::reach::is_null;
use crate::target::readers::Reader;
use crate::target::room::Watchers;

/// The data of a run, and its server.
pub(crate) struct Loaded<'a> {
    /// The final plan.
    pub(crate) plan: Plan,
    pub(crate) workload: Workload,
    /// The sessions beside the clients for which the server has room.
    pub(crate) watchers: Watchers,
    /// The other server of its queries, if they have one.
    pub(crate) analytics_server: Option<AnalyticsServer>,
    /// The servers that run what only reads.
    pub(crate) readers: Vec<Reader>,
    /// `None` without a server, and on a null server.
    pub(crate) database: Option<(Database<'a>, Before)>,
    /// Dropped last: the copy of a database is dropped before.
    pub(crate) prepared: Prepared<'a>,
}

/// What the database was like before the clients began.
#[derive(Default)]
pub(crate) struct Before {
    /// Whether the data is checked before and after the run.
    pub(crate) is_checked: bool,
    /// What the checks after the run compare with, by data set.
    pub(crate) baselines: Vec<Baseline>,
    /// Sizes of the tables.
    pub(crate) table_bytes: Vec<(&'static str, u64)>,
    /// What the server's tables counted.
    pub(crate) counts: Vec<Option<u64>>,
    /// Estimated rows of the growing table.
    pub(crate) rows: Option<u64>,
    /// Queries that move rows between the nodes of Citus.
    pub(crate) repartitioned: Vec<String>,
    /// What the ledger of the commits compares with, if there is one.
    pub(crate) ledger: Option<LedgerBefore>,
    /// Another run that measures the server.
    pub(crate) other_run: Option<String>,
}

/// Makes the plan final, loads or finds the data, and checks it.
///
/// # Errors
/// When the server cannot do what the plan says, or its data is not as it has to be.
pub(crate) fn load<'a>(context: &'a RunContext<'a>, mut prepared: Prepared<'a>) -> Result<Loaded<'a>> {
    let Settled { plan, workload, admin, template, watchers, analytics_server, readers } =
        settled::settle(context, &mut prepared)?;
    let loading = provide::Loading { context, plan: &plan, workload: &workload };
    let database = match admin.filter(|admin| !is_null(admin)) {
        None => {
            values::refuse_without_server(&workload)?;
            None
        }
        Some(admin) => {
            let (mut database, found) = loading.provide(&mut prepared, admin, template.as_ref())?;
            let looking = before::Looking { context, plan: &plan, workload: &workload, found: &found };
            let before = looking.look(&mut database, &prepared.server, analytics_server.as_ref())?;
            Some((database, before))
        }
    };
    Ok(Loaded { plan, workload, watchers, analytics_server, readers, database, prepared })
}
