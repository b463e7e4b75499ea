//! What `pg_stat_statements` counts within a window.

use pgdyno_server::Frame;
use pgdyno_server::stat::{Sampler, SamplerOptions};

use crate::{cell, frame, server, why};

const PRELOADED: &str = "shared_preload_libraries = 'pg_stat_statements'\n";

fn row<'a>(frame: &'a Frame, query: &str) -> Option<&'a [Option<String>]> {
    frame.rows.iter().find(|row| cell(frame, row, "query") == Some(query)).map(Vec::as_slice)
}

#[test]
fn only_what_was_done_within_the_window_counts_and_nothing_of_the_sampler() {
    let Some(server) = server("statements", PRELOADED) else { return };
    let mut admin = server.admin();
    admin
        .execute("CREATE SCHEMA \"My\"; CREATE EXTENSION pg_stat_statements SCHEMA \"My\"; CREATE TABLE t (n int)")
        .unwrap();
    for _ in 0..3 {
        admin.execute("INSERT INTO t VALUES (1)").unwrap();
    }
    let mut sampler = Sampler::begin(&server.options(), SamplerOptions { plans: 3, ..SamplerOptions::default() });
    sampler.look();
    sampler.window_opens();
    for n in 0..7 {
        admin.execute(&format!("INSERT INTO t VALUES ({n})")).unwrap();
    }
    admin.execute("SELECT count(*) FROM t, t u, t v").unwrap();
    sampler.look();
    let frames = sampler.window_closes();
    let frame = frame(&frames, "statements").unwrap();
    let inserts = row(frame, "INSERT INTO t VALUES ($1)").unwrap();
    assert_eq!((cell(frame, inserts, "calls"), cell(frame, inserts, "rows")), (Some("7"), Some("7")));
    assert!(cell(frame, inserts, "wal_bytes").unwrap().parse::<f64>().unwrap() > 0.0);
    let number = |column| cell(frame, inserts, column).unwrap().parse::<f64>().unwrap();
    assert!((number("total_exec_time_ms") / 7.0 - number("mean_exec_time_ms")).abs() < 1e-3);
    assert!(frame.rows.iter().all(|row| !cell(frame, row, "query").unwrap().contains("pgdyno")), "{frame:?}");
    let sampled = sampler.end();
    assert_eq!(why(&sampled, "statements"), None);
    let plans = sampled.plans.unwrap();
    assert!(plans.contains("SELECT count(*) FROM t, t u, t v\n\nAggregate"), "{plans}");
    assert!(plans.contains("INSERT INTO t VALUES ($1)\n\nInsert on t"), "constants are parameters: {plans}");
}

#[test]
fn a_reset_within_the_window_leaves_them_out() {
    let Some(server) = server("a reset of the statements", PRELOADED) else { return };
    let mut admin = server.admin();
    admin.execute("CREATE EXTENSION pg_stat_statements").unwrap();
    let mut sampler = Sampler::begin(&server.options(), SamplerOptions::default());
    sampler.window_opens();
    admin.execute("SELECT pg_stat_statements_reset()").unwrap();
    assert!(frame(&sampler.window_closes(), "statements").is_none());
    let sampled = sampler.end();
    assert!(why(&sampled, "statements").unwrap().contains("reset in the measured window"));
    assert_eq!(sampled.notices.iter().map(|notice| notice.kind).collect::<Vec<_>>(), ["reset"]);
}

#[test]
fn a_server_that_could_count_them_and_does_not_is_reported() {
    let conf = format!("{PRELOADED}pg_stat_statements.track = none\n");
    let Some(server) = server("statements that are not tracked", &conf) else { return };
    let sampled = Sampler::begin(&server.options(), SamplerOptions::default()).end();
    assert!(why(&sampled, "statements").unwrap().contains("--set pg_stat_statements.track=top"));
}

#[test]
fn the_extension_is_made_in_ones_own_database_only() {
    let Some(server) = server("the extension", PRELOADED) else { return };
    let sampler = Sampler::begin(&server.options(), SamplerOptions::default());
    let reported = sampler.end();
    assert_eq!(why(&reported, "statements"), Some("run CREATE EXTENSION pg_stat_statements in this database"));
    let mut sampler =
        Sampler::begin(&server.options(), SamplerOptions { owns_database: true, ..SamplerOptions::default() });
    sampler.window_opens();
    server.admin().execute("SELECT 42").unwrap();
    assert!(row(frame(&sampler.window_closes(), "statements").unwrap(), "SELECT $1").is_some());
    assert_eq!(why(&sampler.end(), "statements"), None);
}
