//! The copy on which values are fitted.

use std::time::Duration;

use pgdyno_net::{Admin, ConnectError, ConnectOptions, quote};
use serde_json::Value;

use crate::refusal::{QueryError, Refusal};

/// Rows of an answer.
pub(super) type Rows = Vec<Vec<Option<String>>>;

/// The `application_name` of a fit.
const NAME: &str = "pgdyno fit";

/// How long a query of the fit itself may take: it may read a whole table. The server ends it before the connection is given up, whatever
/// the role's own setting is.
const ANSWER: Duration = Duration::from_secs(600);
const STATEMENT_TIMEOUT: &str = "SET statement_timeout = '9min'";

/// Bytes of a table from which on the planner needs its statistics.
const UNANALYSED_MIN: u64 = 1 << 20;

/// Why a capture cannot be fitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// The copy cannot be reached.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The copy refused a query, or the connection is lost.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// It is the server that was captured.
    #[error(
        "this is the server and the database that were captured: a fit writes tables and executes statements, also those that write"
    )]
    SameServer,
    /// It has the system identifier and the database of the captured server, and was started at another time.
    #[error(
        "this server has the system identifier of the captured one, and its database the same name: it is a physical copy (a base \
         backup, a snapshot, a clone), a standby, or the captured server itself, started again since"
    )]
    SameSystem,
    /// No statement of the capture can be executed here.
    /// Says why not the one that takes most time.
    #[error("no statement of the capture can be executed here: {0}")]
    Nothing(Refusal),
    /// An earlier fit left its values there.
    #[error("this database has the values of an earlier fit, in the schema pgdyno_values: its workload needs them")]
    Occupied,
    /// The user has ended it.
    #[error("interrupted")]
    Interrupted,
}

impl FitError {
    /// Returns what to do about it.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Connect(_) | Self::Interrupted => None,
            Self::Query(query) => query.source.remedy(),
            Self::SameServer => Some(
                "name a copy in --target: a restored backup, or CREATE DATABASE … TEMPLATE; --captured-server fits here nevertheless".to_owned(),
            ),
            Self::SameSystem => Some(
                "if it is a copy that no application uses, give --captured-server; otherwise name a copy in --target".to_owned(),
            ),
            Self::Occupied => Some("fit on another copy, or give --replace to drop them".to_owned()),
            // Tables or functions that are not there.
            Self::Nothing(why) if why.is_not_found() => Some(
                "name a copy of the captured database in --target; set search_path as the application has it: options='-c search_path=…'"
                    .to_owned(),
            ),
            Self::Nothing(_) => None,
        }
    }
}

/// The connection to the copy.
pub(super) struct Copy {
    admin: Admin,
}

impl Copy {
    pub(super) fn open(options: &ConnectOptions) -> Result<Self, FitError> {
        let options = options.with_application_name(NAME).with_answer_timeout(ANSWER);
        let mut admin = Admin::connect(&options)?;
        admin.take_at_most(256 << 20);
        let mut copy = Self { admin };
        copy.execute("limit the time of a query", STATEMENT_TIMEOUT)?;
        Ok(copy)
    }

    pub(super) fn ask(&mut self, about: &'static str, sql: &str) -> Result<Rows, FitError> {
        self.admin.query(sql).map(|rows| rows.rows).map_err(|source| QueryError::new(about, source).into())
    }

    /// Executes a query that the server may refuse: `None` if it does.
    pub(super) fn ask_or_none(&mut self, about: &'static str, sql: &str) -> Result<Option<Rows>, FitError> {
        Ok(self.try_to(about, sql)?.ok())
    }

    /// Executes a query that the server may refuse or need too long for.
    pub(super) fn try_briefly(&mut self, about: &'static str, sql: &str) -> Result<Result<Rows, Refusal>, FitError> {
        self.execute(about, "SET statement_timeout = '1min'")?;
        let rows = self.try_to(about, sql)?;
        self.execute(about, STATEMENT_TIMEOUT)?;
        Ok(rows)
    }

    /// Executes a query that the server may refuse, and returns why it does.
    pub(super) fn try_to(&mut self, about: &'static str, sql: &str) -> Result<Result<Rows, Refusal>, FitError> {
        match self.admin.query(sql) {
            Ok(rows) => Ok(Ok(rows.rows)),
            Err(source) if source.is_lost() => Err(QueryError::new(about, source).into()),
            Err(source) => Ok(Err(Refusal::of(&source))),
        }
    }

    /// Returns what EXPLAIN prints as JSON, or why the server refuses the statement.
    pub(super) fn explain(
        &mut self,
        about: &'static str,
        options: &str,
        statement: &str,
    ) -> Result<Result<Value, Refusal>, FitError> {
        let rows = self.try_to(about, &format!("EXPLAIN ({options}, FORMAT JSON) {statement}"))?;
        Ok(rows.map(|rows| {
            let text = rows.into_iter().flatten().flatten().collect::<Vec<_>>().join("\n");
            let mut plans: Value = serde_json::from_str(&text).unwrap_or_default();
            plans.get_mut(0).map(Value::take).unwrap_or_default()
        }))
    }

    /// Executes one statement that the server may refuse. It may come from anyone: over the extended protocol the server refuses what is
    /// more than one.
    pub(super) fn try_one(&mut self, about: &'static str, sql: &str) -> Result<Result<(), Refusal>, FitError> {
        match self.admin.query_with(sql, &[]) {
            Ok(_) => Ok(Ok(())),
            Err(source) if source.is_lost() => Err(QueryError::new(about, source).into()),
            Err(source) => Ok(Err(Refusal::of(&source))),
        }
    }

    pub(super) fn execute(&mut self, about: &'static str, sql: &str) -> Result<(), FitError> {
        self.admin.execute(sql).map(drop).map_err(|source| QueryError::new(about, source).into())
    }

    /// Returns one cell.
    pub(super) fn cell(&mut self, about: &'static str, sql: &str) -> Result<Option<String>, FitError> {
        Ok(self.ask(about, sql)?.into_iter().next().and_then(|row| row.into_iter().next()?))
    }

    /// Returns the foreign table that is among these, or a partition of one of them. Their schemas may be closed to the role.
    pub(super) fn foreign(&mut self, tables: &[String]) -> Result<Option<String>, FitError> {
        if tables.is_empty() {
            return Ok(None);
        }
        let tables: Vec<_> = tables.iter().map(|table| quote::literal(table)).collect();
        let sql = format!(
            "WITH used AS (SELECT c.oid, relkind FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace \
               WHERE relkind IN ('f', 'p') \
               AND format('\"%s\".\"%s\"', replace(nspname, '\"', '\"\"'), replace(relname, '\"', '\"\"')) IN ({})) \
             SELECT format('%I.%I', nspname, relname) FROM (SELECT oid FROM used UNION SELECT relid::oid FROM used, pg_partition_tree(oid) \
               WHERE relkind = 'p') u JOIN pg_class c ON c.oid = u.oid JOIN pg_namespace n ON n.oid = relnamespace \
             WHERE c.relkind = 'f' ORDER BY 1 LIMIT 1",
            tables.join(", ")
        );
        self.cell("look for foreign tables", &sql)
    }

    /// Returns the largest table that the planner has no statistics of, if it has more than some pages.
    pub(super) fn unanalysed(&mut self) -> Result<Option<String>, FitError> {
        let sql = format!(
            "SELECT format('%I.%I', nspname, relname) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace \
             WHERE relkind = 'r' AND relpersistence <> 't' AND nspname NOT IN ('pg_catalog', 'information_schema') \
             AND pg_relation_size(c.oid) > {UNANALYSED_MIN} AND has_table_privilege(c.oid, 'SELECT') \
             AND NOT EXISTS (SELECT FROM pg_stats WHERE schemaname = nspname AND tablename = relname) \
             ORDER BY pg_relation_size(c.oid) DESC, 1 LIMIT 1"
        );
        let rows = self.ask_or_none("look for tables without statistics", &sql)?;
        Ok(rows.and_then(|rows| rows.into_iter().next()?.into_iter().next()?))
    }

    /// Returns the partitioned table that a table is a partition of, or the table itself.
    pub(super) fn root_of(&mut self, table: &str) -> Result<String, FitError> {
        let sql = format!(
            "SELECT nspname, relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace \
             WHERE c.oid = pg_partition_root({}::regclass)",
            quote::literal(table)
        );
        let row = self.ask("look for a partitioned table", &sql)?.into_iter().next();
        Ok(match row.as_deref() {
            Some([Some(schema), Some(name)]) => format!("{}.{}", quote::identifier(schema), quote::identifier(name)),
            _ => table.to_owned(),
        })
    }

    /// Returns the percentage of a table that has some hundred times so many rows; `None` if the table has no more than that, or
    /// cannot be sampled.
    pub(super) fn part_of(&mut self, table: &str, rows: usize) -> Result<Option<f64>, FitError> {
        let sql = format!(
            "SELECT CASE WHEN relkind IN ('r', 'm') THEN reltuples WHEN relkind = 'p' THEN (SELECT sum(greatest(l.reltuples, 0)) \
             FROM pg_partition_tree(c.oid) JOIN pg_class l ON l.oid = relid WHERE isleaf) END \
             FROM pg_class c WHERE oid = {}::regclass",
            quote::literal(table)
        );
        let of_table = self.cell("look for the size of a table", &sql)?;
        let all: f64 = of_table.and_then(|rows| rows.parse().ok()).unwrap_or_default();
        let wanted = rows as f64 * 100.0;
        Ok((all > wanted).then(|| (wanted / all * 100.0).max(1e-4)))
    }
}
