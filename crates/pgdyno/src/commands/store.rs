//! `pgdyno store`: the runs of a team in one PostgreSQL database; and pushing a run that has just ended.

use std::path::{Path, PathBuf};

use pgdyno_life::events::EventSink;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{Failure, OrFail, Result};
use pgdyno_live::Progress;
use pgdyno_net::{ConnectOptions, Env};
use pgdyno_report::units;
use pgdyno_results::{find_runs, list_run, list_runs, read_record};
use pgdyno_store::{CentralError, Mirror, Pushed, RunFiles, Store, StoredRun};

use crate::cli::{StoreArgs, StoreCommand};

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

    fn named(args: &StoreArgs) -> Result<Self> {
        let missing = || {
            Failure::new(Code::Start, "no store is named").hint("give --store \"host=… dbname=…\", or set PGDYNO_STORE")
        };
        Self::of(&args.dsn().ok_or_else(missing)?)
    }

    pub(super) fn open(&self) -> Result<Store> {
        Store::open(&self.options).map_err(|error| self.failure(error))
    }

    /// Returns the failure of an error of this store, with its remedy.
    pub(super) fn failure(&self, error: CentralError) -> Failure {
        match error {
            CentralError::Connect(_) => {
                Failure::new(Code::Start, error).hint(format!("the store is {}; see docs/store.md", self.options))
            }
            error => failure(error),
        }
    }
}

/// Returns the failure of an error of a store, with its remedy.
pub(super) fn failure(error: CentralError) -> Failure {
    let remedy = error.remedy();
    let failure = Failure::new(Code::Start, error);
    match remedy {
        Some(remedy) => failure.hint(remedy),
        None => failure,
    }
}

/// Returns the directory of mirrors. Source: XDG base directory specification.
pub(super) fn cache() -> Result<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
    let root = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(cache)));
    root.map(|root| root.join("pgdyno/stores")).ok_or_else(|| {
        Failure::new(Code::Start, "there is no place for copies of a store's runs")
            .hint("set HOME or XDG_CACHE_HOME to an absolute path")
    })
}

pub(crate) fn run(command: &StoreCommand) -> Result<Code> {
    match command {
        StoreCommand::Init(store) => init(&Central::named(store)?),
        StoreCommand::Push { runs, replace, store, out } => push(&Central::named(store)?, &out.out, runs, *replace),
        StoreCommand::Pull { runs, store, out } => pull(&Central::named(store)?, &out.out, runs),
        StoreCommand::List(store) => list(&Central::named(store)?),
        StoreCommand::Prune { older_than, dry_run, store } => prune(&Central::named(store)?, *older_than, *dry_run),
    }
}

fn init(central: &Central) -> Result<Code> {
    let options = &central.options;
    let text = match Store::create(options).map_err(|error| central.failure(error))? {
        true => format!("created the store in schema pgdyno_results of database {}\n", options.dbname()),
        false => format!("the store is there, in schema pgdyno_results of database {}\n", options.dbname()),
    };
    super::print_text(&text)?;
    Ok(Code::Success)
}

fn push(central: &Central, results: &Path, names: &[String], replace: bool) -> Result<Code> {
    let mut store = central.open()?;
    let progress = Progress::new(false);
    let records = if names.is_empty() {
        list_runs(results).or_fail(Code::Start)?.iter().map(|run| run.join(pgdyno_results::RECORD)).collect()
    } else {
        let mut found: Vec<PathBuf> = Vec::new();
        for names in names {
            found.extend(find_runs(results, names).or_fail(Code::Start)?);
        }
        found
    };
    let (mut pushed, mut there, mut refused) = (0, 0, 0);
    for record in &records {
        let directory = record.parent().unwrap_or(Path::new(""));
        match push_run(&mut store, directory, replace, &progress) {
            Ok((Pushed::WasThere, _)) => there += 1,
            Ok((_, line)) => {
                pushed += 1;
                super::print_text(&line)?;
            }
            // Of all runs, one that goes on is pushed the next time.
            Err(CentralError::GoesOn { .. }) if names.is_empty() => {}
            Err(error @ (CentralError::Differs { .. } | CentralError::Record(_) | CentralError::Changed { .. }))
                if records.len() > 1 =>
            {
                refused += 1;
                progress.warn(&format!("not pushed: {error}"));
            }
            Err(error) => return Err(central.failure(error)),
        }
    }
    super::print_text(&format!("{} pushed, {there} already there\n", runs(pushed)))?;
    if refused > 0 {
        return Err(Failure::new(Code::Start, format!("{} not pushed; the warnings say why", were(refused)))
            .hint("--replace stores the files that are here instead of others in the store"));
    }
    Ok(Code::Success)
}

/// Pushes a run, and returns the line about it.
fn push_run(
    store: &mut Store,
    directory: &Path,
    replace: bool,
    events: &dyn EventSink,
) -> std::result::Result<(Pushed, String), CentralError> {
    let files = RunFiles::read(directory)?;
    let pushed = store.push(&files, replace)?;
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    if pushed != Pushed::WasThere {
        for file in &files.left_out {
            let (path, size) = (directory.join(&file.path), units::bytes(file.bytes));
            events.note(&format!("{} ({size}) is not stored: it stays here", path.display()));
        }
    }
    let verb = if pushed == Pushed::Replaced { "replaced" } else { "pushed" };
    Ok((pushed, format!("{verb} {name} ({})\n", units::bytes(files.bytes()))))
}

/// Checks before a run that its store can be written to. One that cannot be reached now may be there when the run has
/// ended, and so does not prevent it.
///
/// # Errors
/// When there is no such store.
pub(super) fn admit(dsn: &str, events: &dyn EventSink) -> Result<Central> {
    let central = Central::of(dsn)?;
    match Store::open(&central.options) {
        Ok(_) => Ok(central),
        Err(error @ CentralError::Connect(_)) => {
            let text = central.failure(error).text();
            events.warn(&format!("{text}; the run is kept here, and pushed at its end if the store is there then"));
            Ok(central)
        }
        Err(error) => Err(central.failure(error)),
    }
}

/// Pushes a run that has just ended. Its directory is as good as before if that fails: then a warning says how to push
/// it later.
pub(super) fn push_ended(central: &Central, directory: &Path, is_text: bool, events: &dyn EventSink) -> Result<()> {
    let pushed = Store::open(&central.options).and_then(|mut store| push_run(&mut store, directory, false, events));
    match pushed {
        Ok(_) if is_text => super::print(format!("STORE   {}\n", central.options).as_bytes()),
        // Only the report is on standard output, for a program.
        Ok(_) => {
            events.note(&format!("store: {}", central.options));
            Ok(())
        }
        Err(error) => {
            let text = central.failure(error).text();
            let directory = directory.display();
            events.warn(&format!("the run is not in the store (push it with `pgdyno store push {directory}`): {text}"));
            Ok(())
        }
    }
}

fn pull(central: &Central, results: &Path, names: &[String]) -> Result<Code> {
    pgdyno_results::admit(results).or_fail(Code::Start)?;
    let mut mirror = Mirror::open(central.open()?, &cache()?).map_err(failure)?;
    mirror.update(&mut |_| {}).map_err(|error| central.failure(error))?;
    let (mut pulled, mut there) = (0, 0);
    for names in names {
        for record in find_runs(mirror.directory(), names).map_err(|error| match error {
            pgdyno_results::StoreError::NoSuchRun { name, .. } => failure(CentralError::NoSuchRun { run: name }),
            error => Failure::new(Code::Start, error),
        })? {
            let run = record.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
            if !mirror.copy_to(&run, results).map_err(|error| central.failure(error))? {
                there += 1;
                continue;
            }
            pulled += 1;
            list_run(results, &read_record(&record).or_fail(Code::Start)?).or_fail(Code::Start)?;
            super::print_text(&format!("pulled {run} to {}\n", results.join(&run).display()))?;
        }
    }
    super::print_text(&format!("{} pulled, {there} already here\n", runs(pulled)))?;
    Ok(Code::Success)
}

fn list(central: &Central) -> Result<Code> {
    let stored = central.open()?.runs().map_err(|error| central.failure(error))?;
    let text = match stored.is_empty() {
        true => format!("no runs in the store {}\n", central.options),
        false => table(&stored),
    };
    super::print(text.as_bytes())?;
    Ok(Code::Success)
}

fn prune(central: &Central, seconds: f64, is_dry: bool) -> Result<Code> {
    let old = central.open()?.prune(seconds, is_dry).map_err(|error| central.failure(error))?;
    let all = units::bytes(old.iter().map(|run| run.bytes).sum());
    let did = if is_dry { "would be deleted" } else { "deleted" };
    let text = match old.is_empty() {
        true => "no run is that old\n".to_owned(),
        false => format!("{}{} ({all}) {did}\n", table(&old), runs(old.len())),
    };
    super::print(text.as_bytes())?;
    Ok(Code::Success)
}

/// Returns the list of stored runs.
fn table(stored: &[StoredRun]) -> String {
    let mut rows = vec![["run", "status", "size", "pushed at", "by"].map(str::to_owned)];
    rows.extend(stored.iter().map(|run| {
        [run.run.clone(), run.status.clone(), units::bytes(run.bytes), run.pushed_at.clone(), run.pushed_by.clone()]
    }));
    let widths: Vec<_> =
        (0..rows[0].len()).map(|n| rows.iter().map(|row| row[n].chars().count()).max().unwrap_or(0)).collect();
    let line = |row: &[String; 5]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// Returns `1 run`, `2 runs`.
fn runs(number: usize) -> String {
    format!("{number} run{}", if number == 1 { "" } else { "s" })
}

/// Returns `1 run was`, `2 runs were`.
fn were(number: usize) -> String {
    format!("{} {}", runs(number), if number == 1 { "was" } else { "were" })
}
