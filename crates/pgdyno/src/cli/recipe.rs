//! How a recipe is followed.

use clap::Args;
use pgdyno_plan::RecipeOrder;

#[derive(Debug, Args)]
#[command(next_help_heading = "Recipe")]
pub(crate) struct RecipeArgs {
    /// The size of a recipe whose numbers are taken as they are, such as 16vcpu; `pgdyno show RECIPE` lists them
    #[arg(long, value_name = "SIZE", conflicts_with = "fit")]
    pub(crate) size: Option<String>,
    /// The variant of a recipe's size
    #[arg(long, value_name = "NAME")]
    pub(crate) variant: Option<String>,
    /// Scale a recipe's numbers to this server's CPUs and memory, by the recipe's rule
    #[arg(long)]
    pub(crate) fit: bool,
    /// Divide a recipe's times [default: by 20]; record and reports say so
    #[arg(long, value_name = "BY", num_args = 0..=1, require_equals = true, default_missing_value = "20", value_parser = super::run::positive)]
    pub(crate) short: Option<f64>,
}

impl RecipeArgs {
    /// Returns the options of the recipe.
    pub(super) fn order(self) -> RecipeOrder {
        let Self { size, variant, fit, short } = self;
        RecipeOrder { size, variant, fit, short }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// A recipe, which `pgdyno list recipes` names, or your own recipe file
    pub(crate) recipe: String,
    #[command(flatten)]
    pub(crate) format: super::FormatArgs,
}
