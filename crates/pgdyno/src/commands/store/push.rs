//! Pushes: what a results directory has and a store does not; and what has just been measured.

use std::path::Path;

use pgdyno_life::events::EventSink;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_live::ProgressView;
use pgdyno_plan::RESULTS;
use pgdyno_report::forms::{FORMAT_VERSION, LeftOutFileForm, PushedForm, RefusedForm, StorePushForm};
use pgdyno_report::stored::counted;
use pgdyno_results::StudyKind;
use pgdyno_store::{CentralError, Local, Store};
use pgdyno_text::units;
use pgdyno_untrusted::ShellWord;

use crate::commands::central::{self, Central};
use crate::commands::{print_form, print_lines, print_text};

/// Copies to the store what it does not have: all of the results directory, or what is named.
pub(super) fn push(central: &Central, results: &Path, names: &[String], replace: bool, is_json: bool) -> Result<Code> {
    let mut store = central.open()?;
    let progress = ProgressView::new(false);
    let wanted = match names {
        [] => Local::all(results).or_fail(Code::Start)?,
        names => Local::named(results, names).or_fail(Code::Start)?,
    };
    let mut form = StorePushForm {
        format_version: FORMAT_VERSION,
        store: central.options.to_string(),
        pushed: Vec::new(),
        already_there: 0,
        refused: Vec::new(),
    };
    let (mut pushed_kinds, mut refused_kinds) = (Vec::new(), Vec::new());
    let mut has_others = false;
    for local in &wanted {
        match push_one(&mut store, local, replace, &progress) {
            Ok(None) => form.already_there += 1,
            Ok(Some(pushed)) => {
                if !is_json {
                    print_text(&line(&pushed))?;
                }
                pushed_kinds.push(local.kind().name());
                form.pushed.push(pushed);
            }
            // Of all runs, one that goes on is pushed the next time.
            Err(CentralError::GoesOn { .. }) if names.is_empty() => {}
            Err(error) if error.is_about_one() && wanted.len() > 1 => {
                has_others |= matches!(error, CentralError::Differs { .. });
                let path = local.path().display().to_string();
                let why = central::failure(error).text();
                progress.warn(&format!("{path} was not pushed: {why}"));
                refused_kinds.push(local.kind().name());
                form.refused.push(RefusedForm { path, why });
            }
            Err(error) => return Err(central.failure(error)),
        }
    }
    if is_json {
        print_form(&form)?;
    } else {
        print_text(&format!("{} pushed, {} already there\n", counted(&pushed_kinds), form.already_there))?;
    }
    if form.refused.is_empty() {
        return Ok(Code::Success);
    }
    let were = if form.refused.len() == 1 { "was" } else { "were" };
    let error = format!("{} {were} not pushed; the warnings say why", counted(&refused_kinds));
    let failure = CommandError::new(Code::Start, error);
    Err(match (store.has_studies(), has_others) {
        (false, _) => failure.hint(
            "experiments, searches and frontiers need a table more: pgdyno store init, as the owner of the store",
        ),
        (true, true) => failure.hint("--replace stores the files that are here instead of others in the store"),
        (true, false) => failure,
    })
}

/// Pushes one; `None` if it is there already.
fn push_one(
    store: &mut Store,
    local: &Local,
    replace: bool,
    events: &dyn EventSink,
) -> std::result::Result<Option<PushedForm>, CentralError> {
    let Some(sent) = local.push(store, replace)? else { return Ok(None) };
    for file in &sent.left_out {
        let (path, size) = (local.path().join(&file.path), units::bytes(file.bytes));
        events.note(&format!("{} ({size}) is not stored: it stays here", path.display()));
    }
    let left_out = sent.left_out.into_iter();
    Ok(Some(PushedForm {
        kind: local.kind().name().to_owned(),
        name: local.name(),
        bytes: sent.bytes,
        replaced: sent.has_replaced,
        left_out: left_out.map(|file| LeftOutFileForm { path: file.path, bytes: file.bytes }).collect(),
    }))
}

fn line(pushed: &PushedForm) -> String {
    let verb = if pushed.replaced { "replaced" } else { "pushed" };
    format!("{verb} {} ({})\n", pushed.name, units::bytes(pushed.bytes))
}

/// Checks before a measurement that its store can be written to. One that cannot be reached now may be there at the end,
/// and so does not prevent it. `what` is measured: `run`, `experiment`.
///
/// # Errors
/// When there is no such store.
pub(crate) fn admit(dsn: &str, what: &str, events: &dyn EventSink) -> Result<Central> {
    let central = Central::of(dsn)?;
    match Store::open_soon(&central.options) {
        Ok(_) => Ok(central),
        Err(error) if error.is_refusal() => Err(central.failure(error)),
        Err(error) => {
            let text = central.failure(error).text();
            events.warn(&format!(
                "{text}; the {what} is kept here, and pushed at its end if the store answers then; `pgdyno store push` pushes \
                 it later"
            ));
            Ok(central)
        }
    }
}

/// Pushes a run that has just ended. Its directory is as good as before if that fails: then a warning says how to push
/// it later.
pub(crate) fn push_ended(central: &Central, directory: &Path, is_text: bool, events: &dyn EventSink) -> Result<()> {
    let local = Local::Run(directory.to_owned());
    let pushed = Store::open_soon(&central.options).and_then(|mut store| push_one(&mut store, &local, false, events));
    match pushed {
        Ok(_) if is_text => print_lines(&format!("STORE   {}\n", central.options)),
        // Only the report is on standard output, for a program.
        Ok(_) => {
            events.note(&format!("store: {}", central.options));
            Ok(())
        }
        Err(error) => {
            let text = central.failure(error).text();
            let directory = directory.display().to_string();
            let directory = ShellWord(&directory);
            events.warn(&format!("the run is not in the store (push it with `pgdyno store push {directory}`): {text}"));
            Ok(())
        }
    }
}

/// Pushes a study that has just ended, its runs first. Its files are as good as before if that fails: then a warning says
/// how to push them later.
pub(crate) fn push_study(central: &Central, kind: StudyKind, path: &Path, results: &Path, events: &dyn EventSink) {
    let pushed = (|| -> Result<()> {
        let mut store = Store::open_soon(&central.options).map_err(|error| central.failure(error))?;
        let wanted = Local::of_study(results, kind, path).or_fail(Code::Start)?;
        for local in &wanted {
            push_one(&mut store, local, false, events).map_err(|error| central.failure(error))?;
        }
        Ok(())
    })();
    match pushed {
        Ok(()) => events.note(&format!("store: {}", central.options)),
        Err(failure) => {
            let (what, why) = (kind.name(), failure.text());
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let out = if results == Path::new(RESULTS) {
                String::new()
            } else {
                format!(" --out {}", ShellWord(&results.to_string_lossy()))
            };
            events
                .warn(&format!("the {what} is not in the store (push it with `pgdyno store push {name}{out}`): {why}"));
        }
    }
}
