//! The life cycle of the sizes of a lab. Each step begins with a line in the journal, and can be begun again.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_text::units;

use crate::cost::Money;
use crate::drive::{COMPLETE, Driver, LeftSuite};
use crate::engine::LabServer;
use crate::fetch::{Fetched, fetch};
use crate::journal::{JournalEntry, LabStep, SizeStanding};
use crate::lab::{Lab, entry, now_s};
use crate::lab_file::LabSize;
use crate::order::LabOrder;
use crate::ssh_key;
use crate::sweep::{Leftover, sweep};

/// How often a destroy is tried.
const TRIES: u64 = 3;
/// How often a create is tried whose engine was killed: only a create that ends leaves a state from which it can be destroyed.
const KILLED_TRIES: u64 = 20;
/// The pause before the second try; it grows.
const PAUSE: Duration = Duration::from_secs(2);

/// Takes all sizes through what is left of their life cycle, `parallel` at a time.
///
/// # Errors
/// When something is left in the cloud, or it was interrupted. A size that fails does not prevent the others.
pub fn carry_out(order: &LabOrder<'_>) -> Result<Code> {
    if !order.lab.file.module.is_local() {
        ssh_key::provide(&order.lab.key(), &order.lab.file.name)?;
    }
    each_size(order, &|size| life(order, size))
}

/// Destroys all sizes, whatever their state, and asks the cloud what is left. What they have measured is fetched before, unless it is to be
/// `discarded`.
///
/// # Errors
/// When something is left, or cannot be fetched: that size stays.
pub fn down(order: &LabOrder<'_>, discarded: bool) -> Result<Code> {
    each_size(order, &|size| {
        let standing = standing(order.lab, size)?;
        if standing.step == Some(LabStep::Closed) {
            return Ok(Code::Success);
        }
        if let (Some(step @ (LabStep::Driving | LabStep::Ran)), Some(server)) = (standing.step, &standing.server) {
            if step == LabStep::Driving {
                // What is fetched must not change any more.
                Driver::of(order, size, server).stop();
            }
            if !discarded {
                save(order, size, server)?;
            }
        }
        remove(order, size).map(|()| Code::Success)
    })
}

/// Fetches what a size has measured, which is lost when it is destroyed.
fn save(order: &LabOrder<'_>, size: &LabSize, server: &LabServer) -> Result<()> {
    let runs = fetch(order, size, server, Fetched::All).map_err(|error| match error.code() {
        Code::Interrupted => error,
        _ => {
            let (name, own) = (&order.lab.file.name, &size.name);
            let text = format!("{own}: {}; size {own} of lab {name} was not destroyed", error.text());
            CommandError::new(Code::LeftOver, text).hint(format!(
                "it costs money: `pgdyno cloud down {name} --discard-results` destroys it with what it has measured"
            ))
        }
    })?;
    note_fetched(order, size, &runs)
}

/// Notes that all runs of a size are here.
fn note_fetched(order: &LabOrder<'_>, size: &LabSize, runs: &[String]) -> Result<()> {
    order.lab.note(size, LabStep::Fetched, Some(runs.join(" ")))?;
    order.events.note(&format!("{}: fetched {}", size.name, units::plural(runs.len() as u64, "run")));
    Ok(())
}

/// Fetches what the sizes have until now, and destroys nothing. Returns the names of the runs.
///
/// # Errors
/// When a driver cannot be reached, or a file differs.
pub fn fetch_now(order: &LabOrder<'_>) -> Result<Vec<String>> {
    let mut runs = Vec::new();
    for size in &order.lab.file.sizes {
        let standing = standing(order.lab, size)?;
        if let Some(server) = standing.server.filter(|_| standing.step < Some(LabStep::Destroying)) {
            let which = if standing.step >= Some(LabStep::Ran) { Fetched::All } else { Fetched::Ended };
            runs.extend(fetch(order, size, &server, which)?);
        }
    }
    Ok(runs)
}

/// Lets the lab live until `ttl_s` from now: in the journal first, then in the tags of what is there.
///
/// # Errors
/// When the bound would be above `max`, or the engine fails.
pub fn extend(order: &LabOrder<'_>, ttl_s: f64, max: Option<&Money>) -> Result<()> {
    let lab = order.lab;
    let expires_s = now_s() + ttl_s as u64;
    let began = lab.journal.entries().or_fail(Code::Start)?.first().map_or(0, |entry| entry.at_s);
    lab.file.admit_cost(max, expires_s.saturating_sub(began) as f64)?;
    lab.put(&JournalEntry { expires_s: Some(expires_s), ..entry(None, LabStep::Extended) })?;
    for size in &lab.file.sizes {
        let standing = standing(lab, size)?;
        if standing.step >= Some(LabStep::Up) && standing.step < Some(LabStep::Destroying) {
            lab.configure(size)?;
            order.engine.apply(&lab.size_directory(size), order.password, order.interrupt)?;
        }
    }
    Ok(())
}

fn standing(lab: &Lab, size: &LabSize) -> Result<SizeStanding> {
    Ok(lab.standings()?.remove(&size.name).unwrap_or_default())
}

/// Does `work` for all sizes, and returns the worst outcome.
fn each_size(order: &LabOrder<'_>, work: &(dyn Fn(&LabSize) -> Result<Code> + Sync)) -> Result<Code> {
    let sizes = &order.lab.file.sizes;
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..order.lab.file.parallel.min(sizes.len()) {
            scope.spawn(|| {
                while let Some(size) = sizes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = work(size);
                    let ends = matches!(&outcome, Err(error) if error.code() == Code::Interrupted);
                    outcomes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(outcome);
                    if ends {
                        return;
                    }
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let (mut code, mut worst): (Code, Option<CommandError>) = (Code::Success, None);
    for outcome in outcomes {
        match outcome {
            Ok(Code::Success) => {}
            Ok(other) => code = other,
            Err(error) => {
                // What is left costs money: nothing is said before it.
                let weight = |error: &CommandError| error.code() == Code::LeftOver;
                if worst.as_ref().is_none_or(|known| !weight(known) && weight(&error)) {
                    worst = Some(error);
                }
            }
        }
    }
    worst.map_or(Ok(code), Err)
}

/// Takes one size from where it is to its end.
fn life(order: &LabOrder<'_>, size: &LabSize) -> Result<Code> {
    let standing = standing(order.lab, size)?;
    let step = standing.step.unwrap_or(LabStep::Planned);
    let mut code = Code::Success;
    if step < LabStep::Destroying {
        match work(order, size, &standing) {
            Ok(outcome) => code = outcome,
            Err(stop) if stop.keeps => return Err(stop.error),
            Err(Stopped { error, .. }) => {
                order.lab.note(size, LabStep::Failed, Some(error.text()))?;
                order.events.warn(&format!("{}: {}", size.name, error.text()));
                code = Code::Run;
            }
        }
    }
    if step != LabStep::Closed {
        remove(order, size)?;
    }
    Ok(code)
}

/// Why the work on a size ended early.
struct Stopped {
    error: CommandError,
    /// What was created stays: by Ctrl-C, or because its results are not here yet.
    keeps: bool,
}

impl From<CommandError> for Stopped {
    fn from(error: CommandError) -> Self {
        let keeps = error.code() == Code::Interrupted;
        Self { error, keeps }
    }
}

/// Creates, drives and fetches, from the step at which the size is.
fn work(order: &LabOrder<'_>, size: &LabSize, standing: &SizeStanding) -> std::result::Result<Code, Stopped> {
    let lab = order.lab;
    let (mut step, mut ended) = (standing.step.unwrap_or(LabStep::Planned), standing.ended.clone());
    let server = match standing.server.clone().filter(|_| step >= LabStep::Up) {
        Some(server) => server,
        None => {
            step = LabStep::Up;
            create(order, size)?
        }
    };
    if step < LabStep::Ran {
        lab.note(size, LabStep::Driving, None)?;
        order.events.note(&format!("{}: driving", size.name));
        ended = match Driver::of(order, size, &server).drive(standing.step == Some(LabStep::Driving)) {
            Ok(ended) => Some(ended),
            Err(LeftSuite { error, .. }) if error.code() == Code::Interrupted => return Err(error.into()),
            Err(left) => return Err(leave(order, size, &server, left)?),
        };
        lab.note(size, LabStep::Ran, ended.clone())?;
    }
    if step < LabStep::Fetched {
        let runs = fetch(order, size, &server, Fetched::All).map_err(|error| kept(order, size, error, None))?;
        note_fetched(order, size, &runs)?;
    }
    let Some(ended) = ended.filter(|ended| ended != COMPLETE) else { return Ok(Code::Success) };
    lab.note(size, LabStep::Failed, Some(ended.clone()))?;
    order.events.warn(&format!("{}: {ended}", size.name));
    Ok(Code::Run)
}

/// Fetches what a suite has measured that was not followed to its end. A suite that can still be continued keeps its size, and so does one
/// whose results cannot be fetched: whether it is worth its price is for the user to decide.
fn leave(order: &LabOrder<'_>, size: &LabSize, server: &LabServer, left: LeftSuite) -> Result<Stopped> {
    let LeftSuite { error, is_unfinished } = left;
    let which = match is_unfinished {
        true => Fetched::Ended,
        false => {
            // What is fetched must not change any more.
            Driver::of(order, size, server).stop();
            Fetched::All
        }
    };
    Ok(match fetch(order, size, server, which) {
        Ok(_) if !is_unfinished => Stopped { error, keeps: false },
        Ok(runs) => {
            order.lab.note(size, LabStep::Failed, Some(error.text()))?;
            kept(order, size, error, Some(&format!("fetched {}", units::plural(runs.len() as u64, "run"))))
        }
        Err(failed) => {
            order.lab.note(size, LabStep::Failed, Some(error.text()))?;
            order.events.warn(&format!("{}: {}", size.name, error.text()));
            kept(order, size, failed, None)
        }
    })
}

/// Returns the end of the work on a size that stays for this reason, until the user decides. Says it now: the next size may begin.
fn kept(order: &LabOrder<'_>, size: &LabSize, error: CommandError, fetched: Option<&str>) -> Stopped {
    if error.code() == Code::Interrupted {
        return error.into();
    }
    let (name, fetched) = (&order.lab.file.name, fetched.map_or_else(String::new, |runs| format!("; {runs}")));
    let text = format!("{}: {}{fetched}; nothing was destroyed", size.name, error.text());
    order.events.warn(&text);
    let error = CommandError::new(Code::LeftOver, text).hint(format!(
        "`pgdyno cloud resume {name}` goes on, `pgdyno cloud fetch {name}` fetches the results; the size costs money until `pgdyno cloud down {name}`"
    ));
    Stopped { error, keeps: true }
}

/// Creates a size, and waits until its server answers.
fn create(order: &LabOrder<'_>, size: &LabSize) -> Result<LabServer> {
    let lab = order.lab;
    if lab.left_s()? == 0 {
        lab.configure(size)?;
        let error = CommandError::new(Code::Run, "the lab had expired before it was created");
        return Err(error.hint("open the lab again with a longer time to live: `pgdyno cloud run FILE --ttl TIME`"));
    }
    lab.note(size, LabStep::Applying, None)?;
    order.events.note(&format!("{}: creating", size.name));
    lab.configure(size)?;
    let directory = lab.size_directory(size);
    let mut tried = 0;
    loop {
        tried += 1;
        match order.engine.apply(&directory, order.password, order.interrupt) {
            Ok(()) => break,
            Err(error) if error.code() == Code::Interrupted || tried == KILLED_TRIES || !was_killed(&error) => {
                return Err(error);
            }
            // What it was making may be in no state: the module takes it over, or fails and the sweep finds it.
            Err(error) => order.events.note(&format!("{}: {}; trying again", size.name, error.text())),
        }
    }
    let server = order.engine.server(&directory)?;
    Driver::of(order, size, &server).wait_until_up()?;
    let up = JournalEntry { server: Some(server.clone()), ..entry(Some(&size.name), LabStep::Up) };
    lab.put(&up)?;
    Ok(server)
}

/// Returns true if the engine itself was killed, and did not fail.
fn was_killed(error: &CommandError) -> bool {
    error.text().contains("signal: ")
}

/// Destroys a size, and asks the cloud what is left of the lab's.
fn remove(order: &LabOrder<'_>, size: &LabSize) -> Result<()> {
    let lab = order.lab;
    lab.note(size, LabStep::Destroying, None)?;
    order.events.note(&format!("{}: destroying", size.name));
    let destroyed = destroy(order, size);
    if let Err(error) = &destroyed {
        if error.code() == Code::Interrupted {
            return destroyed;
        }
        lab.note(size, LabStep::Failed, Some(error.text()))?;
        order.events.warn(&format!("{}: {}", size.name, error.text()));
    }
    let left = swept(lab).inspect_err(|error| order.events.warn(&error.text()))?;
    let others = others_that_live(lab, size)?;
    let of_size: Vec<&Leftover> = left.iter().filter(|it| others.iter().all(|other| !is_of(it, other))).collect();
    if destroyed.is_ok() && of_size.is_empty() {
        lab.note(size, LabStep::Swept, None)?;
        lab.note(size, LabStep::Closed, None)?;
        if lab.file.module.is_local() {
            // It is empty, or another size is in it.
            let _ = fs::remove_dir(&lab.spec.root);
        }
        return Ok(());
    }
    Err(leftover_error(lab, size, &of_size, destroyed.err()))
}

fn destroy(order: &LabOrder<'_>, size: &LabSize) -> Result<()> {
    let directory = order.lab.size_directory(size);
    // Nothing was ever configured: nothing was created.
    if !directory.join("main.tf.json").exists() {
        return Ok(());
    }
    let mut tried = 0;
    loop {
        tried += 1;
        let error = match order.engine.destroy(&directory, order.interrupt) {
            Ok(()) => return Ok(()),
            Err(error) if error.code() == Code::Interrupted || tried == TRIES => return Err(error),
            Err(error) => error,
        };
        order.events.note(&format!("{}: {}; trying again", size.name, error.text()));
        thread::sleep(PAUSE * u32::try_from(tried).unwrap_or(1));
    }
}

fn swept(lab: &Lab) -> Result<Vec<Leftover>> {
    sweep(&lab.file, &lab.spec.root, &lab.directory.join("modules"))
}

/// Returns the other sizes that have something now.
fn others_that_live<'a>(lab: &'a Lab, size: &LabSize) -> Result<Vec<&'a LabSize>> {
    let standings = lab.standings()?;
    let lives = |other: &&LabSize| {
        other.name != size.name
            && standings
                .get(&other.name)
                .and_then(|standing| standing.step)
                .is_some_and(|step| step > LabStep::Planned && step < LabStep::Swept)
    };
    Ok(lab.file.sizes.iter().filter(lives).collect())
}

/// Returns true if a leftover may be of a size, by its name: `pgdyno-LAB--SIZE…`, or the size's own directory. The last size that
/// goes answers for everything.
fn is_of(leftover: &Leftover, size: &LabSize) -> bool {
    let ends = |rest: &str| !rest.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    let last = Path::new(&leftover.id).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    last == size.name
        || leftover.id.split("--").skip(1).any(|part| part.strip_prefix(size.name.as_str()).is_some_and(ends))
}

fn leftover_error(lab: &Lab, size: &LabSize, left: &[&Leftover], destroyed: Option<CommandError>) -> CommandError {
    let name = &lab.file.name;
    let mut text = match &destroyed {
        Some(error) => format!("size {} of lab {name} could not be destroyed: {}", size.name, error.text()),
        None => format!("lab {name} has left something, although the engine says that all is destroyed"),
    };
    for it in left {
        text += &format!("\n  {} {}", it.kind, it.id);
    }
    let mut hint = format!(
        "`pgdyno cloud down {name}` tries again; `pgdyno cloud sweep {name} --delete` deletes what is left, as these do:"
    );
    for it in left {
        hint += &format!("\n    {}", it.line());
    }
    CommandError::new(Code::LeftOver, io::Error::other(text)).hint(hint)
}
