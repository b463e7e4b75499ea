//! The installed pgbench, and ours, run the same way.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pgdyno_net::{Env, Secret, Stop};
use pgdyno_pgbench::messages::{ExitReason, Io, system_text};
use pgdyno_pgbench::options::{self, BuiltinChoice, ConnectionTarget, Parsed, ScriptReader, Surroundings};
use pgdyno_pgbench::{connect, init};

use crate::server;
use crate::skipped::skipped;

/// What a program did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// An installed pgbench.
pub(crate) struct Pgbench {
    pub(crate) path: PathBuf,
    /// Its major version.
    pub(crate) version: u32,
}

impl Pgbench {
    /// The one that `PGDYNO_TEST_PGBENCH` names, or else the newest one that is installed; says so where there is none.
    #[expect(clippy::disallowed_methods, reason = "the variable says which pgbench to compare with")]
    pub(crate) fn find(test: &str) -> Option<Self> {
        if let Some(path) = std::env::var_os("PGDYNO_TEST_PGBENCH") {
            let said = Command::new(&path).arg("--version").output().unwrap();
            let said = String::from_utf8(said.stdout).unwrap();
            let version = said.split_whitespace().nth(2).and_then(|v| v.split('.').next()?.parse().ok()).unwrap();
            return Some(Self { path: path.into(), version });
        }
        let root = "/usr/lib/postgresql";
        let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
        let programs = entries.filter_map(|entry| {
            let version = entry.file_name().to_str()?.parse().ok()?;
            let path = entry.path().join("bin/pgbench");
            path.exists().then_some(Self { path, version })
        });
        let newest = programs.max_by_key(|pgbench| pgbench.version);
        if newest.is_none() {
            skipped(&format!("{test}: no pgbench in {root}"));
        }
        newest
    }

    pub(crate) fn run(&self, args: &[&str], vars: &[(&str, &str)]) -> Ran {
        let mut command = Command::new(&self.path);
        if let Some((uid, gid)) = server::account() {
            command.uid(uid).gid(gid);
        }
        command.arg0("pgbench").args(args).env_clear().env("LC_ALL", "C").envs(vars.iter().copied());
        let output = command.current_dir("/").stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

/// The same by this crate. A benchmark ends after its first connection.
pub(crate) fn ours(args: &[&str], vars: &[(&str, &str)]) -> Ran {
    ours_until(args, vars, &Stop::new())
}

/// The same, until `stop` is set.
pub(crate) fn ours_until(args: &[&str], vars: &[(&str, &str)], stop: &Stop) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args: Vec<OsString> = ["pgbench"].iter().chain(args).map(OsString::from).collect();
    let env = Env::new(vars.iter().copied(), None, Some("postgres"));
    let mut io = Io::new(&args[0], &mut out, &mut err);
    let code = match run(&args, &env, &mut io, stop) {
        Ok(()) => 0,
        Err(failure) => io.fail(&failure),
    };
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: i32::from(code), out: text(out), err: text(err) }
}

fn run(args: &[OsString], env: &Env, io: &mut Io<'_>, stop: &Stop) -> Result<(), ExitReason> {
    let surroundings = Surroundings {
        env,
        time_seed: 1,
        strong_seed: &|| Ok(2),
        max_open_files: rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum,
    };
    let mut scripts = TestScripts;
    let target = |target: &ConnectionTarget, io: &Io<'_>| connect::options(target, io.program(), env);
    let mut ask = || Ok(Secret::new(String::new()));
    match options::parse(args, &surroundings, &mut scripts, io)? {
        Parsed::Help => drop(io.out.write_all(options::help(io.program()).as_bytes())),
        Parsed::Version => drop(io.out.write_all(options::version().as_bytes())),
        Parsed::ListBuiltins => io.raw(&options::listing(&scripts)),
        Parsed::ShowScript(script) => io.raw(&options::shown(&script)),
        Parsed::Init(init) => {
            let mut target = target(&init.target, io).map_err(|failed| failed.during("initialization"))?;
            init::init(&init, &mut target, &mut ask, io, stop)?;
        }
        Parsed::Run(run) => {
            let opened = target(&run.target, io).and_then(|mut target| connect::open(&mut target, &mut ask));
            opened.map_err(|failed| failed.during("setup"))?;
        }
    }
    Ok(())
}

/// Built-in scripts of three names, and files that are not parsed.
struct TestScripts;

const ACCOUNT: &str = "\\set aid random(1, 100000 * :scale)\n";
const OTHERS: &str =
    "\\set bid random(1, 1 * :scale)\n\\set tid random(1, 10 * :scale)\n\\set delta random(-5000, 5000)\n";
const SELECT: &str = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n";
const UPDATE: &str = "UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n";
const UPDATES: &str = "UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;\n\
                       UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;\n";
const INSERT: &str = "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) \
                      VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);\n";

impl ScriptReader for TestScripts {
    fn all(&self) -> Vec<BuiltinChoice> {
        [
            (
                "tpcb-like",
                "TPC-B (sort of)",
                format!("{ACCOUNT}{OTHERS}BEGIN;\n{UPDATE}{SELECT}{UPDATES}{INSERT}END;\n"),
            ),
            ("simple-update", "simple update", format!("{ACCOUNT}{OTHERS}BEGIN;\n{UPDATE}{SELECT}{INSERT}END;\n")),
            ("select-only", "select only", format!("{ACCOUNT}{SELECT}")),
        ]
        .map(|(name, what, text)| BuiltinChoice { name: name.into(), description: format!("<builtin: {what}>"), text })
        .into()
    }

    fn find(&self, prefix: &str) -> Result<BuiltinChoice, String> {
        let mut found: Vec<BuiltinChoice> = self.all();
        found.retain(|script| script.name.starts_with(prefix));
        match found.len() {
            0 => Err(format!("no builtin script found for name \"{prefix}\"")),
            1 => Ok(found.remove(0)),
            n => Err(format!("ambiguous builtin name: {n} builtin scripts found for prefix \"{prefix}\"")),
        }
    }

    fn file(&mut self, path: &OsStr) -> Result<(), ExitReason> {
        let shown = path.to_string_lossy();
        let failed = |what: &str, error: &std::io::Error| {
            ExitReason::error(format!("could not {what} file \"{shown}\": {}", system_text(error)))
        };
        if path == "-" {
            // Nothing stands in the standard input of these tests.
            return Err(ExitReason::error("empty command list for script \"-\""));
        }
        let mut file = std::fs::File::open(Path::new(path)).map_err(|error| failed("open", &error))?;
        let mut text = String::new();
        std::io::Read::read_to_string(&mut file, &mut text).map_err(|error| failed("read", &error))?;
        if text.trim().is_empty() {
            return Err(ExitReason::error(format!("empty command list for script \"{shown}\"")));
        }
        Ok(())
    }
}
