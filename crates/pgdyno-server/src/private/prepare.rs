//! Preparation of a private server: programs, account, settings.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::facts::machine::MachineFacts;
use crate::private::account::Account;
use crate::private::cache::WantedData;
use crate::private::error::EmbeddedError;
use crate::private::pipe::Spec;
use crate::private::places::Places;
use crate::private::programs::build;
use crate::private::programs::find;
use crate::private::programs::installation::Installation;
use crate::private::programs::portable;
use crate::private::programs::want::Want;
use crate::private::progress::StartStep;
use crate::private::sizing::{self, Purpose, Setting, SizingFacts};
use crate::private::space::space;

/// Options of a private server.
#[derive(Clone, Debug)]
pub struct PrivateServerOptions {
    /// The program that becomes the supervisor when it is started with [`SUPERVISE`](crate::SUPERVISE): pgdyno
    /// itself. On Linux `/proc/self/exe` is right even while the program is being replaced.
    pub supervisor: PathBuf,
    /// Directories of everything.
    pub places: Places,
    /// The `PATH`, in which installed servers are searched.
    pub path: Option<OsString>,
    /// Number of concurrent connections.
    pub connections: u32,
    /// The kind of work that it is sized for.
    pub purpose: Purpose,
    /// Whether it also listens on 127.0.0.1, with SCRAM and a random password.
    pub tcp: bool,
    /// Whether a standby may read its WAL.
    pub is_paired: bool,
    /// Whether it keeps what unsynced writes overwrite, so that it can lose its power. It costs time at each write.
    pub journals_writes: bool,
    /// Settings added to the sized ones or replacing them, as names and values.
    pub settings: Vec<(String, String)>,
    /// The data that it is to have: it begins with a copy of what an earlier server of this build has loaded, if that is kept.
    pub data: Option<WantedData>,
}

impl PrivateServerOptions {
    /// Returns options for a few connections through the socket.
    #[must_use]
    pub fn new(supervisor: impl Into<PathBuf>, places: Places) -> Self {
        let (connections, purpose) = (16, Purpose::default());
        let supervisor = supervisor.into();
        Self {
            supervisor,
            places,
            path: None,
            connections,
            purpose,
            tcp: false,
            is_paired: false,
            journals_writes: false,
            settings: Vec::new(),
            data: None,
        }
    }
}

/// A warning about the figures of a private server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrivateServerWarning {
    /// The data are in memory, so that `fsync` costs nothing.
    DataInMemory(PathBuf),
    /// Little space is left for data, in bytes.
    LittleSpace(PathBuf, u64),
    /// A newer or preferred installation is unusable, and why.
    PassedOver(PathBuf, String),
}

impl std::fmt::Display for PrivateServerWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::DataInMemory(path) => write!(
                f,
                "{} is in memory: commits cost less than on any disk; set PGDYNO_CACHE to a directory on a disk",
                path.display()
            ),
            Self::LittleSpace(path, bytes) => {
                write!(f, "only {} MB are free in {}; the load may fill the disk", bytes >> 20, path.display())
            }
            Self::PassedOver(path, reason) => {
                write!(f, "the PostgreSQL in {} is not used: {reason}", path.display())
            }
        }
    }
}

/// Settings that only the supervisor sets.
const RESERVED: [&str; 15] = [
    "config_file",
    "data_directory",
    "external_pid_file",
    "hba_file",
    "ident_file",
    "include",
    "include_dir",
    "include_if_exists",
    "listen_addresses",
    "log_destination",
    "logging_collector",
    "password_encryption",
    "port",
    "unix_socket_directories",
    "unix_socket_permissions",
];

/// Less free space than this gives a warning.
const LITTLE_SPACE_BYTES: u64 = 4 << 30;

/// A server before it is started.
pub(crate) struct Prepared {
    pub(crate) spec: Spec,
    /// The settings that fit the machine, without given ones.
    pub(crate) sized: Vec<Setting>,
    pub(crate) warnings: Vec<PrivateServerWarning>,
}

/// Finds or downloads the programs and decides the settings. Starts nothing.
pub(crate) fn prepare(
    want: &Want,
    options: &PrivateServerOptions,
    kept: bool,
    progress: &mut dyn FnMut(StartStep),
) -> Result<Prepared, EmbeddedError> {
    let extra = extra_settings(&options.settings)?;
    let account = Account::for_server()?;
    let caller = Account::own()?.name;
    let root = options.places.root();
    if !root.is_absolute() {
        return Err(EmbeddedError::Place {
            path: root.to_owned(),
            source: std::io::Error::other("it is not an absolute path"),
        });
    }
    options.places.make(root).map_err(|source| EmbeddedError::Place { path: root.to_owned(), source })?;
    let mut warnings = Vec::new();
    let installation = choose(want, options, account.as_ref(), &mut warnings, progress)?;

    let (disk_free_bytes, in_memory) = space(root);
    if in_memory {
        warnings.push(PrivateServerWarning::DataInMemory(root.to_owned()));
    }
    if disk_free_bytes < LITTLE_SPACE_BYTES {
        warnings.push(PrivateServerWarning::LittleSpace(root.to_owned(), disk_free_bytes));
    }
    let machine = MachineFacts::look();
    let sized = sizing::settings(&SizingFacts {
        ram_bytes: machine.usable_ram_bytes().unwrap_or(0),
        cpus: machine.usable_cpus(),
        disk_free_bytes,
        shm_bytes: rustix::fs::statvfs("/dev/shm").ok().map(|fs| fs.f_blocks * fs.f_frsize),
        connections: options.connections,
        purpose: options.purpose,
        has_pg_stat_statements: has_library(&installation.bindir, "pg_stat_statements"),
    });
    let sized = merge(sized, own_settings(options));
    let spec = Spec {
        places_root: root.to_owned(),
        kept,
        installation,
        account,
        caller,
        tcp: options.tcp,
        settings: merge(sized.clone(), extra),
        is_paired: options.is_paired,
        journals_writes: options.journals_writes,
        is_standby: false,
        data: None,
    };
    Ok(Prepared { spec, sized, warnings })
}

/// Returns the settings without which a server cannot be what its options ask for.
fn own_settings(options: &PrivateServerOptions) -> Vec<Setting> {
    let of_pair = [
        ("wal_level", "replica", "a standby reads its WAL"),
        ("max_wal_senders", "10", "a standby reads its WAL"),
        ("wal_keep_size", "1GB", "a standby that was away finds the WAL that it needs"),
        ("hot_standby", "on", "a standby says that it is one"),
    ];
    // A write with O_DSYNC would be synced without a call that the journal sees.
    let of_journal = [("wal_sync_method", "fdatasync", "the journal of unsynced writes sees it")];
    let of_pair = of_pair.into_iter().filter(|_| options.is_paired);
    let all = of_pair.chain(of_journal.into_iter().filter(|_| options.journals_writes));
    all.map(|(name, value, why)| Setting::new(name, value, why)).collect()
}

/// Merges settings; those in `extra` take precedence.
pub(crate) fn merge(mut settings: Vec<Setting>, extra: Vec<Setting>) -> Vec<Setting> {
    for setting in extra {
        match settings.iter_mut().find(|s| s.name == setting.name) {
            Some(sized) => *sized = setting,
            None => settings.push(setting),
        }
    }
    settings
}

fn choose(
    want: &Want,
    options: &PrivateServerOptions,
    account: Option<&Account>,
    warnings: &mut Vec<PrivateServerWarning>,
    progress: &mut dyn FnMut(StartStep),
) -> Result<Installation, EmbeddedError> {
    if let Want::Directory(dir) = want {
        return Ok(build::in_directory(dir, account)?);
    }
    let search = find::search(options.path.as_deref(), account);
    warnings.extend(
        search.passed_over.iter().map(|(dir, reason)| PrivateServerWarning::PassedOver(dir.clone(), reason.clone())),
    );
    if let Some(installed) = search.newest(want) {
        return Ok(installed.clone());
    }
    let major = match want {
        Want::Major(major) => *major,
        Want::Any | Want::Directory(_) => portable::PORTABLE_MAJOR,
    };
    let fetching = || progress(StartStep::Fetching { major });
    Ok(portable::obtain(&options.places, major, account, fetching)?)
}

/// Returns the given settings, if they are allowed.
pub(crate) fn extra_settings(given: &[(String, String)]) -> Result<Vec<Setting>, EmbeddedError> {
    given
        .iter()
        .map(|(name, value)| {
            let lower = name.to_ascii_lowercase();
            let is_name =
                !lower.is_empty() && lower.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'));
            let reason = if !is_name {
                "that is not the name of a setting"
            } else if RESERVED.contains(&lower.as_str()) {
                "pgdyno sets it for its private server; name your own server with --target"
            } else if value.contains(['\n', '\r', '\0']) {
                "its value has more than one line"
            } else {
                return Ok(Setting::new(lower, value, "as given"));
            };
            Err(EmbeddedError::Setting { name: name.clone(), reason })
        })
        .collect()
}

/// Returns true if the server in `bindir` has a loadable library of this name.
fn has_library(bindir: &Path, name: &str) -> bool {
    let reported = Command::new(bindir.join("pg_config"))
        .arg("--pkglibdir")
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .map(|dir| PathBuf::from(dir.trim_end()));
    // If the programs were moved, the path of pg_config may be wrong; the server searches relative to itself.
    reported
        .into_iter()
        .chain(["../lib", "../lib/postgresql"].map(|dir| bindir.join(dir)))
        .any(|dir| ["so", "dylib"].iter().any(|suffix| dir.join(format!("{name}.{suffix}")).is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &str, value: &str) -> String {
        extra_settings(&[(name.to_owned(), value.to_owned())]).unwrap_err().to_string()
    }

    #[test]
    fn settings_of_the_supervisor_cannot_be_given() {
        assert!(refusal("PORT", "5432").contains("--target"));
        assert!(refusal("fsync = off #", "x").contains("not the name"));
        assert!(refusal("work_mem", "4MB'\nfsync = off").contains("more than one line"));
        let good = extra_settings(&[("Fsync".to_owned(), "off".to_owned())]).unwrap();
        assert_eq!(good, [Setting::new("fsync", "off", "as given")]);
    }

    #[test]
    fn memory_is_distinguished_from_disk() {
        if cfg!(target_os = "linux") && Path::new("/dev/shm").is_dir() {
            assert!(space(Path::new("/dev/shm")).1);
        }
        let (free, in_memory) = space(Path::new(env!("CARGO_MANIFEST_DIR")));
        assert!(free > 0 && !in_memory);
    }
}
