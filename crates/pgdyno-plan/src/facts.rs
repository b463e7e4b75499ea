//! What must be known of driver, target and data before an order becomes a plan.

use std::collections::BTreeMap;

use pgdyno_workload::Capabilities;
use serde::{Deserialize, Serialize};

/// What decides where an order leaves something open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Facts {
    /// CPUs that the driver may use, at least 1.
    pub driver_cpus: usize,
    /// What is known of the target without a connection.
    pub target: TargetFacts,
    /// What the server can do; absent until it was asked.
    pub server: Option<Capabilities>,
    /// The data of the workload's kind that is there; absent until it was looked for, and where there is none.
    pub loaded: Option<Loaded>,
}

/// A target as the command line, the file with targets and the environment have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TargetFacts {
    /// Its name in plans and records, without a password.
    pub name: String,
    /// Where it is, without a password, where the name does not say so.
    pub dsn: Option<String>,
    /// Whether it is a null server.
    pub is_null: bool,
    /// Whether server and driver share a machine.
    pub is_local: bool,
    /// Settings that runs on it ask for.
    pub settings: BTreeMap<String, String>,
    /// The database that it leads to.
    pub database: String,
    /// How the server's machine is read where the order does not say, as plans have it.
    pub os: Option<String>,
}

/// Data that is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Loaded {
    /// Its size, in units of the workload's scale.
    pub size: u64,
    /// Whether it is all there; if not, a load goes on from where it is.
    pub complete: bool,
    /// Parameters that shaped it, where pgdyno loaded it.
    pub params: Vec<(String, String)>,
    /// Parameters of a run on it, where they are not the usual ones.
    pub of_run: Vec<(String, String)>,
    /// The program that loaded it, where that is not pgdyno.
    pub maker: Option<String>,
}

impl Facts {
    /// Returns the facts where nothing is known: a driver of one CPU and a private server beside it, which nobody has
    /// asked yet.
    #[must_use]
    pub fn unknown() -> Self {
        Self { driver_cpus: 1, target: TargetFacts::default(), server: None, loaded: None }
    }

    /// Returns what of them is known before anything connects to the server.
    #[must_use]
    pub fn before_contact(&self) -> Self {
        Self { server: None, loaded: None, ..self.clone() }
    }
}

impl Default for Facts {
    fn default() -> Self {
        Self::unknown()
    }
}

impl Default for TargetFacts {
    /// A private server.
    fn default() -> Self {
        Self {
            name: "embedded".to_owned(),
            dsn: None,
            is_null: false,
            is_local: true,
            settings: BTreeMap::new(),
            database: "postgres".to_owned(),
            os: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use pgdyno_workload::{Cluster, Pooling};

    use super::*;

    #[test]
    fn facts_are_read_back_as_they_were_written() {
        let mut facts = Facts::unknown();
        facts.loaded = Some(Loaded { size: 3, params: vec![("seed".to_owned(), "1".to_owned())], ..Loaded::default() });
        facts.server = Some(Capabilities {
            pooling: Some(Pooling::Transaction { prepared: false }),
            cluster: Some(Cluster::default()),
            ..Capabilities::default()
        });
        let written = toml::Value::try_from(&facts).unwrap();
        assert_eq!(written.try_into::<Facts>().unwrap(), facts);
        assert_eq!(toml::from_str::<Facts>("").unwrap(), facts.before_contact());
    }
}
