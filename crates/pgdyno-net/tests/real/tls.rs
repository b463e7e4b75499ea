//! TLS, authentication and what they refuse, against a real server.

use crate::pki::{Pki, write_key};
use crate::postgres;
use crate::server::{self, TestServer};
use pgdyno_net::{Admin, ConnectError, ConnectOptions, Connection, Env};
use rcgen::{CertificateParams, DnType, KeyPair};

const CONF: &str = "ssl = on\nssl_cert_file = '%/server.crt'\nssl_key_file = '%/server.key'\n\
                    ssl_ca_file = '%/ca.crt'\n";

const HBA: &str = "local   all postgres trust\n\
                   local   all all      scram-sha-256\n\
                   hostssl all tls_only all scram-sha-256\n\
                   hostnossl all plain_only all scram-sha-256\n\
                   host    all tls_only,plain_only all reject\n\
                   hostssl all certified all cert\n\
                   host    all md5_user all md5\n\
                   host    all clear_user all password\n\
                   host    all scram_user,limited,nologin all scram-sha-256\n";

const ROLES: &str = "set password_encryption = 'scram-sha-256';\n\
    create role scram_user login password 'pencil';\n\
    create role tls_only login password 'pencil';\n\
    create role plain_only login password 'pencil';\n\
    create role clear_user login password 'pencil';\n\
    create role limited login password 'pencil' connection limit 1;\n\
    create role nologin password 'pencil';\n\
    create role certified login;\n\
    set password_encryption = 'md5';\n\
    create role md5_user login password 'pencil'";

/// Puts certificate and key where the server looks, and makes it read them.
fn install(server: &TestServer, pki: &Pki, name: &str) {
    for (from, to) in
        [(format!("{name}.crt"), "server.crt"), (format!("{name}.key"), "server.key"), ("ca.crt".to_owned(), "ca.crt")]
    {
        let to = server.dir().join(to);
        write_key(&to, &std::fs::read_to_string(pki.path(&from)).unwrap());
        server::hand_over(&to);
    }
}

fn start(pki: &Pki) -> TestServer {
    let server = TestServer::start("", HBA);
    install(&server, pki, "server");
    let mut admin = server.admin();
    for line in CONF.lines() {
        let line = line.replace('%', server.dir().to_str().unwrap());
        admin.execute(&format!("alter system set {line}")).unwrap();
    }
    admin.execute(ROLES).unwrap();
    reload(&server);
    server
}

fn reload(server: &TestServer) {
    server.admin().execute("select pg_reload_conf()").unwrap();
    // The postmaster has read its files once new sessions show the new settings.
    while server.admin().query_one("show ssl").unwrap() != "on" {}
}

struct Fixture {
    server: TestServer,
    pki: Pki,
}

impl Fixture {
    fn new() -> Self {
        let pki = Pki::new();
        pki.issue("server", "server", &["localhost", "127.0.0.1"], |_| {});
        let server = start(&pki);
        Self { server, pki }
    }

    /// `{}` in `dsn` stands for the directory of the PKI.
    fn options(&self, dsn: &str) -> ConnectOptions {
        let dir = self.pki.dir.path().to_str().unwrap();
        self.server.resolve(&format!("dbname=postgres {}", dsn.replace("{}", dir)))
    }

    fn open(&self, dsn: &str) -> Connection {
        Connection::open(&self.options(dsn)).unwrap_or_else(|e| panic!("{dsn}: {e}"))
    }

    fn error(&self, dsn: &str) -> ConnectError {
        match Connection::open(&self.options(dsn)) {
            Ok(_) => panic!("{dsn} was let in"),
            Err(error) => error,
        }
    }
}

#[test]
fn passwords_work_over_every_kind_of_connection() {
    if !server::available("passwords") {
        return;
    }
    let f = Fixture::new();
    let socket = f.server.dir().to_str().unwrap();
    for host in ["127.0.0.1", "::1", "localhost", socket] {
        if host == "::1" && std::net::TcpListener::bind("[::1]:0").is_err() {
            crate::skipped::skipped("IPv6: this machine has none");
            continue;
        }
        for user in ["scram_user", "md5_user", "clear_user"] {
            if host == socket && user != "scram_user" {
                continue;
            }
            for sslmode in ["disable", "allow", "prefer", "require"] {
                let dsn = format!("host={host} user={user} password=pencil sslmode={sslmode}");
                let connection = f.open(&dsn);
                let encrypted = host != socket && !matches!(sslmode, "disable" | "allow");
                assert_eq!(connection.tls().is_some(), encrypted, "{dsn}");
                let bound = encrypted && user == "scram_user";
                assert_eq!(connection.tls().is_some_and(|t| t.channel_bound), bound, "{dsn}");
            }
        }
    }
    let connection = f.open("host=127.0.0.1 user=scram_user password=pencil channel_binding=require");
    assert_eq!(connection.tls().unwrap().version, "TLSv1.3");
    let connection = f.open(
        "host=127.0.0.1 user=scram_user password=pencil channel_binding=require \
         ssl_max_protocol_version=TLSv1.2",
    );
    assert_eq!(connection.tls().unwrap().version, "TLSv1.2");
    let connection = f.open("host=127.0.0.1 user=scram_user password=pencil channel_binding=disable");
    assert!(!connection.tls().unwrap().channel_bound);

    for dsn in [
        "host=127.0.0.1 user=md5_user password=pencil channel_binding=require",
        "host=127.0.0.1 user=scram_user password=pencil channel_binding=require sslmode=disable",
    ] {
        let error = f.error(dsn).to_string();
        assert!(error.contains("channel_binding=require"), "{error}");
    }
}

#[test]
fn data_of_any_size_survives_tls_and_its_queries_can_be_cancelled() {
    if !server::available("data over TLS") {
        return;
    }
    let f = Fixture::new();
    let options = f.options("host=localhost user=scram_user password=pencil sslmode=require");
    let mut admin = Admin::connect(&options).unwrap();
    admin.execute("create temp table t (a text)").unwrap();
    let text = "x".repeat(1_000_000);
    let mut copy = admin.copy_in("copy t from stdin").unwrap();
    for _ in 0..10 {
        copy.write(text.as_bytes()).unwrap();
        copy.write(b"\n").unwrap();
    }
    assert_eq!(copy.finish().unwrap(), 10);
    let rows = admin.query("select a from t").unwrap();
    assert!(rows.rows.iter().all(|row| row[0].as_deref() == Some(&text)));

    let cancel = admin.cancel_handle();
    let waiting = std::thread::spawn(move || admin.execute("select pg_sleep(600)").unwrap_err());
    let mut other = f.server.admin();
    while other.query_one("select count(*) from pg_stat_activity where wait_event = 'PgSleep'").unwrap() == "0" {}
    cancel.cancel().unwrap();
    assert_eq!(waiting.join().unwrap().code().unwrap().as_str(), "57014");
}

#[test]
fn a_non_blocking_engine_loses_no_byte_over_tls() {
    use std::io::{ErrorKind, Read as _, Write as _};

    if !server::available("non-blocking TLS") {
        return;
    }
    let f = Fixture::new();
    let options = f.options("host=localhost user=scram_user password=pencil sslmode=require");
    let mut parts = Connection::open(&options).unwrap().into_parts();
    parts.transport.set_nonblocking(true).unwrap();
    // More than the socket takes at once, answered with more than is read at once.
    let text = "y".repeat(3_000_000);
    let mut out = Vec::new();
    pgdyno_wire::frontend::query(&mut out, format!("select '{text}'").as_bytes());
    let (mut sent, mut input) = (0, parts.input);
    let mut buffer = [0; 1000];
    loop {
        if sent < out.len() {
            match parts.transport.write(&out[sent..]) {
                Ok(n) => sent += n,
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        } else if parts.transport.wants_write() {
            match parts.transport.flush() {
                Ok(()) => assert!(!parts.transport.wants_write()),
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        }
        let waiting = parts.transport.has_buffered();
        match parts.transport.read(&mut buffer) {
            Ok(0) => panic!("closed"),
            Ok(n) => input.extend_from_slice(&buffer[..n]),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                assert!(!waiting, "has_buffered promised bytes");
            }
        }
        if input.ends_with(b"Z\0\0\0\x05I") {
            break;
        }
    }
    let found = input.windows(text.len()).any(|w| w == text.as_bytes());
    assert!(found, "{} bytes came", input.len());
}

#[test]
fn certificates_are_verified_as_far_as_asked_for() {
    if !server::available("certificates") {
        return;
    }
    let f = Fixture::new();
    let strangers = Pki::new();
    let foreign_ca = strangers.path("ca.crt");
    let user = "user=scram_user password=pencil";
    for dsn in [
        "host=localhost sslmode=verify-full sslrootcert={}/ca.crt",
        "host=127.0.0.1 sslmode=verify-full sslrootcert={}/ca.crt",
        "host=localhost hostaddr=127.0.0.1 sslmode=verify-full sslrootcert={}/ca.crt",
        "host=other.example hostaddr=127.0.0.1 sslmode=verify-ca sslrootcert={}/ca.crt",
        "host=other.example hostaddr=127.0.0.1 sslmode=require sslrootcert={}/ca.crt",
        "host=localhost sslmode=verify-full sslrootcert={}/ca.crt sslsni=0",
    ] {
        assert!(f.open(&format!("{user} {dsn}")).tls().is_some(), "{dsn}");
    }
    for (dsn, part) in [
        (
            "host=other.example hostaddr=127.0.0.1 sslmode=verify-full sslrootcert={}/ca.crt".to_owned(),
            "not for other.example",
        ),
        (
            format!("host=localhost sslmode=verify-ca sslrootcert={}", foreign_ca.display()),
            "not signed by a CA that is trusted",
        ),
        (
            // With a root file, require verifies the chain, too.
            format!("host=localhost sslmode=require sslrootcert={}", foreign_ca.display()),
            "not signed by a CA that is trusted",
        ),
        ("host=localhost sslmode=verify-full sslrootcert={}/absent.crt".to_owned(), "there is no "),
        ("host=localhost sslmode=verify-full".to_owned(), "root.crt"),
    ] {
        let error = f.error(&format!("{user} {dsn}")).to_string();
        assert!(error.contains(part), "{dsn}: {error}");
        assert!(error.contains("localhost") || error.contains("other.example"), "{error}");
    }
    // TLS without a question before it came with PostgreSQL 17.
    let direct = format!("{user} host=localhost sslmode=require sslnegotiation=direct");
    if postgres::major() >= 17 {
        assert!(f.open(&direct).tls().is_some());
    } else {
        let error = f.error(&direct).to_string();
        assert!(error.contains("TLS with localhost"), "{error}");
    }
    // prefer goes on in the clear when TLS fails, as libpq does.
    let dsn = format!("{user} host=localhost sslmode=prefer sslrootcert={}", foreign_ca.display());
    assert!(f.open(&dsn).tls().is_none());
    let env = Env::new([("SSL_CERT_FILE", "unused")], Some(f.pki.dir.path()), Some("x"));
    // libpq's default place.
    let home = f.pki.dir.path().join(".postgresql");
    std::fs::create_dir(&home).unwrap();
    std::fs::copy(f.pki.path("ca.crt"), home.join("root.crt")).unwrap();
    let dsn = format!("host=localhost port={} dbname=postgres {user} sslmode=verify-full", f.server.port);
    let options = ConnectOptions::resolve(&dsn, &env).unwrap();
    assert!(Connection::open(&options).is_ok());

    for (name, part, change) in [
        ("expired", "expired", (|p| p.not_after = rcgen::date_time_ymd(2020, 1, 1)) as fn(&mut CertificateParams)),
        ("future", "not valid yet", |p| {
            p.not_before = rcgen::date_time_ymd(2090, 1, 1);
        }),
    ] {
        f.pki.issue(name, "x", &["localhost"], change);
        install(&f.server, &f.pki, name);
        // A reload keeps the old certificate until the postmaster has read the new one.
        f.server.admin().execute("select pg_reload_conf()").unwrap();
        let dsn = format!("{user} host=localhost sslmode=verify-ca sslrootcert={{}}/ca.crt");
        let error = loop {
            match Connection::open(&f.options(&dsn)) {
                Err(error) if error.to_string().contains(part) => break error,
                _ => {}
            }
        };
        assert!(matches!(error, ConnectError::Certificate { .. }));
    }
    // A self-signed certificate that is its own root, with nothing but a common name.
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new([]).unwrap();
    params.distinguished_name.push(DnType::CommonName, "localhost");
    let certificate = params.self_signed(&key).unwrap();
    std::fs::write(f.pki.path("own.crt"), certificate.pem()).unwrap();
    write_key(&f.pki.path("own.key"), &key.serialize_pem());
    install(&f.server, &f.pki, "own");
    f.server.admin().execute("select pg_reload_conf()").unwrap();
    let own = format!("{user} host=localhost sslmode=verify-full sslrootcert={{}}/own.crt");
    while Connection::open(&f.options(&own)).is_err() {}
    let other = own.replace("host=localhost", "host=db.example hostaddr=127.0.0.1");
    assert!(f.error(&other).to_string().contains("db.example"));
}

#[test]
fn a_client_certificate_stands_for_a_password() {
    if !server::available("client certificates") {
        return;
    }
    let f = Fixture::new();
    f.pki.issue("client", "certified", &[], |_| {});
    let with = "host=localhost user=certified sslcert={}/client.crt sslkey={}/client.key";
    assert!(f.open(with).tls().is_some());
    let error = f.error("host=localhost user=certified sslmode=require");
    assert!(error.to_string().contains("certificate"), "{error}");
    assert!(f.error(&format!("{with} sslcertmode=disable sslmode=require")).code().is_some());

    let strangers = Pki::new();
    strangers.issue("client", "certified", &[], |_| {});
    let dir = strangers.dir.path().display();
    let error = f.error(&format!(
        "host=localhost user=certified sslmode=require sslcert={dir}/client.crt sslkey={dir}/client.key"
    ));
    assert!(error.to_string().contains("sslcert="), "{error}");

    use std::os::unix::fs::PermissionsExt as _;
    let key = f.pki.path("client.key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let error = f.error(&format!("{with} sslmode=require"));
    assert!(error.to_string().contains("chmod 0600"), "{error}");
}

#[test]
fn each_refusal_is_one_sentence_with_host_and_remedy() {
    if !server::available("refusals") {
        return;
    }
    let f = Fixture::new();
    let at = "host=127.0.0.1";
    let _slot = f.open(&format!("{at} user=limited password=pencil"));
    for (dsn, parts) in [
        ("user=scram_user password=wrong", ["refuses the password of role 'scram_user'", "~/.pgpass"]),
        ("user=md5_user password=wrong", ["refuses the password", "PGPASSWORD"]),
        ("user=scram_user", ["none is given", "PGPASSWORD"]),
        ("user=stranger", ["pg_hba.conf", "reload"]),
        ("user=nologin password=pencil", ["not permitted to log in", "LOGIN"]),
        ("user=limited password=pencil", ["no free connection", "CONNECTION LIMIT"]),
        ("user=scram_user password=pencil dbname=absent", ["no database 'absent'", "createdb absent"]),
        ("user=tls_only password=pencil sslmode=disable", ["pg_hba.conf", "sslmode"]),
        ("user=scram_user password=pencil require_auth=md5", ["require_auth", "scram-sha-256"]),
        ("user=scram_user password=pencil options=--nonsense", ["nonsense", "SQLSTATE"]),
    ] {
        let error = f.error(&format!("{at} {dsn}"));
        let text = format!("{error}; {}", error.remedy().unwrap_or_default());
        for part in parts {
            assert!(text.contains(part), "{dsn}: {text}");
        }
        assert!(text.contains("127.0.0.1:"), "{dsn}: {text}");
        assert!(!text.contains("pencil") && !text.contains('\n'), "{dsn}: {text}");
    }
    // The two halves of pg_hba.conf that depend on TLS: allow and prefer find them, as libpq does.
    assert!(f.open(&format!("{at} user=tls_only password=pencil sslmode=allow")).tls().is_some());
    assert!(f.open(&format!("{at} user=plain_only password=pencil sslmode=prefer")).tls().is_none());
    assert!(f.error(&format!("{at} user=plain_only password=pencil sslmode=require")).code().is_some());

    let socket = f.server.dir().display();
    let error = f.error(&format!("host={socket} user=absent password=x")).to_string();
    assert!(error.contains("refuses the password"), "{error}");
    let plain = TestServer::start("", "local all all trust\nhost all all all trust\n");
    let options = plain.resolve("host=127.0.0.1 dbname=postgres user=postgres sslmode=require");
    let error = Connection::open(&options).unwrap_err().to_string();
    assert!(error.contains("does not offer TLS") && error.contains("ssl=on"), "{error}");
    let options = plain.resolve("host=127.0.0.1 dbname=postgres user=nobody");
    let error = Connection::open(&options).unwrap_err().remedy().unwrap();
    assert!(error.contains("createuser"), "{error}");
}
