//! The thread that draws and reads keys. It waits only for the terminal, and nothing waits for it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ratatui_core::layout::Size;
use ratatui_core::terminal::Terminal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::draw::{self, DrawOptions};
use super::keys::{Key, Keys};
use super::screen::Screen;
use super::signals::Stops;
use super::{Shared, terminal};

/// Time between two pictures.
const PAUSE: Duration = Duration::from_millis(250);
/// Time in which the rest of a sequence follows an escape.
const SEQUENCE: Duration = Duration::from_millis(50);

/// The view in its thread.
pub(super) struct View {
    pub(super) shared: Arc<Shared>,
    pub(super) tty: Arc<File>,
    /// Becomes readable when there is something to do.
    pub(super) woken: UnixStream,
    pub(super) stops: Stops,
    pub(super) colour: bool,
}

/// Leaves the view when its thread ends, for whatever reason.
struct Leave<'a>(&'a Shared);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        terminal::restore();
        self.0.left();
    }
}

impl View {
    /// Shows the run until it ends or the user leaves.
    pub(super) fn show(mut self) {
        let shared = Arc::clone(&self.shared);
        let _leave = Leave(&shared);
        let Ok(mut canvas) = Terminal::new(Screen::new(Size::ZERO));
        let (mut keys, mut look) = (Keys::default(), DrawOptions { colour: self.colour, ..DrawOptions::default() });
        let mut drawn = None;
        while !shared.ended.load(Ordering::Acquire) {
            if self.stops.handle() {
                // Another program may have written to the terminal in between.
                drawn = None;
            }
            // In the background the terminal belongs to another program.
            let ours = terminal::is_ours(&*self.tty);
            if drawn.is_none() && ours && !terminal::is_taken() {
                if terminal::take(&self.tty).is_err() {
                    return;
                }
                let Ok(()) = canvas.clear();
            }
            let size = terminal::size(&self.tty);
            if ours && (!look.paused || drawn != Some(size)) {
                look.now_s = shared.begun.elapsed().as_secs_f64();
                canvas.backend_mut().resize(size);
                let Ok(_) = canvas.draw(|frame| {
                    let area = frame.area();
                    draw::draw(&shared.model(), look, area, frame.buffer_mut());
                });
                let picture = canvas.backend_mut().take();
                let is_enough = || shared.ended.load(Ordering::Acquire) || self.stops.is_due();
                match terminal::write(picture.as_bytes(), &is_enough) {
                    Ok(true) => drawn = Some(size),
                    // The last picture is incomplete.
                    Ok(false) => {
                        drawn = None;
                        let Ok(()) = canvas.clear();
                        continue;
                    }
                    // The terminal is gone.
                    Err(_) => return,
                }
            }
            let pressed = match self.wait(ours, &mut keys) {
                Ok(pressed) => pressed,
                // The terminal is gone.
                Err(_) => return,
            };
            for key in pressed {
                match key {
                    Key::Leave => return,
                    Key::Pause => look.paused = !look.paused,
                    Key::Help => look.help = !look.help,
                }
                drawn = drawn.filter(|_| !look.paused);
            }
        }
    }

    /// Waits for keys, or for a time.
    fn wait(&mut self, ours: bool, keys: &mut Keys) -> std::io::Result<Vec<Key>> {
        let pause = if keys.is_open() { SEQUENCE } else { PAUSE };
        let pause = Timespec { tv_sec: 0, tv_nsec: pause.subsec_nanos().into() };
        let mut places = [PollFd::new(&self.woken, PollFlags::IN), PollFd::new(&*self.tty, PollFlags::IN)];
        let watched = if ours { 2 } else { 1 };
        if poll(&mut places[..watched], Some(&pause)) == Ok(0) {
            return Ok(keys.settle().into_iter().collect());
        }
        // The reason for the wake-up is stored elsewhere.
        let _ = self.woken.read(&mut [0; 64]);
        let mut bytes = [0; 64];
        let read = if ours { terminal::read(&self.tty, &mut bytes)? } else { 0 };
        Ok(keys.read(&bytes[..read]))
    }
}

/// Wakes the view.
pub(super) fn wake(mut waker: &UnixStream) {
    // A full pipe already contains wake-ups, and one is enough.
    let _ = waker.write(&[0]);
}
