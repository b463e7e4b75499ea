//! Lines at the end of a terminal's output that change: the current step, and how far it is.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use pgdyno_text::wrap::cut;
use rustix::termios::tcgetwinsize;

use super::locked;

/// Time between two pictures.
const PAUSE: Duration = Duration::from_millis(100);
/// Columns of the bar.
const BAR: u64 = 24;
/// Shown in turn while the progress of a step is unknown.
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// The lines, and the thread that draws them again and again: setting them never waits for the terminal.
pub(super) struct Changing {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Two locks: the one of the terminal is held while it is written to.
#[derive(Default)]
struct Shared {
    wanted: Mutex<Wanted>,
    ended: Condvar,
    terminal: Mutex<Terminal>,
}

/// What the next picture shows.
#[derive(Default)]
struct Wanted {
    /// Completed and total amount, if known.
    far: Option<(u64, u64)>,
    text: String,
    is_over: bool,
}

#[derive(Default)]
struct Terminal {
    /// What it shows now.
    shown: String,
    pictures: usize,
}

impl Changing {
    pub(super) fn begin(far: Option<(u64, u64)>, text: String) -> Self {
        let wanted = Mutex::new(Wanted { far, text, is_over: false });
        let shared = Arc::new(Shared { wanted, ..Shared::default() });
        let theirs = Arc::clone(&shared);
        // Without the thread nothing is shown.
        let thread = std::thread::Builder::new().name("progress".into()).spawn(move || theirs.keep_drawing()).ok();
        Self { shared, thread }
    }

    /// Sets what the next picture shows: completed and total amount, if known, and a text.
    pub(super) fn set(&self, far: Option<(u64, u64)>, text: String) {
        let mut wanted = locked(&self.shared.wanted);
        (wanted.far, wanted.text) = (far, text);
    }

    /// Prints something that stays above them.
    pub(super) fn suspend(&self, print: impl FnOnce()) {
        let mut terminal = locked(&self.shared.terminal);
        terminal.clear();
        print();
        self.shared.draw(&mut terminal);
    }
}

impl Drop for Changing {
    /// Removes the lines.
    fn drop(&mut self) {
        locked(&self.shared.wanted).is_over = true;
        self.shared.ended.notify_all();
        if let Some(thread) = self.thread.take() {
            // It never panics; if it did, its message is printed.
            let _ = thread.join();
        }
        locked(&self.shared.terminal).clear();
    }
}

impl Shared {
    fn keep_drawing(&self) {
        loop {
            self.draw(&mut locked(&self.terminal));
            let wanted = locked(&self.wanted);
            let waited = self.ended.wait_timeout_while(wanted, PAUSE, |wanted| !wanted.is_over);
            if waited.map_or_else(|poisoned| poisoned.into_inner().0.is_over, |(wanted, _)| wanted.is_over) {
                return;
            }
        }
    }

    /// Replaces the lines on the terminal.
    fn draw(&self, terminal: &mut Terminal) {
        let columns = tcgetwinsize(std::io::stderr()).map_or(0, |size| usize::from(size.ws_col));
        let columns = if columns == 0 { 80 } else { columns };
        let picture = {
            let wanted = locked(&self.wanted);
            picture(wanted.far, &wanted.text, terminal.pictures, columns)
        };
        terminal.pictures += 1;
        if picture != terminal.shown {
            write(&(above(&terminal.shown) + &picture));
            terminal.shown = picture;
        }
    }
}

impl Terminal {
    /// Removes the lines.
    fn clear(&mut self) {
        write(&above(&std::mem::take(&mut self.shown)));
    }
}

/// Writes to standard error. If it is closed, that is lost.
fn write(text: &str) {
    drop(std::io::stderr().write_all(text.as_bytes()));
}

/// Returns what moves the cursor from the end of `shown` to its first line, and removes it.
fn above(shown: &str) -> String {
    match shown.lines().count() {
        0 => String::new(),
        1 => "\r\x1b[J".to_owned(),
        lines => format!("\r\x1b[{}A\x1b[J", lines - 1),
    }
}

/// Returns the lines, each no wider than the terminal, so that it does not wrap them.
fn picture(far: Option<(u64, u64)>, text: &str, nth: usize, columns: usize) -> String {
    let mut whole = match far {
        Some((done, of)) => bar(done, of),
        None => SPINNER[nth % SPINNER.len()].to_string(),
    };
    let _ = write!(whole, " {text}");
    let lines: Vec<&str> = whole.lines().map(|line| cut(line, columns.saturating_sub(1))).collect();
    lines.join("\r\n")
}

fn bar(done: u64, of: u64) -> String {
    // A product of two counts of rows may not fit into 64 bits.
    let full = (u128::from(done.min(of)) * u128::from(BAR) / u128::from(of.max(1))) as usize;
    let mut bar = "━".repeat(full);
    if full < BAR as usize {
        bar.push('╸');
    }
    let blank = BAR as usize - bar.chars().count();
    bar + &" ".repeat(blank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_the_share_and_as_wide_as_any() {
        assert_eq!(bar(0, 10), format!("╸{}", " ".repeat(23)));
        assert_eq!(bar(5, 10), format!("{}╸{}", "━".repeat(12), " ".repeat(11)));
        assert_eq!(
            [bar(10, 10), bar(11, 10), bar(u64::MAX, u64::MAX)],
            ["━".repeat(24), "━".repeat(24), "━".repeat(24)]
        );
        assert_eq!(bar(0, 0).chars().count(), 24);
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        assert_eq!(picture(None, "load: keys\nthen the rest", 0, 10), "⠋ load: k\r\nthen the ");
        assert_eq!(picture(None, "x", 11, 80), "⠙ x");
    }

    #[test]
    fn a_terminal_that_takes_nothing_holds_up_nobody_who_sets_the_text() {
        let shared = Arc::new(Shared::default());
        let changing = Changing { shared: Arc::clone(&shared), thread: None };
        let stopped = locked(&shared.terminal);
        let (done, is_done) = std::sync::mpsc::channel();
        let setting = std::thread::spawn(move || {
            changing.set(Some((1, 2)), "half".to_owned());
            done.send(()).unwrap();
        });
        let was_set = is_done.recv_timeout(Duration::from_secs(60));
        drop(stopped);
        setting.join().unwrap();
        assert!(was_set.is_ok() && locked(&shared.wanted).text == "half");
    }

    #[test]
    fn what_is_replaced_is_removed_first() {
        assert_eq!([above(""), above("a"), above("a\r\nb\r\nc")], ["", "\r\x1b[J", "\r\x1b[2A\x1b[J"]);
    }
}
