//! The terminal while the view has it, and giving it back as it was.
//!
//! There is one terminal in a process, and whoever ends the process has to give it back: the view, a panic, a signal. So
//! it is kept here for all of them. It is opened anew, so that writes to it need not wait without standard error being
//! told the same: a terminal that takes nothing stops the picture and nothing else.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::io::{IsTerminal, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use ratatui::layout::Size;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr,
};

/// The alternate screen, its cursor hidden.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[2J";
/// And back, from wherever a picture may have been cut off.
const LEAVE: &str = "\x18\x1b[0m\x1b[?25h\x1b[?1049l";

/// So long a terminal that takes nothing is given to be told that the view is over.
const PATIENCE: Duration = Duration::from_secs(1);

/// What was taken.
struct Held {
    tty: Arc<File>,
    modes: Termios,
}

static HELD: Mutex<Option<Held>> = Mutex::new(None);
/// Whether nobody may take it any more.
static OVER: AtomicBool = AtomicBool::new(false);
/// What a terminal that took nothing is still to be told.
static OWED: Mutex<&[u8]> = Mutex::new(&[]);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether it is taken.
pub(super) fn is_taken() -> bool {
    locked(&HELD).is_some()
}

/// The terminal of standard error, where that is one that a picture can be drawn on.
pub(super) fn open() -> Option<Arc<File>> {
    let stderr = io::stderr();
    let able = std::env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb");
    if !able || !stderr.is_terminal() || !is_ours(&stderr) {
        return None;
    }
    let name = rustix::termios::ttyname(&stderr, Vec::new()).ok()?;
    let open = |path: &OsStr| {
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        OpenOptions::new().read(true).write(true).custom_flags(flags.bits().cast_signed()).open(path)
    };
    // Another user's terminal, as after `su`, can be opened by this name only.
    let tty = open(OsStr::from_bytes(name.as_bytes())).or_else(|_| open(OsStr::new("/dev/tty"))).ok()?;
    Some(Arc::new(tty))
}

/// Whether it is the terminal that this program is in the foreground of.
pub(super) fn is_ours(tty: impl std::os::fd::AsFd) -> bool {
    tcgetpgrp(tty).is_ok_and(|group| group == rustix::process::getpgrp())
}

/// Its size.
pub(super) fn size(tty: &File) -> Size {
    tcgetwinsize(tty).map_or(Size::ZERO, |size| Size::new(size.ws_col, size.ws_row))
}

/// Takes it: keys come one by one and unseen, and a screen of its own is shown. Keys that make signals go on doing so.
///
/// # Errors
/// Where it is gone, or may not be taken any more.
pub(super) fn take(tty: &Arc<File>) -> io::Result<()> {
    give_back_on_panic();
    let modes = tcgetattr(&**tty)?;
    let mut ours = modes.clone();
    ours.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    ours.local_modes.insert(LocalModes::ISIG);
    // Ctrl-S would stop the picture with nothing that says why.
    ours.input_modes.remove(InputModes::IXON);
    (ours.special_codes[SpecialCodeIndex::VMIN], ours.special_codes[SpecialCodeIndex::VTIME]) = (1, 0);
    let mut held = locked(&HELD);
    if OVER.load(Ordering::Acquire) {
        return Err(io::ErrorKind::NotConnected.into());
    }
    tcsetattr(&**tty, OptionalActions::Now, &ours)?;
    *held = Some(Held { tty: Arc::clone(tty), modes });
    drop(held);
    let deadline = Instant::now() + PATIENCE;
    write(ENTER.as_bytes(), &|| Instant::now() >= deadline).map(drop)
}

/// Writes, as far as the terminal takes it until it `is_enough`. `false` where something is left, or somebody has given
/// the terminal back.
pub(super) fn write(mut bytes: &[u8], is_enough: &dyn Fn() -> bool) -> io::Result<bool> {
    while !bytes.is_empty() {
        let held = locked(&HELD);
        let Some(Held { tty, .. }) = &*held else { return Ok(false) };
        let tty = Arc::clone(tty);
        // With the lock, so that nothing follows what gives the terminal back.
        let written = attempt(&tty, bytes);
        drop(held);
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

/// Writes what the terminal takes now.
fn attempt(mut tty: &File, bytes: &[u8]) -> io::Result<usize> {
    match tty.write(bytes) {
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(0),
        written => written,
    }
}

/// Waits until it takes something, or for a moment.
fn wait_for(tty: &File) {
    let moment = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    // Whatever this says, the next attempt will tell.
    let _ = poll(&mut [PollFd::new(tty, PollFlags::OUT)], Some(&moment));
}

/// The keys that were pressed; an error where the terminal is gone.
pub(super) fn read(mut tty: &File, keys: &mut [u8]) -> io::Result<usize> {
    match tty.read(keys) {
        Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(0),
        read => read,
    }
}

/// Gives it back as it was, where it is taken. From any thread, any number of times.
pub(super) fn put_down() {
    let Some(Held { tty, modes }) = locked(&HELD).take() else { return };
    let deadline = Instant::now() + PATIENCE;
    let mut rest = LEAVE.as_bytes();
    while !rest.is_empty() && Instant::now() < deadline {
        match attempt(&tty, rest) {
            Ok(written) => rest = &rest[written..],
            // It is gone.
            Err(_) => rest = &[],
        }
        if !rest.is_empty() {
            wait_for(&tty);
        }
    }
    *locked(&OWED) = rest;
    // Where it is gone nobody is left to mind its modes.
    let _ = tcsetattr(&*tty, OptionalActions::Now, &modes);
}

/// Gives it back for good.
pub fn give_back() {
    OVER.store(true, Ordering::Release);
    put_down();
}

/// Whoever writes to the terminal now waits for it anyway: first it is told what it did not take when the view ended.
pub(crate) fn settle() {
    let rest = std::mem::take(&mut *locked(&OWED));
    if !rest.is_empty() {
        // Where standard error is gone there is nobody to tell.
        let _ = io::stderr().write_all(rest);
    }
}

/// A panic's message belongs on the screen that stays.
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
