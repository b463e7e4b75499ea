//! The limit of open files, which thousands of clients reach.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// File descriptors beside the clients' own: listings, logs, control connections.
const SPARE_FILES: u64 = 64;

/// File descriptors for cancel requests, included where the hard limit allows.
const CANCEL_FILES: u64 = 512;

/// Result of [`raise_file_limit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileLimit {
    /// The limit was high enough.
    Enough,
    /// The limit was raised.
    Raised {
        /// The limit before.
        from: u64,
        /// The limit now.
        to: u64,
    },
    /// The hard limit is too low.
    TooLow {
        /// The limit needed.
        needed: u64,
        /// The hard limit.
        hard: u64,
    },
}

/// Raises the soft limit of open files so that `clients` connections fit, as far as the hard limit allows.
#[must_use]
pub fn raise_file_limit(clients: u32) -> FileLimit {
    let needed = u64::from(clients) + SPARE_FILES;
    let limit = getrlimit(Resource::Nofile);
    let soft = limit.current.unwrap_or(u64::MAX);
    let hard = limit.maximum.unwrap_or(u64::MAX);
    if soft >= needed {
        return FileLimit::Enough;
    }
    let to = hard.min(needed + CANCEL_FILES);
    if hard >= needed && setrlimit(Resource::Nofile, Rlimit { current: Some(to), maximum: limit.maximum }).is_ok() {
        return FileLimit::Raised { from: soft, to };
    }
    FileLimit::TooLow { needed, hard }
}

/// Returns the hard limit of open files; `None` is no limit.
#[must_use]
pub fn max_open_files() -> Option<u64> {
    getrlimit(Resource::Nofile).maximum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_clients_always_fit_and_four_billion_never() {
        assert!(matches!(raise_file_limit(1), FileLimit::Enough | FileLimit::Raised { .. }));
        assert!(matches!(raise_file_limit(u32::MAX), FileLimit::TooLow { needed, .. } if needed > u64::from(u32::MAX)));
    }
}
