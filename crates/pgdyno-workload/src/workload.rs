//! A workload: its name and parameters, and its parts.

use std::sync::Arc;

use crate::{DataSet, Drive, Durability, IsolationLevel, Param, Params, Scenario};

/// The file of a workload directory that says which captured load it represents.
pub const FIDELITY_FILE: &str = "fidelity.json";

/// The name and parameters of a workload, known without a server.
#[derive(Debug)]
pub struct Meta {
    /// Name that the user types: `tpcb-like`, `tproc-c`.
    pub id: &'static str,
    /// One line for `pgdyno list workloads`.
    pub summary: &'static str,
    /// Increased whenever the loaded rows change, so that old data is not used as new.
    pub version: u32,
    /// The name of the data set; workloads with the same one share their tables (`pgbench`, `tproc-c`).
    pub dataset: &'static str,
    /// Name of the size: `scale` or `warehouses`. Empty for a workload without data.
    pub scale_name: &'static str,
    /// A query for the loaded size, for data without a stamp, such as that of `pgbench -i`.
    pub scale_query: Option<&'static str>,
    /// Whether the size is a range of keys: a run may use a part of a larger one, and keys may lack their rows.
    pub is_key_range: bool,
    /// Its parameters.
    pub params: &'static [Param],
}

impl Meta {
    /// Returns true if it needs a server.
    #[must_use]
    pub fn needs_server(&self) -> bool {
        !self.dataset.is_empty()
    }

    /// Returns true if it has data of its own, which can be loaded, checked and dropped.
    #[must_use]
    pub fn has_data(&self) -> bool {
        !self.scale_name.is_empty()
    }

    /// Returns true if the size shapes the data; if not, it matters only to the run.
    #[must_use]
    pub fn is_size_loaded(&self) -> bool {
        self.params.iter().any(|param| param.name == self.scale_name && param.shapes_data())
    }
}

/// A workload with values for its parameters.
#[derive(Clone)]
pub struct Workload {
    /// Its name and parameters.
    pub meta: &'static Meta,
    /// Every parameter of [`Meta::params`] with its value.
    pub params: Params,
    /// Scale factor or warehouses; 0 for a workload without data.
    pub scale: u64,
    /// Data sets to load, each with a stamp of its own. The user's size is that of the first one. Empty for scripts
    /// on existing tables.
    pub data: Vec<Arc<dyn DataSet>>,
    /// The work of its clients.
    pub drive: Arc<Drive>,
    /// Tests of the server's guarantees, if the workload has some.
    pub audit: Option<Arc<dyn Audit>>,
}

impl Workload {
    /// Returns the estimated bytes of tables and indexes after the load.
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        self.data.iter().map(|set| set.bytes()).sum()
    }

    /// Returns true if SQL makes some of its data.
    #[must_use]
    pub fn has_sql_data(&self) -> bool {
        self.data.iter().any(|set| set.sql_data().is_some())
    }
}

impl std::fmt::Debug for Workload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { meta, params, scale, .. } = self;
        f.debug_struct("Workload").field("id", &meta.id).field("params", params).field("scale", scale).finish()
    }
}

/// Tests of isolation and durability.
pub trait Audit: Send + Sync {
    /// Returns isolation tests for transactions at this level. Nothing else may work on the data meanwhile.
    fn scenarios(&self, level: IsolationLevel) -> Vec<Scenario>;
    /// Returns the durability test.
    fn durability(&self) -> Durability;
}
