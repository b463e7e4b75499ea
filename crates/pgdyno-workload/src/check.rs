//! Questions to the database that show whether its data is still right.

/// What a check costs on a large database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckCost {
    /// Reads small tables or indexes only.
    Cheap,
    /// Reads large tables whole.
    Expensive,
}

/// What a check's query must bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// No row: each row is a violation; its columns name the place and the two values. Asked after the
    /// load and after every run.
    NoRow,
    /// The same rows after a run as right before it, once [`crate::Workload::before_run`] is done. For
    /// what holds of the run's own work while the data may have been brought out of balance before,
    /// by another program or another workload. Not asked after a load.
    UnchangedByRun,
}

/// A condition that the data must meet.
#[derive(Clone, Debug)]
pub struct Check {
    /// The clause where there is one (`3.3.2.1`), else a name.
    pub name: &'static str,
    /// What must hold, in words or as a formula.
    pub condition: &'static str,
    /// The query.
    pub sql: String,
    /// What it must bring.
    pub expect: Expect,
    /// What it costs.
    pub cost: CheckCost,
}
