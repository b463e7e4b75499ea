//! Loading, checking and dropping on a real server.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod builtin;
mod by_sql;
mod check;
mod fresh;
mod in_the_way;
mod interrupted;
mod layout;
mod loaded;
mod partitions;
mod resumed;
mod sample;
mod scenario;
mod server;

use pgdyno_testing::{postgres, skipped};
use std::sync::Arc;

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use pgdyno_load::{LoadError, LoadOptions, LoadProgress, LoadReport, load};
use pgdyno_net::{Admin, ConnectOptions, Stop};
use pgdyno_workload::{Capabilities, DataSet};

/// The server of these tests.
static CAPS: LazyLock<Capabilities> = LazyLock::new(|| Capabilities {
    server_version_num: postgres::major() * 10_000,
    distributed_tables: false,
    cluster: None,
    standby: false,
    read_only: None,
    pooling: None,
});

/// Nothing may be dropped.
fn how(loaders: usize) -> LoadOptions {
    LoadOptions { loaders, ..LoadOptions::default() }
}

/// A load that nobody watches or stops.
/// The data of a built-in workload.
fn data_of<'a>(id: &str, given: impl IntoIterator<Item = (&'a str, &'a str)>) -> Arc<dyn DataSet> {
    pgdyno_workloads::registry::build(id, given).unwrap().data.swap_remove(0)
}

fn load_with(target: &ConnectOptions, data: &dyn DataSet, how: &LoadOptions) -> Result<LoadReport, LoadError> {
    load(target, data, &CAPS, how, &|_: &LoadProgress<'_>| {}, &Stop::new(), None)
}

fn connect(target: &ConnectOptions) -> Admin {
    Admin::connect(target).unwrap()
}

/// Pages with rows of a table, or of its partitions, that are not all-visible and frozen. Pages without a row, which
/// loaders leave that extend a table side by side or are stopped, are none of them.
fn thawed(admin: &mut Admin, table: &str) -> String {
    admin.execute("create extension pg_visibility").unwrap();
    let sql = format!(
        "select count(*) from (select distinct tableoid, (ctid::text::point)[0]::bigint as page from {table}) p, \
         pg_visibility(tableoid, page) where not (all_visible and all_frozen)"
    );
    admin.query_one(&sql).unwrap()
}

/// All connections of a load must end: none may go on with a statement.
fn await_alone(admin: &mut Admin) {
    let others = "select coalesce(string_agg(state || ': ' || query, '; '), '') from pg_stat_activity \
                  where application_name = 'pgdyno' and pid <> pg_backend_pid()";
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let others = admin.query_one(others).unwrap();
        if others.is_empty() {
            return;
        }
        assert!(!others.contains("active:"), "still running: {others}");
        assert!(Instant::now() < deadline, "still connected: {others}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
