//! The statements and plans of both sides of an experiment.

use serde::{Deserialize, Serialize};

/// The time of a transaction that one of its statements takes on both sides, as the mean of the units.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbStatement {
    /// Its text.
    pub sql: String,
    /// The transaction that it belongs to, if it is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<String>,
    /// Of a committed transaction of A, in nanoseconds: 0 where A does not execute it.
    pub a_ns: f64,
    /// Of B.
    pub b_ns: f64,
    /// Both ends of the 95 % interval of B's time minus A's (Student's, of the differences of the units); absent with fewer than
    /// three units. It holds for each statement by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_ns_interval: Option<[f64; 2]>,
}

impl AbStatement {
    /// Returns how much longer it takes in a transaction of B than in one of A, in nanoseconds.
    #[must_use]
    pub fn change_ns(&self) -> f64 {
        self.b_ns - self.a_ns
    }
}

/// The time of a transaction that a statement takes in a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbStatementTime {
    /// Its place in `statements` of the record, from 0.
    pub statement: usize,
    /// Of a committed transaction of A, in nanoseconds.
    pub a_ns: f64,
    /// Of B.
    pub b_ns: f64,
}

/// A statement or a query whose plan has another shape on B than on A.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbPlanChange {
    /// Its text, or the name of the query: `q18`.
    pub statement: String,
    /// The changes: `Seq Scan on t → Index Scan using t_pkey on t`.
    pub changes: Vec<String>,
}
