//! What the connection to a server permits: a standby is read-only, and so are transactions where a setting says so; behind a
//! pooler there may be no sessions.

use pgdyno_net::Admin;
use pgdyno_plan::{LoadWhen, Plan};
use pgdyno_wire::QueryMode;
use pgdyno_workload::{Capabilities, Drive, Pooling};

use crate::exit_code::Code;
use crate::failure::{CommandError, Result};

const DIRECTLY: &str = "connect to the server itself, not through the pooler, or use session pooling";

/// Returns true if the server is a null server, given or started.
#[must_use]
pub fn is_null(admin: &Admin) -> bool {
    admin.parameters().get("server_version") == Some(pgdyno_null::VERSION)
}

/// Refuses a run that is not possible, before anything is done to the server.
///
/// # Errors
/// When it writes, and the server is a standby or its transactions are read-only.
pub(crate) fn admit_run(caps: &Capabilities, drive: &Drive, plan: &Plan) -> Result<()> {
    let writes = [
        (plan.load.choice == LoadWhen::Always, "--replace loads again"),
        (plan.from_template.is_some(), "--from-template copies a database"),
    ];
    let asked = writes.iter().find(|(asked, _)| *asked).map(|(_, what)| *what);
    let id = &plan.workload;
    if let Some(remedy) = caps.read_only.as_ref().filter(|_| !caps.standby) {
        let what = asked.map(str::to_owned).or_else(|| writes_by_default(caps, drive).then(|| format!("{id} writes")));
        return what.map_or(Ok(()), |what| Err(read_only(&what, remedy)));
    }
    if !caps.standby {
        return Ok(());
    }
    if !drive.is_read_only() {
        let error = format!("{} is a standby, and {id} writes", plan.target);
        return Err(CommandError::new(Code::Start, error).hint(
            "name the primary in --target, or run a workload that only reads: select-only, polardb-ro, or a script of \
             SELECTs",
        ));
    }
    match asked {
        None => Ok(()),
        Some(what) => {
            let error = format!("{} is a standby, and {what}", plan.target);
            Err(CommandError::new(Code::Start, error)
                .hint("do that on the primary; the standby gets it by replication"))
        }
    }
}

/// Returns true if the workload writes in transactions that do not say that they are read-write.
fn writes_by_default(caps: &Capabilities, drive: &Drive) -> bool {
    let says_so = |sql: &str| ["read write", "read_only"].iter().any(|words| sql.to_ascii_lowercase().contains(words));
    !drive.is_read_only() && !drive.statements(caps).iter().any(|statement| says_so(statement.sql()))
}

/// Returns the error for what a session cannot do whose transactions are read-only.
fn read_only(what: &str, remedy: &str) -> CommandError {
    CommandError::new(Code::Start, format!("default_transaction_read_only is on, and {what}")).hint(remedy)
}

/// Returns the query mode that a pooler permits if the `usual` one needs sessions, and why.
pub(crate) fn mode(caps: &Capabilities, usual: QueryMode) -> Option<(QueryMode, &'static str)> {
    let keeps_none = caps.pooling == Some(Pooling::Transaction { prepared: false });
    (keeps_none && usual == QueryMode::Prepared).then_some((
        QueryMode::Extended,
        "query mode extended: the pooler hands out a connection for each transaction and keeps no prepared statements",
    ))
}

/// Refuses what is not possible behind a pooler.
///
/// # Errors
/// When the run needs a session for each client.
pub(crate) fn admit_pooled(caps: &Capabilities, plan: &Plan) -> Result<()> {
    let prepared = match caps.pooling {
        None | Some(Pooling::Session) => return Ok(()),
        Some(Pooling::Statement) => {
            let error = "the pooler hands out a connection for each statement, and a transaction has several";
            return Err(CommandError::new(Code::Start, error).hint(DIRECTLY));
        }
        Some(Pooling::Transaction { prepared }) => prepared,
    };
    let sessions = [
        (plan.load.choice == LoadWhen::Always, "--replace, which loads,"),
        (plan.from_template.is_some(), "--from-template"),
    ];
    if let Some((_, what)) = sessions.iter().find(|(asked, _)| *asked) {
        let error =
            format!("{what} needs sessions of its own, but the pooler hands out a connection for each transaction");
        return Err(CommandError::new(Code::Start, error).hint(DIRECTLY));
    }
    let mut groups = plan.drive.stages.iter().flat_map(|stage| &stage.groups);
    let is_asked = match plan.drive.stages.is_empty() {
        true => plan.drive.mode == QueryMode::Prepared,
        false => groups.any(|group| group.mode == QueryMode::Prepared),
    };
    if prepared || !is_asked {
        return Ok(());
    }
    let error = "query mode prepared cannot be used: the pooler assigns a connection to each transaction and keeps no \
                 prepared statements";
    Err(CommandError::new(Code::Start, error).hint(
        "give --mode extended or simple; PgBouncer keeps prepared statements from 1.21 on with \
         max_prepared_statements above 0; or connect to the server itself",
    ))
}

/// Refuses a load that is not possible.
///
/// # Errors
/// When the server is a standby, its transactions are read-only, or a pooler assigns connections per transaction.
pub(crate) fn admit_load(caps: &Capabilities, id: &str) -> Result<()> {
    admit_sessions(caps, &format!("loading {id}"))?;
    if !caps.standby {
        return caps
            .read_only
            .as_ref()
            .map_or(Ok(()), |remedy| Err(read_only(&format!("a load of {id} writes"), remedy)));
    }
    let error = format!(
        "the server is a standby: the data of {id} that you asked for is not there, and cannot be loaded there"
    );
    Err(CommandError::new(Code::Load, error).hint("load on the primary; the standby gets it by replication"))
}

/// Refuses a step that changes data.
///
/// # Errors
/// When the server is a standby, or its transactions are read-only.
pub fn admit_change(caps: &Capabilities, step: &str) -> Result<()> {
    if !caps.standby {
        return caps
            .read_only
            .as_ref()
            .map_or(Ok(()), |remedy| Err(read_only(&format!("{step} changes data"), remedy)));
    }
    let error = format!("the server is a standby, and {step} changes data");
    Err(CommandError::new(Code::Start, error).hint("name the primary in --target"))
}

/// Refuses a step that needs sessions.
///
/// # Errors
/// When a pooler assigns connections per transaction.
pub fn admit_sessions(caps: &Capabilities, what: &str) -> Result<()> {
    match caps.pooling {
        Some(pooling) if !pooling.keeps_sessions() => {
            let error = format!(
                "{what} needs sessions of its own, but the pooler hands out a connection for each {}",
                pooling.name()
            );
            Err(CommandError::new(Code::Start, error).hint(DIRECTLY))
        }
        _ => Ok(()),
    }
}
