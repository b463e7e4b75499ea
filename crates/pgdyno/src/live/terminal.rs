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
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use ratatui::layout::Size;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr,
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

fn held() -> MutexGuard<'static, Option<Held>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether it is taken.
pub(super) fn is_taken() -> bool {
    held().is_some()
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
pub(super) fn take(tty: &Arc<File>) -> io::Result<()> {
    give_back_on_panic();
    let modes = tcgetattr(&**tty)?;
    let mut ours = modes.clone();
    ours.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    ours.local_modes.insert(LocalModes::ISIG);
    // Ctrl-S would stop the picture with nothing that says why.
    ours.input_modes.remove(InputModes::IXON);
    let mut held = held();
    tcsetattr(&**tty, OptionalActions::Now, &ours)?;
    *held = Some(Held { tty: Arc::clone(tty), modes });
    drop(held);
    write(ENTER.as_bytes(), Instant::now() + PATIENCE, &|| false);
    Ok(())
}

/// Writes, as far as the terminal takes it until `deadline` or until `is_over`. `false` where something is left, or
/// somebody has given the terminal back.
pub(super) fn write(mut bytes: &[u8], deadline: Instant, is_over: &dyn Fn() -> bool) -> bool {
    while !bytes.is_empty() {
        let held = held();
        let Some(Held { tty, .. }) = &*held else { return false };
        let tty = Arc::clone(tty);
        // With the lock, so that nothing follows what gives the terminal back.
        let written = (&*tty).write(bytes);
        drop(held);
        match written {
            Ok(n) => bytes = &bytes[n..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if is_over() || Instant::now() >= deadline {
                    return false;
                }
                let pause = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
                let _ = poll(&mut [PollFd::new(&*tty, PollFlags::OUT)], Some(&pause));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // It is gone.
            Err(_) => return false,
        }
    }
    true
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
pub(crate) fn give_back() {
    let Some(Held { tty, modes }) = held().take() else { return };
    let deadline = Instant::now() + PATIENCE;
    let mut bytes = LEAVE.as_bytes();
    while !bytes.is_empty() && Instant::now() < deadline {
        match (&*tty).write(bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let pause = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
                let _ = poll(&mut [PollFd::new(&*tty, PollFlags::OUT)], Some(&pause));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    // Where it is gone nobody is left to mind its modes.
    let _ = tcsetattr(&*tty, OptionalActions::Now, &modes);
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
