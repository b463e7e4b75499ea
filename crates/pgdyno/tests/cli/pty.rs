//! The program on a terminal of its own.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::program::{PATIENCE, eventually};

/// A pseudo-terminal and the program in its foreground, killed with this value.
pub(crate) struct Pty {
    master: File,
    /// The program's side.
    pub(crate) terminal: File,
    modes: String,
    child: Child,
    seen: Arc<Mutex<Vec<u8>>>,
}

/// What of a terminal's modes a program may leave changed.
fn modes(terminal: impl AsFd) -> String {
    let Termios { input_modes, output_modes, control_modes, local_modes, .. } = tcgetattr(terminal).unwrap();
    format!("{input_modes:?} {output_modes:?} {control_modes:?} {local_modes:?}")
}

impl Pty {
    /// Starts it on a terminal of so many columns and rows.
    pub(crate) fn start(mut command: Command, (columns, rows): (u16, u16)) -> Self {
        let master = File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap());
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let flags = OpenptFlags::NOCTTY.bits().cast_signed();
        let mut open = std::fs::OpenOptions::new();
        let terminal = std::os::unix::fs::OpenOptionsExt::custom_flags(open.read(true).write(true), flags);
        let terminal = terminal.open(name).unwrap();
        tcsetwinsize(&terminal, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let modes = modes(&terminal);
        let side = || Stdio::from(terminal.try_clone().unwrap());
        command.stdin(side()).stdout(side()).stderr(side());
        // SAFETY: both calls are ones that may be made between fork and exec.
        unsafe {
            command.pre_exec(|| {
                rustix::process::setsid()?;
                rustix::process::ioctl_tiocsctty(std::io::stdin())?;
                Ok(())
            });
        }
        let child = command.spawn().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (mut reader, received) = (master.try_clone().unwrap(), Arc::clone(&seen));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n) = reader.read(&mut bytes) {
                received.lock().unwrap().extend_from_slice(&bytes[..n]);
            }
        });
        Self { master, terminal, modes, child, seen }
    }

    /// Everything that was written to the terminal so far.
    pub(crate) fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }

    /// Waits until the terminal was written `word`, so many times.
    #[track_caller]
    pub(crate) fn until_it_shows(&self, word: &str, times: usize) {
        let deadline = Instant::now() + PATIENCE;
        while self.seen().matches(word).count() < times {
            assert!(Instant::now() < deadline, "{word:?} is not in {:?}", self.seen());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Whether the program stands still.
    pub(crate) fn is_stopped(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        stat.rsplit(')').next().unwrap().trim_start().starts_with('T')
    }

    /// Waits until the terminal is as it was before the program began: the last sequence can be read before its modes are restored.
    #[track_caller]
    pub(crate) fn until_as_before(&self) {
        eventually("the terminal is as before", PATIENCE, || modes(&self.terminal) == self.modes);
    }

    /// The terminal is as it was before the program began.
    #[track_caller]
    pub(crate) fn assert_as_before(&self) {
        assert_eq!(modes(&self.terminal), self.modes);
    }

    /// Waits for its end; the terminal is as it was before.
    #[track_caller]
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        eventually("the program ends", PATIENCE, || self.has_ended());
        let status = self.child.wait().unwrap();
        self.assert_as_before();
        // What was written last may not have been read yet.
        let mut length = None;
        eventually("all is read", PATIENCE, || {
            std::thread::sleep(Duration::from_millis(50));
            let before = length.replace(self.seen().len());
            before == length
        });
        let seen = self.seen();
        assert!(!seen.contains("panicked"), "{seen}");
        (status, seen)
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            self.child.kill().unwrap();
            self.child.wait().unwrap();
        }
    }
}
