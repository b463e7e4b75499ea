//! The portable PostgreSQL, fetched for real. Skipped aloud where there is no network.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use pgdyno_net::Admin;
use pgdyno_server::portable::{PORTABLE_MAJOR, PortableError, cached, obtain};
use pgdyno_server::stat::{Sampler, SamplerOptions};
use pgdyno_server::{Account, HeldServer, Places, PrivateServerOptions, Want};
use pgdyno_testing::skipped::skipped;

#[test]
fn it_is_fetched_once_and_runs() {
    let root = tempfile::tempdir().unwrap();
    std::fs::set_permissions(root.path(), Permissions::from_mode(0o755)).unwrap();
    let places = Places::at(root.path().join("cache"));
    let account = Account::for_server().unwrap();
    // Two at once: the second waits for the first.
    let fetched = std::sync::atomic::AtomicU32::new(0);
    let fetch = || {
        obtain(&places, PORTABLE_MAJOR, account.as_ref(), || {
            fetched.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        })
    };
    let both = std::thread::scope(|scope| {
        let other = scope.spawn(fetch);
        [fetch(), other.join().unwrap()]
    });
    let [one, two] = match both {
        [Ok(one), Ok(two)] => [one, two],
        [Err(PortableError::Download { reason, .. }), _] => {
            skipped(&format!("the portable PostgreSQL cannot be fetched here: {reason}"));
            return;
        }
        [Err(error), _] | [_, Err(error)] => panic!("{error}"),
    };
    assert_eq!(one, two);
    assert_eq!(fetched.into_inner(), 1);
    assert_eq!(one.version.major, PORTABLE_MAJOR);
    assert_eq!(cached(&places, PORTABLE_MAJOR), Some(one));
    let again = obtain(&places, PORTABLE_MAJOR, account.as_ref(), || panic!("it is fetched again"));
    assert_eq!(again.unwrap(), two);
    match obtain(&places, 99, account.as_ref(), || {}) {
        Err(PortableError::NotOffered { offered, .. }) => {
            assert!([13, 14, 15, 16, 17, 18].iter().all(|major| offered.contains(major)), "{offered:?}");
        }
        other => panic!("PostgreSQL 99 is not published: {other:?}"),
    }
    let left: Vec<String> = std::fs::read_dir(places.portable())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(".unpack"))
        .collect();
    assert_eq!(left, Vec::<String>::new());

    let test = std::env::current_exe().unwrap();
    let target = test.parent().and_then(Path::parent).unwrap();
    let options = PrivateServerOptions::new(target.join("examples/private_server"), places);
    let embedded = HeldServer::start(&Want::Major(PORTABLE_MAJOR), &options, &mut |_| {}).unwrap();
    let mut admin = Admin::connect(&embedded.server().connect_options("postgres")).unwrap();
    let version = admin.query_one("SHOW server_version_num").unwrap();
    assert_eq!(&version[..2], PORTABLE_MAJOR.to_string());
    admin.execute("CREATE EXTENSION pg_stat_statements").unwrap();
    admin.query("TABLE pg_stat_statements").unwrap();

    // Its views have other names and columns than those of PostgreSQL 15.
    let mut sampler = Sampler::begin(&embedded.server().connect_options("postgres"), SamplerOptions::default());
    let frames = sampler.look();
    let seen: Vec<_> = frames.iter().filter(|frame| !frame.rows.is_empty()).map(|frame| frame.source).collect();
    assert_eq!(seen, ["database", "bgwriter", "checkpointer", "wal", "io", "slru", "waits"]);
    let of = |source: &str, column: &str| {
        let frame = frames.iter().find(|frame| frame.source == source).unwrap();
        let nth = frame.columns.iter().position(|name| *name == column).unwrap();
        frame.rows[0][nth].clone().unwrap()
    };
    for (source, column) in [("checkpointer", "num_done"), ("wal", "wal_sync"), ("wal", "wal_sync_time_ms")] {
        assert!(of(source, column).parse::<f64>().unwrap() >= 0.0, "{source} {column}");
    }
    let left_out: Vec<_> = sampler.end().left_out.into_iter().map(|out| out.source).collect();
    assert_eq!(left_out, ["track_io_timing", "track_wal_io_timing"]);
}
