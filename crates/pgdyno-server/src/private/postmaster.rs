//! PostgreSQL's programs as children of the supervisor: initdb, and the postmaster from start to end.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::private::account::Account;
use crate::private::sizing::Setting;
use crate::process::{self, PidFile};

/// Shutdown modes of a postmaster. Source: PostgreSQL documentation, "Shutting Down the Server".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Fast: sessions end, and a checkpoint is written, for data that will be used again.
    Fast,
    /// Immediate: without a checkpoint, for data that will be removed. A checkpoint would only write gigabytes, and
    /// disturb the next measurement.
    Immediate,
}

/// Interval between two looks at initdb or a postmaster while it starts.
pub(crate) const POLL: Duration = Duration::from_millis(10);

/// Returns a program of PostgreSQL, to run as `account`; it gets `end` when the supervisor has ended.
pub(crate) fn program(path: &Path, account: Option<&Account>, end: Signal, log: File) -> io::Result<Command> {
    let mut command = Command::new(path);
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).process_group(0);
    if let Some(account) = account {
        // With the user id, the standard library drops root's supplementary groups, which the server does not need.
        command.uid(account.uid).gid(account.gid);
    }
    process::ends_with_parent(&mut command, end);
    Ok(command)
}

/// Arguments of initdb that shape a new cluster: locale C, so that the same data has the same order on every system; the superuser is
/// `postgres`. The supervisor writes its own access files, so those of initdb reject everyone.
pub(crate) const INITDB_ARGS: [&str; 5] =
    ["--username=postgres", "--encoding=UTF8", "--locale=C", "--auth-local=reject", "--auth-host=reject"];

/// Returns initdb for an empty directory `data`, which belongs to `account`.
pub(crate) fn initdb(
    bindir: &Path,
    data: &Path,
    account: Option<&Account>,
    synced: bool,
    log: File,
) -> io::Result<Command> {
    let mut command = program(&bindir.join("initdb"), account, Signal::TERM, log)?;
    command.arg("--pgdata").arg(data).args(INITDB_ARGS);
    if !synced {
        // Data that end with the server need not survive a power failure during initdb.
        command.arg("--no-sync");
    }
    command.current_dir(data);
    Ok(command)
}

/// Writes a file of the supervisor that the server reads. It holds no secret.
pub(crate) fn write_config(path: &Path, text: &str) -> io::Result<()> {
    std::fs::write(path, text)?;
    // Root's server runs as another account; the directory is closed to everybody who does not know the name.
    std::fs::set_permissions(path, Permissions::from_mode(0o644))
}

/// Returns the text of `postgresql.conf`. The last value of a name counts.
pub(crate) fn config_text<'a>(settings: impl IntoIterator<Item = &'a Setting>) -> String {
    settings
        .into_iter()
        .map(|s| {
            let value = s.value.replace('\\', "\\\\").replace('\'', "''");
            format!("{} = '{value}'\n", s.name)
        })
        .collect()
}

/// The programs and files of a postmaster.
pub(crate) struct PostmasterPlace<'a> {
    pub(crate) bindir: &'a Path,
    /// The data directory.
    pub(crate) data: &'a Path,
    /// Its `postgresql.conf`.
    pub(crate) config: &'a Path,
}

/// A postmaster that is a child of this process.
#[derive(Debug)]
pub(crate) struct Postmaster {
    child: Child,
    data: std::path::PathBuf,
}

impl Postmaster {
    /// Starts it, after `prepare` has had its command. Call it on the main thread: for Linux a process is orphaned
    /// when the *thread* that started it ends.
    pub(crate) fn start(
        place: &PostmasterPlace<'_>,
        account: Option<&Account>,
        log: File,
        prepare: impl FnOnce(&mut Command) -> io::Result<()>,
    ) -> io::Result<Self> {
        let PostmasterPlace { bindir, data, config } = *place;
        let mut command = program(&bindir.join("postgres"), account, Signal::QUIT, log)?;
        command.arg("-D").arg(data).arg(format!("--config-file={}", config.display())).current_dir(data);
        prepare(&mut command)?;
        Ok(Self { child: command.spawn()?, data: data.to_owned() })
    }

    pub(crate) fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Returns true if it accepts connections.
    pub(crate) fn is_ready(&self) -> bool {
        PidFile::read(&self.data).is_some_and(|file| file.pid == self.pid() && file.ready)
    }

    /// Returns how it ended, if it did.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Kills it and its backends at once, as a crash of the machine would. Its data stay on disk as they are.
    pub(crate) fn crash(&mut self) {
        // While it is stopped, it starts no backend that would be missed.
        process::send(self.pid(), Signal::STOP);
        process::kill_with_children(self.pid());
        let _ = self.child.wait();
        process::release_shared_memory(&self.data);
    }

    /// Ends it with stronger and stronger requests, and returns when it has ended.
    pub(crate) fn stop(&mut self, how: Stop) {
        // After an immediate shutdown request, a postmaster kills its children after 5 s by itself.
        let steps: &[(Signal, u64)] = match how {
            Stop::Fast => &[(Signal::INT, 120), (Signal::QUIT, 6)],
            Stop::Immediate => &[(Signal::QUIT, 6)],
        };
        for (signal, patience_s) in steps {
            if self.ended().is_some() {
                break;
            }
            process::send(self.pid(), *signal);
            let deadline = Instant::now() + Duration::from_secs(*patience_s);
            while self.ended().is_none() && Instant::now() < deadline {
                std::thread::sleep(POLL);
            }
        }
        if self.ended().is_none() {
            process::kill_with_children(self.pid());
            let _ = self.child.wait();
        }
        process::release_shared_memory(&self.data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted() {
        let settings = [Setting::new("a", "it's", ""), Setting::new("b", "C:\\x", "")];
        assert_eq!(config_text(&settings), "a = 'it''s'\nb = 'C:\\\\x'\n");
    }
}
