//! Through a real PgBouncer, in session and in transaction pooling, and a real Pgpool-II.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pgdyno_workload::Pooling;

use crate::given_server::{Place, TRUST};
use crate::pki::{Pki, write_key};
use crate::program::{Ran, Run, eventually};
use crate::server;
use crate::skipped::skipped;
use pgdyno_testing::directory::TestDirectory;
use pgdyno_testing::port::Port;
use pgdyno_testing::proxy::{Proxy, WhenIdle};

const PGBOUNCER: &str = "/usr/sbin/pgbouncer";
const PGPOOL: &str = "/usr/sbin/pgpool";
const SOON: Duration = Duration::from_secs(30);

/// A PgBouncer before the server of a place. It ends with this value.
struct Pooled {
    place: Place,
    dir: TestDirectory,
    port: Port,
    child: Child,
}

impl Pooled {
    fn new(test: &str, mode: &str) -> Option<Self> {
        if !Path::new(PGBOUNCER).exists() {
            skipped(&format!("{test}: no {PGBOUNCER}"));
            return None;
        }
        let place = Place::new(test, "", TRUST)?;
        let dir = TestDirectory::new("pgdyno-pooler");
        let port = Port::reserve();
        let (path, behind) = (dir.path().display(), place.server.dir().display());
        let ini = dir.path().join("pgbouncer.ini");
        let text = format!(
            "[databases]\n* = host={behind} port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {}\n\
             unix_socket_dir = {path}\nauth_type = trust\nauth_file = {path}/users.txt\npool_mode = {mode}\n\
             default_pool_size = 12\nmax_client_conn = 200\nquery_wait_timeout = 5\nlogfile = {path}/log\n",
            place.server.port,
            port.number()
        );
        std::fs::write(&ini, text).unwrap();
        std::fs::write(dir.path().join("users.txt"), "\"postgres\" \"\"\n").unwrap();
        server::hand_over(dir.path());
        let mut command = Command::new(PGBOUNCER);
        if let Some((uid, gid)) = server::account() {
            command.uid(uid).gid(gid);
        }
        let quiet = command.arg("-q").arg(&ini).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = quiet.spawn().unwrap();
        let pooled = Self { place, dir, port, child };
        let socket = pooled.dir.path().join(format!(".s.PGSQL.{}", pooled.port.number()));
        eventually("PgBouncer listens", SOON, || socket.exists());
        Some(pooled)
    }

    fn target(&self) -> String {
        format!("host={} port={} user=postgres dbname=postgres", self.dir.path().display(), self.port.number())
    }

    fn run(&self, args: &str) -> Ran {
        let target = self.target();
        let args: Vec<_> = args.split(' ').chain(["--target", &target]).collect();
        self.place.home.run(&args)
    }

    fn last(&self) -> Run {
        self.place.home.runs().pop().unwrap()
    }

    /// Nothing of ours is left in the sessions that the next client gets.
    fn assert_clean(&self) {
        // The server releases the locks of a session some time after the pooler has closed it.
        let locks = || self.place.ask("select count(*) from pg_locks where locktype = 'advisory'");
        let is_free = (0..200).any(|nth| {
            std::thread::sleep(Duration::from_millis(if nth == 0 { 0 } else { 50 }));
            locks() == "0"
        });
        assert!(is_free, "{} advisory locks are left", locks());
        let host = self.dir.path().to_str().unwrap();
        let options =
            pgdyno_net::ConnectOptions::for_socket(Path::new(host), self.port.number(), "postgres", "postgres");
        // Each holds a session, so that all of the pool is looked at that can be.
        let mut sessions: Vec<_> = (0..8).map(|_| pgdyno_net::Admin::connect(&options).unwrap()).collect();
        for session in &mut sessions {
            session.execute("begin").unwrap();
            let left = "select count(*) || ' ' || current_setting('statement_timeout') || ' ' || \
                        current_setting('work_mem') from pg_prepared_statements";
            assert_eq!(session.query_one(left).unwrap(), "0 0 4MB");
        }
    }
}

/// A Pgpool-II before the server of a place. It ends with this value.
struct Pgpool {
    place: Place,
    port: Port,
    child: Child,
    _dir: TestDirectory,
}

impl Pgpool {
    fn new(test: &str) -> Option<Self> {
        if !Path::new(PGPOOL).exists() {
            skipped(&format!("{test}: no {PGPOOL}"));
            return None;
        }
        // It pools no connections to the database postgres.
        let place = Place::new(test, "", TRUST)?.into_database("bench");
        place.execute("create database bench");
        let dir = TestDirectory::new("pgdyno-pgpool");
        let (port, control) = (Port::reserve(), Port::reserve());
        let path = dir.path().display();
        let conf = format!(
            "backend_clustering_mode = 'raw'\nlisten_addresses = '127.0.0.1'\nport = {}\nsocket_dir = '{path}'\n\
             pcp_listen_addresses = '127.0.0.1'\npcp_port = {}\npcp_socket_dir = '{path}'\n\
             pid_file_name = '{path}/pid'\nlogdir = '{path}'\nbackend_hostname0 = '127.0.0.1'\nbackend_port0 = {}\n\
             num_init_children = 24\nmax_pool = 1\nconnection_cache = on\nenable_pool_hba = off\n",
            port.number(),
            control.number(),
            place.server.port
        );
        for (name, text) in [("conf", conf.as_str()), ("hba", ""), ("pcp", "")] {
            std::fs::write(dir.path().join(name), text).unwrap();
            server::hand_over(&dir.path().join(name));
        }
        server::hand_over(dir.path());
        let mut command = Command::new(PGPOOL);
        if let Some((uid, gid)) = server::account() {
            command.uid(uid).gid(gid);
        }
        command.arg("-n").current_dir(dir.path());
        for (option, name) in [("-f", "conf"), ("-a", "hba"), ("-F", "pcp")] {
            command.arg(option).arg(dir.path().join(name));
        }
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let pgpool = Self { place, port, child, _dir: dir };
        eventually("Pgpool-II serves", SOON, || pgdyno_net::Admin::connect(&pgpool.options()).is_ok());
        drop(control);
        Some(pgpool)
    }

    fn target(&self) -> String {
        format!("host=127.0.0.1 port={} user=postgres dbname=bench", self.port.number())
    }

    fn options(&self) -> pgdyno_net::ConnectOptions {
        options(&self.target())
    }
}

impl Drop for Pgpool {
    fn drop(&mut self) {
        // Its processes end with it.
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), rustix::process::Signal::INT).ok();
        self.child.wait().ok();
    }
}

fn options(target: &str) -> pgdyno_net::ConnectOptions {
    pgdyno_net::ConnectOptions::resolve(target, &pgdyno_net::Env::new([], None, Some("postgres"))).unwrap()
}

/// The pooling mode that is found at a target.
fn found(target: &str) -> Option<Pooling> {
    let options = options(target);
    pgdyno_server::pooling(&mut pgdyno_net::Admin::connect(&options).unwrap(), &options).unwrap()
}

#[test]
fn pgpool_is_recognised_every_time() {
    let Some(pgpool) = Pgpool::new("Pgpool-II") else { return };
    for nth in 0..8 {
        assert_eq!(found(&pgpool.target()), Some(Pooling::Session), "try {nth}");
    }
    let proxy = Proxy::start(&[pgpool.port.number()], WhenIdle::Stays);
    assert_eq!(found(&through(&proxy).replace("dbname=postgres", "dbname=bench")), Some(Pooling::Session));
    pgpool.place.run("load select-only -s 1").ok();
    let target = pgpool.target();
    let args = ["run", "select-only", "-c", "4", "-R", "200", "-T", "2", "--ramp", "0", "--target", &target];
    let ran = pgpool.place.home.run(&args).ok();
    ran.says(&["clients connect through a pooler (session pooling)"]).prints(&["through a pooler (session pooling)"]);
    let run = pgpool.place.home.runs().pop().unwrap();
    assert_eq!(run.text("/server/pooling"), "session");
    assert!(run.record["summary"].get("tpm").is_none_or(serde_json::Value::is_null));
    assert!(run.checks_that_hold().contains(&"after the run"));
}

#[test]
fn a_proxy_is_no_pooler_and_hides_none() {
    let Some(pooled) = Pooled::new("PgBouncer behind a proxy", "transaction") else { return };
    let proxy = Proxy::start(&[pooled.port.number()], WhenIdle::Stays);
    assert_eq!(found(&through(&proxy)), Some(Pooling::Transaction { prepared: false }));
    let proxy = Proxy::start(&[pooled.place.server.port], WhenIdle::Stays);
    for target in [through(&proxy), pooled.place.target(), through_port(pooled.place.server.port)] {
        assert_eq!(found(&target), None, "{target}");
    }
    for (mode, expected) in [("session", Pooling::Session), ("statement", Pooling::Statement)] {
        let Some(pooled) = Pooled::new("PgBouncer behind a proxy", mode) else { return };
        let proxy = Proxy::start(&[pooled.port.number()], WhenIdle::Stays);
        assert_eq!(found(&through(&proxy)), Some(expected), "{mode}");
    }
}

#[test]
fn a_pooler_is_recognised_behind_tls() {
    let Some(pooled) = Pooled::new("PgBouncer, TLS", "transaction") else { return };
    let pki = Pki::new();
    pki.issue("pooler", "pooler", &["localhost", "127.0.0.1"], |_| {});
    for name in ["pooler.crt", "pooler.key"] {
        let path = pooled.dir.path().join(name);
        write_key(&path, &std::fs::read_to_string(pki.path(name)).unwrap());
        server::hand_over(&path);
    }
    let (ini, path) = (pooled.dir.path().join("pgbouncer.ini"), pooled.dir.path().display());
    let text = std::fs::read_to_string(&ini).unwrap();
    let tls = format!(
        "client_tls_sslmode = require\nclient_tls_key_file = {path}/pooler.key\nclient_tls_cert_file = {path}/pooler.crt\n"
    );
    std::fs::write(&ini, text + &tls).unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_child(&pooled.child), rustix::process::Signal::HUP)
        .unwrap();
    let target = format!("{} sslmode=require", through_port(pooled.port.number()));
    eventually("PgBouncer offers TLS", SOON, || pgdyno_net::Admin::connect(&options(&target)).is_ok());
    assert_eq!(found(&target), Some(Pooling::Transaction { prepared: false }));
}

/// In session pooling pgdyno's own sessions take places of the pool.
#[test]
fn a_pool_that_is_too_small_is_named() {
    let Some(pooled) = Pooled::new("a small pool", "session") else { return };
    pooled.place.run("load select-only -s 1").ok();
    let target = through_port(pooled.port.number());
    let run = ["run", "select-only", "-c", "12", "-j", "2", "-t", "1", "--target", &target];
    let ran = pooled.place.home.run(&run).ended(1);
    ran.says(&["failed to connect client", "the pool needs a connection for each of the 12 clients"]);
    pooled.place.home.run(&[&run[..3], &["9"], &run[4..]].concat()).ok();
}

fn through(proxy: &Proxy) -> String {
    through_port(proxy.port())
}

fn through_port(port: u16) -> String {
    format!("host=127.0.0.1 port={port} user=postgres dbname=postgres")
}

impl Drop for Pooled {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn a_fit_needs_a_session() {
    let mut capture = pgdyno_capture::CaptureRecord::default();
    (capture.head.format_version, capture.head.window.seconds) = (1, 1.0);
    for (mode, says) in
        [("transaction", "a fit needs a session of its own"), ("session", "no statement of the capture")]
    {
        let Some(pooled) = Pooled::new(&format!("PgBouncer, fit, {mode}"), mode) else { return };
        let file = std::fs::File::create(pooled.place.home.join("no.capture")).unwrap();
        pgdyno_capture::write(&capture, file).unwrap();
        pooled.run("fit no.capture -o fitted").ended(1).says(&[says]);
        if mode == "transaction" {
            pooled.assert_clean();
        }
    }
}

#[test]
fn a_transaction_pooler_is_known_and_driven() {
    let Some(pooled) = Pooled::new("PgBouncer, transaction pooling", "transaction") else { return };
    pooled.place.run("load tpcb-like -s 1").ok();
    // More clients than the pool has sessions.
    let ran = pooled.run("run tpcb-like -c 40 -T 1 --ramp 0").ok();
    ran.says(&["query mode extended: the pooler"]).prints(&["through a pooler (transaction pooling)"]);
    let run = pooled.last();
    assert_eq!((run.text("/server/pooling"), run.text("/plan/mode")), ("transaction", "extended"));
    assert!(run.checks_that_hold().contains(&"after the run"));
    assert_eq!(run.number("/summary/failed"), 0.0);
    pooled.run("run select-only -c 4 -t 20 --mode simple").ok();
    pooled.run("check tpcb-like").ok();
    pooled.assert_clean();

    // A suite's lock is held for its time, and by nobody after it.
    let text = "name = 'pooled'\ntargets = [\"TARGET\"]\n[[run]]\nwhat = 'select-only'\nno_vacuum = true\nclients = 2\n\
                ramp = '0s'\ntime = '1s'\n";
    let file = pooled.place.home.join("suite.toml");
    std::fs::write(&file, text.replace("TARGET", &pooled.target())).unwrap();
    pooled.place.home.run(&["suite", "run", file.to_str().unwrap()]).ok();
    assert_eq!(pooled.last().at("/plan/no_vacuum").as_bool(), Some(true));
    pooled.assert_clean();

    // A statement that is too long is cancelled, though the key is the pooler's.
    std::fs::write(pooled.place.home.join("sleep.sql"), "select pg_sleep(120);\n").unwrap();
    pooled.run("run ./sleep.sql -c 4 -T 1 --ramp 0").ended(2);
    eventually("nothing sleeps", SOON, || {
        pooled.place.ask("select count(*) from pg_stat_activity where wait_event = 'PgSleep'") == "0"
    });
    pooled.assert_clean();
}

#[test]
fn what_wants_sessions_is_refused_behind_a_transaction_pooler() {
    let Some(pooled) = Pooled::new("PgBouncer, what wants sessions", "transaction") else { return };
    let refused = ["the pooler hands out a connection for each transaction", "connect to the server itself"];
    pooled.run("load tproc-c -w 1").ended(1).says(&refused);
    pooled.run("run tpcb-like -s 1 -T 1").ended(1).says(&refused);
    assert_eq!(pooled.place.ask("select count(*) from pg_class where relnamespace = 'public'::regnamespace"), "0");
    pooled.place.run("load tproc-c -w 1").ok();
    pooled.run("check tproc-c --isolation").ended(1).says(&refused);
    pooled.run("run tproc-c -T 1 --replace").ended(1).says(&refused);
    let said = ["query mode prepared cannot be used", "--mode extended or simple", "max_prepared_statements"];
    pooled.run("run tproc-c -T 1 --mode prepared").ended(1).says(&said);
    pooled.run("run tproc-c -T 1 --set work_mem=8MB --ramp 0").says(&["unsupported startup parameter", "ALTER ROLE"]);
    for call in ["procedure", "function", "client"] {
        pooled.run(&format!("run tproc-c -c 4 -t 20 --call {call}")).ok();
        assert!(pooled.last().checks_that_hold().contains(&"after the run"));
    }
    pooled.assert_clean();
}

#[test]
fn a_session_pooler_is_known_and_everything_works() {
    let Some(pooled) = Pooled::new("PgBouncer, session pooling", "session") else { return };
    pooled.run("run tproc-c -w 1 -c 4 -t 40 --loaders 2").ok().prints(&["through a pooler (session pooling)"]);
    let run = pooled.last();
    assert_eq!((run.text("/server/pooling"), run.text("/plan/mode")), ("session", "prepared"));
    assert!(run.checks_that_hold().contains(&"after the run"));
    pooled.run("check tproc-c --isolation").ok().prints(&["holds  3.4.2.1"]);
    pooled.assert_clean();
}

#[test]
fn statement_pooling_is_refused() {
    let Some(pooled) = Pooled::new("PgBouncer, statement pooling", "statement") else { return };
    pooled.place.run("load select-only -s 1").ok();
    pooled
        .run("run select-only -T 1")
        .ended(1)
        .says(&["a connection for each statement", "connect to the server itself"]);
}
