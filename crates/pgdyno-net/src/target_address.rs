//! The address of a target, as another machine names it.

use std::str::FromStr;

use crate::ConninfoError;
use crate::conninfo;
use crate::host::{self, Host};

/// Hosts and ports, database and role: what [`ConnectOptions`](crate::ConnectOptions) displays. It comes from elsewhere,
/// so that it has nothing else: no file, no setting, no password.
#[derive(Clone, Debug)]
pub struct TargetAddress {
    pub(crate) hosts: Vec<Host>,
    pub(crate) user: String,
    dbname: String,
}

impl TargetAddress {
    /// Returns the database.
    #[must_use]
    pub fn dbname(&self) -> &str {
        &self.dbname
    }
}

impl FromStr for TargetAddress {
    type Err = ConninfoError;

    fn from_str(text: &str) -> Result<Self, ConninfoError> {
        let values = conninfo::parse(text)?;
        if let Some((key, _)) = values.iter().find(|(key, _)| !["host", "port", "dbname", "user"].contains(key)) {
            return Err(ConninfoError::Unsupported(format!("the address of a target has no {key}")));
        }
        let user = values.non_empty("user").ok_or(ConninfoError::NoUser)?.to_owned();
        let dbname = values.non_empty("dbname").unwrap_or(&user).to_owned();
        Ok(Self { hosts: host::hosts(&values)?, user, dbname })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConnectOptions, Env};

    #[test]
    fn only_the_same_hosts_ports_and_role_are_the_same_address() {
        let env = Env::new([("PGPASSWORD", "secret")], None, Some("os"));
        let own = ConnectOptions::resolve("host=db1,db2 port=1,2 dbname=d user=u", &env).unwrap();
        let at = |text: &str| own.at(&text.parse().unwrap()).map(|options| options.to_string());
        assert_eq!(at("host=DB1 port=1 user=u").as_deref(), Some("host=db1 port=1 dbname=d user=u"));
        assert_eq!(at("host=db2,db1 port=2,1 user=u").as_deref(), Some("host=db2,db1 port=2,1 dbname=d user=u"));
        assert_eq!(at(&own.to_string()), Some(own.to_string()));
        for other in
            ["host=db1 port=2 user=u", "host=db3 port=1 user=u", "host=db1 port=1 user=v", "host=db1,db3 port=1 user=u"]
        {
            assert_eq!(at(other), None, "{other}");
        }
        let socket = ConnectOptions::resolve("", &env).unwrap();
        assert!(socket.at(&socket.to_string().parse().unwrap()).is_some());
    }

    #[test]
    fn an_address_has_no_files_settings_or_passwords() {
        for text in [
            "host=a user=u sslkey=/etc/x",
            "host=a user=u options='-c x=y'",
            "postgresql://u:p@a/d",
            "host=a",
            "service=s user=u",
        ] {
            assert!(text.parse::<TargetAddress>().is_err(), "{text}");
        }
    }

    #[test]
    fn passwords_go_to_other_machines_by_scram_only() {
        use pgdyno_wire::auth::Method;
        let env = Env::new([], None, Some("os"));
        let methods =
            |dsn: &str| ConnectOptions::resolve(dsn, &env).unwrap().with_scram_only_elsewhere().allowed_methods;
        assert_eq!(methods("host=db1"), [Method::None, Method::ScramSha256]);
        assert_eq!(methods("host=127.0.0.1,db1"), [Method::None, Method::ScramSha256]);
        assert_eq!(methods("host=127.0.0.1"), Method::ALL);
        assert_eq!(methods("host=db1 require_auth=md5"), [Method::Md5]);
    }
}
