//! The view of a run on the whole screen of a terminal.

use std::os::unix::process::ExitStatusExt;

use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{Action, tcflow};

use crate::given_server::{Place, TRUST};
use crate::program::{Home, PATIENCE, descendants, eventually};
use crate::pty::Pty;

const ENTERED: &str = "\x1b[?1049h";
const LEFT: &str = "\x1b[?1049l";
/// Where cursor and attributes are as a shell wants them.
const RESTORED: &str = "\x1b[0m\x1b[?25h\x1b[?1049l";
/// Drawn where nothing was, so in one piece, once the first second is over.
const FIGURES: &str = "failed";
const CTRL_C: &str = "\x03";
const CTRL_Z: &str = "\x1a";

const SIZE: (u16, u16) = (100, 30);

/// Drives the null server on a terminal.
fn on_terminal(home: &Home, more: &str) -> Pty {
    on_terminal_with(home, more, "xterm-256color", SIZE)
}

fn on_terminal_with(home: &Home, more: &str, term: &str, size: (u16, u16)) -> Pty {
    let args = format!("run select-only --target null -c 2 -R 1000 --ramp 0 {more}");
    let mut command = home.command(args.split(' '));
    command.env("TERM", term);
    Pty::start(command, size)
}

/// What was shown, and what was written when it was over.
#[track_caller]
fn parts(seen: &str) -> (&str, &str) {
    assert_eq!((seen.matches(ENTERED).count(), seen.matches(LEFT).count()), (1, 1), "{seen:?}");
    assert!(seen.contains(RESTORED), "{seen:?}");
    seen.split_once(ENTERED).unwrap().1.split_once(LEFT).unwrap()
}

#[test]
fn a_run_is_shown_on_the_whole_screen_and_then_reported() {
    let home = Home::new();
    let (status, seen) = on_terminal(&home, "-T 3").end();
    assert_eq!(status.code(), Some(0), "{seen}");
    let (shown, after) = parts(&seen);
    for word in ["select-only", "measuring", FIGURES, "p99", "Active sessions", "Ctrl-C"] {
        assert!(shown.contains(word), "{word}: {shown:?}");
    }
    assert!(after.contains("TPS") && after.contains("  open "), "{after}");
    assert!(!after.contains("Throughput"), "nothing is drawn once it is over: {after}");
}

#[test]
fn q_leaves_the_view_and_the_run_goes_on() {
    for key in ["q", "\x1b"] {
        let home = Home::new();
        let mut pty = on_terminal(&home, "-T 4");
        pty.until_it_shows(FIGURES, 1);
        // An arrow is no escape.
        pty.press("\x1b[A");
        pty.press(key);
        pty.until_it_shows(LEFT, 1);
        pty.until_as_before();
        let (status, seen) = pty.end();
        assert_eq!(status.code(), Some(0), "{seen}");
        let (_, after) = parts(&seen);
        assert!(after.contains("0 failed"), "the line of progress takes over: {after:?}");
        assert!(after.contains("TPS"), "{after}");
        let run = home.the_run();
        assert_eq!((run.text("/status"), run.number("/summary/duration_s").round()), ("complete", 4.0));
    }
}

#[test]
fn ctrl_c_ends_a_run_that_is_shown() {
    let home = Home::new();
    let mut pty = on_terminal(&home, "-T 1h");
    pty.until_it_shows(FIGURES, 1);
    pty.press(CTRL_C);
    let (status, seen) = pty.end();
    assert_eq!(status.code(), Some(130), "{seen}");
    let (_, after) = parts(&seen);
    assert!(after.contains("stopping; press Ctrl-C again to force"), "what was shown is said again: {after:?}");
    assert!(after.contains("interrupted: ") && after.contains("TPS"), "{after}");
    assert_eq!(home.the_run().text("/status"), "interrupted");
}

#[test]
fn sigterm_ends_a_run_that_is_shown() {
    let home = Home::new();
    let pty = on_terminal(&home, "-T 1h");
    pty.until_it_shows(FIGURES, 1);
    pty.signal(Signal::TERM);
    let (status, seen) = pty.end();
    assert_eq!(status.code(), Some(130), "{seen}");
    let (_, after) = parts(&seen);
    assert!(after.contains("interrupted: ") && after.contains("TPS"), "{after}");
    assert_eq!(home.the_run().text("/status"), "interrupted");
}

/// Processes that stand still as long as this value is there.
pub(crate) struct Frozen(Vec<Pid>);

impl Frozen {
    /// A server with all its processes.
    pub(crate) fn server(place: &Place) -> Self {
        let file = place.server.dir().join("data/postmaster.pid");
        let postmaster: i32 = std::fs::read_to_string(file).unwrap().lines().next().unwrap().parse().unwrap();
        let all = std::iter::once(postmaster).chain(descendants(postmaster).into_iter().map(|process| process.pid));
        let frozen = Self(all.filter_map(Pid::from_raw).collect());
        frozen.signal(Signal::STOP);
        frozen
    }

    fn signal(&self, signal: Signal) {
        for pid in &self.0 {
            // One that has ended meanwhile needs none.
            let _ = kill_process(*pid, signal);
        }
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        self.signal(Signal::CONT);
    }
}

#[test]
fn a_third_signal_ends_whatever_hangs_and_finds_the_terminal_given_back() {
    let Some(place) = Place::new("a server that hangs while a run is shown", "", TRUST) else { return };
    place.run("load tpcb-like -s 1").ok();
    for signal in [Signal::INT, Signal::TERM] {
        let target = place.target();
        let args = "run select-only -c 2 -R 200 -T 1h --ramp 0 --target";
        let mut command = place.home.command(args.split(' ').chain([target.as_str()]));
        command.env("TERM", "xterm");
        let mut pty = Pty::start(command, SIZE);
        pty.until_it_shows(FIGURES, 1);
        let _frozen = Frozen::server(&place);
        // Signals that come before the last one was taken are one with it.
        eventually("the third ends it", PATIENCE, || {
            pty.signal(signal);
            pty.has_ended()
        });
        let (status, seen) = pty.end();
        assert_eq!(status.signal(), Some(signal.as_raw()), "{seen:?}");
        parts(&seen);
    }
}

#[test]
fn a_stopped_program_has_given_the_terminal_back_and_takes_it_again() {
    let home = Home::new();
    let mut pty = on_terminal(&home, "-T 1h");
    pty.until_it_shows(FIGURES, 1);
    pty.press(CTRL_Z);
    eventually("it stands still", PATIENCE, || pty.is_stopped());
    pty.until_it_shows(LEFT, 1);
    pty.assert_as_before();
    pty.signal(Signal::CONT);
    pty.until_it_shows(ENTERED, 2);
    pty.press(CTRL_C);
    let (status, seen) = pty.end();
    assert_eq!((status.code(), seen.matches(LEFT).count()), (Some(130), 2));
}

#[test]
fn a_signal_that_kills_finds_the_terminal_given_back() {
    for signal in [Signal::HUP, Signal::QUIT] {
        let home = Home::new();
        let pty = on_terminal(&home, "-T 1h");
        pty.until_it_shows(FIGURES, 1);
        pty.signal(signal);
        let (status, seen) = pty.end();
        assert_eq!(status.signal(), Some(signal.as_raw()), "{seen:?}");
        parts(&seen);
    }
}

#[test]
fn a_terminal_that_takes_nothing_does_not_stop_the_run() {
    let home = Home::new();
    let pty = on_terminal(&home, "-T 6");
    pty.until_it_shows(FIGURES, 1);
    tcflow(&pty.terminal, Action::OOff).unwrap();
    // The report waits for the terminal; what was measured does not.
    let is_complete = || home.runs().iter().any(|run| run.text("/status") == "complete");
    eventually("the record is complete", PATIENCE, is_complete);
    tcflow(&pty.terminal, Action::OOn).unwrap();
    let (status, seen) = pty.end();
    assert_eq!(status.code(), Some(0), "{seen:?}");
    let run = home.the_run();
    assert!(run.number("/summary/duration_s") >= 5.9 && run.intervals().len() > 3, "{:?}", run.intervals());
    assert_eq!(run.number("/summary/committed") as u64, run.committed_by_intervals());
}

#[test]
fn there_is_no_view_where_there_is_no_screen_for_it() {
    let home = Home::new();
    let dumb = || on_terminal_with(&home, "-T 2", "dumb", SIZE);
    let small = || on_terminal_with(&home, "-T 2", "xterm", (59, 14));
    let unwanted = || on_terminal(&home, "-T 2 --no-live");
    let quiet = || on_terminal(&home, "-T 2 --quiet");
    for pty in [dumb(), small(), unwanted(), quiet()] {
        let (status, seen) = pty.end();
        assert_eq!(status.code(), Some(0), "{seen}");
        assert!(!seen.contains(ENTERED) && seen.contains("TPS"), "{seen:?}");
    }
    let ran = home
        .run(&["run", "select-only", "--target", "null", "-R", "1000", "-T", "2", "--ramp", "0"])
        .ok()
        .says(&["progress: "]);
    assert!(!ran.stderr.contains('\x1b') && !ran.stdout.contains('\x1b'), "{:?}", ran.stderr);
}

#[test]
fn no_color_counts() {
    let home = Home::new();
    let coloured = |pty: Pty| {
        let (_, seen) = pty.end();
        let shown = parts(&seen).0.to_owned();
        ["\x1b[0;32", "\x1b[0;36", "\x1b[0;90", "\x1b[0;1;32"].iter().any(|code| shown.contains(code))
    };
    assert!(coloured(on_terminal(&home, "-T 2")));
    let mut command = home.command("run select-only --target null -R 1000 -T 2 --ramp 0".split(' '));
    command.env("TERM", "xterm").env("NO_COLOR", "1");
    assert!(!coloured(Pty::start(command, SIZE)));
}

#[test]
fn what_was_said_while_it_was_shown_is_said_again() {
    let Some(place) = Place::new("notes of a run that is shown", "", TRUST) else { return };
    place.run("load tpcb-like -s 1").ok();
    let target = place.target();
    let args = "run select-only -c 2 -R 200 -T 4 --ramp 0 --reconnect 60s --target";
    let mut command = place.home.command(args.split(' ').chain([target.as_str()]));
    command.env("TERM", "xterm");
    // High enough for the messages from before and the new one.
    let pty = Pty::start(command, (100, 60));
    pty.until_it_shows(FIGURES, 1);
    place.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pgdyno' \
         and query like 'SELECT abalance%' order by pid limit 1",
    );
    let (_, seen) = pty.end();
    let (shown, after) = parts(&seen);
    let said = "a client lost its connection: ";
    assert!(after.contains(said), "{after:?}");
    // On the screen what has not changed is not written anew, blanks between words among it.
    assert!(["lost", "connection:"].iter().all(|word| shown.contains(word)), "{shown:?}");
}
