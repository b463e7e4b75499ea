//! Errors of looking at, loading and dropping data.

use pgdyno_net::{Admin, AdminError, ConnectError, ConnectOptions};
use pgdyno_wire::SqlState;
use pgdyno_wire::backend::ServerMessage;
use pgdyno_wire::libpq;
use pgdyno_workload::Maker;

use crate::state::stamp::STAMP_TABLE;
use crate::{Fate, LoadPhase, Remains, Stamp, Taken};

/// The error when data could not be looked at, loaded or dropped.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A connection could not be opened.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// `current_schema()` is NULL.
    #[error(
        "search_path ({search_path}) names no schema that exists and that this role may use, so there is no place for \
         tables"
    )]
    NoSchema {
        /// The setting.
        search_path: String,
    },
    /// The role may not create tables in the first schema of its search_path.
    #[error("role {role} may not create tables in schema {schema} of database {database}")]
    NoCreate {
        /// The schema, quoted if necessary.
        schema: String,
        /// The role, quoted if necessary.
        role: String,
        /// The database, quoted if necessary.
        database: String,
    },
    /// The workload has no tables.
    #[error("workload {0} has no data")]
    NoData(&'static str),
    /// Tables of another program have the names of the data set's.
    #[error(
        "{} in schema {schema} {} not loaded by pgdyno and would be dropped; \
         use another database or schema, or drop {} with --force", .objects.join(", "), is(.objects), them(.objects)
    )]
    Foreign {
        /// The schema.
        schema: String,
        /// The objects, each with its kind: `table customer`.
        objects: Vec<String>,
    },
    /// pgdyno loaded tables or routines of the same names for other workloads.
    #[error("{0}")]
    Taken(Box<Taken>),
    /// The tables belong to a known program.
    #[error(
        "schema {schema} holds data loaded by {}: {}; pgdyno leaves it alone, and `{}` drives it as it is; use another \
         database or schema for pgdyno's own data, or drop this data with --force",
        .maker.name, .objects.join(", "), .maker.drive
    )]
    OtherMaker {
        /// The schema.
        schema: String,
        /// The program.
        maker: &'static Maker,
        /// The objects, each with its kind.
        objects: Vec<String>,
    },
    /// The schema for the routines is not pgdyno's.
    #[error(
        "pgdyno puts its routines for another program's tables into schema {schema}, but pgdyno did not create the \
         schema of that name; rename it, or use --call client, which needs no routines"
    )]
    OtherSchema {
        /// The schema.
        schema: &'static str,
    },
    /// The schema for the routines could not be created.
    #[error(
        "failed to create pgdyno's routines in schema {schema}: {source}; use a role that may create them (GRANT \
         CREATE ON DATABASE …), or use --call client, which needs no routines"
    )]
    NoPlace {
        /// The schema.
        schema: &'static str,
        /// The server's message.
        source: AdminError,
    },
    /// The data set is there already, with the same or other parameters.
    #[error("the database holds {found}{}; --replace drops it and loads again", but_wanted(.found, .wanted))]
    Exists {
        /// The data that is there.
        found: Box<Stamp>,
        /// The data to be loaded.
        wanted: Box<Stamp>,
    },
    /// Data of pgdyno is damaged, and is replaced only on request.
    #[error("the data of {dataset} is damaged: {}", .damage.join("; "))]
    Damaged {
        /// The data set.
        dataset: &'static str,
        /// The missing objects, table by table.
        damage: Vec<String>,
        /// The command that loads it again.
        remedy: String,
    },
    /// A load of other data was interrupted, and could be resumed.
    #[error(
        "the database holds an unfinished load: {begun}; {rows} rows are there. `{go_on}` resumes it; `{anew}` drops \
         it and loads again"
    )]
    Unfinished {
        /// The data of that load.
        begun: Box<Stamp>,
        /// Rows that are stored.
        rows: u64,
        /// The command that resumes it.
        go_on: String,
        /// The command that starts again.
        anew: String,
    },
    /// Another pgdyno loads or drops the same data set.
    #[error(
        "another session loads or drops data set {dataset} in this schema right now (it holds the advisory lock); \
         wait for it or end it"
    )]
    Busy {
        /// The data set.
        dataset: String,
    },
    /// An object depends on one to be dropped.
    #[error("cannot drop {objects}: {source}; first drop what depends on it: pgdyno does not")]
    Needed {
        /// The object to be dropped.
        objects: String,
        /// The server's message.
        source: AdminError,
    },
    /// The server refused to drop an object.
    #[error("failed to drop {objects}: {}; nothing was dropped", .source.reason())]
    Undroppable {
        /// The object to be dropped.
        objects: String,
        /// The server's message.
        source: AdminError,
    },
    /// The server's disk is full (`53100`).
    #[error(
        "the server's disk is full: failed to {}{}: {source}; free space there or ask for a smaller size; \
         `pgdyno drop` removes what was loaded so far", .phase.attempt(), of(.table)
    )]
    DiskFull {
        /// The phase of the load.
        phase: LoadPhase,
        /// The table, if there was one.
        table: Option<String>,
        /// The server's message.
        source: AdminError,
    },
    /// Routines are missing or of another version, and the role may not create them.
    #[error(
        "the procedures and functions in the database are missing or from another version of pgdyno, and the role may \
         not replace them: \
         {source}; run pgdyno once as their owner, which replaces them"
    )]
    Routines {
        /// The server's message.
        source: AdminError,
    },
    /// A connection was lost.
    #[error("failed to {}{}: {source}; {}", .phase.attempt(), of(.table), after_loss(.remains.as_deref(), *.resumable))]
    Lost {
        /// The phase of the load.
        phase: LoadPhase,
        /// The table, if there was one.
        table: Option<String>,
        /// The cause.
        source: AdminError,
        /// Whether the next load resumes it.
        resumable: bool,
        /// What the server said afterwards, once it was asked.
        remains: Option<Box<Remains>>,
    },
    /// The server refused a statement.
    #[error("failed to {}{}: {source}", .phase.attempt(), of(.table))]
    Failed {
        /// The phase of the load.
        phase: LoadPhase,
        /// The table, if there was one.
        table: Option<String>,
        /// The server's message.
        source: AdminError,
    },
    /// The server refused a statement of an SQL file.
    #[error("{file}:{line}: {}{}", libpq::error(.message, .sql), remedy(.message))]
    Sql {
        /// The file.
        file: String,
        /// Line in which the statement begins.
        line: usize,
        /// The statement.
        sql: String,
        /// The server's message.
        message: Box<ServerMessage>,
    },
    /// A statement of an SQL file is not possible in a load.
    #[error("{file}:{line}: {verb} is not allowed here: the load is one transaction, and pgdyno ends it")]
    Control {
        /// The file.
        file: String,
        /// Line in which the statement begins.
        line: usize,
        /// Its first word.
        verb: String,
    },
    /// The SQL files made nothing.
    #[error(
        "{file} created nothing that pgdyno could mark and later drop; to run scripts on existing tables, name the \
         script files themselves"
    )]
    Nothing {
        /// The first of them.
        file: String,
    },
    /// The server received another number of rows than the workload declares.
    #[error("table {table} got {found} rows and should have {expected}; this is a bug of the workload")]
    RowCount {
        /// The table.
        table: String,
        /// The number declared.
        expected: String,
        /// The number received.
        found: u64,
    },
    /// There are fewer shards than nodes to hold them.
    #[error(
        "{shards} shards cannot be spread over {nodes} nodes: {} would hold nothing; give --shard-count {nodes} or a \
         multiple of it",
        .nodes - .shards
    )]
    FewShards {
        /// Number of shards of each table.
        shards: u32,
        /// Number of nodes that should have shards.
        nodes: u32,
    },
    /// This program is connected to a node on which no table can be created.
    #[error(
        "only the coordinator can create and distribute tables, and this node is not the coordinator: name \
         {coordinator} in --target"
    )]
    NotCoordinator {
        /// Its name and port, as the nodes know it.
        coordinator: String,
    },
    /// Routines that run on other nodes would not find the tables.
    #[error(
        "the tables are in schema {schema}, and routines that run on {} would look for them elsewhere: a session's search_path \
         is not sent along; load into schema public, or set it for the role on every node: ALTER ROLE … SET search_path = {schema}",
        .nodes.join(" and ")
    )]
    SearchPath {
        /// The schema of the tables.
        schema: String,
        /// The nodes, each with its port.
        nodes: Vec<String>,
    },
    /// The catalog could not be read.
    #[error("failed to find out what data exists: {0}")]
    Catalog(#[source] AdminError),
    /// An end was requested.
    #[error("interrupted; what was loaded so far is unusable, and the next load removes it")]
    Interrupted,
    /// An end was requested; the server was asked what is there now.
    #[error("interrupted; {0}")]
    Stopped(Remains),
    /// The answer to the COMMIT of a drop did not come.
    #[error("failed to drop the data: {source}; {}", outcome(.fate))]
    Unanswered {
        /// What became of the transaction.
        fate: Fate,
        /// Its identity, if the server has said it.
        transaction: Option<String>,
        /// Why the answer did not come.
        source: Box<AdminError>,
    },
    /// An end was requested, and the next load resumes this one.
    #[error("interrupted; {GOES_ON}")]
    Suspended,
}

impl LoadError {
    /// Returns [`LoadError::NoSchema`] for this session.
    pub(crate) fn no_schema(admin: &mut Admin) -> Self {
        match admin.query_one("show search_path") {
            Ok(search_path) if search_path.trim_matches('"').is_empty() => {
                Self::NoSchema { search_path: "empty".to_owned() }
            }
            Ok(search_path) => Self::NoSchema { search_path },
            Err(error) => Self::Catalog(error),
        }
    }

    /// Returns the same error after the server was asked over another connection what became of a COMMIT without an
    /// answer.
    #[must_use]
    pub fn asked(self, options: &ConnectOptions) -> Self {
        match self {
            Self::Unanswered { transaction: Some(id), source, .. } => {
                Self::Unanswered { fate: Fate::ask(options, &id), transaction: Some(id), source }
            }
            other => other,
        }
    }

    /// Returns what to do about it, if its text does not say so.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Connect(error) => error.remedy(),
            Self::NoSchema { .. } => Some(
                "create a schema, or set search_path to one: ALTER ROLE … SET search_path = …, or options='-c search_path=…' \
                 in the target"
                    .to_owned(),
            ),
            Self::NoCreate { schema, role, .. } => Some(format!(
                "GRANT CREATE ON SCHEMA {schema} TO {role}, or give the role a schema of its own: CREATE SCHEMA \
                 AUTHORIZATION {role}"
            )),
            Self::Damaged { remedy, .. } => {
                Some(format!("restore it, or run `{remedy}`, which drops the rest and loads again"))
            }
            Self::Catalog(error) if is_stamp(error) => {
                Some(format!("GRANT SELECT ON {STAMP_TABLE} to this role: it says what is loaded"))
            }
            Self::Undroppable { source, .. }
            | Self::Lost { source, .. }
            | Self::Failed { source, .. }
            | Self::Catalog(source) => source.remedy(),
            _ => None,
        }
    }

    /// Returns the same error for a load that can be resumed.
    pub(crate) fn resumable(self) -> Self {
        match self {
            Self::Interrupted => Self::Suspended,
            Self::Lost { phase, table, source, remains, .. } => {
                Self::Lost { phase, table, source, resumable: true, remains }
            }
            other => other,
        }
    }

    /// Returns the error of a failed statement of `phase`.
    pub(crate) fn of(phase: LoadPhase, table: Option<&str>, source: AdminError) -> Self {
        let table = table.map(str::to_owned);
        if source.is_disk_full() {
            Self::DiskFull { phase, table, source }
        } else if matches!(source, AdminError::Interrupted { .. }) {
            Self::Failed { phase, table, source }
        } else if source.is_lost() {
            Self::Lost { phase, table, source, resumable: false, remains: None }
        } else {
            Self::Failed { phase, table, source }
        }
    }
}

/// What a message says of a load that can be resumed.
const GOES_ON: &str = "what is committed stays, and the next load of the same data goes on from there";

/// Says what is in the database after a lost connection, and what to do.
fn after_loss(remains: Option<&Remains>, resumable: bool) -> String {
    let now = match remains {
        // The answer to its last COMMIT was lost, or it had not begun.
        Some(remains @ Remains::Complete(_)) => return remains.to_string(),
        Some(Remains::Part | Remains::Unknown(_)) | None if resumable => GOES_ON.to_owned(),
        Some(remains) => remains.to_string(),
        None => "what is in the database now was not determined".to_owned(),
    };
    format!("{now}: check the server, then load again")
}

/// A role with access to the tables of a data set needs its stamp, too.
fn is_stamp(error: &AdminError) -> bool {
    error.code() == Some(SqlState::INSUFFICIENT_PRIVILEGE) && error.reason().contains(STAMP_TABLE)
}

/// For data that is there already, perhaps of another program.
fn remedy(message: &ServerMessage) -> &'static str {
    match is_there(message) {
        true => "\nIt was there before and is left alone: use another database or schema, or drop it first.",
        false => "",
    }
}

/// Returns what became of a drop, and what to do.
fn outcome(fate: &Fate) -> String {
    match fate {
        Fate::Committed => "the server has committed it all the same: everything was dropped".to_owned(),
        Fate::RolledBack => "the server has rolled it back: nothing was dropped".to_owned(),
        Fate::InProgress => "the server still works on it: drop again later to find out what is left".to_owned(),
        Fate::Unknown(why) => {
            format!("whether anything was dropped could not be determined ({why}): drop again to find out what is left")
        }
    }
}

/// Returns true if the message says that an object exists already.
pub(crate) fn is_there(message: &ServerMessage) -> bool {
    matches!(message.code.as_str(), "42P07" | "42723" | "42710" | "42P06")
}

fn of(table: &Option<String>) -> String {
    table.as_ref().map(|table| format!(" of table {table}")).unwrap_or_default()
}

fn is(objects: &[String]) -> &'static str {
    if objects.len() == 1 { "was" } else { "were" }
}

fn them(objects: &[String]) -> &'static str {
    if objects.len() == 1 { "it" } else { "them" }
}

fn but_wanted(found: &Stamp, wanted: &Stamp) -> String {
    if found.identity == wanted.identity {
        return " already".to_owned();
    }
    let what = if found.params == wanted.params {
        format!("version {} of its rows", wanted.version)
    } else {
        wanted.params.clone()
    };
    format!(", and {what} was asked for")
}
