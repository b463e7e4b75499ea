//! DuckDB, as its command-line program or as a module of Python.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use pgdyno_net::Stop;
use pgdyno_workload::{CopyBuf, OracleQuery, OracleTable};
use tempfile::TempDir;

/// Python that runs the SQL of its second argument on the database of its first.
const PYTHON: &str = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute(sys.argv[2])";

/// How often the end of a statement is looked for.
const POLL: Duration = Duration::from_millis(20);

/// A database of DuckDB in a directory of its own, which ends with it.
pub(super) struct DuckDb<'a> {
    /// Name and version.
    pub(super) version: String,
    program: &'static str,
    directory: TempDir,
    stop: &'a Stop,
}

impl<'a> DuckDb<'a> {
    /// Finds DuckDB on `PATH`: `duckdb`, else the module of Python.
    pub(super) fn find(stop: &'a Stop) -> Result<Self> {
        let cli = version("duckdb", &["--version"]).map(|version| ("duckdb", version));
        let module = || {
            let print = &["-c", "import duckdb; print(duckdb.__version__)"][..];
            ["python3", "python"].into_iter().find_map(|python| Some((python, version(python, print)?)))
        };
        let Some((program, version)) = cli.or_else(module) else {
            let error = "--oracle duckdb found no DuckDB: neither a program `duckdb` nor a Python with the module duckdb is on PATH";
            let hint = "install its command-line program, or `pip install duckdb`, or leave --oracle out";
            return Err(CommandError::new(Code::Start, error).hint(hint));
        };
        // `v1.5.6 (Variegata) 0123456789`.
        let number = version.split_whitespace().next().unwrap_or_default().trim_start_matches('v');
        let version = format!("DuckDB {number}");
        let directory = tempfile::Builder::new().prefix("pgdyno-oracle-").tempdir().or_fail(Code::Start)?;
        Ok(Self { version, program, directory, stop })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Creates a table with its rows.
    pub(super) fn load(&self, table: &OracleTable) -> Result<()> {
        let OracleTable { name, columns, rows } = table;
        let sql = format!(
            "create table {name} ({columns}); copy {name} from '/dev/stdin' (format csv, delimiter '\\t', header false, quote \
             '', escape '', auto_detect false)"
        );
        let mut child = self.start(&sql, Stdio::piped())?;
        let mut out = CopyBuf::new();
        let mut sent = Ok(());
        if let Some(mut input) = child.stdin.take() {
            for chunk in 0..rows.chunks() {
                if self.stop.is_requested() {
                    break;
                }
                out.clear();
                rows.write(chunk, &mut out);
                sent = input.write_all(out.bytes());
                if sent.is_err() {
                    break;
                }
            }
        }
        // What DuckDB says is more than that its pipe was closed.
        self.end(child, &format!("the rows of {name}"))?;
        sent.map_err(|error| self.failed(&format!("the rows of {name}"), &error.to_string()))
    }

    /// Returns the rows of a query, one in each line.
    pub(super) fn answer(&self, query: &OracleQuery) -> Result<String> {
        let path = self.path("answer");
        let sql = format!(
            "copy ({}) to '{}' (format csv, delimiter '|', header false, quote '', escape '')",
            query.sql,
            path.display()
        );
        self.end(self.start(&sql, Stdio::null())?, query.name)?;
        std::fs::read_to_string(path).or_fail(Code::Start)
    }

    fn start(&self, sql: &str, input: Stdio) -> Result<Child> {
        let database = self.path("rows.duckdb");
        let mut command = Command::new(self.program);
        match self.program {
            // The user's own settings could change the output.
            "duckdb" => command.args(["-init", "/dev/null"]).arg(database).args(["-c", sql]),
            _ => command.args(["-c", PYTHON]).arg(database).arg(sql),
        };
        // Python imports modules of the directory that it starts in, which may be a stranger's.
        command.current_dir(self.directory.path());
        command.stdin(input).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().or_fail(Code::Start)
    }

    /// Waits for its end; kills it if the user ends the check.
    fn end(&self, mut child: Child, what: &str) -> Result<()> {
        while child.try_wait().or_fail(Code::Start)?.is_none() {
            if self.stop.is_requested() {
                // It may have ended by itself.
                drop(child.kill());
                drop(child.wait());
                break;
            }
            std::thread::sleep(POLL);
        }
        if self.stop.is_requested() {
            return Err(CommandError::new(Code::Interrupted, format!("interrupted while DuckDB worked on {what}")));
        }
        let output = child.wait_with_output().or_fail(Code::Start)?;
        match output.status.success() {
            true => Ok(()),
            false => Err(self.failed(what, String::from_utf8_lossy(&output.stderr).trim())),
        }
    }

    fn failed(&self, what: &str, why: &str) -> CommandError {
        let last = why.lines().rfind(|line| !line.trim().is_empty()).unwrap_or(why);
        CommandError::new(Code::Check, format!("{} failed on {what}: {last}", self.version)).hint(format!(
            "its data is in {}, which TMPDIR decides: it takes about a third of what the server's takes",
            std::env::temp_dir().display()
        ))
    }
}

/// Returns what a program prints of its version, if it is there.
fn version(program: &str, args: &[&str]) -> Option<String> {
    // As below.
    let run = || -> io::Result<_> { Command::new(program).args(args).current_dir("/").stdin(Stdio::null()).output() };
    let output = run().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
