//! The user's commands around the runs on a target.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use pgdyno_net::Stop;
use pgdyno_plan::targets::Hook;
use pgdyno_results::CycleRecord;
use pgdyno_text::units;
use pgdyno_untrusted::append_to_file;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::exit_code::Code;
use crate::failure::CommandError;

/// How often a running command is checked.
const POLL: Duration = Duration::from_millis(20);
/// Time for a command to end after the signal.
const GRACE: Duration = Duration::from_secs(5);
/// A line of the standard output of `provision` with this prefix contains the server's connection string.
const DSN: &str = "dsn=";

/// A hook that failed, and why.
pub(crate) type Failed = Box<(CycleRecord, CommandError)>;

/// Runs the hook `name` with `sh -c`, ends it after its timeout or when `stop` is set, and keeps its output in
/// `directory/hook-NAME.log`. The environment is that of this process plus `env`, and never contains a password.
///
/// # Errors
/// When it cannot be run, fails, takes too long, or is stopped.
pub fn run(
    name: &str,
    hook: &Hook,
    directory: &Path,
    env: &[(&str, String)],
    stop: &Stop,
) -> std::result::Result<CycleRecord, Failed> {
    let place = HookOutput::new(name, directory);
    let attempt = || {
        let log = place.log()?;
        Ok((log.try_clone()?, log))
    };
    place.conclude(hook, Instant::now(), attempt, env, stop)
}

/// Does the same for the hook that makes the server. Returns the last connection string that it prints in a line
/// `dsn=…`. No file contains that line, because it may contain a password.
pub fn provision(
    hook: &Hook,
    directory: &Path,
    env: &[(&str, String)],
    stop: &Stop,
) -> std::result::Result<(CycleRecord, Option<String>), Failed> {
    let place = HookOutput::new("provision", directory);
    let began = Instant::now();
    // A file without a name: a server that the hook starts would hold a pipe open.
    let mut output = match tempfile::tempfile() {
        Ok(output) => output,
        Err(error) => return Err(place.failed(began, &error)),
    };
    let attempt = || Ok((output.try_clone()?, place.log()?));
    let ran = place.conclude(hook, began, attempt, env, stop);
    let dsn = place.keep(&mut output);
    let record = ran?;
    match dsn {
        Ok(dsn) => Ok((record, dsn)),
        Err(error) => Err(place.failed(began, &error)),
    }
}

/// The files for the output of a hook.
struct HookOutput<'a> {
    name: &'a str,
    directory: &'a Path,
    file: String,
}

impl<'a> HookOutput<'a> {
    fn new(name: &'a str, directory: &'a Path) -> Self {
        Self { name, directory, file: format!("hook-{name}.log") }
    }

    fn log(&self) -> io::Result<File> {
        append_to_file(&self.directory.join(&self.file))
    }

    fn record(&self, began: Instant, done: bool, what: String) -> CycleRecord {
        let step = self.name.replace('_', "-");
        let output = self.directory.join(&self.file).exists().then(|| self.file.clone());
        CycleRecord { step, what, done, seconds: began.elapsed().as_secs_f64(), output }
    }

    fn failed(&self, began: Instant, error: &io::Error) -> Failed {
        let what = format!("hook {} could not be run: {error}", self.name);
        Box::new((self.record(began, false, what.clone()), CommandError::new(Code::Hook, what)))
    }

    /// Runs the command with its output in these two files, and returns its result.
    fn conclude(
        &self,
        hook: &Hook,
        began: Instant,
        files: impl FnOnce() -> io::Result<(File, File)>,
        env: &[(&str, String)],
        stop: &Stop,
    ) -> std::result::Result<CycleRecord, Failed> {
        let ran = files().and_then(|(out, err)| {
            let mut command = Command::new("sh");
            command.args(["-c", &hook.command]).stdin(Stdio::null()).stdout(out).stderr(err).process_group(0);
            command.env_remove("PGPASSWORD").envs(env.iter().map(|(name, value)| (*name, value)));
            let patience = Duration::from_secs_f64(hook.timeout.seconds());
            watch(command.spawn()?, patience, &|| stop.is_requested())
        });
        let what = match ran {
            Ok(Ended::By(status)) if status.success() => {
                return Ok(self.record(began, true, format!("by the target's hook {}", self.name)));
            }
            Ok(Ended::By(status)) => format!("hook {} failed ({status})", self.name),
            Ok(Ended::TooLate) => {
                format!("hook {} did not end within {}", self.name, units::duration(hook.timeout.seconds()))
            }
            Ok(Ended::Stopped) => {
                let what = format!("hook {} was interrupted", self.name);
                let failure = CommandError::new(Code::Interrupted, what.clone());
                return Err(Box::new((self.record(began, false, what), failure)));
            }
            Err(error) => return Err(self.failed(began, &error)),
        };
        let hint = format!("its output is in {}", self.directory.join(&self.file).display());
        Err(Box::new((self.record(began, false, what.clone()), CommandError::new(Code::Hook, what).hint(hint))))
    }

    /// Copies the standard output of a hook into its log without connection strings, and returns the last of those.
    fn keep(&self, output: &mut File) -> io::Result<Option<String>> {
        let mut text = Vec::new();
        output.rewind()?;
        output.read_to_end(&mut text)?;
        let text = String::from_utf8_lossy(&text);
        let mut log = self.log()?;
        let mut found = None;
        for line in text.lines() {
            match line.trim().strip_prefix(DSN) {
                Some(dsn) => {
                    found = Some(dsn.trim().to_owned());
                    writeln!(log, "{DSN}… (taken as the connection string, and not kept here)")?;
                }
                None => writeln!(log, "{line}")?,
            }
        }
        Ok(found)
    }
}

/// How a command ended.
pub(crate) enum Ended {
    /// By itself.
    By(ExitStatus),
    /// It was ended, for it took too long.
    TooLate,
    /// It was ended, for it is not wanted any more.
    Stopped,
}

/// Runs a program of the user until it ends or is not wanted any more. Its output is appended to `log`; its environment is that of a
/// hook.
///
/// # Errors
/// When it cannot be run.
pub(crate) fn run_program(
    argv: &[OsString],
    log: File,
    env: &[(&str, String)],
    is_unwanted: &dyn Fn() -> bool,
) -> io::Result<Ended> {
    let Some((program, args)) = argv.split_first() else { return Err(io::ErrorKind::InvalidInput.into()) };
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).process_group(0);
    command.env_remove("PGPASSWORD").envs(env.iter().map(|(name, value)| (*name, value)));
    watch(command.spawn()?, Duration::MAX, is_unwanted)
}

/// Waits for the end of a command. After its timeout, or when it is not wanted any more, ends it and all processes that it
/// started.
fn watch(mut child: Child, patience: Duration, is_unwanted: &dyn Fn() -> bool) -> io::Result<Ended> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::By(status));
        }
        let stopped = is_unwanted();
        if stopped || began.elapsed() >= patience {
            end(&mut child)?;
            return Ok(if stopped { Ended::Stopped } else { Ended::TooLate });
        }
        std::thread::sleep(POLL);
    }
}

/// Ends a command's process group, first with SIGTERM.
fn end(child: &mut Child) -> io::Result<()> {
    let group = Pid::from_child(child);
    // The only possible error is that no process is left in the group.
    let _ = kill_process_group(group, Signal::TERM);
    let deadline = Instant::now() + GRACE;
    while child.try_wait()?.is_none() && Instant::now() < deadline {
        std::thread::sleep(POLL);
    }
    // Also if the shell ended immediately: processes of its group may remain.
    let _ = kill_process_group(group, Signal::KILL);
    child.wait().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    static NEVER: Stop = Stop::new();

    fn hook(command: &str, timeout_s: f64) -> Hook {
        Hook { command: command.to_owned(), timeout: pgdyno_text::parse::Duration::from_seconds(timeout_s) }
    }

    fn log(dir: &Path, name: &str) -> String {
        std::fs::read_to_string(dir.join(format!("hook-{name}.log"))).unwrap()
    }

    #[test]
    fn a_hook_has_its_environment_and_keeps_all_of_its_output() {
        let dir = tempfile::tempdir().unwrap();
        let env = [("PGHOST", "db1".to_owned())];
        let done = run("drop_caches", &hook("echo $PGHOST; echo oh >&2", 60.0), dir.path(), &env, &NEVER).unwrap();
        assert_eq!((done.step.as_str(), done.done), ("drop-caches", true));
        assert_eq!(done.output.as_deref(), Some("hook-drop_caches.log"));
        assert_eq!(log(dir.path(), "drop_caches"), "db1\noh\n");
        // The output of a second one is appended.
        let (failed, why) = *run("drop_caches", &hook("echo no; exit 3", 60.0), dir.path(), &[], &NEVER).unwrap_err();
        assert!(!failed.done && failed.what.contains("exit status: 3"), "{failed:?}");
        assert_eq!((why.code(), log(dir.path(), "drop_caches").as_str()), (Code::Hook, "db1\noh\nno\n"));
    }

    #[test]
    fn one_that_takes_too_long_is_ended_with_all_that_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let command = "trap '' TERM; sleep 600 & echo $!; wait; sleep 600";
        let (failed, why) = *run("restart", &hook(command, 0.3), dir.path(), &[], &NEVER).unwrap_err();
        assert!(failed.what.contains("did not end within") && why.code() == Code::Hook, "{failed:?}");
        let sleeper = log(dir.path(), "restart").trim().parse().unwrap();
        let gone = || rustix::process::test_kill_process(Pid::from_raw(sleeper).unwrap()).is_err();
        let zombie = || {
            let stat = std::fs::read_to_string(format!("/proc/{sleeper}/stat")).unwrap_or_default();
            stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
        };
        // A process that was killed ends a moment after the signal.
        let deadline = Instant::now() + Duration::from_secs(60);
        while !gone() && !zombie() {
            assert!(Instant::now() < deadline, "process {sleeper} still runs");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn one_that_is_not_wanted_any_more_is_ended() {
        let dir = tempfile::tempdir().unwrap();
        let stop = Stop::requested();
        let (_, why) = *run("restart", &hook("sleep 600", 600.0), dir.path(), &[], &stop).unwrap_err();
        assert_eq!(why.code(), Code::Interrupted);
    }

    #[test]
    fn where_the_server_is_is_taken_and_never_kept() {
        let dir = tempfile::tempdir().unwrap();
        let command = "echo dsn=host=old; echo working; echo ' dsn=host=db1 password=geheim'; echo oh >&2";
        let (done, dsn) = provision(&hook(command, 60.0), dir.path(), &[], &NEVER).unwrap();
        assert!(done.done && done.step == "provision");
        assert_eq!(dsn.as_deref(), Some("host=db1 password=geheim"));
        let kept = log(dir.path(), "provision");
        assert!(kept.contains("working") && kept.contains("oh") && !kept.contains("geheim"), "{kept}");
        assert_eq!(provision(&hook("true", 60.0), dir.path(), &[], &NEVER).unwrap().1, None);
        // A server that the hook started holds its output open; the hook does not wait for it.
        let (_, dsn) = provision(&hook("sleep 1000 & echo dsn=x; echo $!", 60.0), dir.path(), &[], &NEVER).unwrap();
        assert_eq!(dsn.as_deref(), Some("x"));
        let sleeper = log(dir.path(), "provision").lines().last().unwrap().parse().unwrap();
        rustix::process::kill_process(Pid::from_raw(sleeper).unwrap(), Signal::KILL).unwrap();
    }
}
