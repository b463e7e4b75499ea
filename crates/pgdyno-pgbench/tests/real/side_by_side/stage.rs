//! A server, and both programs on it.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use pgdyno_net::{Admin, ConnectOptions};

use super::cases::Case;
use super::mask;
use crate::drop_in;
use crate::programs::Pgbench;
use crate::server::{self, TestServer};

/// Databases, each with its own cases side by side with the others'.
const LANES: usize = 3;

/// What the scripts find beside pgbench's own tables.
const TABLES: &str = "create table t (id int primary key, n int not null default 0);
    insert into t select id, 0 from generate_series(1, 10) id;
    create table seen (client int, what text);
    create function shout(text) returns int language plpgsql as 'begin raise notice ''%'', $1; return 1; end'";

/// What a program did, figures apart.
#[derive(PartialEq)]
pub(super) struct Did {
    pub(super) code: i32,
    pub(super) out: String,
    pub(super) err: String,
    pub(super) files: BTreeMap<String, String>,
    rows: Vec<String>,
}

/// A server with [`LANES`] databases, and the pgbench that is compared with.
pub(super) struct Stage {
    pub(super) server: TestServer,
    pgbench: Pgbench,
    /// The version of pgbench whose words are expected.
    pub(super) version: u32,
}

impl Stage {
    pub(super) fn start(test: &str) -> Option<Self> {
        if !server::available(test) {
            return None;
        }
        let pgbench = Pgbench::find(test)?;
        let server = TestServer::start("autovacuum = off\ndeadlock_timeout = 100ms\n", "local all all trust\n");
        let mut admin = server.admin();
        admin.execute("create database lane0").unwrap();
        let options = ConnectOptions::for_socket(server.dir(), server.port, "postgres", "lane0");
        let version = pgbench.version;
        let this = Self { server, pgbench, version };
        let ran =
            this.pgbench.run(&["-i", "-q", "lane0"], &this.vars("lane0").each_ref().map(|(k, v)| (*k, v.as_str())));
        assert_eq!(ran.code, 0, "{}", ran.err);
        Admin::connect(&options).unwrap().execute(TABLES).unwrap();
        for lane in 1..LANES {
            admin.execute(&format!("create database lane{lane} template lane0")).unwrap();
        }
        Some(this)
    }

    fn vars(&self, database: &str) -> [(&'static str, String); 4] {
        [
            ("PGHOST", self.server.dir().display().to_string()),
            ("PGPORT", self.server.port.to_string()),
            ("PGUSER", "postgres".to_owned()),
            ("PGDATABASE", database.to_owned()),
        ]
    }

    /// How many cases were compared, and what differed.
    #[expect(clippy::disallowed_methods, reason = "the variable picks a case")]
    pub(super) fn compare(&self, cases: &[Case]) -> (usize, Vec<String>) {
        let only = std::env::var("PGDYNO_TEST_CASE").unwrap_or_default();
        let chosen: Vec<&Case> =
            cases.iter().filter(|case| case.since <= self.version && case.name().contains(&only)).collect();
        let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for lane in 0..LANES {
                let (next, wrong, chosen) = (&next, &wrong, &chosen);
                scope.spawn(move || {
                    while let Some(case) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                        // What pgbench says of a session that the server has ended depends on when it notices.
                        let again = |_| self.case(case, &format!("lane{lane}"));
                        if let Some(difference) = self.case(case, &format!("lane{lane}")).and_then(again) {
                            wrong.lock().unwrap().push(difference);
                        }
                    }
                });
            }
        });
        (chosen.len(), wrong.into_inner().unwrap())
    }

    /// Runs the drop-in or pgbench.
    pub(super) fn run_one(&self, case: &Case, ours: bool, database: &str) -> Did {
        let dir = self.server.dir().join(database);
        std::fs::create_dir_all(&dir).unwrap();
        let (args, files) = case.given();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        for (name, text) in &files {
            std::fs::write(dir.join(name), text).unwrap();
        }
        let did = match ours {
            true => self.run(case, drop_in::command(&args), &[], &dir, database),
            false => self.run(case, Command::new(&self.pgbench.path), &args, &dir, database),
        };
        std::fs::remove_dir_all(&dir).unwrap();
        did
    }

    fn case(&self, case: &Case, database: &str) -> Option<String> {
        let (theirs, ours) = (self.run_one(case, false, database), self.run_one(case, true, database));
        differences(case, &ours, &theirs)
    }

    fn run(&self, case: &Case, mut command: Command, args: &[&str], dir: &Path, database: &str) -> Did {
        let mut admin =
            Admin::connect(&ConnectOptions::for_socket(self.server.dir(), self.server.port, "postgres", database))
                .unwrap();
        if !case.before.is_empty() {
            admin.execute(case.before).unwrap();
        }
        let there: Vec<PathBuf> = listing(dir);
        command.args(args).env("LC_ALL", "C").envs(self.vars(database)).current_dir(dir);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let pid = child.id().to_string();
        // One that does not read it has ended already, or never will.
        drop(child.stdin.take().unwrap().write_all(case.stdin.as_bytes()));
        let output = child.wait_with_output().unwrap();
        let (mut files, lags) = (BTreeMap::new(), case.options.contains("-R "));
        for path in listing(dir) {
            if !there.contains(&path) {
                let name = path.file_name().unwrap().to_string_lossy().replace(&pid, "PID");
                files.insert(name.clone(), mask::file(&name, &std::fs::read_to_string(&path).unwrap(), lags));
                std::fs::remove_file(path).unwrap();
            }
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut out = mask::report(drop_in::own_output(&text(&output.stdout)));
        if self.version < 18 {
            out = mask::report_before_18(&out);
        }
        let rows = if case.after.is_empty() { Vec::new() } else { admin.query(case.after).unwrap().rows };
        Did {
            code: output.status.code().unwrap_or(-1),
            out,
            err: mask::messages(&text(&output.stderr).replace(&format!(".{pid}\""), ".PID\""), case.unordered),
            files,
            rows: rows.iter().map(|row| format!("{row:?}")).collect(),
        }
    }
}

fn listing(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// How the drop-in did otherwise than pgbench.
pub(super) fn differences(case: &Case, ours: &Did, theirs: &Did) -> Option<String> {
    if ours == theirs {
        return None;
    }
    let mut text = format!("== {}\n", case.name());
    let mut side = |what: &str, ours: &str, theirs: &str| {
        if ours != theirs {
            text.push_str(&difference(what, ours, theirs));
        }
    };
    side("exit code", &ours.code.to_string(), &theirs.code.to_string());
    side("stdout", &ours.out, &theirs.out);
    side("stderr", &ours.err, &theirs.err);
    side("files", &format!("{:#?}", ours.files), &format!("{:#?}", theirs.files));
    side("rows", &ours.rows.join("\n"), &theirs.rows.join("\n"));
    Some(text)
}

/// Two texts, line by line from the first that differs.
pub(super) fn difference(what: &str, ours: &str, theirs: &str) -> String {
    let equal = ours.lines().zip(theirs.lines()).take_while(|(a, b)| a == b).count();
    let rest =
        |text: &str| -> String { text.lines().skip(equal).take(12).map(|line| format!("    {line}\n")).collect() };
    format!("  {what}, after {equal} equal lines\n  ours:\n{}  theirs:\n{}", rest(ours), rest(theirs))
}
