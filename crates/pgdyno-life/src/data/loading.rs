//! How data is loaded.

use pgdyno_load::LoadOptions;
use pgdyno_plan::{LoadingOrder, Plan};

use crate::drive::cpus::cpus;

const MAX_DEFAULT_LOADERS: usize = 8;

/// Connections that load, where nothing is said and the driver has so many CPUs.
pub(crate) fn default_loaders(cpus: usize) -> usize {
    cpus.min(MAX_DEFAULT_LOADERS)
}

/// How data is loaded where it has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadSettings {
    pub(crate) loaders: usize,
    /// Whether a load of any size can be gone on with; a large one always can.
    pub(crate) resumable: bool,
    /// Whether tables are filled unlogged first.
    pub(crate) unlogged: bool,
}

impl LoadSettings {
    /// The usual one.
    pub(crate) fn of(loaders: usize) -> Self {
        Self { loaders, resumable: false, unlogged: false }
    }

    /// As the order of a single step wants it.
    pub fn asked(order: &LoadingOrder) -> Self {
        Self::with_cpus(order, cpus())
    }

    /// As the order wants it; by default for a driver with so many CPUs.
    pub(crate) fn with_cpus(order: &LoadingOrder, cpus: usize) -> Self {
        let loaders = order.loaders.map_or_else(|| default_loaders(cpus), usize::from);
        Self { loaders, resumable: order.resumable, unlogged: order.unlogged }
    }

    /// As a plan has it.
    pub(crate) fn planned(plan: &Plan) -> Self {
        Self { loaders: plan.loaders, resumable: plan.resumable, unlogged: plan.unlogged }
    }

    /// The same for a load that replaces data of ours, or all data.
    pub fn options(self, replace: bool, force: bool) -> LoadOptions {
        let Self { loaders, resumable, unlogged } = self;
        LoadOptions { loaders, force, replace, resumable, unlogged }
    }
}
