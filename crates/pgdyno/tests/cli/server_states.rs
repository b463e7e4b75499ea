//! Any server a user has: each command works in every state of a server, or ends with what to do about it.

mod table;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use pgdyno_net::Admin;

use crate::given_server::TRUST;
use crate::postgres;
use crate::program::{Home, Ran, finish};
use crate::server::{self, TestServer};
use table::{STATES, State};

/// States that are tried at the same time: commands wait more than they work.
const AT_ONCE: usize = 10;

/// The commands by the names that the table uses, in their order. `drop` comes last of those that need the data.
const COMMANDS: &[(&str, &str)] = &[
    ("plan", "plan tpcb-like"),
    ("plan load", "plan ycsb-a --records 100"),
    ("check", "check select-only"),
    ("run reads", "run select-only -t 1 -c 2"),
    ("run writes", "run tpcb-like -t 1 -c 2"),
    ("run mixed", "run oltp-read-write -t 1 -c 2"),
    ("load", "load ycsb-a --records 100"),
    ("doctor", "doctor -v"),
    ("drop-in reads", "pgbench -S -t 1 -c 2"),
    ("drop-in writes", "pgbench -t 1 -c 2"),
    ("drop", "drop oltp-read-write"),
];

/// A server with a database to copy, and one home for all.
struct World {
    server: TestServer,
    home: Home,
}

impl World {
    fn new() -> Self {
        let this = Self { server: TestServer::start("max_connections = 90\n", TRUST), home: Home::new() };
        this.admin("postgres").execute("create database loaded").unwrap();
        for load in ["load select-only -s 1", "load oltp-read-write -s 100"] {
            this.run(load, "postgres", "loaded", "").ok();
        }
        this
    }

    fn admin(&self, database: &str) -> Admin {
        Admin::connect(&self.server.options().with_database(database)).unwrap()
    }

    fn run(&self, command: &str, role: &str, database: &str, options: &str) -> Ran {
        let mut args: Vec<_> = command.split(' ').map(str::to_owned).collect();
        let (dir, port) = (self.server.dir().display().to_string(), self.server.port.to_string());
        let is_drop_in = command.starts_with("pgbench");
        if !is_drop_in {
            let target = format!("host={dir} port={port} user={role} dbname={database} options='{options}'");
            args.extend(["--target".to_owned(), target]);
        }
        let mut command = self.home.command(args);
        if is_drop_in {
            command.env("PGHOST", dir).env("PGPORT", port).env("PGUSER", role).env("PGDATABASE", database);
            command.env("PGOPTIONS", options);
        }
        finish(command)
    }

    /// Returns what is wrong with the commands in the nth state.
    fn tried(&self, nth: usize, state: &State) -> Vec<String> {
        let (role, database) = (format!("role{nth}"), format!("database{nth}"));
        let mut admin = self.admin("postgres");
        admin.execute(&format!("create role {role} login")).unwrap();
        // Copies are made one after the other: the template is in use meanwhile.
        static COPYING: Mutex<()> = Mutex::new(());
        let copying = COPYING.lock().unwrap();
        // Since PostgreSQL 15 the default strategy writes the copy to the WAL, which takes longer.
        let strategy = if postgres::major() >= 15 { " strategy file_copy" } else { "" };
        admin.execute(&format!("create database {database} template loaded owner {role}{strategy}")).unwrap();
        drop(copying);
        let mut there = self.admin(&database);
        let owned =
            "select oid::regclass::text from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'";
        for row in there.query(owned).unwrap().rows {
            there.execute(&format!("alter table {} owner to {role}", row[0].as_deref().unwrap())).unwrap();
        }
        let filled = |text: &str| words(text, &role, &database);
        for sql in state.sql {
            there.execute(&filled(sql)).unwrap();
        }
        drop(there);
        let mut wrong = Vec::new();
        for (name, command) in COMMANDS {
            let ran = self.run(command, &role, &database, state.options);
            let says = state.says.iter().find(|(of, ..)| of == name);
            let failure = match says {
                Some((_, code, text)) => unlike(&ran, *code, &filled(text), name),
                None => without_remedy(&ran, name),
            };
            wrong.extend(failure.map(|why| {
                format!("{}: {name}: {why} (exit code {:?})\n{}\n{}", state.name, ran.code, ran.stdout, ran.stderr)
            }));
        }
        admin.execute(&format!("drop database {database} with (force)")).unwrap();
        wrong
    }
}

/// Replaces the words `R`, `R_inner` and `D`.
fn words(text: &str, role: &str, database: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut filled = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len()).max(if is_name(c) { 0 } else { c.len_utf8() });
        filled += match &rest[..end] {
            "R" => role,
            "D" => database,
            "R_inner" => return filled + role + "_inner" + &words(&rest[end..], role, database),
            word => word,
        };
        rest = &rest[end..];
    }
    filled
}

fn said(ran: &Ran) -> String {
    let both = format!("{}\n{}", ran.stdout, ran.stderr);
    both.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns how the outcome differs from the one that the table has.
fn unlike(ran: &Ran, code: i32, text: &str, name: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if !said(ran).contains(&text) {
        return Some(format!("'{text}' is expected"));
    }
    // What else is wrong with the machine or the server decides the exit code of doctor.
    let is_code = name == "doctor" || ran.code == Some(code);
    (!is_code).then(|| format!("exit code {code} is expected")).or_else(|| without_remedy(ran, name))
}

/// Returns true of a command that neither worked nor said what to do.
fn without_remedy(ran: &Ran, name: &str) -> Option<String> {
    if ran.stderr.contains("panicked") {
        return Some("a panic".to_owned());
    }
    let has_worked = match name {
        "doctor" => matches!(ran.code, Some(0 | 30 | 31)),
        // A check that finds the rows or the schema changed has done its work, and names what differs.
        "check" => ran.code == Some(0) || (ran.code == Some(12) && ran.stdout.contains("BROKEN ")),
        _ => ran.code == Some(0),
    };
    // The drop-in says what pgbench says, and nothing else.
    let has_remedy =
        if name.starts_with("drop-in") { ran.stderr.contains("error: ") } else { said(ran).contains("hint") };
    (!has_worked && !has_remedy).then(|| "it neither works nor says what to do".to_owned())
}

#[test]
fn every_command_works_or_says_what_to_do_in_every_state() {
    if !server::available("states of a server") {
        return;
    }
    assert!(STATES.len() >= 60, "{}", STATES.len());
    let world = World::new();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let only = std::env::var("PGDYNO_TEST_STATE").unwrap_or_default();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((nth, state)) = STATES.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed)) {
                    if state.name.contains(&only) {
                        let found = world.tried(nth, state);
                        wrong.lock().unwrap().extend(found);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {} cells:\n{}", wrong.len(), STATES.len() * COMMANDS.len(), wrong.join("\n\n"));
}

/// pgbench goes on where another session holds the history, and so does a run.
#[test]
fn a_history_that_another_session_holds_is_left_out() {
    if !server::available("a locked history") {
        return;
    }
    let world = World::new();
    let mut holder = world.admin("loaded");
    holder.execute("begin; lock table pgbench_history in access share mode").unwrap();
    let options = "-c lock_timeout=300ms";
    for workload in ["select-only", "tpcb-like"] {
        let ran = world.run(&format!("run {workload} -t 1 -c 1"), "postgres", "loaded", options).ok();
        ran.says(&["before the run, truncate pgbench_history: left out: empty the history", "lock timeout"]);
    }
    drop(holder);
}

/// A standby runs what only reads, and says of everything else where to do it.
#[test]
fn a_standby_works_or_says_what_to_do() {
    if !server::available("a standby in the matrix") {
        return;
    }
    let primary = TestServer::start("", "local all all trust\nlocal replication all trust\n");
    let home = Home::new();
    let target = |server: &TestServer| {
        format!("host={} port={} user=postgres dbname=postgres", server.dir().display(), server.port)
    };
    let on = |server: &TestServer, command: &str| {
        let target = target(server);
        home.run(&command.split(' ').chain(["--target", &target]).collect::<Vec<_>>())
    };
    for load in ["load select-only -s 1", "load oltp-read-write -s 100"] {
        on(&primary, load).ok();
    }
    let standby = TestServer::standby_of(&primary);
    for (name, command) in COMMANDS.iter().filter(|(name, _)| !name.starts_with("drop-in")) {
        let ran = on(&standby, command);
        assert_eq!(without_remedy(&ran, name), None, "{name}: {}\n{}", ran.stdout, ran.stderr);
    }
}
