//! What is done to the server around a run.

use clap::Args;
use pgdyno_plan::CycleOrder;

#[derive(Debug, Args)]
#[command(next_help_heading = "Preparing the server")]
pub(crate) struct CycleArgs {
    /// Restart the server before the data is loaded, so that its caches are cold: pgdyno restarts a private server,
    /// the target's hook another one
    #[arg(long)]
    pub(crate) restart: bool,
    /// Drop the operating system's file cache: of this machine, or by the target's hook
    #[arg(long)]
    pub(crate) drop_caches: bool,
    /// Read tables and indexes into the caches before the warm-up
    #[arg(long)]
    pub(crate) prewarm: bool,
    /// CHECKPOINT before the warm-up
    #[arg(long)]
    pub(crate) checkpoint: bool,
    /// Provision the target before the run, and tear it down after it, by its hooks
    #[arg(long)]
    pub(crate) provision: bool,
}

impl CycleArgs {
    /// Returns the steps on the server.
    pub(super) fn order(self) -> CycleOrder {
        let Self { restart, drop_caches, prewarm, checkpoint, provision } = self;
        CycleOrder { restart, drop_caches, prewarm, checkpoint, provision, done: Vec::new() }
    }
}
