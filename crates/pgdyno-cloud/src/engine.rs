//! The user's OpenTofu or Terraform: one process for each step, in its own process group, whose output is a file. It survives
//! this program, and is never killed.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::interrupt::Interrupt;
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bounded;

/// What to do where there is no engine.
pub const INSTALL: &str = "install OpenTofu 1.11 or later (opentofu.org, `brew install opentofu`) or Terraform 1.11 or later \
     (developer.hashicorp.com/terraform), so that `tofu` or `terraform` is in PATH; or give --engine PATH";

/// The environment variable with the password of the database. Nothing else may hold it.
pub const PASSWORD: &str = "PGDYNO_CLOUD_PASSWORD";

/// The names of engines, in the order in which they are looked for.
const NAMES: [&str; 2] = ["tofu", "terraform"];
/// Ephemeral variables and write-only arguments came with it.
const VERSION_MIN: (u32, u32) = (1, 11);

/// The output of the engine in the directory of a size.
pub(crate) const LOG: &str = "engine.log";
/// The number of the engine's process in the directory of a size.
const PID: &str = "engine.pid";
/// Where the engine takes the password from: its environment.
const ENGINE_PASSWORD: &str = "TF_VAR_password";

const POLL_INTERVAL: Duration = Duration::from_millis(30);
/// How long a step waits for the engine of a pgdyno that was killed.
const PREDECESSOR_MAX: Duration = Duration::from_secs(3600);
const VERSION_TIMEOUT: Duration = Duration::from_secs(60);
/// Bytes of the engine's output that are read for its errors.
const LOG_MAX: u64 = 8 << 20;

/// An engine.
#[derive(Clone, Debug)]
pub struct Engine {
    path: PathBuf,
    /// `OpenTofu 1.11.1`.
    pub version: String,
}

/// Where the server of a size is, as every module's output has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabServer {
    /// Host, or directory of the socket.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Role of the database.
    pub user: String,
    /// Database.
    pub database: String,
    /// The driver; none if this machine drives.
    pub driver: Option<LabDriver>,
    /// CPUs of the server, of all its nodes.
    pub cores: f64,
    /// As libpq has it.
    pub sslmode: String,
    /// Name of the server for the cloud's monitoring.
    #[serde(default)]
    pub instance: Option<String>,
    /// Its nodes, where the cloud's monitoring has each for itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<LabNode>,
}

/// A node of a server, for the cloud's monitoring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabNode {
    /// Its name there.
    pub instance: String,
    /// Its CPUs.
    pub cores: f64,
}

impl LabServer {
    /// Returns what the cloud's monitoring is asked for: each node, or the server.
    pub(crate) fn monitored(&self) -> Vec<LabNode> {
        if !self.nodes.is_empty() {
            return self.nodes.clone();
        }
        let instance = self.instance.clone().unwrap_or_else(|| self.host.clone());
        vec![LabNode { instance, cores: self.cores }]
    }
}

/// The driver's machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabDriver {
    /// Host.
    pub host: String,
    /// User of ssh.
    pub user: String,
    /// Port of ssh.
    #[serde(default)]
    pub port: Option<u16>,
}

impl Engine {
    /// Finds the engine: at `given`, or the first of `tofu` and `terraform` in the directories of `path`.
    ///
    /// # Errors
    /// When there is none, or it is too old.
    pub fn find(given: Option<&Path>, path: Option<&std::ffi::OsStr>) -> Result<Self> {
        let found = match given {
            Some(given) => Some(std::path::absolute(given).or_fail(Code::Start)?),
            None => NAMES.iter().find_map(|name| {
                std::env::split_paths(path.unwrap_or_default())
                    .map(|directory| directory.join(name))
                    .find(|it| it.is_file())
            }),
        };
        let Some(path) = found else {
            return Err(CommandError::new(Code::Start, "neither OpenTofu nor Terraform is installed").hint(INSTALL));
        };
        let mut command = Command::new(&path);
        command.args(["version", "-json"]).env("CHECKPOINT_DISABLE", "1");
        let failed = |why: String| {
            CommandError::new(Code::Start, format!("failed to ask {} for its version: {why}", path.display()))
                .hint(INSTALL)
        };
        let printed = bounded::run(command, VERSION_TIMEOUT).map_err(|error| failed(error.to_string()))?;
        let answer: Value = serde_json::from_slice(&printed.stdout).map_err(|_| failed(printed.said.clone()))?;
        // OpenTofu prints the same key.
        let version = answer.get("terraform_version").and_then(Value::as_str).unwrap_or_default();
        let is_tofu = path.file_name().is_some_and(|name| name.to_string_lossy().contains("tofu"));
        let name = if is_tofu { "OpenTofu" } else { "Terraform" };
        match number(version) {
            Some(found) if found >= VERSION_MIN => Ok(Self { version: format!("{name} {version}"), path }),
            Some(_) => {
                let error = format!(
                    "{} is {name} {version}, and passwords stay out of its state from 1.11 on only",
                    path.display()
                );
                Err(CommandError::new(Code::Start, error).hint(INSTALL))
            }
            None => Err(failed(format!("it answers '{version}'"))),
        }
    }

    /// Returns where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates what the configuration in `directory` describes.
    pub(crate) fn apply(&self, directory: &Path, password: Option<&str>, interrupt: &Interrupt) -> Result<()> {
        self.step(directory, &["init", "-input=false", "-no-color"], None, interrupt)?;
        self.step(
            directory,
            &["apply", "-auto-approve", "-input=false", "-lock-timeout=15m", "-json"],
            password,
            interrupt,
        )
    }

    /// Destroys everything that its state knows.
    pub(crate) fn destroy(&self, directory: &Path, interrupt: &Interrupt) -> Result<()> {
        self.step(directory, &["init", "-input=false", "-no-color"], None, interrupt)?;
        self.step(
            directory,
            &["destroy", "-auto-approve", "-input=false", "-lock-timeout=15m", "-json"],
            None,
            interrupt,
        )
    }

    /// Returns the server's address.
    pub(crate) fn server(&self, directory: &Path) -> Result<LabServer> {
        let failed = |why: String| CommandError::new(Code::Run, format!("failed to read the engine's output: {why}"));
        let mut command = Command::new(&self.path);
        command.args(["output", "-json", "-no-color"]).current_dir(directory);
        let printed =
            bounded::run(surroundings(command), VERSION_TIMEOUT).map_err(|error| failed(error.to_string()))?;
        let answer: Value = serde_json::from_slice(&printed.stdout).map_err(|_| failed(printed.said))?;
        let server = answer.pointer("/pgdyno/value").cloned().unwrap_or_default();
        serde_json::from_value(server).map_err(|error| failed(error.to_string()))
    }

    /// Runs the engine to its end. The first Ctrl-C is passed on once; the engine is never killed.
    fn step(&self, directory: &Path, args: &[&str], password: Option<&str>, interrupt: &Interrupt) -> Result<()> {
        let verb = args.first().copied().unwrap_or_default();
        wait_for_predecessor(directory, interrupt)?;
        let before = log_bytes(directory);
        let status = self.spawn_and_wait(directory, args, password, interrupt)?;
        if interrupt.waits().is_interrupted() {
            return Err(CommandError::new(Code::Interrupted, format!("interrupted: {verb} was stopped cleanly")));
        }
        if status.success() {
            return Ok(());
        }
        let how = if status.code().is_none() { format!("{status}; ") } else { String::new() };
        let said = said(directory, before);
        let log = directory.join(LOG);
        Err(CommandError::new(Code::Run, format!("{} {verb} failed: {how}{said}", self.version))
            .hint(format!("its output is in {}", log.display())))
    }

    fn spawn_and_wait(
        &self,
        directory: &Path,
        args: &[&str],
        password: Option<&str>,
        interrupt: &Interrupt,
    ) -> Result<ExitStatus> {
        let log =
            OpenOptions::new().create(true).append(true).mode(0o600).open(directory.join(LOG)).or_fail(Code::Run)?;
        // State, plans and locks are for this user only.
        let mut command = Command::new("sh");
        command.args(["-c", "umask 077 && exec \"$0\" \"$@\""]).arg(&self.path).args(args).current_dir(directory);
        let mut command = surroundings(command);
        if let Some(password) = password {
            command.env(ENGINE_PASSWORD, password);
        }
        let mut child = command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(log.try_clone().or_fail(Code::Run)?)
            .stderr(log)
            .spawn()
            .map_err(|error| {
                CommandError::new(Code::Run, format!("failed to start {}: {error}", self.path.display()))
            })?;
        fs::write(directory.join(PID), child.id().to_string()).or_fail(Code::Run)?;
        let mut is_asked = false;
        loop {
            if let Some(status) = child.try_wait().or_fail(Code::Run)? {
                // Another pgdyno may look for it no longer.
                let _ = fs::remove_file(directory.join(PID));
                return Ok(status);
            }
            if interrupt.waits().is_interrupted() && !is_asked {
                is_asked = true;
                if let Some(pid) = Pid::from_raw(child.id().cast_signed()) {
                    // One that has ended meanwhile needs none.
                    let _ = kill_process(pid, Signal::INT);
                }
            }
            thread::sleep(POLL_INTERVAL);
        }
    }
}

/// Returns a command without what the user's shell has for other work of the engine.
fn surroundings(mut command: Command) -> Command {
    for name in ["TF_CLI_ARGS", "TF_CLI_ARGS_apply", "TF_CLI_ARGS_destroy", "TF_WORKSPACE", "TF_DATA_DIR", "TF_LOG"] {
        command.env_remove(name);
    }
    // A pgdyno of a lab does not drive the lab's own server by what the shell has for another one.
    command.env("TF_IN_AUTOMATION", "1").env("TF_INPUT", "0").env("CHECKPOINT_DISABLE", "1").env_remove("PGPASSWORD");
    command.env_remove(PASSWORD);
    command
}

/// Waits for the end of the engine of a pgdyno that was killed: the two would change the same state.
fn wait_for_predecessor(directory: &Path, interrupt: &Interrupt) -> Result<()> {
    let until = Instant::now() + PREDECESSOR_MAX;
    while let Some(pid) = predecessor(directory) {
        if interrupt.waits().is_interrupted() {
            return Err(CommandError::new(Code::Interrupted, "interrupted while an engine was at work"));
        }
        if Instant::now() > until {
            let error = format!("the engine of an earlier pgdyno, process {pid}, has been at work for an hour");
            return Err(CommandError::new(Code::Run, error).hint(format!("`kill -INT {pid}` ends it cleanly")));
        }
        thread::sleep(POLL_INTERVAL);
    }
    Ok(())
}

/// Returns the process of an engine at work in `directory`, where the system shows it.
fn predecessor(directory: &Path) -> Option<u32> {
    let pid: u32 = fs::read_to_string(directory.join(PID)).ok()?.trim().parse().ok()?;
    let works_in = fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
    (works_in == fs::canonicalize(directory).ok()?).then_some(pid)
}

fn log_bytes(directory: &Path) -> u64 {
    fs::metadata(directory.join(LOG)).map_or(0, |log| log.len())
}

fn log_since(directory: &Path, offset: u64) -> String {
    let mut text = Vec::new();
    let read = File::open(directory.join(LOG)).and_then(|mut log| {
        log.seek(SeekFrom::Start(offset))?;
        log.take(LOG_MAX).read_to_end(&mut text)
    });
    read.map_or_else(|error| error.to_string(), |_| String::from_utf8_lossy(&text).into_owned())
}

/// Returns the engine's messages since `offset` of its log.
fn messages(directory: &Path, offset: u64) -> Vec<Value> {
    log_since(directory, offset).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Returns the engine's own words about what failed.
fn said(directory: &Path, offset: u64) -> String {
    let messages = messages(directory, offset);
    let errors = messages.iter().filter(|message| message["@level"] == "error" && message["diagnostic"].is_object());
    let words = |message: &Value| {
        let part = |name: &str| message["diagnostic"][name].as_str().unwrap_or_default().trim().to_owned();
        let text = format!("{}: {}", part("summary"), part("detail"));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let errors: Vec<String> = errors.map(words).collect();
    let text = match errors.is_empty() {
        false => errors.join("; "),
        true => {
            let log = log_since(directory, offset);
            let lines: Vec<_> = log.lines().map(|line| line.trim_matches(['│', '╷', '╵', ' '])).collect();
            let lines: Vec<_> = lines.into_iter().filter(|line| !line.is_empty() && !line.starts_with('{')).collect();
            lines.iter().rev().take(6).rev().copied().collect::<Vec<_>>().join(" ")
        }
    };
    text.chars().take(1500).collect()
}

fn number(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn an_engine_is_named_and_an_old_one_refused() {
        let directory = tempfile::tempdir().unwrap();
        let error = Engine::find(None, Some(directory.path().as_os_str())).unwrap_err();
        let hint = error.remedy().unwrap();
        assert!(
            error.text().contains("neither OpenTofu nor Terraform")
                && hint.contains("tofu")
                && hint.contains("terraform")
        );
        let stub = |version: &str| {
            let path = directory.path().join("tofu");
            fs::write(&path, format!("#!/bin/sh\necho '{{\"terraform_version\":\"{version}\"}}'\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            Engine::find(None, Some(directory.path().as_os_str()))
        };
        assert!(stub("1.10.9").unwrap_err().text().contains("1.11"));
        assert!(stub("nonsense").is_err());
        assert_eq!(stub("1.11.0").unwrap().version, "OpenTofu 1.11.0");
    }
}
