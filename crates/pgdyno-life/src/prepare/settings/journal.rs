//! The journal of settings that a run has changed, so that a later run can restore them if this one cannot.
//!
//! The journal is kept by user and server, not in the results directory: the next run on the server may use another
//! one. A run holds the file's lock for as long as it lives, so a file without a lock belongs to a killed run.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

use pgdyno_untrusted::require_own;

use serde::{Deserialize, Serialize};

use crate::environment::absolute_path;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};

/// The previous state of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Before {
    pub(super) name: String,
    /// The value that ALTER SYSTEM had set; absent if there was none.
    pub(super) altered: Option<String>,
    /// The value that the server showed.
    pub(super) shown: String,
    /// Whether restoring it needs a restart.
    pub(super) restart: bool,
}

/// The contents of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The target, as records name it.
    pub(super) target: String,
    /// The user of the run.
    pub(super) who: String,
    pub(super) settings: Vec<Before>,
}

/// The file of one server, locked.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
}

/// The state of the file.
pub(super) enum Found {
    /// It is locked by this run; the entry is what a killed run left.
    Free(Journal, Option<Entry>),
    /// A running run holds it.
    Taken(Option<Entry>),
}

impl Journal {
    /// Opens the file of the server with this key; `None` if there is none and none is to be created.
    pub(super) fn open(server: &str, make: bool) -> Result<Option<Found>> {
        let directory = match directory() {
            Ok(directory) => directory,
            // Without a directory for it there is no journal.
            Err(_) if !make => return Ok(None),
            Err(failure) => return Err(failure),
        };
        let path = directory.join(format!("{server}.json"));
        let failed = |error: io::Error| {
            let what = format!("failed to note which settings are to be put back, in {}: {error}", path.display());
            CommandError::new(Code::Start, what)
                .hint("set XDG_STATE_HOME to a directory that may be written, or leave --set out")
        };
        if make {
            DirBuilder::new().recursive(true).mode(0o700).create(&directory).map_err(failed)?;
        }
        require_own(&directory, None).or_fail(Code::Start)?;
        let open = || File::options().read(true).write(true).create(make).truncate(false).mode(0o600).open(&path);
        let (mut file, taken) = loop {
            let file = match open() {
                Err(error) if error.kind() == io::ErrorKind::NotFound && !make => return Ok(None),
                opened => opened.map_err(failed)?,
            };
            let taken = match file.try_lock() {
                Ok(()) => false,
                Err(std::fs::TryLockError::WouldBlock) => true,
                Err(std::fs::TryLockError::Error(error)) => return Err(failed(error)),
            };
            // The previous holder may have removed the file meanwhile: then other runs will not find it.
            let number = |meta: io::Result<std::fs::Metadata>| meta.map(|meta| meta.ino()).ok();
            if number(file.metadata()) == number(std::fs::metadata(&path)) {
                break (file, taken);
            }
        };
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        // An incomplete file was written before any setting was changed.
        let entry = serde_json::from_str(&text).ok();
        Ok(Some(if taken { Found::Taken(entry) } else { Found::Free(Self { path, file }, entry) }))
    }

    /// Writes the settings that are about to change; they are on disk when this returns.
    pub(super) fn write(&mut self, entry: &Entry) -> Result<()> {
        let text = serde_json::to_string_pretty(entry).or_fail(Code::Start)?;
        let mut write = || {
            self.file.set_len(0)?;
            self.file.rewind()?;
            self.file.write_all(text.as_bytes())?;
            self.file.sync_all()?;
            // The directory entry must be on disk, too.
            self.path.parent().map_or(Ok(()), |directory| File::open(directory)?.sync_all())
        };
        write().map_err(|error| {
            CommandError::new(Code::Start, format!("failed to write {}: {error}", self.path.display()))
        })
    }

    /// Removes the file, because all settings are restored.
    pub(super) fn close(self) {
        // Truncated first, because another run may have it open already: an empty file has no entries.
        let _ = self.file.set_len(0);
        let _ = std::fs::remove_file(&self.path);
    }

    /// Returns its path.
    pub(super) fn path(&self) -> &std::path::Path {
        &self.path
    }
}

/// Returns the user's directory for state. Source: XDG base directory specification.
fn directory() -> Result<PathBuf> {
    let state = absolute_path("XDG_STATE_HOME").or_else(|| absolute_path("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("pgdyno/settings-to-restore")).ok_or_else(|| {
        CommandError::new(Code::Start, "there is no place to note which settings are to be put back")
            .hint("set HOME or XDG_STATE_HOME to an absolute path")
    })
}
