//! A limit on the time of all waits together, however slowly the other side answers.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use pgdyno_net::Interrupter;

/// Interrupts after a time, unless it is dropped before.
#[derive(Debug)]
pub(crate) struct Alarm {
    interrupter: Interrupter,
    limit: Duration,
    /// Its end ends the thread.
    _stop: Sender<()>,
}

impl Alarm {
    pub(crate) fn set(limit: Duration) -> io::Result<Self> {
        let interrupter = Interrupter::new();
        let (stop, stopped) = mpsc::channel::<()>();
        let ring = {
            let interrupter = interrupter.clone();
            move || {
                if stopped.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                    interrupter.interrupt();
                }
            }
        };
        thread::Builder::new().name("pgdyno-alarm".to_owned()).spawn(ring)?;
        Ok(Self { interrupter, limit, _stop: stop })
    }

    pub(crate) fn interrupter(&self) -> &Interrupter {
        &self.interrupter
    }

    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    pub(crate) fn has_rung(&self) -> bool {
        self.interrupter.is_interrupted()
    }
}
