//! Runs as a table for other tools, and which runs are meant.

use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;
use pgdyno_results::Status;
use pgdyno_results::table::Selection;

use super::ResultsArgs;
use super::target::setting;

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Output format
    #[arg(long, default_value = "csv", value_parser = ["csv", "json", "parquet"])]
    pub(crate) format: String,
    /// The file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) select: SelectArgs,
}

/// Which runs of the results directory are meant.
#[derive(Debug, Args)]
pub(crate) struct SelectArgs {
    /// Only runs of this workload
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// Only runs of this recipe; `alloydb/` means all recipes of this vendor
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    recipe: Option<String>,
    /// Only runs of this suite
    #[arg(long, value_name = "NAME")]
    pub(crate) suite: Option<String>,
    /// Only runs on this target: its name in pgdyno.toml, or as `pgdyno list runs` shows it
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// Only runs with this status: complete, interrupted, invalid or failed
    #[arg(long, value_name = "WORD", value_parser = status, hide_short_help = true)]
    status: Option<Status>,
    /// Only runs that began then or later: 2026-01-31, or 2026-01-31T12:00:00Z
    #[arg(long, value_name = "DATE", value_parser = Selection::since, hide_short_help = true)]
    since: Option<Timestamp>,
    /// Only runs with this label of the run or of its target; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting, hide_short_help = true)]
    label: Vec<(String, String)>,
    /// Only the last N of the selected runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) last: Option<u64>,
    #[command(flatten)]
    pub(crate) results: ResultsArgs,
}

impl SelectArgs {
    /// Returns the selection of runs.
    pub(crate) fn selection(&self) -> Selection {
        Selection {
            workload: self.workload.clone(),
            recipe: self.recipe.clone(),
            suite: self.suite.clone(),
            target: self.target.clone(),
            status: self.status,
            since: self.since,
            labels: self.label.clone(),
        }
    }
}

fn status(word: &str) -> Result<Status, String> {
    let all = [Status::Complete, Status::Interrupted, Status::Invalid, Status::Failed];
    all.into_iter()
        .find(|status| status.name() == word)
        .ok_or_else(|| format!("a run is {}", all.map(Status::name).join(", ")))
}
