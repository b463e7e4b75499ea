//! The moment at which a wait ends.

use std::io;
use std::time::{Duration, Instant};

/// The moment at which a step must have ended, or none. It is passed down, so that all waits of a step share one limit:
/// a time limit of each read alone lets a server that sends a notice a second go on for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// No deadline. Such a wait must be one that an [`crate::Interrupter`] can end.
    pub const NEVER: Self = Self(None);

    /// Returns the deadline `limit` from now.
    #[must_use]
    pub fn after(limit: Duration) -> Self {
        Self(Instant::now().checked_add(limit))
    }

    /// Returns the deadline at this moment.
    #[must_use]
    pub fn at(moment: Instant) -> Self {
        Self(Some(moment))
    }

    /// Returns the earlier one of two.
    #[must_use]
    pub fn earlier(self, other: Self) -> Self {
        match (self.0, other.0) {
            (Some(one), Some(two)) => Self(Some(one.min(two))),
            (one, two) => Self(one.or(two)),
        }
    }

    /// Returns true if it has passed.
    #[must_use]
    pub fn has_passed(self) -> bool {
        self.left().is_some_and(|left| left.is_zero())
    }

    /// Returns the time left, zero if it has passed; `None` if there is no deadline.
    #[must_use]
    pub fn left(self) -> Option<Duration> {
        self.0.map(|moment| moment.saturating_duration_since(Instant::now()))
    }

    /// Returns the time left for a system call; an error if none is.
    pub(crate) fn remaining(self) -> io::Result<Option<Duration>> {
        match self.left() {
            Some(Duration::ZERO) => Err(io::ErrorKind::TimedOut.into()),
            left => Ok(left),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earlier_one_counts_and_none_never_passes() {
        let (soon, late) = (Deadline::after(Duration::from_secs(50)), Deadline::after(Duration::from_secs(500)));
        assert_eq!((soon.earlier(late), late.earlier(soon)), (soon, soon));
        assert_eq!((Deadline::NEVER.earlier(soon), soon.earlier(Deadline::NEVER)), (soon, soon));
        assert_eq!((Deadline::NEVER.left(), Deadline::NEVER.has_passed()), (None, false));
        // More than the clock can hold is no deadline.
        assert_eq!(Deadline::after(Duration::MAX), Deadline::NEVER);
        let past = Deadline::at(Instant::now());
        assert!(past.has_passed() && past.remaining().is_err() && late.remaining().is_ok());
    }
}
