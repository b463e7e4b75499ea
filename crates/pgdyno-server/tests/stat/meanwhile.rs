//! What happens to a server, and to its statistics, while it is looked at.

use pgdyno_server::stat::{Sampler, SamplerOptions};

use crate::postgres;
use crate::server::TestServer;
use crate::{cell, frame, number, server, until};

#[test]
fn a_reset_is_noticed_once_for_each_view_that_it_was_of() {
    let Some(server) = server("a reset", "") else { return };
    let mut admin = server.admin();
    // Before PostgreSQL 15 there is nothing to reset until something was counted.
    let counted = "SELECT stats_reset IS NOT NULL FROM pg_stat_database WHERE datname = current_database()";
    while postgres::major() < 15 && admin.query_one(counted).unwrap() != "t" {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let mut sampler = Sampler::begin(&server.options(), SamplerOptions::default());
    sampler.look();
    let checkpointer = if postgres::major() >= 17 { ", pg_stat_reset_shared('checkpointer')" } else { "" };
    admin.execute(&format!("SELECT pg_stat_reset(), pg_stat_reset_shared('bgwriter'){checkpointer}")).unwrap();
    if postgres::major() < 15 {
        // The process that collects statistics then has to receive it first.
        std::thread::sleep(std::time::Duration::from_secs(2));
    }
    let before = number(frame(&sampler.look(), "database").unwrap(), "xact_commit");
    sampler.look();
    let sampled = sampler.end();
    let reset: Vec<_> = sampled.notices.iter().map(|notice| (notice.kind, notice.text.as_str())).collect();
    // Before PostgreSQL 17 one view has the counters of both.
    for source in ["database", "bgwriter", "checkpointer"] {
        let reported = reset.iter().filter(|(kind, text)| *kind == "reset" && text.contains(&format!(" of {source} ")));
        assert_eq!(reported.count(), 1, "{source}: {reset:?}");
    }
    assert_eq!(reset.len(), 3);
    assert!(before < 1000.0);
}

#[test]
fn a_restart_is_noticed_and_the_looks_go_on() {
    let Some(mut server) = server("a restart", "") else { return };
    let mut sampler = Sampler::begin(&server.options(), SamplerOptions::default());
    assert!(frame(&sampler.look(), "database").is_some());
    server.crash();
    // Nobody is there, and nobody is waited for.
    assert_eq!(sampler.look(), []);
    sampler.look_at_waits();
    assert_eq!(sampler.look(), []);
    server.restart();
    until(&mut sampler, "it is seen again", |frames| frame(frames, "database").map(|_| ()));
    until(&mut sampler, "so is what sessions wait for", |frames| frame(frames, "waits").map(|_| ()));
    until(&mut sampler, "so is what is looked at every two seconds", |frames| frame(frames, "slru").map(|_| ()));
    let sampled = sampler.end();
    // Its counters began again: one notice names all of them.
    let [restart] = &sampled.notices[..] else { panic!("{:?}", sampled.notices) };
    assert_eq!(restart.kind, "restart", "{restart:?}");
    let (_, reset) = restart.text.split_once("; the counters of ").unwrap_or_else(|| panic!("{}", restart.text));
    assert!(reset.contains("bgwriter, ") && reset.contains(" began again: "), "{reset}");
    assert!(restart.until.unwrap() > restart.at && restart.text.contains("the server was restarted"));
    assert!(sampled.transactions >= sampled.queries + 2, "{sampled:?}");
}

#[test]
fn standbys_are_seen_that_come_later_and_until_they_go() {
    let Some(primary) = server("a standby that comes later", "wal_level = replica\nmax_wal_senders = 4\n") else {
        return;
    };
    let mut sampler = Sampler::begin(&primary.options(), SamplerOptions::default());
    assert_eq!(frame(&sampler.look(), "replication").unwrap().rows, [] as [Vec<Option<String>>; 0]);
    let standby = TestServer::standby_of(&primary);
    until(&mut sampler, "it is seen with its name", |frames| {
        let replication = frame(frames, "replication")?;
        let row = replication.rows.first()?;
        let words = ["application_name", "state", "sync_state"].map(|column| cell(replication, row, column));
        let behind: f64 = cell(replication, row, "lag_bytes")?.parse().unwrap();
        (words == [Some("walreceiver"), Some("streaming"), Some("async")] && behind >= 0.0).then_some(())
    });
    drop(standby);
    until(&mut sampler, "it is gone", |frames| frame(frames, "replication")?.rows.is_empty().then_some(()));
    let sampled = sampler.end();
    assert_eq!((sampled.notices, sampled.left_out.iter().find(|out| out.source == "replication")), (vec![], None));
}

#[test]
fn a_session_that_was_thrown_out_comes_back() {
    let Some(server) = server("a session that is thrown out", "") else { return };
    let mut sampler = Sampler::begin(&server.options(), SamplerOptions::default());
    sampler.look();
    let thrown =
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'pgdyno sampler'";
    assert_eq!(server.admin().query_one(thrown).unwrap(), "1");
    until(&mut sampler, "it is there again", |frames| frame(frames, "wal").map(|_| ()));
    let sampled = sampler.end();
    let kinds: Vec<_> = sampled.notices.iter().map(|notice| notice.kind).collect();
    assert_eq!(kinds, ["outage"], "{:?}", sampled.notices);
}

#[test]
fn what_is_forgotten_between_the_looks_is_asked_without_preparing_it() {
    let Some(server) = server("forgotten statements", "") else { return };
    // As behind a pooler, where the next statement meets another session: a view that makes this one forget.
    server
        .admin()
        .execute(
            "CREATE SCHEMA shadow; \
             CREATE FUNCTION shadow.forget() RETURNS bool LANGUAGE plpgsql AS \
             $$ BEGIN DEALLOCATE pgdyno_database; RETURN true; EXCEPTION WHEN OTHERS THEN RETURN true; END $$; \
             CREATE VIEW shadow.pg_stat_bgwriter AS SELECT * FROM pg_catalog.pg_stat_bgwriter WHERE shadow.forget(); \
             ALTER ROLE postgres SET search_path = shadow, pg_catalog, public",
        )
        .unwrap();
    let mut sampler = Sampler::begin(&server.options(), SamplerOptions::default());
    until(&mut sampler, "all is seen", |frames| {
        ["database", "bgwriter", "wal", "waits"].iter().all(|source| frame(frames, source).is_some()).then_some(())
    });
    let sampled = sampler.end();
    assert_eq!(sampled.notices, []);
    assert!(!sampled.left_out.iter().any(|out| ["database", "bgwriter"].contains(&out.source)), "{sampled:?}");
}
