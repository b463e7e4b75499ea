//! A workload: its name and parameters, and the parts that it is composed of.

use std::sync::Arc;

use crate::{DataSet, Drive, Durability, IsolationLevel, Param, Params, Scenario};

/// The name and parameters of a workload, known without a server.
#[derive(Debug)]
pub struct Meta {
    /// What the user types: `tpcb-like`, `tproc-c`.
    pub id: &'static str,
    /// One line for `pgdyno list workloads`.
    pub summary: &'static str,
    /// Raised whenever the loaded rows change, so that old data is not taken for new.
    pub version: u32,
    /// The name of the data set; workloads with the same one share their tables (`pgbench`, `tproc-c`).
    pub dataset: &'static str,
    /// What the size is called: `scale` or `warehouses`. Empty for a workload without data.
    pub scale_name: &'static str,
    /// A query for the loaded size, for data without a stamp (made by `pgbench -i`, say).
    pub scale_query: Option<&'static str>,
    /// What it can be told.
    pub params: &'static [Param],
}

impl Meta {
    /// Whether it needs a server at all.
    #[must_use]
    pub fn needs_server(&self) -> bool {
        !self.dataset.is_empty()
    }

    /// Whether it has data of its own, which can be loaded, checked and dropped.
    #[must_use]
    pub fn has_data(&self) -> bool {
        !self.scale_name.is_empty()
    }

    /// Whether the size shapes the data. Where it does not, only the run knows it.
    #[must_use]
    pub fn is_size_loaded(&self) -> bool {
        self.params.iter().any(|param| param.name == self.scale_name && param.shapes_data())
    }
}

/// A workload with its parameters bound.
#[derive(Clone)]
pub struct Workload {
    /// Its name and parameters.
    pub meta: &'static Meta,
    /// Every parameter of [`Meta::params`] with its value.
    pub params: Params,
    /// Scale factor or warehouses; 0 for a workload without data.
    pub scale: u64,
    /// What must be loaded, each with a stamp of its own. The first is the one whose size the user names. None: scripts
    /// take whatever is there.
    pub data: Vec<Arc<dyn DataSet>>,
    /// What its clients do.
    pub drive: Arc<dyn Drive>,
    /// Tests of the server's guarantees, where the workload has some.
    pub audit: Option<Arc<dyn Audit>>,
}

impl Workload {
    /// Bytes of tables and indexes once everything is loaded, estimated.
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        self.data.iter().map(|set| set.bytes()).sum()
    }

    /// Whether SQL makes some of its data.
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

/// Tests that the server keeps what it promises to transactions.
pub trait Audit: Send + Sync {
    /// Isolation tests for transactions at this level; they need nobody else at work on the data.
    fn scenarios(&self, level: IsolationLevel) -> Vec<Scenario>;
    /// The durability test.
    fn durability(&self) -> Durability;
}
