//! A store by its connection string, and the copies of its runs.

use std::path::PathBuf;

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_net::{ConnectOptions, Env};
use pgdyno_store::{CentralError, Store};
use pgdyno_untrusted::require_own;

use crate::cli::StoreArgs;

/// A store by its connection string.
pub(super) struct Central {
    pub(super) options: ConnectOptions,
}

impl Central {
    /// Parses a connection string. Connects to nothing.
    pub(super) fn of(dsn: &str) -> Result<Self> {
        let options = ConnectOptions::resolve(dsn, &Env::from_process()).or_fail(Code::Start)?;
        Ok(Self { options })
    }

    pub(super) fn named(args: &StoreArgs) -> Result<Self> {
        let missing = || {
            CommandError::new(Code::Start, "no store is named")
                .hint("give --store \"host=… dbname=…\", or set PGDYNO_STORE")
        };
        Self::of(&args.dsn().ok_or_else(missing)?)
    }

    pub(super) fn open(&self) -> Result<Store> {
        Store::open(&self.options).map_err(|error| self.failure(error))
    }

    /// Returns the failure of an error of this store, with its remedy.
    pub(super) fn failure(&self, error: CentralError) -> CommandError {
        match error {
            CentralError::Connect(_) => {
                CommandError::new(Code::Start, error).hint(format!("the store is {}; see docs/store.md", self.options))
            }
            error => failure(error),
        }
    }
}

/// Returns the failure of an error of a store, with its remedy.
pub(super) fn failure(error: CentralError) -> CommandError {
    let remedy = error.remedy();
    let failure = CommandError::new(Code::Start, error);
    match remedy {
        Some(remedy) => failure.hint(remedy),
        None => failure,
    }
}

/// Returns the directory of mirrors: in `PGDYNO_CACHE`; without it, also for root, as the XDG base directory specification says.
pub(super) fn cache() -> Result<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
    let usual = || absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(cache)));
    let root = absolute("PGDYNO_CACHE").or_else(|| usual().map(|root| root.join("pgdyno"))).ok_or_else(|| {
        CommandError::new(Code::Start, "there is no place for copies of a store's runs")
            .hint("set PGDYNO_CACHE to an absolute path")
    })?;
    // A mirror checks its own directory.
    require_own(&root, None).or_fail(Code::Start)?;
    Ok(root.join("stores"))
}
