//! Names of files in a results directory.

use std::io;

use pgdyno_untrusted::RelativePath;

/// Checks the name of a file in a directory.
pub(crate) fn relative(name: &str) -> io::Result<RelativePath> {
    RelativePath::parse(name).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
}
