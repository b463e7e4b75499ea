//! How data is loaded.

use pgdyno_load::LoadOptions;
use pgdyno_plan::{LoadingOrder, Plan};

use crate::drive::cpus::cpus;

const MAX_DEFAULT_LOADERS: usize = 8;

/// Returns the default number of connections that load, for a driver with so many CPUs.
pub(crate) fn default_loaders(cpus: usize) -> usize {
    cpus.min(MAX_DEFAULT_LOADERS)
}

/// How data is loaded if it has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadSettings {
    pub(crate) loaders: usize,
    /// Whether an interrupted load of any size can resume; a large one always can.
    pub(crate) resumable: bool,
    /// Whether tables are filled unlogged first.
    pub(crate) unlogged: bool,
}

impl LoadSettings {
    /// Returns the defaults.
    pub(crate) fn of(loaders: usize) -> Self {
        Self { loaders, resumable: false, unlogged: false }
    }

    /// Returns the values of an order for a single step.
    pub fn of_step(order: &LoadingOrder) -> Self {
        Self::with_cpus(order, cpus())
    }

    /// Returns the values of an order; the defaults are for a driver with so many CPUs.
    pub(crate) fn with_cpus(order: &LoadingOrder, cpus: usize) -> Self {
        let loaders = order.loaders.map_or_else(|| default_loaders(cpus), usize::from);
        Self { loaders, resumable: order.resumable, unlogged: order.unlogged }
    }

    /// Returns the values of a plan.
    pub(crate) fn planned(plan: &Plan) -> Self {
        Self { loaders: plan.load.loaders, resumable: plan.load.resumable, unlogged: plan.load.unlogged }
    }

    /// Returns the same for a load that replaces data of pgdyno, or all data.
    pub fn options(self, replace: bool, force: bool) -> LoadOptions {
        let Self { loaders, resumable, unlogged } = self;
        LoadOptions { loaders, force, replace, resumable, unlogged }
    }
}
