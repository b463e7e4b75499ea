//! Peak memory of the sessions that run queries, sampled several times a second, where the server's processes are visible on
//! this machine.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pgdyno_server::os::BackendMemory;

use super::Signal;

/// Time between two samples.
const PERIOD: Duration = Duration::from_millis(50);

/// The largest memory of each session since its last query ended.
#[derive(Debug, Default)]
pub(crate) struct Peaks {
    /// By the process of the server.
    sessions: Mutex<HashMap<i32, Session>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Session {
    /// Queries that have ended: a sample that was taken before the end of a query does not count for the next one.
    ended: u64,
    bytes: Option<u64>,
}

impl Peaks {
    /// Samples this process from now on.
    pub(crate) fn follow(&self, process: i32) {
        self.lock().entry(process).or_default();
    }

    /// Returns the peak of the query that has ended, in bytes; `None` if it was not sampled.
    pub(crate) fn take(&self, process: i32) -> Option<u64> {
        let mut sessions = self.lock();
        let session = sessions.get_mut(&process)?;
        session.ended += 1;
        session.bytes.take()
    }

    fn sample(&self, memory: &mut BackendMemory) {
        let before: HashMap<i32, u64> =
            self.lock().iter().map(|(process, session)| (*process, session.ended)).collect();
        let processes: Vec<i32> = before.keys().copied().collect();
        let samples = memory.look(&processes);
        self.add(&before, &samples);
    }

    /// Adds samples of processes whose numbers of ended queries were those `before` the sample.
    fn add(&self, before: &HashMap<i32, u64>, samples: &[(i32, u64)]) {
        let mut sessions = self.lock();
        for (process, bytes) in samples {
            if let Some(session) =
                sessions.get_mut(process).filter(|session| before.get(process) == Some(&session.ended))
            {
                session.bytes = session.bytes.max(Some(*bytes));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<i32, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Samples until the signal to end.
pub(super) fn watch(mut memory: BackendMemory, peaks: &Peaks, signals: &Receiver<Signal>) {
    loop {
        match signals.recv_timeout(PERIOD) {
            Ok(Signal::WindowOpens(_) | Signal::WindowCloses(_)) => {}
            Ok(Signal::End) | Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => peaks.sample(&mut memory),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_belongs_to_the_query_during_which_it_was_sampled() {
        let peaks = Peaks::default();
        assert_eq!(peaks.take(7), None, "a session that is not followed");
        peaks.follow(7);
        let before = |ended| HashMap::from([(7, ended)]);
        peaks.add(&before(0), &[(7, 500), (8, 900)]);
        peaks.add(&before(0), &[(7, 300)]);
        assert_eq!(peaks.take(7), Some(500));
        // It was read before the first query ended.
        peaks.add(&before(0), &[(7, 600)]);
        assert_eq!(peaks.take(7), None);
        peaks.add(&before(2), &[(7, 100)]);
        assert_eq!(peaks.take(7), Some(100));
    }
}
