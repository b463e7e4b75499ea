//! The facts about driver, target and data that turn an order into a plan.

use std::collections::BTreeMap;

use pgdyno_workload::Capabilities;
use serde::{Deserialize, Serialize};

use crate::TargetName;

/// The facts that decide what an order leaves open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Facts {
    /// CPUs that the driver may use, at least 1.
    pub driver_cpus: usize,
    /// The facts about the target that need no connection.
    pub target: TargetFacts,
    /// The other server of queries as plans name it, without a password.
    pub analytics: Option<String>,
    /// The readers as plans name them, without passwords.
    pub readers: Vec<String>,
    /// What the server can do; absent until the server was asked.
    pub server: Option<Capabilities>,
    /// The data of the workload's kind that is loaded; absent before it is read, and if there is none.
    pub loaded: Option<Loaded>,
}

/// A target as the command line, `pgdyno.toml` and the environment describe it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TargetFacts {
    /// Its name in plans and records, without a password.
    pub name: TargetName,
    /// Its address, without a password, if the name is something else.
    pub dsn: Option<TargetName>,
    /// Whether server and driver share a machine.
    pub is_local: bool,
    /// Settings of all runs on it.
    pub settings: BTreeMap<String, String>,
    /// The database that connections use.
    pub database: String,
    /// How the server's machine is read if the order does not say so, as plans store it.
    pub os: Option<String>,
}

/// Data that is loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Loaded {
    /// Its size, in units of the workload's scale.
    pub size: u64,
    /// Whether it is complete; if not, a load resumes.
    pub complete: bool,
    /// Parameters that shaped it, if pgdyno loaded it.
    pub params: Vec<(String, String)>,
    /// Parameters of a run on it that differ from the defaults.
    pub of_run: Vec<(String, String)>,
    /// The program that loaded it, if that is not pgdyno.
    pub maker: Option<String>,
}

impl Facts {
    /// Returns the facts when nothing is known: a driver with one CPU and a private server on the same machine, without
    /// a connection.
    #[must_use]
    pub fn unknown() -> Self {
        Self {
            driver_cpus: 1,
            target: TargetFacts::default(),
            analytics: None,
            readers: Vec::new(),
            server: None,
            loaded: None,
        }
    }

    /// Returns the facts that are known before anything connects to the server.
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

impl TargetFacts {
    /// Returns true if it is a null server.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.name.kind().is_null()
    }
}

impl Default for TargetFacts {
    /// Returns a private server.
    fn default() -> Self {
        Self {
            name: TargetName::private(),
            dsn: None,
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
