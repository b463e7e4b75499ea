//! `pgdyno.toml`: servers with names.

use std::collections::BTreeMap;

use pgdyno_text::parse::{Bytes, Duration};
use serde::Deserialize;

use crate::TargetName;
use crate::mistake::{self, Mistake, nearest};

/// The default name of the file.
pub const FILE: &str = "pgdyno.toml";

/// The default timeout of a hook.
const HOOK_TIMEOUT_S: f64 = 600.0;

/// The contents of the file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Targets {
    /// The targets by name.
    #[serde(default)]
    pub target: BTreeMap<String, NamedTarget>,
}

/// A server with a name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedTarget {
    /// What `--target` takes: a connection string, `embedded`, `embedded:18`, `embedded:/path/to/bin` (relative to the
    /// file). Contains no password: passwords belong in `~/.pgpass`, a service file or the environment.
    pub dsn: String,
    /// Its kind, in the user's words.
    #[serde(default)]
    pub kind: String,
    /// CPUs of the database server.
    pub vcpus: Option<u32>,
    /// Its memory.
    pub memory: Option<Bytes>,
    /// Price of an hour.
    pub price_per_hour: Option<f64>,
    /// The currency of the price.
    #[serde(default = "dollars")]
    pub currency: String,
    /// Further labels of the user's, such as `cluster = "c4+2w8"`.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Settings of every run on it, as `--set` takes them.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// How its machine is read, as `--os-metrics` takes it.
    pub os_metrics: Option<String>,
    /// Commands around its runs.
    #[serde(default)]
    pub hooks: Hooks,
}

/// Commands around the runs on a target, for `sh -c`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hooks {
    /// Makes the server; standard output may contain its connection string in a line `dsn=…`.
    pub provision: Option<Hook>,
    /// Restarts it.
    pub restart: Option<Hook>,
    /// Drops its files from the operating system's cache.
    pub drop_caches: Option<Hook>,
    /// Removes the server.
    pub teardown: Option<Hook>,
}

/// A command.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    /// The command line for `sh -c`.
    pub command: String,
    /// The command is ended when it takes longer.
    #[serde(default = "hook_timeout")]
    pub timeout: Duration,
}

fn dollars() -> String {
    "USD".to_owned()
}

fn hook_timeout() -> Duration {
    Duration::from_seconds(HOOK_TIMEOUT_S)
}

impl Targets {
    /// Parses the content of `file`.
    ///
    /// # Errors
    /// With line, caret and the most similar known key; also for a password in a connection string.
    pub fn read(file: &str, text: &str) -> Result<Self, Mistake> {
        let targets: Self = mistake::read(file, text)?;
        for (name, target) in &targets.target {
            if !TargetName::from(name.as_str()).kind().is_name() {
                return Err(Mistake::new(
                    file,
                    format!("'{name}' cannot be the name of a target: --target has another meaning for it"),
                ));
            }
            if let Some(price) = target.price_per_hour.filter(|price| !price.is_finite() || *price <= 0.0) {
                return Err(Mistake::new(
                    file,
                    format!("target {name}: price_per_hour is {price}, and must be above 0"),
                ));
            }
            if TargetName::from(target.dsn.trim()).kind().is_null() {
                return Err(Mistake::new(
                    file,
                    format!("target {name}: a null server cannot be a named target: give --target null"),
                ));
            }
            if holds_password(&target.dsn) {
                return Err(Mistake::new(
                    file,
                    format!(
                        "target {name}: its connection string holds a password, which does not belong in this file: \
                         keep it in \
                         ~/.pgpass, in a service file (service=…) or in PGPASSWORD"
                    ),
                ));
            }
        }
        Ok(targets)
    }

    /// Returns the target of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&NamedTarget> {
        self.target.get(name)
    }

    /// Returns the name that is most similar to this one.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Option<&str> {
        nearest(name, self.target.keys().map(String::as_str))
    }
}

/// Returns true if a connection string, a URI or `key=value` pairs, contains a password.
#[must_use]
pub fn holds_password(dsn: &str) -> bool {
    let dsn = dsn.trim();
    if let Some(rest) = dsn.strip_prefix("postgresql://").or_else(|| dsn.strip_prefix("postgres://")) {
        // As in libpq, the first '@' ends the credentials unless a '/' comes before it.
        let credentials = rest.split_once('@').map_or("", |(before, _)| before);
        let parameters = rest.split_once('?').map_or("", |(_, parameters)| parameters);
        return !credentials.contains('/') && credentials.contains(':') || decoded(parameters).contains("password=");
    }
    // `password`, and `sslpassword`, with or without spaces before the sign. A value that contains this text is
    // refused, too.
    dsn.match_indices("password").any(|(at, word)| dsn[at + word.len()..].trim_start().starts_with('='))
}

/// Decodes percent-encoding; leaves invalid sequences unchanged.
fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend_from_slice(&part.as_bytes()[2..]);
            }
            None => bytes.extend(b"%".iter().chain(part.as_bytes())),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_its_connection_string_and_what_is_known_of_it() {
        let targets = Targets::read(
            FILE,
            "[target.db16]\ndsn = 'host=db16 dbname=bench'\nvcpus = 16\nmemory = '128GB'\nprice_per_hour = 3.5\n\
             labels = { cluster = 'c4+2w8' }\nos_metrics = 'ssh me@db16'\n[target.db16.hooks]\nrestart = { command = 'true', timeout = '2min' }\n\
             drop_caches = { command = 'false' }\n[target.here]\ndsn = 'embedded:18'\n",
        )
        .unwrap();
        let db16 = targets.find("db16").unwrap();
        assert_eq!((db16.memory, db16.currency.as_str()), (Some(Bytes(128 << 30)), "USD"));
        assert_eq!(db16.os_metrics.as_deref(), Some("ssh me@db16"));
        let seconds = |hook: &Option<Hook>| hook.as_ref().map(|hook| hook.timeout.seconds());
        assert_eq!((seconds(&db16.hooks.restart), seconds(&db16.hooks.drop_caches)), (Some(120.0), Some(600.0)));
        assert_eq!(targets.nearest("db6"), Some("db16"));
    }

    #[test]
    fn mistakes_are_reported_with_their_place() {
        for (text, words) in [
            ("[target.a]\ndns = ''", "did you mean `dsn`?"),
            ("[target.a]\ndsn = ''\nmemory = 128", "128 of what?"),
            ("[target.a]\ndsn = ''\n[target.a.hooks]\nrestrt = { command = '' }", "did you mean `restart`?"),
            ("[target.a]\ndsn = ''\nprice_per_hour = 0", "target a: price_per_hour is 0, and must be above 0"),
            ("[target.null]\ndsn = ''", "'null' cannot be the name"),
            ("[target.a]\ndsn = 'null'", "a null server cannot be a named target"),
            ("[target.a]\ndsn = 'host=x password=geheim'", "target a: its connection string holds a password"),
            ("[target.a]\ndsn = 'host=x sslpassword = geheim'", "~/.pgpass"),
            ("[target.a]\ndsn = 'postgresql://me:geheim@x/d'", "its connection string holds a password"),
            ("[target.a]\ndsn = 'postgresql://x/d?user=me&password=geheim'", "its connection string holds a password"),
            ("[target.a]\ndsn = 'postgresql://x/d?p%61ssword=geheim'", "its connection string holds a password"),
            ("[target.a]\ndsn = 'postgresql://me:geheim?x@x/d'", "its connection string holds a password"),
            ("[target.a]\ndsn = \"host=x options='://' password=geheim\"", "its connection string holds a password"),
        ] {
            let error = Targets::read(FILE, text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
            assert!(!error.contains("geheim"), "{error}");
        }
        for dsn in [
            "host=x passfile=/home/me/pw",
            "postgresql://me@x:5432/d?sslmode=require",
            "postgresql://x:5432/a@b",
            "service=bench",
            "",
        ] {
            assert!(Targets::read(FILE, &format!("[target.a]\ndsn = '{dsn}'")).is_ok(), "{dsn}");
        }
    }
}
