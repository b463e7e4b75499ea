//! Resolved options of a connection: everything that is needed to open it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use pgdyno_wire::auth::{BindingPolicy, Method};

use crate::address::Address;
use crate::conninfo::{self, PassFile, Values};
use crate::host::{self, Host, HostPlace, Passwords};
use crate::keepalive::Keepalive;
use crate::tls::TlsSettings;
use crate::{ConninfoError, Env, Interrupter, Peer, Secret, TargetAddress, TargetSessionAttrs};

/// The default `application_name`.
const APPLICATION_NAME: &str = "pgdyno";

/// Time limit of answers that take a server milliseconds, unless `connect_timeout` is longer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Reports what statements wait for that take long.
pub(crate) trait LongWaits: fmt::Debug + Send + Sync {
    /// Looks at the statement that session `process_id` runs, with `options` for a second session on the same server, and
    /// reports what it waits for.
    fn look(&self, options: &ConnectOptions, process_id: i32, statement: &str, after: Duration, is_first: bool);
}

/// Options of a connection, by libpq's rules. `Debug` and `Display` hold no password.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    pub(crate) hosts: Vec<Host>,
    pub(crate) load_balance: bool,
    pub(crate) target: TargetSessionAttrs,
    pub(crate) user: String,
    dbname: String,
    passwords: Passwords,
    /// Whether the client encoding was set.
    encoding_given: bool,
    /// Run-time parameters of the startup message, without `user` and `database`.
    pub(crate) parameters: Vec<(&'static str, String)>,
    pub(crate) connect_timeout: Option<Duration>,
    answer_timeout: Option<Duration>,
    pub(crate) keepalive: Keepalive,
    pub(crate) channel_binding: BindingPolicy,
    pub(crate) allowed_methods: Vec<Method>,
    /// `require_auth`, if it was given.
    require_auth: Option<String>,
    pub(crate) tls: Arc<TlsSettings>,
    /// Ends waits for the server.
    pub(crate) interrupter: Option<Interrupter>,
    /// Reports long waits for the server.
    pub(crate) lookout: Option<Arc<dyn LongWaits>>,
    warnings: Vec<String>,
}

impl ConnectOptions {
    /// Reads a libpq URI or `key=value` string, and merges the service file, the `PG*` variables and the
    /// password file of `env`, with libpq's precedence. An empty string leaves all to `env`.
    ///
    /// # Errors
    /// When the string or a file that belongs to it cannot be parsed. No message holds a password.
    pub fn resolve(dsn: &str, env: &Env) -> Result<Self, ConninfoError> {
        Self::resolve_with(dsn, &[], env)
    }

    /// Reads a string and parameters that are given apart from it, as options of a command line: they take precedence
    /// over everything but the string. Skips empty ones.
    ///
    /// # Errors
    /// See [`ConnectOptions::resolve`].
    pub fn resolve_with(dsn: &str, apart: &[(&'static str, &str)], env: &Env) -> Result<Self, ConninfoError> {
        let values = conninfo::merge(dsn, apart, env)?;
        let user = values.non_empty("user").or(env.user()).ok_or(ConninfoError::NoUser)?.to_owned();
        let (file, warning) = passfile(&values, env);
        refuse_what_cannot_be_honoured(&values)?;
        let number = |key| number::<i64>(&values, key);
        let positive = |n: i64| u64::try_from(n).ok().filter(|n| *n > 0);
        let seconds = |key| Ok(number(key)?.and_then(positive).map(Duration::from_secs));
        Ok(Self {
            hosts: host::hosts(&values)?,
            load_balance: choice(&values, "load_balance_hosts", &["disable", "random"])? == 1,
            target: match values.non_empty("target_session_attrs") {
                Some(text) => TargetSessionAttrs::parse(text)?,
                None => TargetSessionAttrs::Any,
            },
            dbname: values.non_empty("dbname").unwrap_or(&user).to_owned(),
            user,
            passwords: Passwords {
                given: values.non_empty("password").map(|p| Secret::new(p.to_owned())),
                file: Arc::new(file),
            },
            encoding_given: values.non_empty("client_encoding").is_some(),
            parameters: parameters(&values, env),
            connect_timeout: seconds("connect_timeout")?,
            answer_timeout: None,
            keepalive: Keepalive {
                enabled: number("keepalives")?.unwrap_or(1) != 0,
                idle: seconds("keepalives_idle")?,
                interval: seconds("keepalives_interval")?,
                count: number("keepalives_count")?.and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0),
                user_timeout_ms: number("tcp_user_timeout")?.and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0),
            },
            channel_binding: match choice(&values, "channel_binding", &["prefer", "disable", "require"])? {
                0 => BindingPolicy::Prefer,
                1 => BindingPolicy::Disable,
                _ => BindingPolicy::Require,
            },
            allowed_methods: allowed_methods(&values)?,
            require_auth: values.non_empty("require_auth").map(str::to_owned),
            tls: Arc::new(TlsSettings::resolve(&values, env)?),
            interrupter: None,
            lookout: None,
            warnings: warning.into_iter().collect(),
        })
    }

    /// Returns options for a socket in `directory`, without a password: for the private server.
    #[must_use]
    pub fn for_socket(directory: &Path, port: u16, user: &str, dbname: &str) -> Self {
        Self {
            hosts: vec![Host { place: HostPlace::Socket(directory.to_string_lossy().into_owned()), port }],
            load_balance: false,
            target: TargetSessionAttrs::Any,
            user: user.to_owned(),
            dbname: dbname.to_owned(),
            passwords: Passwords::default(),
            encoding_given: false,
            parameters: parameters(&Values::default(), &Env::default()),
            connect_timeout: None,
            answer_timeout: None,
            keepalive: Keepalive { enabled: true, idle: None, interval: None, count: None, user_timeout_ms: None },
            channel_binding: BindingPolicy::Prefer,
            allowed_methods: Method::ALL.to_vec(),
            require_auth: None,
            tls: Arc::new(TlsSettings::disabled()),
            interrupter: None,
            lookout: None,
            warnings: Vec::new(),
        }
    }

    /// Returns true if `env` names a server: any of `PGHOST`, `PGHOSTADDR`, `PGPORT`, `PGSERVICE`, `PGDATABASE` and
    /// `PGUSER` is set.
    #[must_use]
    pub fn names_a_server(env: &Env) -> bool {
        ["PGHOST", "PGHOSTADDR", "PGPORT", "PGSERVICE", "PGDATABASE", "PGUSER"]
            .iter()
            .any(|name| env.var(name).is_some_and(|value| !value.is_empty()))
    }

    /// Replaces the database.
    #[must_use]
    pub fn with_database(&self, name: &str) -> Self {
        Self { dbname: name.to_owned(), ..self.clone() }
    }

    /// Replaces the server: keeps user, database, password and TLS settings, and looks up this host in the password
    /// file. The host is given up after `timeout`.
    #[must_use]
    pub fn with_server(&self, host: &str, port: u16, timeout: Duration) -> Self {
        let place = HostPlace::Tcp { name: host.to_owned(), addr: None };
        Self { hosts: vec![Host { place, port }], connect_timeout: Some(timeout), ..self.clone() }
    }

    /// Returns these options for the hosts that `address` names; `None` if it names another host, port or role. Everything
    /// else, also the database, stays as it is.
    #[must_use]
    pub fn at(&self, address: &TargetAddress) -> Option<Self> {
        let is_same =
            |host: &Host, named: &Host| host.port == named.port && host.name().eq_ignore_ascii_case(named.name());
        let own = |named: &Host| self.hosts.iter().find(|host| is_same(host, named)).cloned();
        let hosts = address.hosts.iter().map(own).collect::<Option<Vec<_>>>()?;
        (self.user == address.user).then(|| Self { hosts, ..self.clone() })
    }

    /// Lets no other machine have the password: without `require_auth`, only SCRAM proves that the client knows it, and
    /// a server that asks for it in clear text or as an MD5 hash is refused.
    #[must_use]
    pub fn with_scram_only_elsewhere(&self) -> Self {
        if self.require_auth.is_some() || self.is_local() {
            return self.clone();
        }
        Self { allowed_methods: vec![Method::None, Method::ScramSha256], ..self.clone() }
    }

    /// Returns `require_auth`, if it was given.
    #[must_use]
    pub fn require_auth(&self) -> Option<&str> {
        self.require_auth.as_deref()
    }

    /// Sets the password for all hosts.
    #[must_use]
    pub fn with_password(&self, password: Secret) -> Self {
        let passwords = Passwords { given: Some(password), file: Arc::clone(&self.passwords.file) };
        Self { passwords, ..self.clone() }
    }

    /// Uses the server's encoding, unless one was set: libpq's default.
    #[must_use]
    pub fn with_servers_encoding(mut self) -> Self {
        if !self.encoding_given {
            self.parameters.retain(|(key, _)| *key != "client_encoding");
        }
        self
    }

    /// Returns the `application_name` that connections have.
    #[must_use]
    pub fn application_name(&self) -> Option<&str> {
        self.parameters.iter().find(|(key, _)| *key == "application_name").map(|(_, name)| name.as_str())
    }

    /// Sets the name in `pg_stat_activity`.
    #[must_use]
    pub fn with_application_name(&self, name: &str) -> Self {
        let mut this = self.clone();
        this.parameters.retain(|(key, _)| *key != "application_name");
        this.parameters.push(("application_name", name.to_owned()));
        this
    }

    /// Adds settings to every session. They end with the session. A server refuses sessions with settings that it
    /// does not know, or that the role may not set.
    #[must_use]
    pub fn with_settings<'a>(&self, settings: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut this = self.clone();
        // In `options` a space ends an argument unless a backslash precedes it.
        let special = |c: char| c == '\\' || c.is_ascii_whitespace();
        let escaped = |value: &str| -> String {
            value.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
        };
        for (name, value) in settings {
            let option = format!("-c {name}={}", escaped(value));
            match this.parameters.iter_mut().find(|(key, _)| *key == "options") {
                Some((_, options)) => *options = format!("{options} {option}"),
                None => this.parameters.push(("options", option)),
            }
        }
        this
    }

    /// Returns the settings that connections begin with, as `options` has them; `None` without any.
    #[must_use]
    pub fn session_options(&self) -> Option<&str> {
        self.parameters.iter().find(|(key, _)| *key == "options").map(|(_, options)| options.as_str())
    }

    /// Sets the settings that connections begin with, in the form of `options`.
    #[must_use]
    pub fn with_session_options(&self, options: &str) -> Self {
        let mut this = self.clone();
        this.parameters.retain(|(key, _)| *key != "options");
        this.parameters.push(("options", options.to_owned()));
        this
    }

    /// Gives a host up after `timeout`, unless the connection string sets a timeout.
    #[must_use]
    pub fn with_default_connect_timeout(&self, timeout: Duration) -> Self {
        Self { connect_timeout: self.connect_timeout.or(Some(timeout)), ..self.clone() }
    }

    /// Gives a host up after `timeout` at the latest, whatever the connection string sets.
    #[must_use]
    pub fn with_connect_timeout_at_most(&self, timeout: Duration) -> Self {
        let at_most = self.connect_timeout.map_or(timeout, |given| given.min(timeout));
        Self { connect_timeout: Some(at_most), ..self.clone() }
    }

    /// Gives a server up that does not answer a short query within `timeout`.
    #[must_use]
    pub fn with_answer_timeout(&self, timeout: Duration) -> Self {
        Self { answer_timeout: Some(timeout), ..self.clone() }
    }

    /// Returns the time limit of short queries ([`crate::Admin::promptly`]): 60 s, or `connect_timeout` if that is
    /// longer.
    #[must_use]
    pub fn answer_timeout(&self) -> Duration {
        self.answer_timeout.unwrap_or_else(|| ANSWER_TIMEOUT.max(self.connect_timeout.unwrap_or_default()))
    }

    /// Lets `interrupter` end all waits for the server: while a connection is opened, and on it until it is taken
    /// apart.
    #[must_use]
    pub fn interrupted_by(&self, interrupter: &Interrupter) -> Self {
        Self { interrupter: Some(interrupter.clone()), ..self.clone() }
    }

    /// Removes what reports long waits.
    #[must_use]
    pub fn unreported(&self) -> Self {
        Self { lookout: None, ..self.clone() }
    }

    /// Returns options for a second session on the server of a connection, without reports of its own.
    pub(crate) fn beside(&self, peer: &Peer, address: &Address) -> Self {
        let place = match address {
            Address::Unix(_) => HostPlace::Socket(peer.host().to_owned()),
            Address::Tcp(address) => HostPlace::Tcp { name: peer.host().to_owned(), addr: Some(address.ip()) },
        };
        let hosts = vec![Host { place, port: peer.port() }];
        Self { hosts, load_balance: false, target: TargetSessionAttrs::Any, lookout: None, ..self.clone() }
    }

    /// Removes the interrupter.
    #[must_use]
    pub fn uninterrupted(&self) -> Self {
        Self { interrupter: None, ..self.clone() }
    }

    /// Returns true if its interrupter has interrupted.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupter.as_ref().is_some_and(Interrupter::is_interrupted)
    }

    /// Returns the role.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.user
    }

    /// Returns the database.
    #[must_use]
    pub fn dbname(&self) -> &str {
        &self.dbname
    }

    /// Returns true if all hosts are sockets or loopback addresses: client and server share a machine.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.hosts.iter().all(|host| match &host.place {
            HostPlace::DefaultSocket | HostPlace::Socket(_) => true,
            HostPlace::Tcp { addr: Some(ip), .. } => ip.is_loopback(),
            HostPlace::Tcp { name, addr: None } => {
                name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
            }
        })
    }

    /// Returns true if a host is reached by TCP.
    #[must_use]
    pub fn uses_tcp(&self) -> bool {
        self.hosts.iter().any(|host| matches!(host.place, HostPlace::Tcp { .. }))
    }

    /// Returns the variables that libpq's programs read: `PGHOST`, `PGPORT`, `PGDATABASE` and `PGUSER`. Never the
    /// password.
    #[must_use]
    pub fn environment(&self) -> [(&'static str, String); 4] {
        let hosts: Vec<_> = self.hosts.iter().map(Host::name).collect();
        let ports: Vec<_> = self.hosts.iter().map(|h| h.port.to_string()).collect();
        let same = ports.iter().all(|port| *port == ports[0]);
        [
            ("PGHOST", hosts.join(",")),
            ("PGPORT", if same { ports[0].clone() } else { ports.join(",") }),
            ("PGDATABASE", self.dbname.clone()),
            ("PGUSER", self.user.clone()),
        ]
    }

    /// Returns warnings for the user, such as an ignored password file.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the password for `host`: the given one, else that of the password file.
    pub(crate) fn password(&self, host: &Host) -> Option<&Secret> {
        self.passwords
            .given
            .as_ref()
            .or_else(|| self.passwords.file.password(host.passfile_name(), host.port, &self.dbname, &self.user))
    }
}

/// `host=… port=… dbname=… user=…`, and `hostaddr=…` where it was given: what identifies the target, never the password. Values
/// are in quotes where libpq requires them.
impl std::fmt::Display for ConnectOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [(_, hosts), (_, ports), (_, dbname), (_, user)] = self.environment();
        write!(f, "{} ", conninfo::pair("host", &hosts))?;
        let addresses: Vec<_> = self.hosts.iter().map(Host::given_address).collect();
        if addresses.iter().any(|address| !address.is_empty()) {
            write!(f, "{} ", conninfo::pair("hostaddr", &addresses.join(",")))?;
        }
        let pairs =
            [("port", &ports), ("dbname", &dbname), ("user", &user)].map(|(key, value)| conninfo::pair(key, value));
        f.write_str(&pairs.join(" "))
    }
}

fn passfile(values: &Values, env: &Env) -> (PassFile, Option<String>) {
    if values.non_empty("password").is_some() {
        return (PassFile::default(), None);
    }
    let path = values.non_empty("passfile").map(PathBuf::from).or_else(|| env.home().map(|home| home.join(".pgpass")));
    path.map_or_else(Default::default, |path| PassFile::read(&path))
}

/// Returns the parameters of the startup message. The encoding is UTF-8 unless another one was set.
fn parameters(values: &Values, env: &Env) -> Vec<(&'static str, String)> {
    let encoding = values.non_empty("client_encoding").filter(|encoding| *encoding != "auto").unwrap_or("UTF8");
    let application = values
        .non_empty("application_name")
        .or(values.non_empty("fallback_application_name"))
        .unwrap_or(APPLICATION_NAME);
    let mut parameters = vec![("client_encoding", encoding.to_owned()), ("application_name", application.to_owned())];
    for key in ["options", "replication"] {
        parameters.extend(values.non_empty(key).map(|v| (key, v.to_owned())));
    }
    for (name, value) in conninfo::startup_variables(env) {
        parameters.push((name, value.to_owned()));
    }
    parameters
}

/// Parameters of libpq that pgdyno does not support; ignoring them would weaken the user's security.
fn refuse_what_cannot_be_honoured(values: &Values) -> Result<(), ConninfoError> {
    let refuse = |what: &str| Err(ConninfoError::Unsupported(what.to_owned()));
    match values.non_empty("gssencmode") {
        None | Some("disable" | "prefer") => {}
        Some("require") => {
            return refuse(
                "gssencmode=require is not supported: pgdyno does not speak GSSAPI; use TLS \
                 (sslmode=require or stronger) instead",
            );
        }
        Some(other) => {
            return Err(ConninfoError::Invalid {
                name: "gssencmode",
                value: other.to_owned(),
                expected: "disable or prefer".into(),
            });
        }
    }
    if values.non_empty("requirepeer").is_some() {
        return refuse("requirepeer is not supported; leave it out");
    }
    for key in ["scram_client_key", "scram_server_key"] {
        if values.non_empty(key).is_some() {
            return refuse("scram_client_key and scram_server_key are not supported; give a password");
        }
    }
    if let Some(version @ ("3.2" | "latest")) = values.non_empty("min_protocol_version") {
        return Err(ConninfoError::Unsupported(format!(
            "min_protocol_version={version} is not supported: pgdyno speaks protocol 3.0"
        )));
    }
    Ok(())
}

/// Parses `require_auth`: a list of methods, or of methods excluded by a `!`.
fn allowed_methods(values: &Values) -> Result<Vec<Method>, ConninfoError> {
    let Some(text) = values.non_empty("require_auth") else {
        return Ok(Method::ALL.to_vec());
    };
    let words: Vec<_> = text.split(',').map(str::trim).collect();
    let excluding = words.iter().all(|word| word.starts_with('!'));
    let mut listed = Vec::new();
    for word in &words {
        let name = if excluding { &word[1..] } else { word };
        // Methods of libpq that pgdyno never uses may be listed without effect.
        if ["gss", "sspi", "oauth"].contains(&name) {
            continue;
        }
        let method = Method::ALL.into_iter().find(|m| m.name() == name);
        listed.push(method.ok_or_else(|| {
            ConninfoError::Invalid {
                name: "require_auth",
                value: text.to_owned(),
                expected: "a list of password, md5, scram-sha-256, none, either all with a leading '!' \
                       or all without"
                    .into(),
            }
        })?);
    }
    Ok(Method::ALL.into_iter().filter(|method| listed.contains(method) != excluding).collect())
}

/// Returns a number; `None` if the parameter is absent or empty.
pub(crate) fn number<T: FromStr>(values: &Values, key: &'static str) -> Result<Option<T>, ConninfoError> {
    match values.non_empty(key) {
        None => Ok(None),
        Some(text) => text.trim().parse().map(Some).map_err(|_| ConninfoError::Invalid {
            name: key,
            value: text.to_owned(),
            expected: "a whole number".into(),
        }),
    }
}

/// Returns the index of the value in `words`; 0, the default, if the parameter is absent or empty.
pub(crate) fn choice(values: &Values, key: &'static str, words: &[&str]) -> Result<usize, ConninfoError> {
    match values.non_empty(key) {
        None => Ok(0),
        Some(text) => words.iter().position(|word| *word == text).ok_or_else(|| ConninfoError::Invalid {
            name: key,
            value: text.to_owned(),
            expected: words.join(", "),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(vars: &[(&str, &str)]) -> Env {
        Env::new(vars.iter().copied(), None, Some("os"))
    }

    fn shown(dsn: &str) -> String {
        ConnectOptions::resolve(dsn, &env(&[])).map_or_else(|e| e.to_string(), |o| o.to_string())
    }

    #[test]
    fn hosts_and_ports_are_paired() {
        for (dsn, expected) in [
            ("", "host=/var/run/postgresql port=5432 dbname=os user=os"),
            ("user=u", "host=/var/run/postgresql port=5432 dbname=u user=u"),
            ("host=a,b port=1", "host=a,b port=1 dbname=os user=os"),
            ("host=a,b port=1,2", "host=a,b port=1,2 dbname=os user=os"),
            ("host=a,b port=,2", "host=a,b port=5432,2 dbname=os user=os"),
            ("hostaddr=::1", "host=::1 port=5432 dbname=os user=os"),
            (
                "host=a,b port=1,2,3",
                "connection string names 2 hosts and 3 ports; give one for each host, or one for all",
            ),
            ("host=a,b hostaddr=::1", "connection string names 2 hosts and 1 host addresses; give one for each host"),
            (
                "hostaddr=nonsense",
                "connection parameter hostaddr must be an IPv4 or IPv6 address, but 'nonsense' was given",
            ),
            (
                "connect_timeout=soon",
                "connection parameter connect_timeout must be a whole number, but 'soon' was given",
            ),
            (
                "channel_binding=maybe",
                "connection parameter channel_binding must be prefer, disable, require, but 'maybe' was given",
            ),
        ] {
            assert_eq!(shown(dsn), expected, "{dsn}");
        }
        let error = shown("postgresql://u:pass/word@host/db");
        assert!(error.contains("percent-encoded") && !error.contains("pass/"), "{error}");
    }

    #[test]
    fn what_is_given_apart_stands_between_the_string_and_the_environment() {
        let vars = env(&[("PGHOST", "env"), ("PGPORT", "7"), ("PGUSER", "env")]);
        let apart = [("host", "apart"), ("port", ""), ("user", "apart"), ("dbname", "apart")];
        let options = ConnectOptions::resolve_with("host=string", &apart, &vars).unwrap();
        assert_eq!(options.to_string(), "host=string port=7 dbname=apart user=apart");
        let host = &options.hosts[0];
        assert!(options.password(host).is_none());
        let options = options.with_password(Secret::new("hunter2".to_owned()));
        assert_eq!(options.password(host).map(|p| p.reveal().as_str()), Some("hunter2"));
        assert!(!format!("{options:?}").contains("hunter2"));
    }

    proptest::proptest! {
        #[test]
        fn a_string_that_was_written_names_the_same_server(
            user in "[^\0]+",
            dbname in r"['\\\\ a-zäß=/\t\n]+",
            directory in r"/[^\x00,]*",
            port in 1..=u16::MAX,
        ) {
            for host in [format!("host='{}'", escaped(&directory)), "hostaddr=::1".to_owned(), "host=a,b hostaddr=::1,".to_owned()] {
                let dsn = format!("{host} port={port} user='{}' dbname='{}'", escaped(&user), escaped(&dbname));
                let options = ConnectOptions::resolve(&dsn, &env(&[])).unwrap();
                let again = ConnectOptions::resolve(&options.to_string(), &env(&[])).unwrap();
                proptest::prop_assert_eq!((again.user(), again.dbname()), (user.as_str(), dbname.as_str()));
                let addresses = |options: &ConnectOptions| options.hosts.iter().map(|host| (host.place.clone(), host.port)).collect::<Vec<_>>();
                // An address that is its own name may have been given as either.
                proptest::prop_assert_eq!(again.to_string(), options.to_string());
                if host.contains('a') && host.starts_with("host=") {
                    proptest::prop_assert_eq!(addresses(&again), addresses(&options));
                }
            }
        }
    }

    /// Escapes a value for quotes, as libpq's documentation says.
    fn escaped(value: &str) -> String {
        value.replace('\\', r"\\").replace('\'', r"\'")
    }

    #[test]
    fn nothing_shows_the_password() {
        let vars = [("PGPASSWORD", "hunter1")];
        let from_env = ConnectOptions::resolve("host=a", &env(&vars)).unwrap();
        let given = ConnectOptions::resolve("postgresql://u:hunter2@a/d", &env(&vars)).unwrap();
        assert_eq!(from_env.password(&from_env.hosts[0]).unwrap().reveal(), "hunter1");
        assert_eq!(given.password(&given.hosts[0]).unwrap().reveal(), "hunter2");
        for options in [from_env, given] {
            let shown = format!("{options} {options:?}");
            assert!(!shown.contains("hunter"), "{shown}");
        }
    }

    #[test]
    fn the_password_file_is_asked_for_host_and_database() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(".pgpass");
        std::fs::write(&path, "localhost:*:*:u:socket\na:1:d:u:for-d\na:1:e:u:for-e\n\\:\\:1:*:*:u:v6\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let env = Env::new([], Some(home.path()), Some("u"));
        let resolve = |dsn| ConnectOptions::resolve(dsn, &env).unwrap();
        let password = |options: &ConnectOptions| options.password(&options.hosts[0]).map(|p| p.reveal().clone());
        let options = resolve("host=a port=1 dbname=d");
        assert_eq!(password(&options).as_deref(), Some("for-d"));
        assert_eq!(password(&options.with_database("e")).as_deref(), Some("for-e"));
        let elsewhere = options.with_server("::1", 1, Duration::from_secs(1));
        assert_eq!((password(&elsewhere).as_deref(), elsewhere.dbname()), (Some("v6"), "d"));
        assert_eq!(password(&resolve("")).as_deref(), Some("socket"));
        assert_eq!(password(&resolve("host=/tmp")).as_deref(), Some("socket"));
        assert_eq!(password(&resolve("host=/elsewhere")), None);
        assert_eq!(password(&resolve("host=a port=1 dbname=d password=x")).as_deref(), Some("x"));

        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let options = resolve("host=a port=1 dbname=d");
        assert_eq!(password(&options), None);
        assert_eq!(options.warnings().len(), 1);
    }

    #[test]
    fn what_would_be_weakened_is_refused_and_what_means_nothing_here_is_not() {
        for dsn in [
            "gssencmode=require",
            "requirepeer=postgres",
            "scram_client_key=x",
            "min_protocol_version=3.2",
            "require_auth=md5,!none",
        ] {
            assert!(ConnectOptions::resolve(dsn, &env(&[])).is_err(), "{dsn}");
        }
        for dsn in [
            "gssencmode=prefer krbsrvname=postgres gsslib=gssapi gssdelegation=1",
            "sslcompression=0 max_protocol_version=3.2 oauth_scope=x",
            "require_auth=!password,!gss",
        ] {
            assert!(ConnectOptions::resolve(dsn, &env(&[])).is_ok(), "{dsn}");
        }
        let methods = |dsn| ConnectOptions::resolve(dsn, &env(&[])).unwrap().allowed_methods;
        assert_eq!(methods("require_auth=scram-sha-256"), [Method::ScramSha256]);
        assert_eq!(methods("require_auth=!password,!md5"), [Method::None, Method::ScramSha256]);
    }

    #[test]
    fn the_startup_message_carries_what_libpq_sends() {
        let env = env(&[("PGTZ", "UTC"), ("PGOPTIONS", "-c a=b")]);
        let parameters = |dsn| ConnectOptions::resolve(dsn, &env).unwrap().parameters;
        assert_eq!(
            parameters("fallback_application_name=f"),
            [
                ("client_encoding", "UTF8".to_owned()),
                ("application_name", "f".to_owned()),
                ("options", "-c a=b".to_owned()),
                ("timezone", "UTC".to_owned()),
            ]
        );
        assert_eq!(parameters("")[1].1, "pgdyno");
    }

    #[test]
    fn settings_of_the_sessions_stand_behind_the_options_that_are_there() {
        let plain = ConnectOptions::resolve("", &env(&[])).unwrap();
        let options = |options: &ConnectOptions| options.parameters.iter().find(|(k, _)| *k == "options").cloned();
        assert_eq!(options(&plain.with_settings([])), None);
        let set = plain.with_settings([("work_mem", "4MB"), ("search_path", r"a, b\c")]);
        assert_eq!(options(&set).unwrap().1, r"-c work_mem=4MB -c search_path=a,\ b\\c");
        let given = ConnectOptions::resolve("options='-c jit=off'", &env(&[])).unwrap();
        assert_eq!(options(&given.with_settings([("jit", "on")])).unwrap().1, "-c jit=off -c jit=on");
    }

    #[test]
    fn a_server_is_named_by_the_environment_or_not() {
        assert!(!ConnectOptions::names_a_server(&env(&[("PGPASSWORD", "x"), ("PGHOST", "")])));
        assert!(ConnectOptions::names_a_server(&env(&[("PGSERVICE", "x")])));
    }
}
