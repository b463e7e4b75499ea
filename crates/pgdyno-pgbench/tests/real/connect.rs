//! Servers that refuse: libpq's words for it, and the password that is asked for.

use std::cell::Cell;

use pgdyno_net::{Admin, Env, Secret};
use pgdyno_pgbench::connect;
use pgdyno_pgbench::options::ConnectionTarget;

use crate::programs::{Pgbench, ours};
use crate::server::{self, TestServer};

/// Role `locked` needs a password over TCP; nobody else comes in over TCP but `postgres`.
const HBA: &str = "local all all trust\nhost all postgres all trust\nhost all locked all scram-sha-256\n\
                   host all fooled all password\n";

fn started(test: &str) -> Option<(Pgbench, TestServer)> {
    if !server::available(test) {
        return None;
    }
    let pgbench = Pgbench::find(test)?;
    let server = TestServer::start("", HBA);
    server
        .admin()
        .execute("set password_encryption = 'scram-sha-256'; create role locked login password 'sesame'; create role fooled login password 'sesame'; create role out login")
        .unwrap();
    Some((pgbench, server))
}

#[test]
fn refusals_are_reported_in_libpqs_words() {
    let Some((pgbench, server)) = started("refusals") else { return };
    let (dir, port) = (server.dir().to_str().unwrap(), server.port.to_string());
    // `%` stands for the server's directory.
    let mut wrong = Vec::new();
    let lines = [
        "-h % nodb",
        "-h % -U nouser postgres",
        "-h %,/nonexistent nodb",
        "-h /nonexistent,% nodb",
        "-i -h % nodb",
        "host=% dbname=nodb",
        "-h % host=/nonexistent",
        "-h 127.0.0.1 -U out postgres",
        "-h localhost -U postgres nodb",
        "-h ::1 -U postgres nodb",
        "host=db hostaddr=127.0.0.1 user=postgres dbname=nodb",
        "-h 127.0.0.1 -U locked postgres",
        "-h 127.0.0.1 -U fooled postgres",
        "host=127.0.0.1 user=postgres dbname=postgres sslmode=require",
        "host=127.0.0.1 user=postgres dbname=postgres target_session_attrs=read-only",
        "host=127.0.0.1 user=postgres dbname=postgres target_session_attrs=standby",
        "host=% user=postgres dbname=readonly target_session_attrs=read-write",
        "postgresql://postgres@localhost/nodb",
        "host=% user=postgres dbname=postgres options=-cwork_mem=x",
    ];
    let mut admin = server.admin();
    admin.execute("create database readonly").unwrap();
    admin.execute("alter database readonly set default_transaction_read_only = on").unwrap();
    for line in lines {
        let args: Vec<String> = line.split(' ').map(|arg| arg.replace('%', dir)).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let vars = [("PGPORT", port.as_str()), ("PGPASSWORD", "wrong"), ("PGUSER", "postgres")];
        let (ours, theirs) = (ours(&args, &vars), pgbench.run(&args, &vars));
        if ours != theirs || ours.code != 1 {
            wrong.push(format!("{line}\n  ours:   {ours:?}\n  theirs: {theirs:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_password_is_asked_for_once_and_serves_all_connections() {
    let Some((_, server)) = started("password") else { return };
    let port = server.port.to_string();
    let env = Env::new([("PGPORT", port.as_str())], None, Some("postgres"));
    let target = ConnectionTarget {
        dbname: "postgres".into(),
        host: Some("127.0.0.1".into()),
        user: Some("locked".into()),
        port: None,
    };
    let asked = Cell::new(0);
    let ask = |password: &'static str| {
        let asked = &asked;
        move || {
            asked.set(asked.get() + 1);
            Ok(Secret::new(password.to_owned()))
        }
    };

    let mut options = connect::options(&target, "pgbench", &env).unwrap();
    for _ in 0..3 {
        let connection = connect::open(&mut options, &mut ask("sesame")).unwrap();
        let name = Admin::from(connection).query_one("select current_setting('application_name')").unwrap();
        assert_eq!(name, "pgbench");
    }
    assert_eq!(asked.get(), 1);
    assert!(!format!("{options:?}").contains("sesame"));

    let at = format!("connection to server at \"127.0.0.1\", port {port} failed: ");
    let mut options = connect::options(&target, "pgbench", &env).unwrap();
    let refused = connect::open(&mut options, &mut ask("wrong")).unwrap_err();
    assert_eq!(refused.0, format!("{at}FATAL:  password authentication failed for user \"locked\""));
    let mut options = connect::options(&target, "pgbench", &env).unwrap();
    let refused = connect::open(&mut options, &mut ask("")).unwrap_err();
    assert_eq!(refused.0, format!("{at}fe_sendauth: no password supplied"));
    assert_eq!(asked.get(), 3);
}
