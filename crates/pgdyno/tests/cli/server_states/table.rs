//! The states: what is done to the role `R` and the database `D` before the commands run.

/// A state of a server as users meet it.
pub(super) struct State {
    pub(super) name: &'static str,
    /// Statements of the superuser in the database. `R` is the role, `D` the database.
    pub(super) sql: &'static [&'static str],
    /// `options=` of the target, and PGOPTIONS of the drop-in.
    pub(super) options: &'static str,
    /// What some of the commands must say: the command's name, its exit code, and words of its output.
    pub(super) says: &'static [(&'static str, i32, &'static str)],
}

const fn state(name: &'static str, sql: &'static [&'static str]) -> State {
    State { name, sql, options: "", says: &[] }
}

impl State {
    const fn options(self, options: &'static str) -> Self {
        Self { options, ..self }
    }

    const fn says(self, says: &'static [(&'static str, i32, &'static str)]) -> Self {
        Self { says, ..self }
    }
}

/// Makes another role the owner of all that is loaded.
const OTHER_OWNER: &str = "do $$ declare t text; begin for t in select oid::regclass::text from pg_class where relnamespace = \
    'public'::regnamespace and relkind = 'r' loop execute 'alter table ' || t || ' owner to postgres'; end loop; end $$";
const NOT_OWNER: &str = "alter database D owner to postgres";

/// The commands of a role whose transactions are read-only.
const READ_ONLY: &[(&str, i32, &str)] = &[
    ("run reads", 0, "default_transaction_read_only is on, so this was left out before the run: vacuum"),
    ("run writes", 1, "default_transaction_read_only is on, and tpcb-like writes"),
    ("load", 1, "default_transaction_read_only is on, and a load of ycsb-a writes"),
    ("drop", 1, "default_transaction_read_only is on, and drop changes data"),
    ("plan", 1, "default_transaction_read_only is on"),
    ("doctor", 0, "read-only: default_transaction_read_only is on"),
];
/// Those of a role that may not create tables in schema public.
const NO_CREATE: &[(&str, i32, &str)] = &[
    ("plan load", 0, "the load will be refused: role R may not create tables in schema public"),
    ("load", 11, "hint: GRANT CREATE ON SCHEMA public TO R, or give the role a schema of its own"),
    ("run reads", 0, ""),
    ("run writes", 0, ""),
];
const RUNS: &[(&str, i32, &str)] = &[("run reads", 0, ""), ("run writes", 0, ""), ("run mixed", 0, "")];
const WITHOUT_OTHER_RUNS: &[(&str, i32, &str)] = &[
    ("run reads", 0, "left out: look for other runs on this server"),
    ("run writes", 0, "left out: look for other runs on this server"),
    ("load", 0, ""),
    ("drop", 0, ""),
];

pub(super) const STATES: &[State] = &[
    state("as it comes", &[]).says(&[("load", 0, ""), ("check", 0, ""), ("drop", 0, "dropped table sbtest1")]),
    // Settings of the role, the database and the connection.
    state("read-only by role", &["alter role R set default_transaction_read_only = on"]).says(READ_ONLY),
    state("read-only by database", &["alter database D set default_transaction_read_only = on"]).says(READ_ONLY),
    state("read-only by role in database", &["alter role R in database D set default_transaction_read_only = on"])
        .says(READ_ONLY),
    state("read-only by options", &[]).options("-c default_transaction_read_only=on").says(READ_ONLY),
    state("statement_timeout by role", &["alter role R set statement_timeout = '60s'"]).says(RUNS),
    state("statement_timeout by database", &["alter database D set statement_timeout = '60s'"]).says(RUNS),
    state("a short statement_timeout", &["alter role R set statement_timeout = '1ms'"]),
    state("lock_timeout", &["alter role R set lock_timeout = '20s'"]).says(RUNS),
    state("idle_in_transaction_session_timeout", &["alter role R set idle_in_transaction_session_timeout = '20s'"])
        .says(RUNS),
    state("idle_session_timeout", &["alter role R set idle_session_timeout = '60s'"]).says(RUNS),
    state("serializable", &["alter role R set default_transaction_isolation = serializable"]).says(RUNS),
    state("deferrable", &["alter role R set default_transaction_deferrable = on"]).says(RUNS),
    state("other strings", &["alter role R set standard_conforming_strings = off"]).says(RUNS),
    state("other dates", &["alter role R set datestyle = 'German, DMY'"]).says(RUNS),
    state("other encoding", &["alter role R set client_encoding = latin1"]).says(RUNS),
    state("other bytea", &["alter role R set bytea_output = escape"]).says(RUNS),
    state("few digits", &["alter role R set extra_float_digits = -15"]).says(RUNS),
    state("quoted identifiers", &["alter role R set quote_all_identifiers = on"]).says(RUNS),
    state("few messages", &["alter role R set client_min_messages = error"]).says(RUNS),
    state("little memory", &["alter role R set work_mem = '64kB'", "alter role R set maintenance_work_mem = '1MB'"])
        .says(&[("load", 0, ""), ("check", 0, "")]),
    state("no temporary files", &["alter role R set temp_file_limit = 0"]),
    state("no indexes for queries", &["alter role R set enable_indexscan = off"]).says(RUNS),
    state("row_security off", &["alter role R set row_security = off"]).says(RUNS),
    state("default_tablespace that is missing", &["alter role R set default_tablespace = nowhere"]),
    state("no checks of bodies", &["alter role R set check_function_bodies = off"]).says(RUNS),
    // Search paths.
    state("an empty search_path", &["alter role R set search_path = ''"]).says(&[("load", 11, "hint: ")]),
    state("search_path to nowhere", &["alter role R set search_path = nowhere"]),
    state("search_path to nowhere by database", &["alter database D set search_path = nowhere"]),
    state("search_path to nowhere by options", &[]).options("-c search_path=nowhere"),
    state("search_path to another schema", &[
        "create schema other authorization R",
        "alter role R set search_path = other, public",
    ]),
    state("search_path to pg_catalog", &["alter role R set search_path = pg_catalog"]),
    state("search_path to a closed schema", &["create schema closed", "alter role R set search_path = closed, public"])
        .says(RUNS),
    // Rights on schemas, tables and the database.
    state("not the owner of public", &[NOT_OWNER]).says(NO_CREATE),
    state("neither CREATE nor TEMP", &[NOT_OWNER, "revoke create, temp on database D from public"]).says(NO_CREATE),
    state("a schema of its own", &[NOT_OWNER, "create schema R authorization R"]).says(&[("load", 0, "")]),
    state("tables of another owner", &[OTHER_OWNER, NOT_OWNER]),
    state("SELECT alone", &[OTHER_OWNER, NOT_OWNER, "grant select on all tables in schema public to R"]).says(&[
        ("run reads", 0, "before the run, truncate pgbench_history: left out: empty the history"),
        ("run writes", 1, "INSERT, UPDATE, DELETE ON"),
        ("drop", 11, "hint: connect as the owner of"),
    ]),
    state("DML alone", &[
        OTHER_OWNER,
        NOT_OWNER,
        "grant select, insert, update, delete on all tables in schema public to R",
    ])
    .says(RUNS),
    state("a stamp that it may not read", &["alter table pgdyno_stamp owner to postgres"])
        .says(&[("run reads", 11, "hint: GRANT SELECT ON pgdyno_stamp")]),
    state("no stamp", &["drop table pgdyno_stamp"]),
    state("a history of another owner", &["alter table pgbench_history owner to postgres"])
        .says(&[("run reads", 0, "left out: empty the history")]),
    state("no history", &["drop table pgbench_history"]).says(&[
        ("run reads", 0, "pgbench_history of pgbench is missing, which this workload does not read"),
        ("run writes", 11, "table pgbench_history is missing"),
    ]),
    state("no branches", &["drop table pgbench_branches"]),
    state("rows that a policy hides", &[
        "alter table pgbench_accounts owner to postgres",
        "grant all on pgbench_accounts to R",
        "alter table pgbench_accounts enable row level security",
        "alter role R set row_security = off",
    ]),
    state("a role that switches to another", &["create role R_inner", "grant R_inner to R", "alter role R set role = R_inner"]),
    state("an event trigger on DROP", &[
        "create function no_drop() returns event_trigger language plpgsql as $$ begin raise exception 'no drops here'; end $$",
        "create event trigger no_drop on sql_drop execute function no_drop()",
    ])
    .says(&[("drop", 11, "event trigger")]),
    state("an event trigger on DDL", &[
        "create function no_ddl() returns event_trigger language plpgsql as $$ begin if session_user <> 'postgres' then \
         raise exception 'no DDL here'; end if; end $$",
        "create event trigger no_ddl on ddl_command_start execute function no_ddl()",
    ])
    .says(&[("load", 11, "event trigger")]),
    state("a trigger that refuses", &[
        "create function no_rows() returns trigger language plpgsql as $$ begin raise exception 'not today'; end $$",
        "create trigger no_rows before insert on pgbench_history for each row execute function no_rows()",
    ]),
    state("a role that may not log in", &["alter role R nologin"]),
    state("a database that it may not enter", &[NOT_OWNER, "revoke connect on database D from public"]),
    // Limits of connections.
    state("no connection of the role", &["alter role R connection limit 0"]),
    state("one connection of the role", &["alter role R connection limit 1"]),
    state("two connections of the role", &["alter role R connection limit 2"]).says(&[
        ("run reads", 1, "you asked for 2 clients, but the server has room for 0: the connection limit of role \"R\" is 2"),
        ("plan", 0, "the run will be refused: you asked for"),
        ("doctor", 0, "the connection limit of role \"R\" is 2"),
    ]),
    state("three connections of the role", &["alter role R connection limit 3"])
        .says(&[("run reads", 0, "left out: sample wait events and statistics"), ("run writes", 0, "")]),
    state("five connections of the role", &["alter role R connection limit 5"]).says(RUNS),
    state("one connection of the database", &["alter database D connection limit 1"]),
    state("two connections of the database", &["alter database D connection limit 2"])
        .says(&[("run reads", 1, "hint: lower --clients or --streams, let clients share --connections, or ALTER DATABASE")]),
    state("four connections of the database", &["alter database D connection limit 4"]).says(&[("run reads", 0, "")]),
    // Views and catalogs.
    state("no pg_locks", &["revoke select on pg_catalog.pg_locks from public"]).says(WITHOUT_OTHER_RUNS),
    state("no pg_stat_activity", &["revoke select on pg_catalog.pg_stat_activity from public"]).says(WITHOUT_OTHER_RUNS),
    state("no pg_settings", &["revoke select on pg_catalog.pg_settings from public"])
        .says(&[("run reads", 0, ""), ("run mixed", 0, ""), ("check", 0, ""), ("load", 0, "")]),
    state("no pg_stat_database", &["revoke select on pg_catalog.pg_stat_database from public"]).says(RUNS),
    state("no pg_stat_user_tables", &["revoke select on pg_catalog.pg_stat_user_tables from public"]).says(RUNS),
    state("no pg_stat_all_tables", &["revoke select on pg_catalog.pg_stat_all_tables from public"]).says(RUNS),
    state("no pg_stat_bgwriter", &["revoke select on pg_catalog.pg_stat_bgwriter from public"]).says(RUNS),
    state("no pg_stat_wal", &["revoke select on pg_catalog.pg_stat_wal from public"]).says(RUNS),
    state("no pg_stat_replication", &["revoke select on pg_catalog.pg_stat_replication from public"]).says(RUNS),
    state("no pg_roles", &["revoke select on pg_catalog.pg_roles from public"]).says(RUNS),
    state("no pg_database", &["revoke select on pg_catalog.pg_database from public"]).says(RUNS),
    state("no pg_extension", &["revoke select on pg_catalog.pg_extension from public"]).says(RUNS),
    state("no pg_index", &["revoke select on pg_catalog.pg_index from public"])
        .says(&[("run reads", 0, "compare the schema with the one that was loaded")]),
    state("no pg_constraint", &["revoke select on pg_catalog.pg_constraint from public"]).says(&[("run reads", 0, "")]),
    state("no pg_class", &["revoke select on pg_catalog.pg_class from public"]),
    state("no pg_proc", &["revoke select on pg_catalog.pg_proc from public"]),
    state("no pg_description", &["revoke select on pg_catalog.pg_description from public"]),
    // Functions.
    state("no advisory locks", &[
        "revoke execute on function pg_catalog.pg_advisory_lock_shared(integer, integer) from public",
        "revoke execute on function pg_catalog.pg_try_advisory_lock(integer, integer) from public",
        "revoke execute on function pg_catalog.pg_try_advisory_xact_lock(integer, integer) from public",
        "revoke execute on function pg_catalog.pg_advisory_unlock_all() from public",
    ])
    .says(&[
        ("run reads", 0, "left out: mark the server as measured"),
        ("load", 0, "left out: keep two loads of the same data apart"),
        ("drop", 0, ""),
    ]),
    state("no set_config", &["revoke execute on function pg_catalog.set_config(text, text, boolean) from public"])
        .says(&[("run reads", 0, ""), ("run writes", 0, ""), ("check", 0, ""), ("load", 0, "")]),
    state("no current_setting", &[
        "revoke execute on function pg_catalog.current_setting(text) from public",
        "revoke execute on function pg_catalog.current_setting(text, boolean) from public",
    ])
    .says(&[("run reads", 0, ""), ("load", 0, "left out: read the settings that a load depends on")]),
    state("no pg_size_bytes", &["revoke execute on function pg_catalog.pg_size_bytes(text) from public"])
        .says(&[("run reads", 0, ""), ("load", 0, "")]),
    state("no pg_total_relation_size", &[
        "revoke execute on function pg_catalog.pg_total_relation_size(regclass) from public",
    ])
    .says(&[("run reads", 0, ""), ("load", 0, "left out: measure the size of the tables"), ("check", 0, "")]),
    state("no pg_database_size", &["revoke execute on function pg_catalog.pg_database_size(name) from public"])
        .says(&[("run reads", 0, ""), ("load", 0, "")]),
    state("no pg_backend_pid", &["revoke execute on function pg_catalog.pg_backend_pid() from public"])
        .says(&[("run reads", 0, "")]),
    state("no pg_get_indexdef", &["revoke execute on function pg_catalog.pg_get_indexdef(oid) from public"])
        .says(&[("run reads", 0, ""), ("check", 0, "")]),
    state("no pg_relation_filenode", &[
        "revoke execute on function pg_catalog.pg_relation_filenode(regclass) from public",
    ])
    .says(&[("run reads", 0, "")]),
    state("no to_regclass", &["revoke execute on function pg_catalog.to_regclass(text) from public"]),
    state("no quote_ident", &["revoke execute on function pg_catalog.quote_ident(text) from public"]),
    state("no format_type", &["revoke execute on function pg_catalog.format_type(oid, integer) from public"]),
    state("no current_schema", &["revoke execute on function pg_catalog.current_schema() from public"]),
];
