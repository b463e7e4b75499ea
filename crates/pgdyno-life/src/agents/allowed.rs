//! What an agent may do for a run: the servers that it drives, and whether it runs commands.
//!
//! Everyone who can write into the meeting can give tasks. An agent connects only to servers that its own user has named, in
//! that user's words: a task's address selects one of them, and adds nothing to it.

use pgdyno_net::{ConnectOptions, Env, TargetAddress};
use pgdyno_plan::{TargetName, TargetOrder};
use pgdyno_workload::Drive;

use super::AgentOrder;
use crate::exit_code::Code;
use crate::failure::{CommandError, Result};
use crate::target::{Access, Target};

/// What an agent's user allows.
pub(super) struct Allowed {
    servers: Servers,
    commands: bool,
}

enum Servers {
    /// These, at the addresses that runs name, too.
    Named(Vec<ConnectOptions>),
    /// This one, whatever address runs name: the machine reaches the server in another way.
    Only(Box<ConnectOptions>),
}

/// The target of a task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// Its address; `None` without a server.
    pub(super) target: Option<&'a TargetName>,
    /// The database, if it is not the address's own.
    pub(super) database: Option<&'a str>,
}

impl Allowed {
    /// Reads what the user has allowed when the agent was started.
    ///
    /// # Errors
    /// When a target cannot be read or is none that agents can drive, or when there is none.
    pub(super) fn of(order: &AgentOrder) -> Result<Self> {
        let given = |target: &str| {
            let target = Some(target.into());
            Target::resolve(&TargetOrder { target, config: order.config.clone(), ..TargetOrder::default() })
        };
        let commands = order.allow_shell;
        if let Some(target) = &order.target {
            let target = given(target)?;
            target.admit_agents()?;
            return Ok(match target.given() {
                Some(options) => {
                    Self { servers: Servers::Only(Box::new(options.with_scram_only_elsewhere())), commands }
                }
                None => Self { servers: Servers::Named(Vec::new()), commands },
            });
        }
        let mut named = Vec::new();
        for target in &order.allow_targets {
            let target = given(target)?;
            target.admit_agents()?;
            named.extend(target.given().map(ConnectOptions::with_scram_only_elsewhere));
        }
        if order.allow_targets.is_empty() {
            if !ConnectOptions::names_a_server(&Env::from_process()) {
                let error = "no server is named that this agent may drive";
                return Err(CommandError::new(Code::Start, error).hint(
                    "give --allow-target \"host=… dbname=… user=…\" for each, as runs name them in --target, or a name of \
                     pgdyno.toml; --allow-target null allows null servers only",
                ));
            }
            named.extend(given("")?.given().map(ConnectOptions::with_scram_only_elsewhere));
        }
        Ok(Self { servers: Servers::Named(named), commands })
    }

    /// Returns the servers in words.
    pub(super) fn describe(&self) -> String {
        match &self.servers {
            Servers::Named(named) if named.is_empty() => "null servers only".to_owned(),
            Servers::Named(named) => named.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
            Servers::Only(options) => options.to_string(),
        }
    }

    /// Returns the target of a task, in the user's own words.
    ///
    /// # Errors
    /// When the user has not allowed it. Nothing has been connected then.
    pub(super) fn target(&self, asked: Asked<'_>) -> std::result::Result<Target, String> {
        // A null server is this agent's own.
        let Some(target) = asked.target else { return Ok(Target::none()) };
        if target.kind().is_none() {
            return Ok(Target::none());
        }
        if target.kind().is_null() {
            return Ok(Target::of(Access::Null));
        }
        let options = self.given(target.as_str(), asked.database)?;
        Ok(Target::of(Access::Given(Box::new(options))))
    }

    /// Returns how to connect to the server that a task names, in a database other than the address's own if there is one.
    fn given(&self, named: &str, database: Option<&str>) -> std::result::Result<ConnectOptions, String> {
        match (&self.servers, database) {
            (Servers::Named(allowed), _) => self.find(allowed, named, database),
            (Servers::Only(options), Some(database)) => self.in_database(options, database),
            (Servers::Only(options), None) => Ok((**options).clone()),
        }
    }

    /// Finds the server that a task names among those that are allowed.
    fn find(
        &self,
        allowed: &[ConnectOptions],
        named: &str,
        database: Option<&str>,
    ) -> std::result::Result<ConnectOptions, String> {
        let address: TargetAddress =
            named.parse().map_err(|error| format!("the run names a target that cannot be read: {error}"))?;
        let dbname = address.dbname();
        let found = allowed.iter().filter_map(|options| options.at(&address)).find(|own| own.dbname() == dbname);
        match found {
            Some(own) => self.in_database(&own, database.unwrap_or(dbname)),
            None => Err(self.refusal(named)),
        }
    }

    /// Returns how to connect to a database of an allowed server: the one that is allowed, or a copy that a run has made.
    fn in_database(&self, own: &ConnectOptions, database: &str) -> std::result::Result<ConnectOptions, String> {
        if own.dbname() == database || pgdyno_load::is_copy_name(database) {
            return Ok(own.with_database(database));
        }
        Err(self.refusal(&own.with_database(database).to_string()))
    }

    fn refusal(&self, named: &str) -> String {
        format!("it may not drive {named}, only {} (start it with --allow-target \"{named}\")", self.describe())
    }

    /// Refuses a workload whose scripts run commands on this machine, unless the user allows it.
    ///
    /// # Errors
    /// When it is not allowed.
    pub(super) fn admit_commands(&self, drive: &Drive) -> std::result::Result<(), String> {
        if self.commands || !drive.runs_commands() {
            return Ok(());
        }
        Err("its scripts have \\shell or \\setshell, which run commands on this machine (start it with --allow-shell)"
            .to_owned())
    }
}

/// Returns the options of `pgdyno agent` that allow what a run needs, for agents that the run starts itself.
pub(super) fn allowing(target: &Target, drive: &Drive) -> Vec<String> {
    let named = match target.given() {
        Some(options) => {
            let methods = options.require_auth().map_or_else(String::new, |methods| format!(" require_auth={methods}"));
            format!("{options}{methods}")
        }
        None => TargetName::null().to_string(),
    };
    let shell = drive.runs_commands().then(|| "--allow-shell".to_owned());
    ["--allow-target".to_owned(), named].into_iter().chain(shell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(targets: &[&str], target: Option<&str>) -> Allowed {
        let order = AgentOrder {
            allow_targets: targets.iter().map(|target| (*target).to_owned()).collect(),
            target: target.map(str::to_owned),
            ..AgentOrder::default()
        };
        Allowed::of(&order).unwrap_or_else(|failure| panic!("{}", failure.text()))
    }

    fn reached(allowed: &Allowed, target: &str, database: Option<&str>) -> std::result::Result<String, String> {
        let asked = Asked { target: Some(&target.into()), database };
        allowed.target(asked).map(|target| target.name().to_string())
    }

    #[test]
    fn a_task_selects_one_of_the_allowed_servers_and_adds_nothing() {
        let own = allowed(&["host=db1 dbname=bench user=app sslmode=require", "host=db2 dbname=b user=u"], None);
        let db1 = "host=db1 port=5432 dbname=bench user=app";
        assert_eq!(reached(&own, db1, None).as_deref(), Ok(db1));
        assert_eq!(reached(&own, db1, Some("bench")).as_deref(), Ok(db1));
        assert_eq!(reached(&own, "null", None).as_deref(), Ok("null"));
        for other in [
            "host=db3 port=5432 dbname=bench user=app",
            "host=db1 port=5433 dbname=bench user=app",
            "host=db1 port=5432 dbname=b user=app",
            "host=db1 port=5432 dbname=bench user=u",
            "host=db1 port=5432 dbname=bench user=app passfile=/etc/passwd",
            "host=db1 user=app",
            "postgresql://app:x@db1/bench",
            "embedded",
            "embedded:/tmp/bin",
            "bench",
            "",
        ] {
            let refused = reached(&own, other, None).unwrap_err();
            assert!(refused.contains("may not drive") || refused.contains("cannot be read"), "{other}: {refused}");
        }
        let refused = reached(&own, db1, Some("postgres")).unwrap_err();
        assert!(refused.contains("--allow-target \"host=db1 port=5432 dbname=postgres user=app\""), "{refused}");
    }

    #[test]
    fn a_target_of_its_own_is_the_only_one() {
        let own = allowed(&[], Some("host=inside dbname=bench user=app"));
        let inside = "host=inside port=5432 dbname=bench user=app";
        assert_eq!(reached(&own, "host=outside port=1 dbname=bench user=x", Some("bench")).as_deref(), Ok(inside));
        assert!(reached(&own, "host=outside port=1 dbname=other user=x", Some("other")).is_err());
    }

    #[test]
    fn private_servers_are_not_for_agents() {
        let order = AgentOrder { allow_targets: vec!["embedded".to_owned()], ..AgentOrder::default() };
        assert!(Allowed::of(&order).err().is_some_and(|failure| failure.text().contains("private server")));
    }
}
