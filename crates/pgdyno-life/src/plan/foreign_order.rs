//! Orders that come from a record, which may be another's: what they may not bring, and what its reader has to confirm.

use std::path::PathBuf;

use pgdyno_plan::{InputFile, Order, TargetName, TargetOrder, WorkloadOrder, sha256};
use pgdyno_results::read_ordinary;
use pgdyno_script::{ScriptText, may_run_commands};

use crate::exit_code::Code;
use crate::failure::{CommandError, Result};
use crate::plan::resolve::RunRequest;
use crate::plan::workload_source::{self, OWN_QUERIES, QUERIES_FROM, WorkloadSource};
use crate::target::Target;

/// Refuses the directory of programs that a stored order names as its private server, unless the user names a target.
///
/// # Errors
/// When there is one.
pub(super) fn refuse_programs(stored: &TargetOrder, given: &TargetOrder) -> Result<()> {
    let Some(target) = programs(stored).filter(|_| given.target.is_none()) else { return Ok(()) };
    let error = format!("the record names {target}: the program of a record is not run");
    Err(CommandError::new(Code::Start, error).hint(format!(
        "give --target {target} if it is yours, or --target embedded for a PostgreSQL that pgdyno finds"
    )))
}

/// Returns the target of an order that names programs to run: a directory with those of PostgreSQL.
fn programs(order: &TargetOrder) -> Option<&TargetName> {
    order.target.as_ref().filter(|target| target.kind().names_programs())
}

impl RunRequest {
    /// Returns what this request, which a record asks for, would connect to or start on this machine beyond its SQL, and what
    /// `given`, the command line, does not name. What runs programs counts if the request is `carried_out`: shells of scripts, faults,
    /// settings of the server, and statements of a superuser.
    ///
    /// # Errors
    /// When a target cannot be read.
    pub fn asks(&self, given: &Order, carried_out: bool) -> Result<Vec<String>> {
        let mut asked = Vec::new();
        let order = &self.order;
        if given.target.target.is_none() {
            asked.extend(remote(&order.target)?.map(|address| format!("the server {address}")));
            asked.extend(programs(&order.target).map(|target| format!("the programs of {target}")));
        }
        let analytics = self.analytics()?.filter(|_| given.analytics.target.is_none());
        let readers = if given.drive.readers.is_empty() { self.readers()? } else { Vec::new() };
        for options in analytics.into_iter().chain(readers).filter_map(|server| server.options) {
            asked.extend((!options.is_local()).then(|| format!("the server {options}")));
        }
        if carried_out && given.watch.os_metrics.is_none() {
            asked.extend(order.watch.os_metrics.as_ref().map(|command| format!("the command `{command}`")));
        }
        if carried_out {
            let fault = order.fault.kind.as_ref().filter(|fault| !fault.kind().needs_private_server());
            asked.extend(fault.map(|fault| format!("the fault {fault}")));
            asked.extend(self.source.script_with_shell().map(|script| format!("the shell commands of {script}")));
            if given.target.settings.is_empty() {
                let reaching = order.target.settings.iter().filter(|(name, value)| reaches_out(name, value));
                asked.extend(reaching.map(|(name, value)| format!("the setting {name} = {value}")));
            }
            asked.extend(self.superuser_statements(given));
        }
        Ok(asked)
    }
}

/// Suffixes of settings that name programs, files or addresses.
const REACHING: [&str; 9] =
    ["_command", "_conninfo", "_directories", "_directory", "_file", "_filename", "_path", "on_init", "start_proc"];

/// Settings that open the server to others.
const OPENING: [&str; 3] = ["listen_addresses", "unix_socket_group", "unix_socket_permissions"];

/// Returns true for a setting with which a server runs programs, loads libraries from anywhere, writes files or admits others. A library
/// without a directory is one of the installation.
fn reaches_out(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_plain = |c: char| c.is_alphanumeric() || " _.,:%+-*()[]\"'".contains(c);
    REACHING.iter().any(|suffix| name.ends_with(suffix))
        || OPENING.contains(&name.as_str())
        || !value.chars().all(is_plain)
        || value.contains("..")
}

/// Returns the address of a target on another machine that a stored order has; none if it is one of the user's own file.
fn remote(order: &TargetOrder) -> Result<Option<String>> {
    let target = Target::resolve(order)?;
    let is_own = target.named.is_some() && order.shown_as.is_none();
    Ok(target.given().filter(|options| !is_own && !options.is_local()).map(ToString::to_string))
}

impl RunRequest {
    /// Returns the user's statements that would be executed by the superuser of a private server, unless its files are here as they are in
    /// the record: then they are the user's own. Such a role runs programs (COPY … TO PROGRAM).
    fn superuser_statements(&self, given: &Order) -> Option<String> {
        let target = given.target.target.as_ref().or(self.order.target.target.as_ref());
        if !target.is_none_or(|target| target.kind().is_private()) {
            return None;
        }
        let words = |file: &str| format!("the statements of {file}, as superuser of a private server");
        let base = match &self.source {
            WorkloadSource::BuiltIn(_) => return queries_directory(&self.order.workload).map(|file| words(&file)),
            WorkloadSource::Scripts(_) => PathBuf::new(),
            WorkloadSource::Directory(_) => PathBuf::from(self.order.workload.names.first()?),
        };
        let is_here = |file: &InputFile| {
            read_ordinary(&base.join(&file.file)).is_ok_and(|content| sha256(&content) == file.sha256)
        };
        self.source.inputs().iter().find(|file| !is_here(file)).map(|file| words(&file.file))
    }
}

/// Returns the directory from which a built-in workload takes its queries, if it does: the record does not have their texts.
fn queries_directory(order: &WorkloadOrder) -> Option<String> {
    let (_, source) = workload_source::given(order).into_iter().find(|(name, _)| *name == QUERIES_FROM)?;
    (![OWN_QUERIES, "duckdb"].contains(&source.as_str())).then_some(source)
}

impl WorkloadSource {
    /// Returns the name of the first script with `\shell` or `\setshell`, or with a mistake.
    fn script_with_shell(&self) -> Option<&str> {
        let has_shell = |name: &str, text: &[u8], lists: &[String]| may_run_commands(&ScriptText { name, text }, lists);
        match self {
            Self::BuiltIn(_) => None,
            Self::Scripts(scripts) => {
                let mut names = scripts.iter().filter(|script| has_shell(&script.name, &script.text, &[]));
                names.next().map(|script| script.name.as_str())
            }
            Self::Directory(directory) => {
                let lists = directory.list_names();
                let mut names =
                    directory.scripts().iter().filter(|script| has_shell(&script.file, &script.text, &lists));
                names.next().map(|script| script.file.as_str())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pgdyno_plan::{Facts, FaultPlan, Plan};
    use std::path::Path;

    use super::*;

    /// Returns the request of a record whose plan has this target, and what it asks for.
    fn asked(plan: &Plan, given: &Order) -> Result<Vec<String>> {
        RunRequest::again(plan, Path::new(""), given.clone())?.asks(given, true)
    }

    fn plan_of(file: &Path, target: &str) -> Plan {
        let mut order = Order::default();
        order.workload.names = vec![file.display().to_string()];
        let request = RunRequest::read(order).unwrap_or_else(|failure| panic!("{}", failure.text()));
        let plan = request.resolve(&Facts::unknown()).unwrap_or_else(|failure| panic!("{}", failure.text())).plan;
        Plan { target: target.into(), ..plan }
    }

    #[test]
    fn a_program_of_a_record_is_refused_unless_it_is_named() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("a.sql");
        std::fs::write(&file, "SELECT 1;").unwrap();
        for target in ["embedded:/tmp/evil/bin", "embedded:./bin", "embedded:~/bin"] {
            let plan = plan_of(&file, target);
            let refused = asked(&plan, &Order::default()).unwrap_err();
            assert!(refused.text().contains(target), "{}", refused.text());
            assert!(refused.remedy().unwrap().contains(&format!("--target {target}")));
            // Also under the name of a target.
            let named = Plan { target: "db1".into(), target_dsn: Some(target.into()), ..plan.clone() };
            asked(&named, &Order::default()).unwrap_err();
            let mut given = Order::default();
            given.target.target = Some("embedded:18".into());
            assert_eq!(asked(&plan, &given).unwrap_or_else(|failure| panic!("{}", failure.text())), [""; 0]);
        }
        for target in ["embedded", "embedded:18", "null", "host=/tmp dbname=x user=u", "host=127.0.0.1 user=u"] {
            let asked = asked(&plan_of(&file, target), &Order::default());
            assert_eq!(asked.unwrap_or_else(|failure| panic!("{}", failure.text())), [""; 0], "{target}");
        }
    }

    #[test]
    fn queries_of_a_directory_are_those_of_a_superuser_of_a_private_server() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("q1.sql"), "SELECT 1").unwrap();
        let mut order = Order::default();
        order.workload.names = vec!["tproc-ds".to_owned()];
        let source = place.path().display().to_string();
        order.workload.params = vec![("queries-from".to_owned(), source.clone())];
        let request = RunRequest::read(order).unwrap_or_else(|failure| panic!("{}", failure.text()));
        let plan = request.resolve(&Facts::unknown()).unwrap_or_else(|failure| panic!("{}", failure.text())).plan;
        for (target, is_asked) in [("embedded", true), ("host=/tmp dbname=x user=u", false)] {
            let plan = Plan { target: target.into(), ..plan.clone() };
            let words =
                asked(&plan, &Order::default()).unwrap_or_else(|failure| panic!("{}", failure.text())).join("; ");
            assert_eq!(words.contains(&format!("the statements of {source}, as superuser")), is_asked, "{words}");
        }
    }

    #[test]
    fn servers_elsewhere_commands_and_shells_are_to_be_confirmed() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("a.sql");
        let shells: [&[u8]; 5] = [
            b"SELECT 1; \\shell touch /tmp/x",
            b"\\ shell touch /tmp/x",
            b"SELECT 1;\n\x0b\\setshell x touch /tmp/x",
            b"\\\\\nshell touch /tmp/x",
            b"SELECT 1;\n  \\SetShell x touch /tmp/x\n",
        ];
        for script in shells {
            std::fs::write(&file, script).unwrap();
            let words = asked(&plan_of(&file, "null"), &Order::default()).unwrap().join("; ");
            assert!(words.contains("the shell commands of"), "{}: {words}", script.escape_ascii());
        }
        std::fs::write(&file, "SELECT '\\shell'; \\set x 1\n").unwrap();
        assert_eq!(asked(&plan_of(&file, "null"), &Order::default()).unwrap(), [""; 0]);
        std::fs::write(&file, shells[4]).unwrap();
        let mut plan = plan_of(&file, "host=evil.example user=u dbname=d");
        plan.watch.os = Some("ssh me@evil.example".to_owned());
        let words = asked(&plan, &Order::default()).unwrap_or_else(|failure| panic!("{}", failure.text())).join("; ");
        for word in
            ["the server host=evil.example", "the command `ssh me@evil.example`", "the shell commands of", "a.sql"]
        {
            assert!(words.contains(word), "{word}: {words}");
        }
        // A fault is a program, unless it is one of a server that the run starts.
        let fault = |kind: &str| FaultPlan { kind: kind.parse().unwrap(), at_s: 1.0, every_s: None, repeat: 1 };
        for (kind, is_asked) in [("/tmp/evil", true), ("./evil", true), ("kill-9", false)] {
            let plan = Plan { fault: Some(fault(kind)), ..plan.clone() };
            let words = asked(&plan, &Order::default()).unwrap_or_else(|failure| panic!("{}", failure.text()));
            let times = words.iter().filter(|word| **word == format!("the fault {kind}")).count();
            assert_eq!(times, usize::from(is_asked), "{words:?}");
        }
        // Options of ssh start programs.
        plan.watch.os = Some("ssh -oProxyCommand=touch me@evil.example".to_owned());
        let words = asked(&plan, &Order::default()).unwrap_or_else(|failure| panic!("{}", failure.text())).join("; ");
        assert!(!words.contains("ProxyCommand"), "{words}");
        assert!(Order::of_plan(&plan).watch.os_metrics.is_none());
    }

    #[test]
    fn settings_that_run_programs_or_admit_others_reach_out() {
        let reaching = [
            ("archive_command", "reboot"),
            ("SSL_passphrase_command", "x"),
            ("restore_command", "cp"),
            ("dynamic_library_path", "evil"),
            ("log_directory", "log"),
            ("primary_conninfo", "host=evil"),
            ("plperl.on_init", "x"),
            ("listen_addresses", "0.0.0.0"),
            ("shared_preload_libraries", "pg_stat_statements,../evil"),
            ("session_preload_libraries", "/tmp/evil"),
            ("work_mem", "1MB\narchive_command = x"),
            ("jit_provider", "$libdir/../evil"),
        ];
        for (name, value) in reaching {
            assert!(reaches_out(name, value), "{name} = {value}");
        }
        let harmless = [
            ("work_mem", "64MB"),
            ("shared_preload_libraries", "pg_stat_statements, auto_explain"),
            ("synchronous_standby_names", "ANY 1 (s1, \"s-2\")"),
            ("random_page_cost", "1.1"),
            ("log_line_prefix", "%m [%p] "),
            ("citus.max_shared_pool_size", "12000"),
            ("wal_compression", "zstd"),
        ];
        for (name, value) in harmless {
            assert!(!reaches_out(name, value), "{name} = {value}");
        }
    }
}
