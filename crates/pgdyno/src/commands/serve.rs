//! `pgdyno serve`: serves the results directory as local web pages.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::record::page::with_timeline;
use pgdyno_live::is_ignored;
use pgdyno_report::compare::CompareOptions;
use pgdyno_report::html::{self, Link};
use pgdyno_serve::{NoComparison, PageServer, Pages, ServeError, ServedRun};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::compare;
use super::results::Results;
use crate::cli::ServeArgs;

/// How often a store is asked for new runs.
const UPDATING: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &ServeArgs) -> Result<Code> {
    let results = Results::open(&args.results)?;
    results.release();
    let reports = Arc::new(Reports { results, turn: Mutex::default(), stale: Mutex::default() });
    let results = &reports.results;
    let pages = Box::new(Shared(Arc::clone(&reports)));
    let (server, stopper) = PageServer::bind(args.port, results.directory().to_owned(), pages).map_err(failure)?;
    // Nothing that is written could be lost, so the first signal ends the server at once.
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal));
    let mut signals = Signals::new(wanted).or_fail(Code::Start)?;
    thread::Builder::new()
        .name("pgdyno-signals".to_owned())
        .spawn(move || {
            if signals.forever().next().is_some() {
                stopper.stop();
            }
        })
        .or_fail(Code::Start)?;
    super::print_lines(&format!("{} shows the runs in {}; Ctrl-C ends it\n", server.url(), results.place()))?;
    if results.is_store() {
        let reports = Arc::clone(&reports);
        let keep_up = move || {
            let mut read_at = Timestamp::now();
            loop {
                thread::sleep(UPDATING);
                reports.keep_up(&mut read_at);
            }
        };
        thread::Builder::new().name("pgdyno-store".to_owned()).spawn(keep_up).or_fail(Code::Start)?;
    }
    server.run().map_err(failure)?;
    Ok(Code::Success)
}

fn failure(error: ServeError) -> CommandError {
    let hint = match &error {
        ServeError::Listen { .. } => Some(
            "another program listens there, perhaps `pgdyno serve`; take another port with --port, or a free one with \
             --port 0",
        ),
        ServeError::NoDirectory(_) => Some("name the results directory with --out"),
        ServeError::Runtime(_) => None,
    };
    let failure = CommandError::new(Code::Start, error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// The pages of `pgdyno report`, rendered on request.
struct Reports {
    results: Results,
    /// Held while files of a store's runs are read or fetched.
    turn: Mutex<()>,
    /// Since when a store cannot be read, and why.
    stale: Mutex<Option<String>>,
}

/// The same for the threads of the server and the one that keeps up with a store.
struct Shared(Arc<Reports>);

impl Reports {
    /// Fetches new runs of the store. One that cannot be reached now is asked again; what was fetched is shown meanwhile.
    fn keep_up(&self, read_at: &mut Timestamp) {
        let updated = self.reading(|results| results.update(&mut |_| {}));
        let stale = match updated {
            Ok(()) => {
                *read_at = Timestamp::now();
                None
            }
            Err(failure) => Some(format!(
                "{} could not be read since {} UTC, and is asked again every {} s. The list is of that time: {}",
                self.results.place(),
                read_at.strftime("%Y-%m-%d %H:%M:%S"),
                UPDATING.as_secs(),
                failure.text()
            )),
        };
        *self.stale.lock().unwrap_or_else(PoisonError::into_inner) = stale;
    }

    /// Reads or fetches files while nothing else changes them.
    fn reading<T>(&self, read: impl FnOnce(&Results) -> T) -> T {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let done = read(&self.results);
        self.results.release();
        done
    }
}

impl Pages for Shared {
    fn report(&self, results: &Path, run: ServedRun, links: &[Link]) -> std::result::Result<Vec<u8>, String> {
        let render = |store: &Results| {
            store.complete(&run.path)?;
            with_timeline(&run.path, run.record, results)
        };
        let run = self.0.reading(render).map_err(|failure| failure.text())?;
        let mut bytes = Vec::new();
        html::write_linked(&run, links, &mut bytes).map_err(|e| e.to_string())?;
        Ok(bytes)
    }

    fn compare(
        &self,
        results: &Path,
        base: Vec<ServedRun>,
        new: Vec<ServedRun>,
    ) -> std::result::Result<Vec<u8>, NoComparison> {
        let failed = |failure: CommandError| NoComparison::Failed(failure.text());
        let named = |side: Vec<ServedRun>| -> Vec<_> { side.into_iter().map(|run| (run.path, run.record)).collect() };
        let sides = [named(base), named(new)];
        self.0.reading(|store| {
            for (path, _) in sides.iter().flatten() {
                store.complete(path).map_err(failed)?;
            }
            let [base, new] = compare::with_intervals(results, sides.clone()).map_err(failed)?;
            let comparison =
                pgdyno_report::compare::compare(base, new, &CompareOptions::default()).map_err(NoComparison::Unfit)?;
            compare::page(results, &comparison, &sides).map_err(failed)
        })
    }

    fn notice(&self) -> Option<String> {
        self.0.stale.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
