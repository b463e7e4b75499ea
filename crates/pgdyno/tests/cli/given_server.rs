//! The life cycle on a PostgreSQL that another user runs: ways to reach it, what is refused, other programs' data.

use std::path::Path;
use std::time::Duration;

use pgdyno_net::{Admin, ConnectOptions};

use crate::pki::{Pki, write_key};
use crate::postgres;
use crate::program::{Home, Ran, Running, assert_nowhere, eventually, finish};
use crate::server::{self, TestServer};

pub(crate) const TRUST: &str = "local all all trust\nhost all all all trust\n";
const PASSWORD: &str = "geheim,'und=so weiter";

/// A database on a server, and a home to work on it from.
pub(crate) struct Place {
    pub(crate) home: Home,
    pub(crate) server: TestServer,
    pub(crate) database: &'static str,
}

impl Place {
    /// A server with these lines in its configuration and `pg_hba.conf`, where there is a PostgreSQL.
    pub(crate) fn new(test: &str, conf: &str, hba: &str) -> Option<Self> {
        server::available(test).then(|| Self {
            home: Home::new(),
            server: TestServer::start(conf, hba),
            database: "postgres",
        })
    }

    /// The same with one warehouse of `tproc-c`, as `pgdyno load` leaves it.
    pub(crate) fn with_warehouse(test: &str, conf: &str, hba: &str) -> Option<Self> {
        Self::loaded("tproc-c", test, conf, hba)
    }

    /// The same with the tables of `ch-benchmark`.
    pub(crate) fn with_suppliers(test: &str, conf: &str, hba: &str) -> Option<Self> {
        Self::loaded("ch-benchmark", test, conf, hba)
    }

    fn loaded(workload: &str, test: &str, conf: &str, hba: &str) -> Option<Self> {
        let database = "postgres";
        let load = |server: &TestServer| {
            let target = target(server, database);
            Home::new().run(&["load", workload, "-w", "1", "--target", &target]).ok();
        };
        let program = Path::new(env!("CARGO_BIN_EXE_pgdyno"));
        server::available(test).then(|| Self {
            home: Home::new(),
            server: TestServer::start_filled(workload, program, load, conf, hba),
            database,
        })
    }

    /// Restarts the server, which offers TLS from then on, with a certificate for this machine.
    pub(crate) fn offer_tls(&mut self) -> Pki {
        let pki = Pki::new();
        pki.issue("server", "server", &["localhost", "127.0.0.1"], |_| {});
        for name in ["server.crt", "server.key", "ca.crt"] {
            let path = self.server.dir().join(name);
            write_key(&path, &std::fs::read_to_string(pki.path(name)).unwrap());
            server::hand_over(&path);
        }
        let conf =
            "ssl = on\nssl_cert_file = '%/server.crt'\nssl_key_file = '%/server.key'\nssl_ca_file = '%/ca.crt'\n";
        let file = self.server.dir().join("data/postgresql.conf");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text + &conf.replace('%', self.server.dir().to_str().unwrap())).unwrap();
        self.server.crash();
        self.server.restart();
        pki
    }

    /// The same with another database.
    pub(crate) fn into_database(self, database: &'static str) -> Self {
        Self { database, ..self }
    }

    /// The server by its socket.
    pub(crate) fn target(&self) -> String {
        target(&self.server, self.database)
    }

    /// Returns the arguments that name it, after these.
    pub(crate) fn args<'a>(&self, target: &'a str, args: &'a str) -> Vec<&'a str> {
        args.split(' ').chain(["--target", target]).collect()
    }

    /// Runs the program on it.
    pub(crate) fn run(&self, args: &str) -> Ran {
        let target = self.target();
        self.home.run(&self.args(&target, args))
    }

    /// Starts it.
    pub(crate) fn start(&self, args: &str) -> Running {
        let target = self.target();
        self.home.start(&self.args(&target, args))
    }

    /// Asks the server for one value.
    pub(crate) fn ask(&self, sql: &str) -> String {
        self.server.admin().query_one(sql).unwrap()
    }

    pub(crate) fn execute(&self, sql: &str) {
        self.server.admin().execute(sql).unwrap();
    }

    fn tables(&self) -> String {
        self.ask("select count(*) from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace")
    }
}

fn target(server: &TestServer, database: &str) -> String {
    format!("host={} port={} user=postgres dbname={database}", server.dir().display(), server.port)
}

#[test]
fn two_runs_on_one_server_report_each_other() {
    let Some(place) = Place::new("two runs at once", "fsync = on\nwork_mem = 5MB\n", TRUST) else { return };
    place.run("load select-only -s 1").ok();
    let mut first = place.start("run select-only -c 1 -R 200 -T 6 --ramp 0");
    first.until_it_says("progress:", 1);
    let reported = ["pgdyno (process ", "measures this server at the same time: the runs disturb each other"];
    place.run("run select-only -c 1 -R 200 -T 8 --ramp 0").ok().says(&reported);
    first.end().ok().says(&reported);
    // How much they disturb each other depends on the machine.
    assert!(place.home.runs().iter().all(|run| run.text("/trust/verdict") == "with-care"));
    // A run that begins after they have ended reports nothing of them.
    let alone = place.run("run select-only -c 1 -R 200 -T 2 --ramp 0").ok();
    assert!(!alone.stderr.contains("at the same time"), "{}", alone.stderr);
    // What the file sets to its default does not differ from it.
    let changed = place.home.runs().pop().unwrap().at("/server/settings_changed").clone();
    assert!(changed["work_mem"] == "5MB" && changed.get("fsync").is_none(), "{changed}");
}

/// Far away, each session takes many round trips to open.
#[test]
fn few_sessions_are_opened_beside_the_clients() {
    let Some(place) = Place::new("sessions of pgdyno's own", "log_connections = on\n", TRUST) else { return };
    let opened = || {
        let log = std::fs::read_to_string(place.server.dir().join("log")).unwrap();
        log.lines().filter(|line| line.contains("connection authorized: ") && line.contains("=pgdyno")).count()
    };
    let opened_by = |args: &str| {
        let before = opened();
        place.run(args).ok();
        opened() - before
    };
    place.run("load select-only -s 1").ok();
    // The first one looks at the server, and stays to measure; another one finds out if a pooler is in between. Two sample, and two
    // are clients.
    assert_eq!(opened_by("run select-only -t 1 -c 2 -n --no-check"), 6);
    // Where a setting is changed, one looks, one sets, one reads back, and one measures.
    assert_eq!(opened_by("run select-only -t 1 -c 2 -n --no-check --set work_mem=8MB"), 9);
    assert_eq!(opened_by("drop select-only"), 2);
}

#[test]
fn a_run_over_tls_and_scram_names_them_and_never_the_password() {
    let hba = "local all postgres trust\nhostssl all bench all scram-sha-256\n";
    let Some(mut place) = Place::new("TLS and SCRAM", "", hba) else { return };
    let pki = place.offer_tls();
    let quoted = PASSWORD.replace('\'', "''");
    place.execute(&format!("set password_encryption = 'scram-sha-256'; create role bench login password '{quoted}'"));
    place.execute("create database bench owner bench");

    // In a home of its own: the file that is named in the target must not be looked into for the password.
    let (port, root) = (place.server.port, pki.path("ca.crt"));
    let root = root.to_str().unwrap();
    let escaped = PASSWORD.replace('\'', "\\'");
    let words = format!(
        "host=localhost port={port} user=bench dbname=bench password='{escaped}' sslmode=verify-full sslrootcert={root} \
         channel_binding=require"
    );
    let encoded = PASSWORD.replace('\'', "%27").replace(',', "%2C").replace('=', "%3D").replace(' ', "%20");
    let uri = format!("postgresql://bench:{encoded}@127.0.0.1:{port}/bench?sslmode=verify-full&sslrootcert={root}");
    for (nth, target) in [words.as_str(), &uri].into_iter().enumerate() {
        let mut running = place.home.start(&[
            "run",
            "tpcb-like",
            "-s",
            "1",
            "-R",
            "100",
            "-T",
            "2",
            "--ramp",
            "0",
            "--target",
            target,
        ]);
        running.until_it_says("progress:", 1);
        assert!(crate::program::descendants(running.pid()).iter().all(|p| !p.args.contains("geheim")));
        let ran = running.end().ok().prints(&["TLSv1.3", "user bench, host "]);
        assert!(!ran.stdout.contains("geheim") && !ran.stderr.contains("geheim"));
        let run = place.home.runs().pop().unwrap();
        assert!(run.text("/server/tls").starts_with("TLSv1.3"), "{}", run.text("/server/tls"));
        assert_eq!(run.text("/status"), "complete");
        // Its tables are a role's who is no superuser.
        assert_eq!(run.record.get("load").is_some(), nth == 0);
        assert_eq!(run.checks_that_hold().last(), Some(&"after the run"));
    }
    assert_nowhere("geheim", place.home.path());

    std::fs::copy(Pki::new().path("ca.crt"), pki.path("other.crt")).unwrap();
    // What does not hold is refused, and the password is in none of the refusals.
    let cases: [(&str, &str, &[&str]); 5] = [
        ("geheim", "falsch", &["password authentication failed", "\"bench\""]),
        ("host=localhost", "hostaddr=127.0.0.1 host=db.example", &["certificate", "db.example"]),
        ("ca.crt", "other.crt", &["certificate"]),
        ("ca.crt", "absent.crt", &["absent.crt"]),
        ("sslmode=verify-full", "sslmode=disable", &["no pg_hba.conf entry"]),
    ];
    let words = words.replace(" channel_binding=require", "");
    for (from, to, said) in cases {
        let ran = place.home.run(&["run", "--target", &words.replace(from, to)]).ended(1);
        assert!(!ran.stderr.contains("geheim") && !ran.stderr.contains("weiter"), "{}", ran.stderr);
        ran.says(said);
    }
    assert_eq!(place.home.runs().len(), 2, "a run that cannot start leaves no record");
}

#[test]
fn it_is_reached_as_libpq_would_and_refusals_name_the_host_and_the_remedy() {
    let hba = "local all postgres trust\nhost all all all scram-sha-256\n";
    let Some(place) = Place::new("ways to reach a server", "max_connections = 20\n", hba) else { return };
    place.execute("set password_encryption = 'scram-sha-256'; alter role postgres password 'geheim'");
    let (dir, port) = (place.server.dir().display().to_string(), place.server.port.to_string());
    let args = ["run", "select-only", "-c", "2", "-t", "5", "-q"];
    let with_env = |vars: &[(&str, &str)], args: &[&str]| {
        let mut command = place.home.command(args);
        command.envs(vars.iter().copied());
        finish(command)
    };
    let socket = [("PGHOST", dir.as_str()), ("PGPORT", &port), ("PGUSER", "postgres")];
    with_env(&socket, &[&args[..], &["-s", "1"]].concat()).ok();
    let tcp = [("PGHOST", "127.0.0.1"), ("PGPORT", &port), ("PGUSER", "postgres"), ("PGPASSWORD", "geheim")];
    with_env(&tcp, &args).ok();
    let ipv6 = [("PGHOST", "::1"), ("PGPORT", &port), ("PGUSER", "postgres"), ("PGPASSWORD", "geheim")];
    with_env(&ipv6, &args).ok();
    // The target counts before the environment, and adds to it.
    with_env(&tcp, &[&args[..], &["--target", "host=localhost dbname=postgres"]].concat()).ok();

    let passfile = place.home.join("pass");
    write_key(&passfile, &format!("127.0.0.1:{port}:*:postgres:geheim\n"));
    let services = place.home.join("services");
    std::fs::write(&services, format!("[bench]\nhost=127.0.0.1\nport={port}\nuser=postgres\n")).unwrap();
    let service = [
        ("PGSERVICE", "bench"),
        ("PGSERVICEFILE", services.to_str().unwrap()),
        ("PGPASSFILE", passfile.to_str().unwrap()),
        ("PGDATABASE", "postgres"),
    ];
    with_env(&service, &args).ok();
    let runs = place.home.runs();
    assert_eq!(runs.iter().filter(|run| run.record.get("load").is_some()).count(), 1, "the first of them loaded");
    assert!(runs.iter().all(|run| run.at("/server/local") == true));
    assert_eq!(runs.iter().filter(|run| run.text("/plan/target").contains("127.0.0.1")).count(), 2);

    let refusals: &[(String, &[&str])] = &[
        (format!("host=127.0.0.1 port={port} user=postgres password=falsch"), &["127.0.0.1", "password"]),
        (format!("host=127.0.0.1 port={port} user=postgres"), &["127.0.0.1", "password", "PGPASSWORD"]),
        (format!("host={dir} port={port} user=nobody_here"), &[&dir, "pg_hba.conf"]),
        (format!("host={dir} port={port} user=postgres dbname=absent"), &[&dir, "\"absent\"", "does not exist"]),
        ("host=127.0.0.1 port=1 user=postgres".to_owned(), &["127.0.0.1:1", "nothing listens there"]),
        ("host=/nonexistent".to_owned(), &["/nonexistent/.s.PGSQL.5432", "start the server"]),
        ("host=no-such-host.invalid".to_owned(), &["no-such-host.invalid"]),
    ];
    for (target, words) in refusals {
        for command in ["run", "load", "check", "drop"] {
            let ran = place.home.run(&[command, "tpcb-like", "--target", target]).ended(1);
            assert_eq!(ran.stdout, "", "{target}");
            ran.says(words);
        }
    }

    // Too many clients are refused before anything is loaded.
    place.execute("create database empty");
    let target = format!("{} dbname=empty", place.target().replace(" dbname=postgres", ""));
    let ran = place.home.run(&["run", "select-only", "-s", "1", "-c", "50", "--target", &target]).ended(1);
    ran.says(&["50 clients", "max_connections is 20", "--clients"]);
    let tables = "select count(*) from pg_class where relnamespace = 'public'::regnamespace";
    let empty = ConnectOptions::for_socket(place.server.dir(), place.server.port, "postgres", "empty");
    assert_eq!(Admin::connect(&empty).unwrap().query_one(tables).unwrap(), "0");
    assert_eq!(place.home.runs().len(), runs.len(), "a run that cannot start leaves no record");
}

#[test]
fn pgbench_drives_our_data_and_we_drive_its() {
    let Some(place) = Place::new("pgbench's data", "", TRUST) else { return };
    if !postgres::program("pgbench").exists() {
        crate::skipped::skipped("pgbench's data: no pgbench");
        return;
    }
    let pgbench = |database: &str, args: &[&str]| {
        let mut command = server::command("pgbench");
        command.arg("-h").arg(place.server.dir()).args(["-p", &place.server.port.to_string(), "-U", "postgres"]);
        finish({
            command.args(args).arg(database);
            command
        })
    };
    let target = |database: &str| place.target().replace("dbname=postgres", &format!("dbname={database}"));
    for database in ["theirs", "ours"] {
        place.execute(&format!("create database {database}"));
    }

    pgbench("theirs", &["-i", "-q", "-s", "2"]).ok();
    for workload in ["tpcb-like", "simple-update", "select-only"] {
        let args = ["run", workload, "-c", "2", "-t", "20", "--target", &target("theirs")];
        place.home.run(&args).ok().says(&["driving data loaded by another program as it is", "scale 2"]);
        let run = place.home.runs().pop().unwrap();
        assert_eq!((run.number("/plan/scale"), run.number("/summary/committed")), (2.0, 40.0));
        assert!(run.record.get("load").is_none());
        assert_eq!(run.checks_that_hold(), ["before the run", "after the run"]);
    }
    // It is replaced only if the user asks for it.
    let refused = |args: &[&str], words: &[&str]| {
        let target = target("theirs");
        place.home.run(&[args, &["--target", &target]].concat()).ended(11).says(words);
    };
    refused(&["run", "-s", "3"], &["another program loaded scale 2", "you asked for scale 3"]);
    refused(&["run", "-s", "3", "--replace"], &["not loaded by pgdyno", "pgbench_accounts", "--force"]);
    refused(&["load", "tpcb-like", "-s", "3"], &["not loaded by pgdyno", "pgbench_accounts", "--force"]);
    refused(&["drop", "tpcb-like"], &["not loaded by pgdyno", "pgbench_accounts", "--force"]);
    pgbench("theirs", &["-t", "10"]).ok();
    place.home.run(&["drop", "tpcb-like", "--force", "--target", &target("theirs")]).ok().prints(&["dropped"]);

    place.home.run(&["load", "tpcb-like", "-s", "2", "--target", &target("ours")]).ok();
    for args in [&["-c", "2", "-t", "10"][..], &["-N", "-t", "10"], &["-S", "-M", "prepared", "-t", "10"]] {
        pgbench("ours", args).ok().prints(&["scaling factor: 2", "number of failed transactions: 0"]);
    }
    let args = ["run", "-c", "2", "-t", "10", "--target", &target("ours")];
    place.home.run(&args).ok();
    assert!(place.home.runs().pop().unwrap().record.get("load").is_none());
}

#[test]
fn a_load_that_was_interrupted_is_loaded_anew() {
    let Some(place) = Place::new("an interrupted load", "max_wal_size = 4GB\n", TRUST) else { return };
    let mut running = place.start("load tpcb-like -s 200");
    running.until_it_says("load: rows", 1);
    running.signal(rustix::process::Signal::INT);
    running.end().ended(130).says(&["interrupted", "is unusable, and the next load removes it"]);
    let others = "select count(*) from pg_stat_activity where application_name = 'pgdyno' and pid <> pg_backend_pid()";
    eventually("its sessions end", Duration::from_secs(10), || place.ask(others) == "0");
    place.run("run tpcb-like --no-load -t 1").ended(11).says(&["never finished", "--no-load"]);
    place.run("check tpcb-like").ended(1).says(&["pgdyno load tpcb-like"]);
    place.run("run tpcb-like -s 1 -c 2 -t 10").ok().says(&["not finished", "loading again"]);
    assert_eq!(place.ask("select count(*) from pgbench_accounts"), "100000");
}

#[test]
fn broken_data_is_reported_by_row_before_the_run_and_after() {
    let Some(place) = Place::new("broken data", "", TRUST) else { return };
    place.run("load tproc-c -w 2").ok();
    place.execute("update warehouse set w_ytd = w_ytd + 1 where w_id = 2");
    let contents = || {
        place.ask(
            "select md5(string_agg(t::text, '|' order by t.w_id)) || (select count(*) from orders) || \
             (select count(*) from history) from warehouse t",
        )
    };
    let before = contents();
    let words = ["broken before the run", "3.3.2.1", "w_id=2", "--replace"];
    let ran = place.run("run tproc-c -c 2 -t 20").ended(12).says(&words);
    assert!(!ran.stderr.contains("w_id=1"), "that one is right: {}", ran.stderr);
    place.run("check tproc-c").ended(12).prints(&["BROKEN 3.3.2.1 ", "w_id=2", "holds  3.3.2.2 "]);
    assert_eq!(contents(), before, "the data is as it was");
    let run = place.home.the_run();
    assert_eq!((run.text("/status"), run.number("/exit_code")), ("failed", 12.0));
    assert!(run.record.get("summary").is_none());

    place.run("run tproc-c -c 2 -t 20 --no-check").ok();
    place.execute("update warehouse set w_ytd = w_ytd - 1 where w_id = 2");
    let mut running = place.start("run tproc-c -c 2 -R 100 -T 3 --ramp 0");
    running.until_it_says("progress:", 1);
    place.execute("update warehouse set w_ytd = w_ytd + 1 where w_id = 1");
    running.end().ended(12).prints(&["! invalid", "broken after the run", "3.3.2.1", "w_id=1", "NOPM"]);
    let run = place.home.runs().pop().unwrap();
    assert_eq!((run.text("/status"), run.number("/exit_code")), ("invalid", 12.0));
    assert!(run.number("/summary/committed") > 0.0);

    // The identity of pgbench's tables is broken by other programs that write to them.
    let mut running = place.start("run tpcb-like -s 1 -c 2 -R 100 -T 3 --ramp 0");
    running.until_it_says("progress:", 1);
    place.execute("update pgbench_tellers set tbalance = tbalance + 1000 where tid = 3");
    running.end().ended(12).prints(&[
        "branches-tellers-history",
        "was branches_minus_history=0",
        "tellers_minus_history=1000",
    ]);
}

#[test]
fn tables_that_pgdyno_did_not_make_stay() {
    let Some(place) = Place::new("foreign tables", "", TRUST) else { return };
    place.execute("create table warehouse (contents text); insert into warehouse values ('treasure')");
    for args in ["run tproc-c -w 1 --replace", "load tproc-c -w 1", "drop tproc-c"] {
        place.run(args).ended(11).says(&["table warehouse in schema public was not loaded by pgdyno", "--force"]);
    }
    let target = format!("in schema public of postgres@{}", place.server.dir().display());
    for args in ["run tproc-c -w 1", "run tproc-c", "run tproc-c --no-load"] {
        let words = ["another program made table warehouse", "district, customer, history", "--target", "--force"];
        let ran = place.run(args).ended(11).says(&words);
        assert!(ran.stderr.contains("in schema public of "), "{target}: {}", ran.stderr);
    }
    assert_eq!((place.ask("select contents from warehouse"), place.tables()), ("treasure".to_owned(), "1".to_owned()));
    place.run("load tproc-c -w 1 --force").ok().says(&["dropped what was there: table warehouse"]);
    assert_eq!(place.ask("select count(*) from warehouse"), "1");

    // A role that is not the owner reads what is refused, and why.
    place.execute(
        "create role app login; grant all on schema public to app; grant select on all tables in schema public to app",
    );
    let as_app = place.target().replace("user=postgres", "user=app");
    let words = [
        "failed to drop table customer, ",
        "must be owner of",
        "nothing was dropped",
        "hint: connect as the owner of routine ",
    ];
    place.home.run(&["drop", "tproc-c", "--force", "--target", &as_app]).ended(11).says(&words);
    place.execute("alter role app set search_path = nowhere");
    for args in [&["load", "tproc-c"][..], &["check", "tproc-c"], &["run", "tproc-c", "-t", "1"], &["drop", "tproc-c"]]
    {
        let args = [args, &["--target", &as_app]].concat();
        place.home.run(&args).ended(11).says(&["names no schema that exists", "nowhere"]);
    }
}

/// What is damaged is reported table by table, and nothing is loaded over it.
#[test]
fn damaged_data_is_reported_and_not_replaced_unasked() {
    let Some(place) = Place::new("damaged data", "", TRUST) else { return };
    place.run("load tpcb-like -s 2").ok();
    place.execute("alter table pgbench_tellers rename to kept");
    let damaged = ["damaged: table pgbench_tellers is missing", "`pgdyno load tpcb-like --scale 2 --replace`"];
    for args in ["load tpcb-like", "load tpcb-like -s 1", "run tpcb-like -t 1", "run tpcb-like -s 1 -t 1"] {
        place.run(args).ended(11).says(&damaged);
    }
    place.run("run tpcb-like --no-load -t 1").ended(11).says(&["damaged: table pgbench_tellers is missing"]);
    assert_eq!(place.ask("select count(*) from pgbench_accounts"), "200000");
    place.execute("alter table kept rename to pgbench_tellers");
    place.run("check tpcb-like").ok();
    place.execute("create table kept as table pgdyno_stamp; delete from pgdyno_stamp");
    for args in ["load tpcb-like", "run tpcb-like -t 1"] {
        place.run(args).ended(11).says(&["damaged: the row of pgdyno_stamp that describes the data is missing"]);
    }
    place.execute("insert into pgdyno_stamp table kept");
    place.run("check tpcb-like").ok();
    for option in ["-s 1", "-s 3"] {
        place.run(&format!("check tpcb-like {option}")).ended(11).says(&["holds data of scale 2"]);
    }
    // A load that says nothing of the size takes the one that is there.
    place.run("load tpcb-like --replace").ok();
    assert_eq!(place.ask("select count(*) from pgbench_accounts"), "200000");
}

/// An index that a user dropped is no accident that a figure hides, nor one that forbids the run.
#[test]
fn a_changed_schema_is_refused_or_stands_in_the_record() {
    let Some(place) = Place::with_warehouse("a changed schema", "", TRUST) else { return };
    place.execute("drop index customer_i2");
    let missing = "index customer_i2 of customer is missing";
    place.run("run tproc-c -c 1 -t 20").ended(12).says(&[missing, "--allow-schema-changes"]);
    for option in ["--allow-schema-changes", "--no-check"] {
        let args = format!("run tproc-c -c 1 -t 20 -v {option}");
        place.run(&args).ok().says(&["the schema differs: ", missing]).prints(&[missing]);
        let run = place.home.runs().pop().unwrap();
        assert!(run.record["warnings"].to_string().contains(missing), "{}", run.record["warnings"]);
    }
    place.execute("create unique index customer_i2 on customer (c_w_id, c_d_id, c_last, c_first, c_id)");
    place.run("run tproc-c -c 1 -t 20").ok();

    // A routine that is gone is installed again; one that a user has changed is his.
    let source = "select md5(prosrc) from pg_proc where proname = 'pgdyno_delivery'";
    let ours = place.ask(source);
    place.execute("drop procedure pgdyno_delivery");
    place.run("run tproc-c -c 1 -t 20").ok();
    place.run("check tproc-c").ok();
    assert_eq!(place.ask(source), ours);
    place.execute(
        "update pg_proc set prosrc = replace(prosrc, 'BEGIN', 'BEGIN PERFORM 1;') where proname = 'pgdyno_delivery'",
    );
    let changed = place.ask(source);
    place.run("run tproc-c -c 1 -t 20").ended(12).says(&["pgdyno_delivery", "changed by hand"]);
    place.run("run tproc-c -c 1 -t 20 --allow-schema-changes").ok().says(&["is not the one that was installed"]);
    assert_eq!(place.ask(source), changed);
}

/// The stamp of 0.1.0 keeps no schema: a check says that it holds nothing against it.
#[test]
fn an_old_stamp_leaves_the_schema_unchecked_and_is_reported() {
    let Some(place) = Place::with_warehouse("an old stamp", "", TRUST) else { return };
    place.execute(
        "alter table pgdyno_stamp drop column layout; update pgdyno_stamp set pgdyno = '0.1.0'; drop index customer_i2",
    );
    let why = "pgdyno 0.1.0 loaded the data without recording its schema, so the schema cannot be checked; \
               `pgdyno load tproc-c --warehouses 1 --replace` loads it again with one";
    let ran = place.run("check tproc-c").ok().prints(&["skipped schema ", why, "holds  rows of item "]);
    assert!(!ran.stdout.contains("holds  schema "), "{}", ran.stdout);
    place
        .run("run tproc-c -c 1 -t 5 -v")
        .ok()
        .says(&["the schema was not checked", why])
        .prints(&["the schema was not checked"]);
    let run = place.home.the_run();
    assert!(run.record["warnings"].to_string().contains(why), "{}", run.record["warnings"]);

    place.run("load tproc-c --warehouses 1 --replace").ok();
    place.run("check tproc-c").ok().prints(&["holds  schema "]);
    place.execute("drop index customer_i2");
    place.run("check tproc-c").ended(12).prints(&["BROKEN schema ", "index customer_i2 of customer is missing"]);
}

#[test]
fn a_password_file_that_others_may_read_is_reported_in_libpqs_words_once() {
    use std::os::unix::fs::PermissionsExt as _;

    let Some(place) = Place::new("a password file that others may read", "", TRUST) else { return };
    let program = crate::postgres::program("psql");
    if !program.exists() {
        return crate::skipped::skipped("a password file that others may read: no psql");
    }
    let file = place.home.join(".pgpass");
    std::fs::write(&file, "*:*:*:*:geheim\n").unwrap();
    let port = place.server.port.to_string();
    let psql = || {
        let mut command = std::process::Command::new(&program);
        command.args(["-XAtc", "select 1", "-h", "127.0.0.1", "-p", &port, "-U", "postgres", "postgres"]);
        command.env_clear().env("HOME", place.home.path()).env("LC_ALL", "C");
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    let target = format!("host=127.0.0.1 port={port} user=postgres dbname=postgres");
    for (mode, warns) in [(0o644, true), (0o640, true), (0o600, false)] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let warning = psql();
        assert_eq!(warning.contains("group or world access"), warns, "{warning}");
        let url = target.as_str();
        for args in [
            &["plan", "select-only", "--target", url][..],
            &["load", "select-only", "--replace", "--target", url],
            &["check", "select-only", "--target", url],
            &["run", "select-only", "-T", "1", "--ramp", "0", "--quiet", "--target", url],
            &["pgbench", "-i", "-q", url],
            &["pgbench", "-n", "-S", "-c", "3", "-t", "1", url],
            &["drop", "select-only", "--target", url],
        ] {
            let ran = place.home.run(args);
            let reported: String =
                ran.stderr.lines().filter(|l| l.contains("assword file")).map(|l| format!("{l}\n")).collect();
            assert_eq!(reported, warning, "{mode:o} {args:?}: {}", ran.stderr);
            assert!(!ran.stdout.contains("assword file"), "{mode:o} {args:?}: {}", ran.stdout);
        }
    }
}
