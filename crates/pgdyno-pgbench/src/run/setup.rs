//! The queries and statements of pgbench before the clients connect.

use pgdyno_net::{Admin, AdminError, ConnectOptions, Halt};

use crate::connect::{self, Ask};
use crate::init::session::{notices, text};
use crate::messages::{ExitReason, Io, Said};
use crate::observer::BenchmarkObserver;
use crate::options::{AS_POSTGRESQL, BenchmarkEnd, RunOptions};
use crate::report::{AccountsPartitioning, banner};

/// The results of the queries.
pub(crate) struct SetUp {
    pub(crate) scale: u64,
    pub(crate) partitions: Option<(AccountsPartitioning, u64)>,
    pub(crate) server_version: String,
}

/// Queries how `pgbench_accounts` is partitioned, in the schema that the search path finds first.
const PARTITIONS: &str = "select o.n, p.partstrat, pg_catalog.count(i.inhparent) from pg_catalog.pg_class as c \
     join pg_catalog.pg_namespace as n on (n.oid = c.relnamespace) cross join lateral (select \
     pg_catalog.array_position(pg_catalog.current_schemas(true), n.nspname)) as o(n) left join \
     pg_catalog.pg_partitioned_table as p on (p.partrelid = c.oid) left join pg_catalog.pg_inherits as i on \
     (c.oid = i.inhparent) where c.relname = 'pgbench_accounts' and o.n is not null group by 1, 2 order by 1 asc \
     limit 1";

pub(super) fn set_up(
    options: &RunOptions,
    target: &mut ConnectOptions,
    ask: Ask<'_>,
    io: &mut Io<'_>,
    halt: &Halt<'_>,
    observer: &mut dyn BenchmarkObserver,
) -> Result<SetUp, ExitReason> {
    let connection = connect::open(target, ask).map_err(|failed| failed.during("setup"))?;
    let (host, port) = (connection.peer().host().to_owned(), connection.peer().port());
    halt.watch_always(connection.cancel_handle());
    let mut admin = Admin::from(connection).reported(target);
    // As pgbench: as long as the server needs. `halt` ends the wait.
    admin.wait_without_limit();
    admin.keep_notices();
    print_notices(&mut admin, "", io);
    let server_version = admin.parameters().get("server_version").unwrap_or_default().to_owned();
    let version = format!("{AS_POSTGRESQL} (pgdyno {})", env!("CARGO_PKG_VERSION"));
    drop(io.out.write_all(banner(io.program(), &version, &server_version).as_bytes()).and_then(|()| io.out.flush()));
    let limit = match options.limit {
        BenchmarkEnd::Transactions(n) => format!("nxacts: {n}"),
        BenchmarkEnd::Seconds(s) => format!("duration: {s}"),
    };
    let (clients, dbname) = (options.clients, target.dbname());
    io.debug(&format!("pghost: {host} pgport: {port} nclients: {clients} {limit} dbName: {dbname}"));
    let mut set_up = SetUp { scale: u64::from(options.scale.unwrap_or(1)), partitions: None, server_version };
    if options.uses_builtin() {
        (set_up.scale, set_up.partitions) = tables(&mut admin, target.dbname())?;
        if options.scale.is_some() {
            let scale = set_up.scale;
            io.warning(&format!("scale option ignored, using count from pgbench_branches table ({scale})"));
        }
    }
    if options.vacuum {
        io.raw("starting vacuum...");
        for sql in ["vacuum pgbench_branches", "vacuum pgbench_tellers", "truncate pgbench_history"] {
            try_to(&mut admin, sql, halt, io)?;
        }
        io.raw("end.\n");
        if options.vacuum_all {
            io.raw("starting vacuum pgbench_accounts...");
            try_to(&mut admin, "vacuum analyze pgbench_accounts", halt, io)?;
            io.raw("end.\n");
        }
    }
    observer.set_up(target, &mut admin)?;
    Ok(set_up)
}

/// Returns the scale and the partitions of the tables that the built-in scripts use.
fn tables(admin: &mut Admin, dbname: &str) -> Result<(u64, Option<(AccountsPartitioning, u64)>), ExitReason> {
    let hint =
        || Said::Hint(format!("Perhaps you need to do initialization (\"pgbench -i\") in database \"{dbname}\"."));
    let sql = "select count(*) from pgbench_branches";
    let branches = admin.query_one(sql).map_err(|error| {
        ExitReason::error(format!("could not count number of branches: {}", text(&error, sql))).and(hint())
    })?;
    let scale = branches
        .parse::<i64>()
        .ok()
        .filter(|n| *n >= 0)
        .ok_or_else(|| ExitReason::error(format!("invalid count(*) from pgbench_branches: \"{branches}\"")))?;
    let rows = admin.query(PARTITIONS);
    let rows = match rows {
        Ok(rows) => rows,
        // pgbench takes the server for an older one, without partitions.
        Err(error) if !error.is_lost() => return Ok((scale.unsigned_abs(), None)),
        Err(error) => return Err(ExitReason::error(format!("could not read catalogs: {}", text(&error, PARTITIONS)))),
    };
    let Some(row) = rows.rows.first() else {
        return Err(ExitReason::error("no pgbench_accounts table found in \"search_path\"").and(hint()));
    };
    let method = match row.get(1).and_then(Option::as_deref) {
        Some("r") => AccountsPartitioning::Range,
        Some("h") => AccountsPartitioning::Hash,
        Some(other) => return Err(ExitReason::error(format!("unexpected partition method: \"{other}\""))),
        None => return Ok((scale.unsigned_abs(), None)),
    };
    let count = row.get(2).and_then(Option::as_deref).and_then(|n| n.parse().ok()).unwrap_or_default();
    Ok((scale.unsigned_abs(), Some((method, count))))
}

fn print_notices(admin: &mut Admin, sql: &str, io: &mut Io<'_>) {
    notices(admin, sql).for_each(|notice| io.raw(&notice));
}

/// Executes a statement; reports a failure and ignores it, unless the user has ended the program.
fn try_to(admin: &mut Admin, sql: &str, halt: &Halt<'_>, io: &mut Io<'_>) -> Result<(), ExitReason> {
    let done: Result<u64, AdminError> = admin.execute(sql);
    if halt.is_interrupted() {
        return Err(ExitReason::error(format!("{sql} was interrupted")));
    }
    print_notices(admin, sql, io);
    if let Err(error) = done {
        io.error(&text(&error, sql));
        io.detail("(ignoring this error and continuing anyway)");
    }
    Ok(())
}
