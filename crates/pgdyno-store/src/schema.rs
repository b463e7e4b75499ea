//! The schema of the store: its creation, its version, and views that follow the program's columns.

use pgdyno_net::{Admin, AdminError, ConnectOptions};
use pgdyno_results::table::{CellKind, EXPORT};
use pgdyno_wire::SqlState;

use crate::VERSION;
use crate::error::CentralError;

/// The tables.
const TABLES: &str = include_str!("schema.sql");
/// Tables that later versions have added, created where they are not there.
const LATER_TABLES: &str = include_str!("studies.sql");
/// Views and functions, which are made anew each time.
const VIEWS: &str = include_str!("views.sql");

/// The lock of those who create or renew a store of a database: "pgdyno" in ASCII.
const PROVIDING: u64 = 0x7067_6479_6e6f;

/// Creates the schema where it is not there, and makes its views anew. Returns true if it was not there. Several processes do
/// so one after the other.
pub(crate) fn provide(admin: &mut Admin, options: &ConnectOptions) -> Result<bool, CentralError> {
    let provided = provide_alone(admin, options);
    if provided.is_err() {
        // The error is worth more than another one.
        let _ = admin.execute("ROLLBACK");
    }
    provided
}

fn provide_alone(admin: &mut Admin, options: &ConnectOptions) -> Result<bool, CentralError> {
    begin_alone(admin)?;
    let found = version(admin).map_err(|error| not_allowed(error, options, "read"))?;
    let tables = match found {
        Some(VERSION) => String::new(),
        Some(found) => return Err(CentralError::Version { database: options.dbname().to_owned(), found }),
        None => {
            // An administrator may have made an empty schema for a role that may not create any.
            let has_schema = admin.query_one("SELECT to_regnamespace('pgdyno_results') IS NOT NULL")? == "t";
            let schema = if has_schema { "" } else { "CREATE SCHEMA pgdyno_results;" };
            format!("{schema} {TABLES} INSERT INTO pgdyno_results.store VALUES ({VERSION}, gen_random_uuid());")
        }
    };
    let created = admin.execute(&format!("{tables} {LATER_TABLES} {VIEWS} {} COMMIT", runs_view()));
    created.map_err(|error| not_allowed(error, options, "create"))?;
    Ok(found.is_none())
}

/// Begins a transaction, alone where the server has advisory locks.
fn begin_alone(admin: &mut Admin) -> Result<(), AdminError> {
    let begin = "BEGIN; SET LOCAL search_path = pg_catalog";
    admin.execute(begin)?;
    match admin.execute(&format!("SELECT pg_advisory_xact_lock({PROVIDING})")) {
        Err(error) if !error.is_lost() => {
            admin.execute("ROLLBACK")?;
            admin.execute(begin).map(drop)
        }
        locked => locked.map(drop),
    }
}

/// Checks that there is a store of this version. Returns its identity, and whether it has studies.
pub(crate) fn identity(admin: &mut Admin, options: &ConnectOptions) -> Result<(String, bool), CentralError> {
    let database = || options.dbname().to_owned();
    match version(admin).map_err(|error| not_allowed(error, options, "read"))? {
        Some(VERSION) => {
            let id = admin.query_one("SELECT id FROM pgdyno_results.store")?;
            Ok((id, has_table(admin, "studies")?))
        }
        Some(found) => Err(CentralError::Version { database: database(), found }),
        None => Err(CentralError::NoStore { database: database() }),
    }
}

fn version(admin: &mut Admin) -> Result<Option<u32>, AdminError> {
    match has_table(admin, "store")? {
        true => Ok(admin.query_opt("SELECT max(version) FROM pgdyno_results.store")?.and_then(|v| v.parse().ok())),
        false => Ok(None),
    }
}

fn has_table(admin: &mut Admin, name: &str) -> Result<bool, AdminError> {
    // to_regclass would refuse a role that may not use the schema; then the next statement says so.
    let sql = format!(
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n
        ON n.oid = c.relnamespace WHERE n.nspname = 'pgdyno_results' AND c.relname = '{name}')"
    );
    Ok(admin.query_one(&sql)? == "t")
}

/// Returns the error of a role that lacks a privilege, and any other one as it is.
pub(crate) fn not_allowed(source: AdminError, options: &ConnectOptions, what: &'static str) -> CentralError {
    if source.code() != Some(SqlState::INSUFFICIENT_PRIVILEGE) {
        return source.into();
    }
    let (role, database) = (options.user().to_owned(), options.dbname().to_owned());
    CentralError::NotAllowed { role, database, what, source: Box::new(source) }
}

/// Returns the view `runs`: the columns of `pgdyno export`, with the types that they have there.
fn runs_view() -> String {
    let columns = EXPORT.iter().map(|column| {
        let name = column.name;
        let sql_type = match column.kind {
            CellKind::Text => return format!("line ->> '{name}' AS {name}"),
            CellKind::Json => return format!("line -> '{name}' AS {name}"),
            CellKind::Time => "timestamptz",
            CellKind::Count => "bigint",
            CellKind::Number(_) => "double precision",
            CellKind::Flag => "boolean",
        };
        format!("(line ->> '{name}')::{sql_type} AS {name}")
    });
    let columns = columns.collect::<Vec<_>>().join(",\n       ");
    format!(
        "DROP VIEW IF EXISTS pgdyno_results.runs;
         CREATE VIEW pgdyno_results.runs AS
         SELECT {columns}, digest, bytes, pushed_at, pushed_by FROM pgdyno_results.records;"
    )
}

#[cfg(test)]
mod tests {
    use pgdyno_results::{INTERVAL_COLUMNS, IntervalColumn};

    use super::*;

    #[test]
    fn the_documentation_names_every_table_and_view() {
        let text = include_str!("../../../docs/store.md");
        let created = |kind: &str, sql: &str| -> Vec<String> {
            let names = sql.split(kind).skip(1).filter_map(|rest| rest.split([' ', '(', '\n']).next());
            names.map(str::to_owned).collect()
        };
        let mut names = created("CREATE TABLE pgdyno_results.", TABLES);
        names.extend(created("CREATE TABLE IF NOT EXISTS pgdyno_results.", LATER_TABLES));
        names.extend(created("CREATE VIEW pgdyno_results.", VIEWS));
        names.push("runs".to_owned());
        assert!(names.len() > 10, "{names:?}");
        for name in names {
            assert!(text.contains(&format!("| `{name}`")), "docs/store.md lacks {name}");
        }
    }

    #[test]
    fn the_runs_have_the_columns_of_an_export() {
        let view = runs_view();
        assert!(view.contains("(line ->> 'tps')::double precision AS tps"), "{view}");
        assert!(view.contains("(line ->> 'started_at')::timestamptz AS started_at"), "{view}");
    }
    #[test]
    fn the_table_of_intervals_has_the_columns_of_the_file() {
        let (_, table) = TABLES.split_once("CREATE TABLE pgdyno_results.intervals (").unwrap();
        let (table, _) = table.split_once("PRIMARY KEY").unwrap();
        let own = table.lines().filter_map(|line| line.trim().split_once(' ')).skip(2);
        let mut found: Vec<(&str, &str)> = own.map(|(name, rest)| (name, rest.trim_end_matches(','))).collect();
        let sql_type = |column: &IntervalColumn| match column.kind {
            CellKind::Text => "text NOT NULL",
            _ if column.name == "interval" => "int NOT NULL",
            CellKind::Number(_) if column.is_required => "double precision NOT NULL",
            CellKind::Number(_) => "double precision",
            _ => "bigint",
        };
        // Stores of before 0.3.0 have neither.
        let is_kept = |column: &&IntervalColumn| !["service_latency_ns_mean", "offered_per_s"].contains(&column.name);
        let kept = INTERVAL_COLUMNS.iter().filter(is_kept);
        let mut wanted: Vec<_> = kept.map(|column| (column.name, sql_type(column))).collect();
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted);
    }
}
