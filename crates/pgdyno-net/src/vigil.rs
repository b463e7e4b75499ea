//! When to look at a statement that takes long.

use std::fmt;
use std::time::{Duration, Instant};

use crate::Deadline;

/// Times of the first looks at a statement that goes on; then one follows every minute.
const LOOKS: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(30)];
const EACH: Duration = Duration::from_secs(60);

/// Characters of a statement that distinguish it from others.
const STATEMENT_CHARS: usize = 60;

/// Looks at a statement that has taken so long, for the first time or again.
pub(crate) type OnLongWait = Box<dyn Fn(&str, Duration, bool) + Send + Sync>;

/// Looks at the statement of one connection while it takes long.
pub(crate) struct Vigil {
    look: OnLongWait,
    statement: String,
    began: Instant,
    /// Number of looks so far.
    looks: usize,
    next: Deadline,
}

impl fmt::Debug for Vigil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vigil").field("statement", &self.statement).field("looks", &self.looks).finish_non_exhaustive()
    }
}

impl Vigil {
    pub(crate) fn new(look: OnLongWait) -> Self {
        Self { look, statement: String::new(), began: Instant::now(), looks: 0, next: Deadline::NEVER }
    }

    /// Begins to count the time of a statement.
    pub(crate) fn begin(&mut self, sql: &str) {
        self.statement.clear();
        self.statement.extend(sql.chars().take(STATEMENT_CHARS));
        (self.began, self.looks) = (Instant::now(), 0);
        self.next = Deadline::at(self.began + LOOKS[0]);
    }

    /// Returns when it looks next.
    pub(crate) fn next(&self) -> Deadline {
        self.next
    }

    pub(crate) fn look_if_due(&mut self) {
        if !self.next.has_passed() {
            return;
        }
        (self.look)(&self.statement, self.began.elapsed(), self.looks == 0);
        self.looks += 1;
        let next = LOOKS.get(self.looks).map_or_else(|| Instant::now() + EACH, |after| self.began + *after);
        self.next = Deadline::at(next);
    }
}
