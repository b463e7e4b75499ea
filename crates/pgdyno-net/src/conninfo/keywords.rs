//! libpq's parameters, their environment variables, and a set of their values.

use std::collections::BTreeMap;

use super::{ConninfoError, Env};

/// Name and environment variable, as of PostgreSQL 18.
const KEYWORDS: &[(&str, Option<&str>)] = &[
    ("application_name", Some("PGAPPNAME")),
    ("channel_binding", Some("PGCHANNELBINDING")),
    ("client_encoding", Some("PGCLIENTENCODING")),
    ("connect_timeout", Some("PGCONNECT_TIMEOUT")),
    ("dbname", Some("PGDATABASE")),
    ("fallback_application_name", None),
    ("gssdelegation", Some("PGGSSDELEGATION")),
    ("gssencmode", Some("PGGSSENCMODE")),
    ("gsslib", Some("PGGSSLIB")),
    ("host", Some("PGHOST")),
    ("hostaddr", Some("PGHOSTADDR")),
    ("keepalives", None),
    ("keepalives_count", None),
    ("keepalives_idle", None),
    ("keepalives_interval", None),
    ("krbsrvname", Some("PGKRBSRVNAME")),
    ("load_balance_hosts", Some("PGLOADBALANCEHOSTS")),
    ("max_protocol_version", Some("PGMAXPROTOCOLVERSION")),
    ("min_protocol_version", Some("PGMINPROTOCOLVERSION")),
    ("oauth_client_id", None),
    ("oauth_client_secret", None),
    ("oauth_issuer", None),
    ("oauth_scope", None),
    ("options", Some("PGOPTIONS")),
    ("passfile", Some("PGPASSFILE")),
    ("password", Some("PGPASSWORD")),
    ("port", Some("PGPORT")),
    ("replication", None),
    ("require_auth", Some("PGREQUIREAUTH")),
    ("requirepeer", Some("PGREQUIREPEER")),
    ("scram_client_key", None),
    ("scram_server_key", None),
    ("service", Some("PGSERVICE")),
    ("servicefile", Some("PGSERVICEFILE")),
    ("ssl_max_protocol_version", Some("PGSSLMAXPROTOCOLVERSION")),
    ("ssl_min_protocol_version", Some("PGSSLMINPROTOCOLVERSION")),
    ("sslcert", Some("PGSSLCERT")),
    ("sslcertmode", Some("PGSSLCERTMODE")),
    ("sslcompression", Some("PGSSLCOMPRESSION")),
    ("sslcrl", Some("PGSSLCRL")),
    ("sslcrldir", Some("PGSSLCRLDIR")),
    ("sslkey", Some("PGSSLKEY")),
    ("sslkeylogfile", None),
    ("sslmode", Some("PGSSLMODE")),
    ("sslnegotiation", Some("PGSSLNEGOTIATION")),
    ("sslpassword", None),
    ("sslrootcert", Some("PGSSLROOTCERT")),
    ("sslsni", Some("PGSSLSNI")),
    ("target_session_attrs", Some("PGTARGETSESSIONATTRS")),
    ("tcp_user_timeout", None),
    ("user", Some("PGUSER")),
];

/// Run-time parameters that libpq reads only from the environment.
const STARTUP_VARIABLES: &[(&str, &str)] = &[("PGDATESTYLE", "datestyle"), ("PGTZ", "timezone"), ("PGGEQO", "geqo")];

/// Values by parameter. Holds passwords, so it has no `Debug`.
#[derive(Default)]
pub(crate) struct Values(BTreeMap<&'static str, String>);

impl Values {
    /// Returns the value as written, also if it is empty.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Returns the value unless it is empty: in libpq an empty value means the default.
    pub(crate) fn non_empty(&self, key: &str) -> Option<&str> {
        self.get(key).filter(|value| !value.is_empty())
    }

    /// Returns true if a value is secret.
    pub(super) fn holds_a_secret(&self) -> bool {
        self.0.keys().any(|key| is_secret(key))
    }

    /// The later of two values of a parameter counts.
    pub(super) fn insert(&mut self, key: &'static str, value: String) {
        self.0.insert(key, value);
    }

    pub(super) fn insert_if_absent(&mut self, key: &'static str, value: &str) {
        self.0.entry(key).or_insert_with(|| value.to_owned());
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(k, v)| (*k, v.as_str()))
    }
}

/// Returns true if nobody else may see the parameter's value.
pub(super) fn is_secret(key: &str) -> bool {
    ["password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"].contains(&key)
}

/// Returns the parameter of this name.
pub(super) fn known(name: &str) -> Option<&'static str> {
    KEYWORDS.iter().map(|(known, _)| *known).find(|known| *known == name)
}

/// Returns the parameter of this name. The error shows `name` only if it could be the name of a parameter, and
/// `may_show` says that it is no part of an unquoted password.
pub(super) fn require_known(name: &str, may_show: bool) -> Result<&'static str, ConninfoError> {
    let is_name = name.len() <= 40 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    known(name).ok_or_else(|| match may_show && is_name {
        true => ConninfoError::UnknownKeyword { name: name.to_owned(), nearest: nearest(name) },
        false => ConninfoError::Syntax(
            "what stands before a '=' is no parameter, and is not shown because it may be a piece of a password; write a \
             value with spaces in single quotes, with a backslash before a quote or backslash in it, and percent-encode \
             '?', '&', '/', ':', '@' and '%' in the parts of a URI"
                .into(),
        ),
    })
}

pub(super) fn add_environment(values: &mut Values, env: &Env) {
    for (name, variable) in KEYWORDS {
        if let Some(value) = variable.and_then(|v| env.var(v)) {
            values.insert_if_absent(name, value);
        }
    }
}

/// Returns run-time parameters from the environment.
pub(crate) fn startup_variables(env: &Env) -> impl Iterator<Item = (&'static str, &str)> {
    STARTUP_VARIABLES
        .iter()
        .filter_map(|(variable, name)| Some((*name, env.var(variable)?)))
        .filter(|(_, value)| !value.is_empty())
}

/// Returns the known name with the fewest edits, if these are few.
fn nearest(name: &str) -> Option<&'static str> {
    KEYWORDS
        .iter()
        .map(|(known, _)| (edits(name, known), *known))
        .min()
        .filter(|(edits, _)| *edits <= 1 + name.len() / 4)
        .map(|(_, known)| known)
}

/// Returns the number of insertions, deletions, replacements and swaps of neighbours from `a` to `b` (optimal string
/// alignment).
fn edits(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_is_one_edit() {
        assert_eq!(edits("hots", "host"), 1);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("sslmode", "sslmode"), 0);
        assert_eq!(nearest("pasword"), Some("password"));
    }
}
