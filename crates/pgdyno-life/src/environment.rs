//! The environment of the process: the one place in this crate that reads it. The variables of libpq are read by
//! [`pgdyno_net::Env`].

#![expect(clippy::disallowed_methods, reason = "this module is where the environment is read")]

use std::ffi::OsString;
use std::path::PathBuf;

/// Returns the value of a variable; `None` if it is not set, or empty.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns the absolute path in a variable. A relative one is ignored, as the XDG base directory specification says.
pub(crate) fn absolute_path(name: &str) -> Option<PathBuf> {
    variable(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Returns true if the first argument of this program is `word`.
pub(crate) fn is_first_argument(word: &str) -> bool {
    std::env::args_os().nth(1).is_some_and(|argument| argument == word)
}
