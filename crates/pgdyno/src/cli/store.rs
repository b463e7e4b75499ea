//! The central store of runs, and where commands that read runs find them.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use pgdyno_plan::RESULTS;
use pgdyno_study::process::STORE_VARIABLE;

use super::{FormatArgs, OutArgs, examples};

/// The store that a command writes to.
#[derive(Clone, Debug, Args)]
pub(crate) struct StoreArgs {
    /// The database of the team store, as a libpq connection string or URI [default: PGDYNO_STORE]
    #[arg(long, value_name = "DSN")]
    store: Option<String>,
}

impl StoreArgs {
    /// Returns the store's connection string, of the option or the environment.
    pub(crate) fn dsn(&self) -> Option<String> {
        store(self.store.clone())
    }
}

/// The store to which a measurement is pushed at its end.
#[derive(Clone, Debug, Args)]
pub(crate) struct PushArgs {
    /// Also push the results to this team store, a PostgreSQL database [default: PGDYNO_STORE]
    #[arg(help_heading = "Output", long, value_name = "DSN", hide_short_help = true)]
    store: Option<String>,
}

impl PushArgs {
    /// Returns the store's connection string, of the option or the environment.
    pub(crate) fn dsn(&self) -> Option<String> {
        store(self.store.clone())
    }
}

/// Where a command finds runs: a results directory, or a store.
#[derive(Debug, Args)]
pub(crate) struct ResultsArgs {
    /// Where run directories and results.csv are [default: pgdyno-results]
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    out: Option<PathBuf>,
    /// Read the runs from this team store, a PostgreSQL database, instead of a directory [default without --out: PGDYNO_STORE]
    #[arg(long, value_name = "DSN", conflicts_with = "out", hide_short_help = true)]
    store: Option<String>,
}

impl ResultsArgs {
    /// Returns the directory, or the store's connection string: the option, else that of the environment.
    pub(crate) fn place(&self) -> Result<PathBuf, String> {
        match (&self.out, &self.store) {
            (Some(out), _) => Ok(out.clone()),
            (None, Some(dsn)) => Err(dsn.clone()),
            (None, None) => of_environment().map_or_else(|| Ok(RESULTS.into()), Err),
        }
    }
}

/// Returns the connection string of a store: the option's, else that of the environment.
fn store(option: Option<String>) -> Option<String> {
    option.or_else(of_environment)
}

fn of_environment() -> Option<String> {
    std::env::var(STORE_VARIABLE).ok().filter(|dsn| !dsn.is_empty())
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Create the store in a database, or recreate its views
    #[command(after_help = examples::STORE)]
    Init {
        #[command(flatten)]
        store: StoreArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Copy the runs, experiments, searches and frontiers of the results directory that the store lacks
    #[command(after_help = examples::STORE)]
    Push {
        /// Runs, as `pgdyno compare` names them, or experiments, searches or frontiers, with their runs [default: all]
        #[arg(value_name = "NAME")]
        runs: Vec<String>,
        /// Replace runs of the store that have the same name and different files
        #[arg(long)]
        replace: bool,
        #[command(flatten)]
        store: StoreArgs,
        #[command(flatten)]
        out: OutArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Copy runs, experiments, searches or frontiers from the store to the results directory
    #[command(after_help = examples::STORE)]
    Pull {
        /// Runs, as `pgdyno compare` names them, or experiments, searches or frontiers, with their runs
        #[arg(required = true, value_name = "NAME")]
        runs: Vec<String>,
        #[command(flatten)]
        store: StoreArgs,
        #[command(flatten)]
        out: OutArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// List what is in the store: sizes, when it was pushed and by whom
    #[command(after_help = examples::STORE)]
    List {
        #[command(flatten)]
        store: StoreArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Delete old runs, experiments, searches and frontiers from the store
    #[command(after_help = examples::STORE)]
    Prune {
        /// Delete what began longer ago than this: 12h, 90d or 26w
        #[arg(long, value_name = "AGE", value_parser = age)]
        older_than: f64,
        /// Only list what would be deleted
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        store: StoreArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
}

/// Parses an age and returns it in seconds.
fn age(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[number.len()..] {
        "h" => 3600.0,
        "d" => 86_400.0,
        "w" => 7.0 * 86_400.0,
        _ => return Err("write a number with h, d or w: 12h, 90d, 26w".to_owned()),
    };
    match number.parse::<f64>() {
        Ok(n) if n >= 0.0 && n * unit <= 1e11 => Ok(n * unit),
        _ => Err("write a number with h, d or w: 12h, 90d, 26w".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_a_unit() {
        assert_eq!((age("12h"), age("1.5d"), age("2w")), (Ok(43_200.0), Ok(129_600.0), Ok(1_209_600.0)));
        for wrong in ["", "90", "d", "-1d", "NaNd", "infd", "1y", "1e300d", "3 d"] {
            assert!(age(wrong).is_err(), "{wrong}");
        }
    }
}
