//! What `ab`, `search` and `frontier` have in common.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::interrupt::Interrupt;
use pgdyno_live::ProgressView;
use pgdyno_plan::Order;
use pgdyno_results::StudyKind;
use pgdyno_study::lock;
use pgdyno_study::run::Runner;
use pgdyno_untrusted::Lock;

use super::central::Central;
use super::store;
use crate::interrupt;

/// A study under way: who ends it, who sees it, and where it is pushed.
pub(super) struct Session {
    kind: StudyKind,
    pub(super) interrupt: Arc<Interrupt>,
    pub(super) progress: ProgressView,
    store: Option<Central>,
}

impl Session {
    /// Handles signals from now on, and checks that the store is there, if there is one.
    pub(super) fn begin(kind: StudyKind, quiet: bool, dsn: Option<String>) -> Result<Self> {
        let interrupt = interrupt::listen()?;
        let progress = ProgressView::new(quiet).details(false);
        let store = dsn.map(|dsn| store::admit(&dsn, kind.name(), &progress)).transpose()?;
        Ok(Self { kind, interrupt, progress, store })
    }

    /// Checks the results directory, and takes the lock of a new study there.
    pub(super) fn lock(&self, results: &Path, id: &str, taken: Option<Lock>) -> Result<Lock> {
        pgdyno_results::admit(results).or_fail(Code::Start)?;
        taken.map_or_else(|| lock::take(results, self.kind, id), Ok)
    }

    /// Returns what carries out its runs. They are pushed with the study.
    pub(super) fn runner<'a>(&'a self, results: &'a Path) -> Runner<'a> {
        Runner { results, store: None, interrupt: &self.interrupt }
    }

    /// Pushes the record at `path` and its runs to the store, if there is one.
    pub(super) fn push(&self, path: &Path, results: &Path) {
        if let Some(store) = &self.store {
            store::push_study(store, self.kind, path, results, &self.progress);
        }
    }
}

/// Renders a record.
type Render<R> = fn(&R, &mut dyn Write) -> io::Result<()>;

/// Prints a record in a format.
pub(super) fn print<R>(record: &R, format: &str, render: Option<Render<R>>) -> Result<()> {
    let render = render.ok_or_else(|| CommandError::new(Code::Start, format!("unknown format '{format}'")))?;
    let mut bytes = Vec::new();
    render(record, &mut bytes).or_fail(Code::Start)?;
    super::print_rendered(format, &bytes)
}

/// Returns true if an order has only what a study that goes on takes from the command line: the results directory and the
/// file with named targets.
pub(super) fn asks_for_nothing_else(order: &Order) -> bool {
    let mut counts = Order { out: order.out.clone(), ..Order::default() };
    counts.target.config.clone_from(&order.target.config);
    *order == counts
}
