//! What a load makes.

use std::sync::Mutex;

use crate::postgres;
use crate::sample::Sample;
use crate::server::{self, Server};
use crate::{CAPS, connect, how, load_with, thawed};
use pgdyno_load::{DataState, LoadError, LoadPhase, LoadProgress, identity, load, state};
use pgdyno_net::Stop;

#[test]
fn any_number_of_loaders_makes_the_same_frozen_tables() {
    if !server::available("any_number_of_loaders_makes_the_same_frozen_tables") {
        return;
    }
    let server = Server::start("");
    let mut prints = Vec::new();
    for loaders in [1, 8] {
        let target = server.database(&format!("loaders{loaders}"));
        let sample = Sample::new(&[]);
        let report = load_with(&target, &sample, &how(loaders)).unwrap();
        assert_eq!(report.loaders, loaders);
        assert_eq!(report.notes, [""; 0]);
        let rows: Vec<_> = report.tables.iter().map(|t| (t.name.as_str(), t.rows)).collect();
        assert_eq!(rows, [("journal", 0), ("big", 100_000), ("small", 10)]);
        // On a busy machine one loader may be done with the large table before the others begin.
        assert!(report.tables.iter().all(|t| (1..=loaders).contains(&t.loaders) || t.rows == 0), "{:?}", report.tables);
        assert!(report.data_bytes.unwrap() > 5_000_000, "{}", report.data_bytes.unwrap());

        let mut admin = connect(&target);
        assert_eq!(state(&mut admin, &sample).unwrap(), DataState::Complete(report.stamp));
        let print = "select (select count(*) || ' ' || sum(hashtextextended(b::text, 0)::numeric) from big b) || \
                     (select md5(string_agg(s::text, '|' order by id)) from small s)";
        prints.push(admin.query_one(print).unwrap());
        assert_eq!(admin.query_one("select note from big where id = 100000").unwrap(), "a\tb\\c\nd");

        // Visible to all, as the planner sees it, but for pages that were added for a loader at once and not filled; and
        // frozen, as the pages say.
        let pages = format!(
            "select string_agg(relname || ' ' || relallvisible || '/' || relpages, ' ') from pg_class \
             where relname in ('big', 'small') \
             and (relallvisible = 0 or relallvisible < relpages * 0.95 - 64 * {loaders})"
        );
        assert_eq!(admin.query_opt(&pages).unwrap(), None);
        assert_eq!(thawed(&mut admin, "big"), "0", "{loaders} loaders");

        // From PostgreSQL 18 on NOT NULL is one, too.
        let constraints = "select string_agg(contype::text, '' order by contype) from pg_constraint where contype <> 'n' \
                           and connamespace = 'public'::regnamespace and conrelid <> 'pgdyno_stamp'::regclass";
        assert_eq!(admin.query_one(constraints).unwrap(), "fpp");
        assert_eq!(admin.query_one("select count(*) from pg_indexes where tablename = 'big'").unwrap(), "2");
        assert_eq!(admin.query_one("select sample_sum(7, 'x')").unwrap(), "7");
        assert_eq!(
            admin
                .query_one("select count(distinct starelid) from pg_statistic where starelid = 'big'::regclass")
                .unwrap(),
            "1"
        );
    }
    assert_eq!(prints[0], prints[1]);
}

#[test]
fn a_table_that_one_loader_fills_costs_no_wal_under_wal_level_minimal() {
    if !server::available("a_table_that_one_loader_fills_costs_no_wal_under_wal_level_minimal") {
        return;
    }
    let server = Server::start("wal_level = minimal\nmax_wal_senders = 0\nwal_skip_threshold = 0");
    let mut admin = connect(&server.options());
    let before = admin.query_one("select pg_current_wal_lsn()").unwrap();
    let report = load_with(&server.options(), &Sample::new(&[]), &how(1)).unwrap();
    let wal = admin.query_one(&format!("select pg_current_wal_lsn() - '{before}'")).unwrap();
    assert!(
        wal.parse::<u64>().unwrap() < report.data_bytes.unwrap() / 4,
        "{wal} bytes of WAL for {}",
        report.data_bytes.unwrap()
    );
}

#[test]
fn progress_counts_every_row_and_names_every_phase() {
    if !server::available("progress_counts_every_row_and_names_every_phase") {
        return;
    }
    let server = Server::start("");
    for loaders in [1, 8] {
        let reported = Mutex::new((Vec::new(), 0, 0, Vec::new()));
        let progress = |progress: &LoadProgress<'_>| {
            let mut reported = reported.lock().unwrap();
            match *progress {
                LoadProgress::Plan { tables, rows_expected, rows_kept, loaders: l } => {
                    assert_eq!((tables, rows_expected, rows_kept, l), (3, 100_010, 0, loaders));
                }
                LoadProgress::Phase(phase) => reported.0.push(phase),
                LoadProgress::Table { name: "big", rows, bytes, rows_expected: 100_000 } => {
                    (reported.1, reported.2) = (reported.1.max(rows), reported.2.max(bytes));
                }
                LoadProgress::Table { .. }
                | LoadProgress::Dropping(_)
                | LoadProgress::Dropped(_)
                | LoadProgress::Way(_) => {}
                LoadProgress::Step { phase, done, total } => reported.3.push((phase, done, total)),
            }
        };
        let target = server.database(&format!("progress{loaders}"));
        let report = load(&target, &Sample::new(&[]), &CAPS, &how(loaders), &progress, &Stop::new(), None).unwrap();
        let (phases, rows, bytes, steps) = reported.into_inner().unwrap();
        assert_eq!((rows, bytes), (100_000, report.tables[1].copy_bytes));
        let reported: std::collections::BTreeSet<_> = phases.iter().copied().collect();
        assert_eq!(reported.len(), phases.len(), "each once: {phases:?}");
        assert!(reported.iter().copied().eq(report.phases.iter().map(|p| p.phase)), "{reported:?}");
        assert_eq!(reported.contains(&LoadPhase::Freeze), loaders == 8);
        for (phase, last) in [(LoadPhase::Indexes, 3), (LoadPhase::Analyze, 3), (LoadPhase::ForeignKeys, 1)] {
            let mut done: Vec<_> = steps.iter().filter(|s| s.0 == phase).map(|s| (s.1, s.2)).collect();
            done.sort_unstable();
            assert!(done.into_iter().eq((1..=last).map(|n| (n, last))), "{phase}: {steps:?}");
        }
    }
}

#[test]
fn the_identity_is_that_of_the_rows() {
    let of = |given: &[(&'static str, &str)]| identity(&Sample::new(given));
    assert_eq!(of(&[]), of(&[("scale", "01"), ("mood", "7")]));
    assert_ne!(of(&[]), of(&[("scale", "2")]));
    assert_ne!(of(&[]), of(&[("seed", "2")]));
    let built = |id: &str, scale| identity(crate::data_of(id, [("scale", scale)]).as_ref());
    assert_eq!(built("tpcb-like", "5"), built("select-only", "5"));
    assert_ne!(built("tpcb-like", "5"), built("tpcb-like", "6"));
    // As it was before there was a parameter for the history's indexes.
    assert_eq!(built("tpcb-like", "5"), "7f20a28c8d51e3d7");
    let indexed = crate::data_of("tpcb-like", [("scale", "5"), ("history-indexes", "true")]);
    assert_ne!(built("tpcb-like", "5"), identity(indexed.as_ref()));
    assert_eq!(of(&[]).len(), 16);
}

#[test]
fn an_ordinary_role_with_limits_loads_into_its_own_schema() {
    if !server::available("an_ordinary_role_with_limits_loads_into_its_own_schema") {
        return;
    }
    let server = Server::start("");
    let target = server.database("shared");
    let mut admin = connect(&target);
    admin
        .execute(
            "create role plain login connection limit 3; create schema \"My Schema\" authorization plain; \
             create table big (precious int); \
             alter role plain set statement_timeout = '100ms'; \
             alter role plain set search_path = \"My Schema\", public",
        )
        .unwrap();
    // PostgreSQL 14 brought it.
    if postgres::major() >= 14 {
        admin.execute("alter role plain set idle_session_timeout = '100ms'").unwrap();
    }
    let plain = server.as_role("plain", "shared");
    // Its rows alone take longer than that.
    let sample = Sample::new(&[("scale", "10")]);

    // One connection more than the role may have: fewer do the work.
    let report = load_with(&plain, &sample, &how(3)).unwrap();
    assert!(report.notes.iter().any(|note| note.contains("2 of 3 connect: ")), "{:?}", report.notes);
    assert!(report.notes.iter().any(|note| note.contains("pg_checkpoint")), "{:?}", report.notes);
    assert_eq!(admin.query_one("select count(*) from \"My Schema\".big").unwrap(), "1000000");
    assert_eq!(admin.query_one("select count(*) from public.big").unwrap(), "0", "another schema is not ours");

    admin.execute("alter role plain reset all; alter role plain set search_path = nowhere").unwrap();
    crate::await_alone(&mut admin);
    let error = state(&mut connect(&plain), &sample).unwrap_err();
    assert!(matches!(error, LoadError::NoSchema { .. }), "{error}");
}
