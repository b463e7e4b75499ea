//! The table of steps, in the order of a load and a run. docs/your-server.md has it, too.

use super::ServerStep;

/// Connects.
pub static CONNECT: ServerStep = ServerStep {
    name: "connect",
    is_required: true,
    needs: "LOGIN, CONNECT on the database, a line in `pg_hba.conf`",
    without: "refused",
};
/// Connects all clients at once.
pub static CLIENTS: ServerStep = ServerStep {
    name: "connect all clients at once",
    is_required: true,
    needs: "room within `max_connections`, the connection limits of the role and of the database: one for each client and one for \
            pgdyno",
    without: "refused before the load, with the limit and what is in use",
};
/// Looks for data.
pub static FIND_DATA: ServerStep = ServerStep {
    name: "find out what data exists",
    is_required: true,
    needs: "a schema in `search_path`; SELECT on `pgdyno_stamp` and on the catalogs `pg_class`, `pg_namespace`, `pg_proc`, \
            `pg_description`",
    without: "refused",
};
/// Creates tables and routines.
pub static CREATE: ServerStep = ServerStep {
    name: "create tables and routines",
    is_required: true,
    needs: "CREATE on the first schema of `search_path`, `default_transaction_read_only` off, no standby",
    without: "a load is refused; loaded data can be used",
};
/// Writes rows in transactions.
pub static WRITE: ServerStep = ServerStep {
    name: "write rows in transactions",
    is_required: true,
    needs: "for workloads that write: `default_transaction_read_only` off, no standby; INSERT, UPDATE, DELETE on their tables",
    without: "refused before the load; workloads that only read run",
};
/// Drops data.
pub static DROP: ServerStep = ServerStep {
    name: "drop data",
    is_required: true,
    needs: "ownership of the tables and routines, `default_transaction_read_only` off, no standby",
    without: "`drop` and `--replace` are refused, and nothing is dropped",
};
/// Counts the bytes that are free on the disk.
pub static DISK: ServerStep = ServerStep {
    name: "compare the size of the data with the disk",
    is_required: false,
    needs: "`pg_read_all_settings`, `pg_settings`, `pg_tablespace`, `pg_database_size()`; a server on this machine",
    without: "a load that does not fit fails when the disk is full",
};
/// Keeps two loads apart.
pub static LOAD_LOCK: ServerStep = ServerStep {
    name: "keep two loads of the same data apart",
    is_required: false,
    needs: "advisory locks",
    without: "two loads or drops of the same data at once are not refused",
};
/// Loads over several connections.
pub static LOADERS: ServerStep = ServerStep {
    name: "load over several connections",
    is_required: false,
    needs: "room for `--loaders` connections",
    without: "the load takes longer",
};
/// Reads the settings that decide how a load is done.
pub static LOAD_SETTINGS: ServerStep = ServerStep {
    name: "read the settings that a load depends on",
    is_required: false,
    needs: "`current_setting()`, `pg_size_bytes()`",
    without: "the load may choose a slower way",
};
/// Orders a checkpoint.
pub static CHECKPOINT: ServerStep = ServerStep {
    name: "order a checkpoint after a load",
    is_required: false,
    needs: "superuser, or from PostgreSQL 15 on `pg_checkpoint`",
    without: "the server may write out loaded data during the run",
};
/// Reads the schema of the loaded tables.
pub static SCHEMA: ServerStep = ServerStep {
    name: "compare the schema with the one that was loaded",
    is_required: false,
    needs: "the catalogs `pg_attribute`, `pg_index`, `pg_constraint` and their functions",
    without: "indexes and keys that someone changed are not noticed",
};
/// Sums the sizes of tables.
pub static SIZES: ServerStep = ServerStep {
    name: "measure the size of the tables",
    is_required: false,
    needs: "`pg_total_relation_size()`",
    without: "the record lacks their sizes and their growth",
};
/// Looks for other runs.
pub static OTHER_RUNS: ServerStep = ServerStep {
    name: "look for other runs on this server",
    is_required: false,
    needs: "`pg_locks`, `pg_stat_activity`",
    without: "a run that disturbs this one is not noticed",
};
/// Marks the server as measured.
pub static MARK: ServerStep = ServerStep {
    name: "mark the server as measured",
    is_required: false,
    needs: "advisory locks",
    without: "other runs are not warned of this one",
};
/// Vacuums the small tables.
pub static VACUUM: ServerStep = ServerStep {
    name: "vacuum the tables that every transaction updates",
    is_required: false,
    needs: "ownership of the tables, `default_transaction_read_only` off, no standby",
    without: "dead rows of earlier runs stay",
};
/// Empties the history.
pub static TRUNCATE: ServerStep = ServerStep {
    name: "empty the history",
    is_required: false,
    needs: "TRUNCATE on the table, no session that holds it longer than `lock_timeout`, `default_transaction_read_only` off, no \
            standby",
    without: "the table grows from run to run",
};
/// Checks the data.
pub static CHECK: ServerStep = ServerStep {
    name: "check the data",
    is_required: false,
    needs: "SELECT on the workload's tables, without row-level security",
    without: "a condition whose tables the role may not read is not checked",
};
/// Gives the queries of checks more memory.
pub static CHECK_MEMORY: ServerStep = ServerStep {
    name: "give checks more memory",
    is_required: false,
    needs: "`current_setting()`, `pg_size_bytes()`",
    without: "checks of much data take longer",
};
/// Reads the counters at both ends of the window.
pub static COUNTERS: ServerStep = ServerStep {
    name: "read the server's counters",
    is_required: false,
    needs: "room for one connection beside the clients; `pg_stat_database`",
    without: "the report lacks TPM, cache hits and WAL",
};
/// Samples the server's views.
pub static SAMPLES: ServerStep = ServerStep {
    name: "sample wait events and statistics",
    is_required: false,
    needs: "room for one connection beside the clients; `pg_monitor` to see other sessions",
    without: "the diagnosis has fewer findings",
};

/// All of them, in the order of the page.
pub static ALL: [&ServerStep; 21] = [
    &CONNECT,
    &CLIENTS,
    &FIND_DATA,
    &CREATE,
    &WRITE,
    &DROP,
    &DISK,
    &LOAD_LOCK,
    &LOADERS,
    &LOAD_SETTINGS,
    &CHECKPOINT,
    &SCHEMA,
    &SIZES,
    &OTHER_RUNS,
    &MARK,
    &VACUUM,
    &TRUNCATE,
    &CHECK,
    &CHECK_MEMORY,
    &COUNTERS,
    &SAMPLES,
];
