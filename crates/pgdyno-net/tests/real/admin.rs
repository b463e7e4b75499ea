//! SQL and COPY against a real server.

use crate::postgres;
use crate::server::{self, TestServer};
use pgdyno_net::AdminError;
use pgdyno_wire::SqlState;

const TRUST: &str = "local all all trust\nhost all all all trust\n";

#[test]
fn sql_copy_and_cancel_work_and_their_errors_show_the_statement() {
    if !server::available("admin") {
        return;
    }
    let server = TestServer::start("", TRUST);
    let mut admin = server.admin();
    assert_eq!(admin.parameters().server_version_num().map(|v| v / 10_000), Some(postgres::major()));

    assert_eq!(
        admin.execute("create table t (a int primary key, b text); insert into t values (1, 'x'), (2, null)").unwrap(),
        2
    );
    let rows = admin.query("select a, b from t order by a").unwrap();
    assert_eq!(rows.columns, ["a", "b"]);
    assert_eq!(rows.rows, [vec![Some("1".to_owned()), Some("x".to_owned())], vec![Some("2".to_owned()), None]]);
    assert_eq!(admin.query_one("select count(*) from t").unwrap(), "2");
    assert_eq!(admin.query_opt("select b from t where a = 9").unwrap(), None);
    assert!(matches!(admin.query_one("select a from t"), Err(AdminError::Shape { .. })));

    assert_eq!(admin.query_with("select $1::int + 1, $2", &["41", "x"]).unwrap().rows[0][0].as_deref(), Some("42"));
    assert_eq!(
        admin.query_with("select $1::int", &["x"]).unwrap_err().code().map(|c| c.to_string()).as_deref(),
        Some("22P02")
    );

    admin.execute("drop table if exists nothing").unwrap();
    assert_eq!(admin.take_notices(), []);
    admin.keep_notices();
    admin.execute("drop table if exists nothing, naught").unwrap();
    let notices: Vec<_> = admin.take_notices().into_iter().map(|notice| notice.message).collect();
    assert_eq!(notices, ["table \"nothing\" does not exist, skipping", "table \"naught\" does not exist, skipping"]);
    assert_eq!(admin.take_notices(), []);

    let error = admin.execute("select * from absent").unwrap_err();
    assert_eq!(error.code(), Some(SqlState::UNDEFINED_TABLE));
    assert!(error.to_string().ends_with("in: select * from absent"), "{error}");

    // Large pieces, not at the borders of rows.
    let mut text = String::new();
    for a in 10..200_010 {
        text.push_str(&format!("{a}\trow {a}\n"));
    }
    let mut copy = admin.copy_in("copy t from stdin").unwrap();
    for piece in text.as_bytes().chunks(100_001) {
        copy.write(piece).unwrap();
    }
    assert_eq!(copy.finish().unwrap(), 200_000);
    assert_eq!(admin.query_one("select count(*) from t").unwrap(), "200002");

    // An error in the middle is reported while there is still more to send.
    let mut copy = admin.copy_in("copy t from stdin").unwrap();
    let error = (0..10_000).find_map(|_| copy.write(text.as_bytes()).err()).expect("a duplicate key ends the COPY");
    drop(copy);
    assert_eq!(error.code().map(|c| c.to_string()).as_deref(), Some("23505"));
    assert_eq!(admin.query_one("select 1").unwrap(), "1", "still usable");

    // A COPY that is dropped leaves nothing.
    let mut copy = admin.copy_in("copy t from stdin").unwrap();
    copy.write(b"900000\tx\n").unwrap();
    drop(copy);
    assert_eq!(admin.query_one("select count(*) from t").unwrap(), "200002");
    assert!(matches!(admin.copy_in("select 1"), Err(AdminError::Shape { .. })));
    assert!(admin.copy_in("copy absent from stdin").is_err());
    assert!(admin.execute("copy t from stdin").is_err(), "no data, no hang");

    let cancel = admin.cancel_handle();
    let waiting = std::thread::spawn(move || admin.execute("select pg_sleep(600)").unwrap_err());
    let mut other = server.admin();
    while other.query_one("select count(*) from pg_stat_activity where wait_event = 'PgSleep'").unwrap() == "0" {}
    cancel.cancel().unwrap();
    assert_eq!(waiting.join().unwrap().code(), Some(SqlState::QUERY_CANCELED));

    let mut victim = server.admin();
    let pid = victim.query_one("select pg_backend_pid()").unwrap();
    other.execute(&format!("select pg_terminate_backend({pid})")).unwrap();
    let error = loop {
        if let Err(error) = victim.execute("select 1") {
            break error;
        }
    };
    assert!(error.is_lost());
    assert!(error.to_string().contains("administrator command"), "{error}");
    assert!(matches!(error, AdminError::Lost { said: Some(said), .. } if said.is_fatal()));
}
