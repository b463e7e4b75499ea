//! Other programs that keep CPUs busy.

use std::process::{Child, Command};

/// Programs that keep a CPU busy each until this is dropped, also if a test fails. Each has a session of its own, as those of other users do:
/// where the kernel shares CPUs among sessions, threads of the test would take theirs from a driver that it started, and none from the server.
#[derive(Debug)]
pub struct Busy(Vec<Child>);

impl Busy {
    /// Starts so many.
    ///
    /// # Panics
    /// If there is no `setsid`.
    #[must_use]
    pub fn start(programs: usize) -> Self {
        let mut busy = Self(Vec::new());
        for _ in 0..programs {
            busy.0.push(Command::new("setsid").args(["sh", "-c", "while :; do :; done"]).spawn().unwrap());
        }
        busy
    }

    /// Returns the process of the first.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.0[0].id()
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for program in &mut self.0 {
            program.kill().unwrap();
            program.wait().unwrap();
        }
    }
}
