//! `pgdyno store`: the runs of a team in one PostgreSQL database.

mod push;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_live::ProgressView;
use pgdyno_report::forms::{
    FORMAT_VERSION, PulledForm, StoreInitForm, StoreListForm, StorePruneForm, StorePullForm, StoredForm,
};
use pgdyno_report::stored::{counted, table};
use pgdyno_results::{Study, StudyKind, find_runs, list_run, read_record};
use pgdyno_store::{CentralError, Mirror, Reporter, RunName, Store, StoredItem, StoredKind};
use pgdyno_text::units;

use super::central::{self, Central};
use crate::cli::StoreCommand;

pub(super) use push::{admit, push_ended, push_study};

/// The schema of a store.
const SCHEMA: &str = "pgdyno_results";

pub(crate) fn run(command: &StoreCommand) -> Result<Code> {
    match command {
        StoreCommand::Init { store, format } => init(&Central::named(store)?, format.is_json()),
        StoreCommand::Push { runs, replace, store, out, format } => {
            push::push(&Central::named(store)?, &out.out, runs, *replace, format.is_json())
        }
        StoreCommand::Pull { runs, store, out, format } => {
            pull(&Central::named(store)?, &out.out, runs, format.is_json())
        }
        StoreCommand::List { store, format } => list(&Central::named(store)?, format.is_json()),
        StoreCommand::Prune { older_than, dry_run, store, format } => {
            prune(&Central::named(store)?, *older_than, *dry_run, format.is_json())
        }
    }
}

fn init(central: &Central, is_json: bool) -> Result<Code> {
    let options = &central.options;
    let created = Store::create(options).map_err(|error| central.failure(error))?;
    if is_json {
        let (store, schema) = (options.to_string(), SCHEMA.to_owned());
        super::print_form(&StoreInitForm { format_version: FORMAT_VERSION, store, schema, created })?;
        return Ok(Code::Success);
    }
    let text = match created {
        true => format!("created the store in schema {SCHEMA} of database {}\n", options.dbname()),
        false => format!("the store is there, in schema {SCHEMA} of database {}\n", options.dbname()),
    };
    super::print_text(&text)?;
    Ok(Code::Success)
}

/// Something of a store that can be pulled.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum There {
    Run(RunName),
    Study(StudyKind, String),
}

fn pull(central: &Central, results: &Path, names: &[String], is_json: bool) -> Result<Code> {
    pgdyno_results::admit(results).or_fail(Code::Start)?;
    let news = &mut super::results::report_to(ProgressView::new(false), &central.options);
    let mut mirror = Mirror::open(central.open()?, &central::cache()?).map_err(central::failure)?;
    mirror.update(news).map_err(|error| central.failure(error))?;
    let mut form = StorePullForm {
        format_version: FORMAT_VERSION,
        store: central.options.to_string(),
        pulled: Vec::new(),
        already_here: 0,
    };
    let mut kinds = Vec::new();
    for there in named(central, &mut mirror, names, news)? {
        let copied = match &there {
            There::Run(run) => mirror.copy_to(run, results, news),
            There::Study(kind, study) => mirror.copy_study_to(*kind, study, results),
        };
        if !copied.map_err(|error| central.failure(error))? {
            form.already_here += 1;
            continue;
        }
        let (kind, name, path) = match there {
            There::Run(run) => {
                let path = results.join(run.as_str());
                list_run(results, &read_record(&path.join(pgdyno_results::RECORD)).or_fail(Code::Start)?)
                    .or_fail(Code::Start)?;
                (StoredKind::Run, run.to_string(), path)
            }
            There::Study(kind, study) => {
                let path = kind.path(results, &study);
                (StoredKind::Study(kind), study, path)
            }
        };
        let path = path.display().to_string();
        if !is_json {
            super::print_text(&format!("pulled {name} to {path}\n"))?;
        }
        kinds.push(kind.name());
        form.pulled.push(PulledForm { kind: kind.name().to_owned(), name, path });
    }
    if is_json {
        super::print_form(&form)?;
    } else {
        super::print_text(&format!("{} pulled, {} already here\n", counted(&kinds), form.already_here))?;
    }
    Ok(Code::Success)
}

/// Returns what names mean in a store: runs, or studies with those of their runs that it has.
fn named(central: &Central, mirror: &mut Mirror, names: &[String], news: &mut Reporter<'_>) -> Result<Vec<There>> {
    let mut found = Vec::new();
    for name in names {
        let missing = match find_runs(mirror.directory(), name) {
            Ok(records) => {
                let run = |record: &PathBuf| RunName::parse(record.parent()?.file_name()?.to_str()?);
                found.extend(records.iter().filter_map(run).map(There::Run));
                continue;
            }
            Err(pgdyno_results::StoreError::NoSuchRun { name, .. }) => central::failure(CentralError::NoSuch { name }),
            Err(error) => CommandError::new(Code::Start, error),
        };
        let (kind, path) = Study::find(mirror.directory(), name).or_fail(Code::Start)?.ok_or(missing)?;
        let study = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let runs = mirror.runs_of(&study, news).map_err(|error| central.failure(error))?;
        found.extend(runs.into_iter().map(There::Run));
        found.push(There::Study(kind, study));
    }
    let mut seen = BTreeSet::new();
    found.retain(|there| seen.insert(there.clone()));
    Ok(found)
}

fn list(central: &Central, is_json: bool) -> Result<Code> {
    let mut store = central.open()?;
    let mut stored = store.runs().map_err(|error| central.failure(error))?;
    stored.extend(store.studies().map_err(|error| central.failure(error))?);
    if is_json {
        super::print_form(&StoreListForm {
            format_version: FORMAT_VERSION,
            store: central.options.to_string(),
            stored: stored.into_iter().map(form).collect(),
        })?;
        return Ok(Code::Success);
    }
    let text = match stored.is_empty() {
        true => format!("no runs in the store {}\n", central.options),
        false => table(&stored.into_iter().map(form).collect::<Vec<_>>(), super::columns()),
    };
    super::print_lines(&text)?;
    Ok(Code::Success)
}

fn prune(central: &Central, seconds: f64, is_dry: bool, is_json: bool) -> Result<Code> {
    let old = central.open()?.prune(seconds, is_dry).map_err(|error| central.failure(error))?;
    if is_json {
        super::print_form(&StorePruneForm {
            format_version: FORMAT_VERSION,
            store: central.options.to_string(),
            dry_run: is_dry,
            deleted: old.into_iter().map(form).collect(),
        })?;
        return Ok(Code::Success);
    }
    let kinds: Vec<_> = old.iter().map(|stored| stored.kind.name()).collect();
    let all = units::bytes(old.iter().map(|stored| stored.bytes).sum());
    let old: Vec<_> = old.into_iter().map(form).collect();
    let did = if is_dry { "would be deleted" } else { "deleted" };
    let text = match old.is_empty() {
        true => "no run is that old\n".to_owned(),
        false => format!("{}{} ({all}) {did}\n", table(&old, super::columns()), counted(&kinds)),
    };
    super::print_lines(&text)?;
    Ok(Code::Success)
}

fn form(stored: StoredItem) -> StoredForm {
    let StoredItem { kind, name, digest, started_at, status, workload, bytes, pushed_at, pushed_by } = stored;
    let kind = kind.name().to_owned();
    StoredForm { kind, name, digest, started_at, status, workload, bytes, pushed_at, pushed_by }
}
