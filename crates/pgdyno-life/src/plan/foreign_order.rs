//! Orders that come from a record, which may be another's: what they may not bring, and what its reader has to confirm.

use pgdyno_plan::{Order, TargetName, TargetOrder};

use crate::exit_code::Code;
use crate::failure::{CommandError, Result};
use crate::plan::resolve::RunRequest;
use crate::plan::workload_source::WorkloadSource;
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
    /// `given`, the command line, does not name. Shells of scripts and programs of faults count if the request is `carried_out`.
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
        if let (None, Some((_, options))) = (&given.analytics.target, self.analytics()?) {
            asked.extend((!options.is_local()).then(|| format!("the server {options}")));
        }
        if carried_out && given.watch.os_metrics.is_none() {
            asked.extend(order.watch.os_metrics.as_ref().map(|command| format!("the command `{command}`")));
        }
        if carried_out {
            asked.extend(self.source.script_with_shell().map(|script| format!("the shell commands of {script}")));
            let fault = order.fault.kind.as_ref().filter(|fault| !fault.kind().needs_private_server());
            asked.extend(fault.map(|fault| format!("the fault {}", fault.as_str())));
        }
        Ok(asked)
    }
}

/// Returns the address of a target on another machine that a stored order has; none if it is one of the user's own file.
fn remote(order: &TargetOrder) -> Result<Option<String>> {
    let target = Target::resolve(order)?;
    let is_own = target.named.is_some() && order.shown_as.is_none();
    Ok(target.given().filter(|options| !is_own && !options.is_local()).map(ToString::to_string))
}

impl WorkloadSource {
    /// Returns the name of the first script with `\shell` or `\setshell`.
    fn script_with_shell(&self) -> Option<&str> {
        let has_shell = |text: &[u8]| text.split(|byte| *byte == b'\n').any(is_shell);
        match self {
            Self::BuiltIn(_) => None,
            Self::Scripts(scripts) => {
                scripts.iter().find(|script| has_shell(&script.text)).map(|script| script.name.as_str())
            }
            Self::Directory(directory) => {
                directory.scripts().iter().find(|script| has_shell(&script.text)).map(|script| script.file.as_str())
            }
        }
    }
}

/// Returns true for a line that runs a shell.
fn is_shell(line: &[u8]) -> bool {
    let line = line.trim_ascii_start().to_ascii_lowercase();
    line.starts_with(b"\\shell") || line.starts_with(b"\\setshell")
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
    fn servers_elsewhere_commands_and_shells_are_to_be_confirmed() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("a.sql");
        std::fs::write(&file, "SELECT 1;\n  \\SetShell x touch /tmp/x\n").unwrap();
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
            assert_eq!(words.contains(&format!("the fault {kind}")), is_asked, "{words:?}");
        }
        // Options of ssh start programs.
        plan.watch.os = Some("ssh -oProxyCommand=touch me@evil.example".to_owned());
        let words = asked(&plan, &Order::default()).unwrap_or_else(|failure| panic!("{}", failure.text())).join("; ");
        assert!(!words.contains("ProxyCommand"), "{words}");
        assert!(Order::of_plan(&plan).watch.os_metrics.is_none());
    }
}
