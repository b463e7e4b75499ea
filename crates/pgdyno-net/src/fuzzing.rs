//! Private readers of texts, for the fuzz targets. Not part of the interface.

use std::path::Path;

use crate::conninfo::{self, ConninfoError, PassFile};
use crate::tls;

/// Names and values, in the order of the names.
pub type Pairs = Vec<(&'static str, String)>;

fn pairs(values: &conninfo::Values) -> Pairs {
    values.iter().map(|(key, value)| (key, value.to_owned())).collect()
}

/// Parses a connection string alone: reads no file, and no variable.
///
/// # Errors
/// When it cannot be parsed.
pub fn conninfo(text: &str) -> Result<Pairs, ConninfoError> {
    conninfo::parse(text).map(|values| pairs(&values))
}

/// Returns the values of service `name` in the text of a service file.
///
/// # Errors
/// When the file cannot be parsed.
pub fn service(name: &str, text: &str) -> Result<Option<Pairs>, ConninfoError> {
    Ok(conninfo::section(name, text, Path::new("pg_service.conf"))?.map(|values| pairs(&values)))
}

/// Returns the password in the text of a password file.
#[must_use]
pub fn password(text: &str, host: &str, port: u16, dbname: &str, user: &str) -> Option<String> {
    PassFile::parse(text).password(host, port, dbname, user).map(|password| password.reveal().clone())
}

/// Returns the public key of a certificate, and its common name if it has one.
#[must_use]
pub fn certificate(der: &[u8]) -> Option<(&[u8], Option<&str>)> {
    tls::Certificate::parse(der).map(|found| (found.public_key, found.common_name))
}

/// Returns the hash for SCRAM's channel binding.
#[must_use]
pub fn end_point_hash(der: &[u8]) -> Option<Vec<u8>> {
    tls::end_point_hash(der)
}
