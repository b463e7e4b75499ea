//! What is to be put back on a server whose settings a run has changed, should the run not come to do it itself.
//!
//! It is kept by user and server, not in the results directory: the next run on the server may well have another one. A
//! run holds the file's lock for as long as it lives, so that a file without a lock is one that a killed run has left.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};

/// A setting as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Before {
    pub(super) name: String,
    /// What ALTER SYSTEM had set it to; absent where it had not.
    pub(super) altered: Option<String>,
    /// What the server showed.
    pub(super) shown: String,
    /// Whether only a restart brings it back.
    pub(super) restart: bool,
}

/// What the file says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The target, as records have it.
    pub(super) target: String,
    /// Whose run it was.
    pub(super) who: String,
    pub(super) settings: Vec<Before>,
}

/// The file of one server, locked.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
}

/// What was found.
pub(super) enum Found {
    /// It is ours now; the entry is what a killed run has left.
    Free(Journal, Option<Entry>),
    /// A run that lives has it.
    Taken(Option<Entry>),
}

impl Journal {
    /// Opens the file of the server that this key stands for; `None` where there is none and none is to be made.
    pub(super) fn open(server: &str, make: bool) -> Result<Option<Found>> {
        let directory = match directory() {
            Ok(directory) => directory,
            // Where nothing can be noted nothing is.
            Err(_) if !make => return Ok(None),
            Err(failure) => return Err(failure),
        };
        let path = directory.join(format!("{server}.json"));
        let failed = |error: io::Error| {
            let what = format!("failed to note which settings are to be put back, in {}: {error}", path.display());
            Failure::new(Code::Start, what)
                .hint("set XDG_STATE_HOME to a directory that may be written, or leave --set out")
        };
        if make {
            DirBuilder::new().recursive(true).mode(0o700).create(&directory).map_err(failed)?;
        }
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
            // Whoever had it may have removed it meanwhile: then it is not the file that others will find.
            let number = |meta: io::Result<std::fs::Metadata>| meta.map(|meta| meta.ino()).ok();
            if number(file.metadata()) == number(std::fs::metadata(&path)) {
                break (file, taken);
            }
        };
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        // Half a file was written before anything was changed.
        let entry = serde_json::from_str(&text).ok();
        Ok(Some(if taken { Found::Taken(entry) } else { Found::Free(Self { path, file }, entry) }))
    }

    /// Writes down what is about to be changed; it is on the disk when this returns.
    pub(super) fn write(&mut self, entry: &Entry) -> Result<()> {
        let text = serde_json::to_string_pretty(entry).or_fail(Code::Start)?;
        let mut write = || {
            self.file.set_len(0)?;
            self.file.rewind()?;
            self.file.write_all(text.as_bytes())?;
            self.file.sync_all()?;
            // The name is to survive, too.
            self.path.parent().map_or(Ok(()), |directory| File::open(directory)?.sync_all())
        };
        write().map_err(|error| Failure::new(Code::Start, format!("failed to write {}: {error}", self.path.display())))
    }

    /// Everything is as it was.
    pub(super) fn close(self) {
        // Emptied first: somebody may have it open already. What stays of it says nothing.
        let _ = self.file.set_len(0);
        let _ = std::fs::remove_file(&self.path);
    }

    /// Where it is.
    pub(super) fn path(&self) -> &std::path::Path {
        &self.path
    }
}

/// The user's own place for what must not be lost. Source: XDG base directory specification.
fn directory() -> Result<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("pgdyno/settings-to-restore")).ok_or_else(|| {
        Failure::new(Code::Start, "there is no place to note which settings are to be put back")
            .hint("set HOME or XDG_STATE_HOME to an absolute path")
    })
}
