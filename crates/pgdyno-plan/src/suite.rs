//! Suites: a matrix of runs in one file.
//!
//! [`Suite::read`] reads the file and multiplies its arrays into [`Cell`]s, each with a key that stays the same as long
//! as the file does; [`Suite::turns`] puts their repetitions in order. What a cell's arguments mean is for `pgdyno run`
//! to say: here they are texts.

mod expand;
mod file;
mod options;
mod order;

use crate::mistake::Mistake;

pub use file::{OnFailure, Provision, Sequence};

/// A suite whose file holds no mistake.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Its name: letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// Decides a random order.
    pub seed: u64,
    /// How repetitions and cells follow each other.
    pub order: Sequence,
    /// How often each cell is run, at least once.
    pub repetitions: u32,
    /// Rest between two runs, in seconds.
    pub cool_down_s: f64,
    /// The time for the whole, in seconds.
    pub budget_s: Option<f64>,
    /// A run that takes longer is ended and has failed; in seconds.
    pub run_timeout_s: Option<f64>,
    /// What a failed run means for those after it.
    pub on_failure: OnFailure,
    /// Whether targets are provisioned and torn down by their hooks.
    pub provision: Provision,
    /// What is run, in the order of the file.
    pub cells: Vec<Cell>,
}

/// One combination of the matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What it is called, for people and for resuming: `tpcb-like.clients=4@embedded`.
    pub key: String,
    /// The number of its `[[run]]` in the file, from 1.
    pub entry: usize,
    /// The target's name, connection string, or `embedded`, `null`, `none`.
    pub target: String,
    /// Arguments of `pgdyno run`, without the target.
    pub args: Vec<String>,
}

/// A run of a suite: a cell and which repetition of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The place in [`Suite::cells`].
    pub cell: usize,
    /// Which repetition, from 1.
    pub repetition: u32,
}

impl Suite {
    /// Reads the content of `file`. Paths of scripts, directories and recipes in it are relative to `base`, the directory of
    /// the file. `is_recipe` knows which names take the suite's `fit` and `short`.
    ///
    /// # Errors
    /// With line and caret, or with the `[[run]]` that is to blame.
    pub fn read(file: &str, text: &str, base: &str, is_recipe: &dyn Fn(&str) -> bool) -> Result<Self, Mistake> {
        expand::expand(file, crate::mistake::read(file, text)?, base, is_recipe)
    }

    /// All runs, in their order: the same each time.
    #[must_use]
    pub fn turns(&self) -> Vec<Turn> {
        order::turns(self)
    }
}
