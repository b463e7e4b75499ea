//! The terminal while the view uses it, and how it is restored.
//!
//! A process has one terminal, and whatever ends the process must restore it: the view, a panic, a signal. So its state
//! is global. The terminal is opened a second time, so that writes to it do not block and standard error stays
//! unchanged: a terminal that accepts nothing stops only the picture.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io;
use std::io::{IsTerminal, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use ratatui_core::layout::Size;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr,
};

/// Shows the alternate screen and hides the cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[2J";
/// Leaves the alternate screen, even in the middle of a picture.
const LEAVE: &str = "\x18\x1b[0m\x1b[?25h\x1b[?1049l";

/// How long to wait for a terminal that accepts nothing when the view ends.
const PATIENCE: Duration = Duration::from_secs(1);

/// The terminal and its previous modes.
struct Taken {
    tty: Arc<File>,
    modes: Termios,
}

static TAKEN: Mutex<Option<Taken>> = Mutex::new(None);
/// Whether the terminal may not be taken any more.
static OVER: AtomicBool = AtomicBool::new(false);
/// Bytes that the terminal did not accept yet.
static OWED: Mutex<&[u8]> = Mutex::new(&[]);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns true if the terminal is taken.
pub(super) fn is_taken() -> bool {
    locked(&TAKEN).is_some()
}

/// Returns the value of a variable that describes the terminal, if it is not empty.
#[expect(
    clippy::disallowed_methods,
    reason = "what a terminal can do is in the environment, as curses and others read it"
)]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns false if the user wants no colours. Source: <https://no-color.org>.
pub(super) fn has_colour() -> bool {
    variable("NO_COLOR").is_none()
}

/// Returns the terminal of standard error, if a picture can be drawn on it.
pub(super) fn open() -> Option<Arc<File>> {
    let stderr = io::stderr();
    let able = variable("TERM").is_some_and(|term| term != "dumb");
    if !able || !stderr.is_terminal() || !is_ours(&stderr) {
        return None;
    }
    let name = rustix::termios::ttyname(&stderr, Vec::new()).ok()?;
    let open = |path: &OsStr| {
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        OpenOptions::new().read(true).write(true).custom_flags(flags.bits().cast_signed()).open(path)
    };
    // The terminal of another user, as after `su`, can be opened only by this name.
    let tty = open(OsStr::from_bytes(name.as_bytes())).or_else(|_| open(OsStr::new("/dev/tty"))).ok()?;
    Some(Arc::new(tty))
}

/// Returns true if this program is in the foreground of the terminal.
pub(super) fn is_ours(tty: impl std::os::fd::AsFd) -> bool {
    tcgetpgrp(tty).is_ok_and(|group| group == rustix::process::getpgrp())
}

/// Returns its size.
pub(super) fn size(tty: &File) -> Size {
    tcgetwinsize(tty).map_or(Size::ZERO, |size| Size::new(size.ws_col, size.ws_row))
}

/// Takes the terminal: keys are read one by one and not echoed, and the alternate screen is shown. Keys that send
/// signals still do so.
///
/// # Errors
/// When the terminal is gone, or may not be taken any more.
pub(super) fn take(tty: &Arc<File>) -> io::Result<()> {
    give_back_on_panic();
    let modes = tcgetattr(&**tty)?;
    let mut ours = modes.clone();
    ours.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    ours.local_modes.insert(LocalModes::ISIG);
    // Ctrl-S would stop the picture without any explanation.
    ours.input_modes.remove(InputModes::IXON);
    (ours.special_codes[SpecialCodeIndex::VMIN], ours.special_codes[SpecialCodeIndex::VTIME]) = (1, 0);
    let mut taken = locked(&TAKEN);
    if OVER.load(Ordering::Acquire) {
        return Err(io::ErrorKind::NotConnected.into());
    }
    tcsetattr(&**tty, OptionalActions::Now, &ours)?;
    *taken = Some(Taken { tty: Arc::clone(tty), modes });
    drop(taken);
    let deadline = Instant::now() + PATIENCE;
    write(ENTER.as_bytes(), &|| Instant::now() >= deadline).map(drop)
}

/// Writes the bytes that the terminal accepts until `is_enough`. Returns `false` if some are left, or the terminal was
/// restored.
pub(super) fn write(mut bytes: &[u8], is_enough: &dyn Fn() -> bool) -> io::Result<bool> {
    while !bytes.is_empty() {
        let taken = locked(&TAKEN);
        let Some(Taken { tty, .. }) = &*taken else { return Ok(false) };
        let tty = Arc::clone(tty);
        // Holds the lock, so that nothing is written after the terminal was restored.
        let written = attempt(&tty, bytes);
        drop(taken);
        bytes = &bytes[written?..];
        if !bytes.is_empty() {
            if is_enough() {
                return Ok(false);
            }
            wait_for(&tty);
        }
    }
    Ok(true)
}

/// Writes the bytes that the terminal accepts now.
fn attempt(mut tty: &File, bytes: &[u8]) -> io::Result<usize> {
    match tty.write(bytes) {
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(0),
        written => written,
    }
}

/// Waits until the terminal accepts bytes, or for a moment.
fn wait_for(tty: &File) {
    let moment = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    // Ignores errors, which the next attempt reports.
    let _ = poll(&mut [PollFd::new(tty, PollFlags::OUT)], Some(&moment));
}

/// Returns the keys that were pressed; an error if the terminal is gone.
pub(super) fn read(mut tty: &File, keys: &mut [u8]) -> io::Result<usize> {
    match tty.read(keys) {
        Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(0),
        read => read,
    }
}

/// Restores the terminal if it is taken. Any thread may call this any number of times.
pub(super) fn restore() {
    let Some(Taken { tty, modes }) = locked(&TAKEN).take() else { return };
    let deadline = Instant::now() + PATIENCE;
    let mut rest = LEAVE.as_bytes();
    while !rest.is_empty() && Instant::now() < deadline {
        match attempt(&tty, rest) {
            Ok(written) => rest = &rest[written..],
            // The terminal is gone.
            Err(_) => rest = &[],
        }
        if !rest.is_empty() {
            wait_for(&tty);
        }
    }
    *locked(&OWED) = rest;
    // If the terminal is gone, its modes do not matter.
    let _ = tcsetattr(&*tty, OptionalActions::Now, &modes);
}

/// Restores the terminal for good.
pub fn give_back() {
    OVER.store(true, Ordering::Release);
    restore();
}

/// Writes what the terminal did not accept when the view ended. Called before writes that wait for the terminal.
pub(crate) fn settle() {
    let rest = std::mem::take(&mut *locked(&OWED));
    if !rest.is_empty() {
        // If standard error is closed, the bytes are lost.
        let _ = io::stderr().write_all(rest);
    }
}

/// Restores the terminal before a panic prints its message.
fn give_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            give_back();
            before(info);
        }));
    });
}
