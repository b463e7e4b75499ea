//! Readers of other people's texts that are private otherwise, for the fuzz targets. No part of the interface.

use std::path::Path;

use crate::conninfo::{self, ConninfoError, PassFile};
use crate::tls;

/// Names and values, in the order of the names.
pub type Pairs = Vec<(&'static str, String)>;

fn pairs(values: &conninfo::Values) -> Pairs {
    values.iter().map(|(key, value)| (key, value.to_owned())).collect()
}

/// What a connection string says by itself: no file is read, and no variable.
///
/// # Errors
/// When it makes no sense.
pub fn conninfo(text: &str) -> Result<Pairs, ConninfoError> {
    conninfo::parse(text).map(|values| pairs(&values))
}

/// What the text of a service file says of service `name`.
///
/// # Errors
/// When the file makes no sense.
pub fn service(name: &str, text: &str) -> Result<Option<Pairs>, ConninfoError> {
    Ok(conninfo::section(name, text, Path::new("pg_service.conf"))?.map(|values| pairs(&values)))
}

/// The password that the text of a password file has.
#[must_use]
pub fn password(text: &str, host: &str, port: u16, dbname: &str, user: &str) -> Option<String> {
    PassFile::parse(text).password(host, port, dbname, user).map(|password| password.reveal().clone())
}

/// The public key of a certificate, and its common name where it has one.
#[must_use]
pub fn certificate(der: &[u8]) -> Option<(&[u8], Option<&str>)> {
    tls::Certificate::parse(der).map(|found| (found.public_key, found.common_name))
}

/// The hash that SCRAM binds to.
#[must_use]
pub fn end_point_hash(der: &[u8]) -> Option<Vec<u8>> {
    tls::end_point_hash(der)
}
