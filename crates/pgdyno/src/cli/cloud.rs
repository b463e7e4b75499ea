//! Labs in a cloud.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use pgdyno_cloud::Money;
use pgdyno_text::parse;

use super::{FormatArgs, OutArgs, examples};

#[derive(Debug, Subcommand)]
pub(crate) enum CloudAction {
    /// List the modules, what each creates, and how far it was verified
    #[command(after_help = examples::CLOUD)]
    List {
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Write a lab's file to edit, for a module or a recipe
    #[command(after_help = examples::CLOUD)]
    Init {
        /// A module or a recipe
        what: String,
        /// The module to take for a recipe
        #[arg(long)]
        module: Option<String>,
        /// The file; `-` is standard output
        #[arg(short, long, value_name = "FILE", default_value = "lab.toml")]
        output: PathBuf,
    },
    /// Show what a lab would create, and the most that it costs
    #[command(after_help = examples::CLOUD)]
    Plan {
        #[command(flatten)]
        file: LabFileArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Create a lab, run on each size, fetch the results, and destroy it
    #[command(after_help = examples::CLOUD_RUN)]
    Run {
        #[command(flatten)]
        file: LabFileArgs,
        /// Create without asking
        #[arg(short, long)]
        yes: bool,
    },
    /// Show the labs: state of each size, cost, time left, what to do next
    #[command(after_help = examples::CLOUD)]
    Status {
        /// The lab [default: all]
        name: Option<String>,
        #[command(flatten)]
        out: OutArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Follow a lab to its end; Ctrl-C does not stop it
    #[command(after_help = examples::CLOUD_GOES_ON)]
    Attach(LabArgs),
    /// Continue a lab where it stopped, after a crash or Ctrl-C
    #[command(after_help = examples::CLOUD)]
    Resume {
        #[command(flatten)]
        lab: LabArgs,
        #[command(flatten)]
        engine: EngineArgs,
    },
    /// Fetch the results that a lab has so far; destroys nothing
    #[command(after_help = examples::CLOUD_GOES_ON)]
    Fetch {
        #[command(flatten)]
        lab: LabArgs,
        #[command(flatten)]
        engine: EngineArgs,
    },
    /// Postpone the time at which a lab expires
    #[command(after_help = examples::CLOUD_GOES_ON)]
    Extend {
        #[command(flatten)]
        lab: LabArgs,
        /// New time to live, from now
        #[arg(long, value_name = "TIME", value_parser = parse::duration)]
        ttl: f64,
        /// Refuse if the lab could cost more than this [default: the limit of its creation]
        #[arg(long, value_name = "AMOUNT", value_parser = Money::parse)]
        max_cost: Option<Money>,
        #[command(flatten)]
        engine: EngineArgs,
    },
    /// Fetch what a lab has measured, destroy it in any state, and ask the cloud what is left
    #[command(after_help = examples::CLOUD)]
    Down {
        /// The lab
        #[arg(required_unless_present = "all")]
        name: Option<String>,
        /// All labs
        #[arg(long, conflicts_with = "name")]
        all: bool,
        /// Destroy results that are not here yet, as when the driver no longer answers
        #[arg(long)]
        discard_results: bool,
        #[command(flatten)]
        out: OutArgs,
        #[command(flatten)]
        engine: EngineArgs,
    },
    /// Ask the cloud which resources of labs are left, by their tag
    #[command(after_help = examples::CLOUD_SWEEP)]
    Sweep(SweepArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LabArgs {
    /// The lab
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) out: OutArgs,
}

#[derive(Debug, Args)]
pub(crate) struct EngineArgs {
    /// OpenTofu or Terraform [default: tofu, else terraform, in PATH]
    #[arg(long, value_name = "PATH")]
    pub(crate) engine: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LabFileArgs {
    /// A lab's file, or a recipe, for which a file is written first
    pub(crate) lab: String,
    /// The module to take for a recipe
    #[arg(long)]
    pub(crate) module: Option<String>,
    /// Highest possible cost to accept, such as 60USD
    ///
    /// The highest possible cost is the price of all sizes for the whole time to live.
    #[arg(long, value_name = "AMOUNT", value_parser = Money::parse)]
    pub(crate) max_cost: Option<Money>,
    /// Time after which everything may be deleted [default: the file's]
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    pub(crate) ttl: Option<f64>,
    /// Address from which drivers accept ssh, such as 198.51.100.7/32
    #[arg(long, value_name = "CIDR", value_parser = client_cidr)]
    pub(crate) client_cidr: Option<String>,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) out: OutArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    /// Labs, or their files [default: all labs]
    pub(crate) labs: Vec<String>,
    /// Delete what has expired, and what closed labs have left
    #[arg(long)]
    pub(crate) delete: bool,
    /// With --delete: also delete what has not expired
    #[arg(long, requires = "delete")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) out: OutArgs,
}

/// Parses one IPv4 address with `/32`: nobody else may reach the drivers.
fn client_cidr(text: &str) -> Result<String, String> {
    match text.strip_suffix("/32").map(str::parse::<std::net::Ipv4Addr>) {
        Some(Ok(_)) => Ok(text.to_owned()),
        _ => Err("it must be one IPv4 address, as 198.51.100.7/32".to_owned()),
    }
}
