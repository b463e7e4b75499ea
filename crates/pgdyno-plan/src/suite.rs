//! Suites: a matrix of runs in one file.
//!
//! [`Suite::read`] parses the file and multiplies its arrays into [`Cell`]s, each with a key that stays the same as
//! long as the file does; [`Suite::turns`] orders their repetitions. Options are read by their table
//! ([`options`](crate::options)).

mod expand;
mod file;
mod keys;
mod options;
mod order;
mod what;
mod word;

use pgdyno_workload::OptionTable;

use crate::mistake::Mistake;
use crate::{Order, TargetName};

pub use file::{OnFailure, Provision, Sequence};

/// A suite whose file has no errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Its name: letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// The seed of a random order.
    pub seed: u64,
    /// The order of repetitions and cells.
    pub order: Sequence,
    /// Number of runs of each cell, at least 1.
    pub repetitions: u32,
    /// Rest between two runs, in seconds.
    pub cool_down_s: f64,
    /// Time limit of the suite, in seconds.
    pub budget_s: Option<f64>,
    /// Time limit of a run, in seconds. A run that exceeds it is ended and has failed.
    pub run_timeout_s: Option<f64>,
    /// What to do after a failed run.
    pub on_failure: OnFailure,
    /// Whether targets are provisioned and removed by their hooks.
    pub provision: Provision,
    /// The cells, in the order of the file.
    pub cells: Vec<Cell>,
}

/// One combination of the matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Its name, for people and for resuming: `tpcb-like.clients=4@embedded`.
    pub key: String,
    /// The number of its `[[run]]` in the file, from 1.
    pub entry: usize,
    /// The target's name, connection string, or `embedded`, `null`, `none`.
    pub target: TargetName,
    /// The order of its run, without the target and without what [`args`](Self::args) says beyond options.
    pub order: Order,
    /// The arguments of `pgdyno run` that give the same order, without the target.
    pub args: Vec<String>,
    /// Whether the file has arguments that are no options with keys: then only the command line can read all of `args`.
    pub has_own_args: bool,
}

/// A run of a suite: a cell and the number of its repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Index in [`Suite::cells`].
    pub cell: usize,
    /// Number of the repetition, from 1.
    pub repetition: u32,
}

impl Suite {
    /// Parses the content of `file`. `W` has the options of workloads. Paths of scripts, directories and recipes in it are
    /// relative to `base`, the directory of the file. `is_recipe` returns true for names to which the suite's `fit` and `short` apply.
    ///
    /// # Errors
    /// With line and caret, or with the number of the `[[run]]`.
    pub fn read<W: OptionTable>(
        file: &str,
        text: &str,
        base: &str,
        is_recipe: &dyn Fn(&str) -> bool,
    ) -> Result<Self, Mistake> {
        expand::expand::<W>(file, crate::mistake::read(file, text)?, base, is_recipe)
    }

    /// Returns all runs in their order: the same each time.
    #[must_use]
    pub fn turns(&self) -> Vec<Turn> {
        order::turns(self)
    }
}

#[cfg(test)]
mod no_options {
    /// No workload has options.
    pub(super) enum NoOptions {}

    impl pgdyno_workload::OptionTable for NoOptions {
        const GROUPS: &'static [pgdyno_workload::WorkloadOptionGroup] = &[];
    }
}
