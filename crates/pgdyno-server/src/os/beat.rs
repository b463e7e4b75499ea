//! When a machine is looked at, and what wakes one who waits for that.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The time between two looks.
const PERIOD: Duration = Duration::from_secs(1);

/// What wakes a thread that looks at a machine.
#[derive(Debug)]
pub(crate) enum Wake {
    /// The end.
    Stop,
    /// A line of a program's standard output.
    Line(String),
    /// The end of that.
    Ended,
}

/// The seconds of one who looks. A look that comes late puts off none of those after it, and makes no two of one.
#[derive(Debug)]
pub(crate) struct Beat {
    next: Instant,
}

impl Beat {
    pub(crate) fn begin() -> Self {
        Self { next: Instant::now() + PERIOD }
    }

    /// Waits for the next second; what wakes it before that is returned.
    pub(crate) fn wait(&mut self, wake: &Receiver<Wake>) -> Option<Wake> {
        match wake.recv_timeout(self.next.saturating_duration_since(Instant::now())) {
            Ok(woken) => Some(woken),
            Err(RecvTimeoutError::Disconnected) => Some(Wake::Stop),
            Err(RecvTimeoutError::Timeout) => {
                let now = Instant::now();
                while self.next <= now {
                    self.next += PERIOD;
                }
                None
            }
        }
    }
}
