//! The times of looks at a machine, and events that wake the looking thread.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Interval between two looks.
const PERIOD: Duration = Duration::from_secs(1);

/// An event that wakes a thread that looks at a machine.
#[derive(Debug)]
pub(crate) enum Wake {
    /// The end of the watch.
    Stop,
    /// A line of a program's standard output.
    Line(String),
    /// The end of the output.
    Ended,
}

/// The seconds at which looks are due. A late look delays none of those after it, and replaces none.
#[derive(Debug)]
pub(crate) struct Beat {
    next: Instant,
}

impl Beat {
    pub(crate) fn begin() -> Self {
        Self { next: Instant::now() + PERIOD }
    }

    /// Waits for the next second. Returns the event that ended the wait before that.
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
