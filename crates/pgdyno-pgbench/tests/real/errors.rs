//! The server's errors: the words that libpq has for them, taken from what pgbench prints when a script fails.

use pgdyno_net::AdminError;
use pgdyno_wire::libpq;

use crate::programs::Pgbench;
use crate::server::{self, TestServer};

#[test]
fn errors_have_libpqs_form() {
    if !server::available("errors") {
        return;
    }
    let Some(pgbench) = Pgbench::find("errors") else { return };
    let server = TestServer::start("", "local all all trust\n");
    let mut admin = server.admin();
    admin
        .execute(
            "create function inner_error() returns int language plpgsql as
               'begin execute ''select 1 +  absent from pg_class''; return 1; end';
             create function raised() returns int language plpgsql as
               'begin raise exception ''boo'' using detail = ''two\nlines'', hint = ''hh''; return 1; end'",
        )
        .unwrap();
    let long = |before: usize, after: usize| {
        format!("select {}absent{}", "1234567890 + ".repeat(before), " + 1234567890".repeat(after))
    };
    let mut statements: Vec<String> = [
        "select * from absent",
        "selekt 1",
        "select 1 +\n  2 + absent\n + 3",
        "select\t'\t',\tabsent",
        "select 'ünïcödé', absent, 'ünïcödé'",
        "select 1 +",
        "select inner_error()",
        "select raised()",
        "select 1/0",
        "insert into pg_class(oid) values ('x')",
    ]
    .map(str::to_owned)
    .into();
    for before in 0..7 {
        statements.extend([0, 1, 5].map(|after| long(before, after)));
    }
    let script = server.dir().join("script.sql");
    let (dir, port) = (server.dir().to_str().unwrap(), server.port.to_string());
    for sql in statements {
        let sql = format!("{sql};");
        std::fs::write(&script, &sql).unwrap();
        let args = ["-n", "-t", "1", "-f", script.to_str().unwrap(), "postgres"];
        let theirs = pgbench.run(&args, &[("PGHOST", dir), ("PGPORT", &port), ("PGUSER", "postgres")]);
        let start = "pgbench: error: client 0 script 0 aborted in command 0 query 0: ";
        let text = theirs.err.strip_prefix(start).unwrap_or_else(|| panic!("{theirs:?}"));
        let text = text.strip_suffix("pgbench: error: Run was aborted; the above results are incomplete.\n").unwrap();
        match admin.execute(&sql) {
            Err(AdminError::Server { message, .. }) => {
                assert_eq!(libpq::error(&message, &sql), text.trim_end_matches('\n'), "{sql}");
            }
            other => panic!("{sql}: {other:?}"),
        }
    }
}
