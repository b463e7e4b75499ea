//! Ctrl-C and SIGTERM: the first ends the run cleanly, the second at once.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use pgdyno_engine::Control;
use pgdyno_net::{ConnectOptions, Interrupter};
use pgdyno_pgbench::run::EXIT_INTERRUPTED;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};
use crate::life::events::{Event, EventSink};
use crate::{live, signals};

/// What the user has asked for so far.
#[derive(Default)]
pub(crate) struct Interrupt {
    /// Ends a run, cleanly or at once.
    pub(crate) control: Control,
    /// Whether everything is to end at once, what follows a run included.
    pub(crate) at_once: AtomicBool,
    /// Whether whoever started this process is gone.
    pub(crate) orphaned: AtomicBool,
    /// Who tells the user; nobody writes over a view.
    pub(crate) events: OnceLock<Arc<dyn EventSink>>,
    /// How far the run is; where there is none, it never begins.
    stage: AtomicU8,
    /// Ends all waiting for the server but the clients' own.
    waits: Interrupter,
    /// Ends the waits of what puts things back, with the second signal.
    last_waits: Interrupter,
}

/// No client has begun.
const BEFORE: u8 = 0;
/// The clients are at work: they end in good order.
const DRIVING: u8 = 1;
/// What follows a run is all that is left to end.
const AFTER: u8 = 2;

impl Interrupt {
    /// The same options, for connections on which nobody waits any longer after Ctrl-C; while clients drive, after the
    /// second one.
    pub(crate) fn options(&self, options: &ConnectOptions) -> ConnectOptions {
        options.interrupted_by(&self.waits)
    }

    /// The same options for what puts things back after the first Ctrl-C: nobody waits any longer after the second one.
    pub(crate) fn last_options(&self, options: &ConnectOptions) -> ConnectOptions {
        options.interrupted_by(&self.last_waits)
    }

    /// Ends with the first Ctrl-C, unless clients drive.
    pub(crate) fn waits(&self) -> &Interrupter {
        &self.waits
    }

    /// Ends with the second one.
    pub(crate) fn last_waits(&self) -> &Interrupter {
        &self.last_waits
    }

    /// Does `work`, in which the clients drive.
    pub(crate) fn driving<T>(&self, work: impl FnOnce() -> T) -> T {
        self.stage.store(DRIVING, Ordering::Release);
        let done = work();
        self.stage.store(AFTER, Ordering::Release);
        done
    }

    /// An error of what a signal has ended is no error of the server's.
    pub(crate) fn blamed<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|failure| match self.waits.is_interrupted() && failure.code() != Code::Interrupted {
            true => Failure::new(Code::Interrupted, interrupted(&failure.text())),
            false => failure,
        })
    }

    /// The first signal.
    fn end(&self) {
        if self.stage.load(Ordering::Acquire) == AFTER {
            return self.end_at_once();
        }
        self.end_cleanly();
        self.tell("ending; once more to end at once");
    }

    fn end_cleanly(&self) {
        self.control.stop();
        if self.stage.load(Ordering::Acquire) == BEFORE {
            self.waits.interrupt();
        }
    }

    /// The second one.
    fn end_at_once(&self) {
        self.at_once.store(true, Ordering::Release);
        self.kill();
        self.tell("ending at once");
    }

    fn kill(&self) {
        self.control.kill();
        self.waits.interrupt();
        self.last_waits.interrupt();
    }

    fn tell(&self, text: &str) {
        match self.events.get() {
            Some(events) => events.event(&Event::Ending { text }),
            None => drop(writeln!(std::io::stderr(), "\n{text}")),
        }
    }
}

/// The message of what a signal has ended. Most errors say so themselves.
fn interrupted(text: &str) -> String {
    if text.contains("interrupted") { text.to_owned() } else { format!("interrupted: {text}") }
}

/// Listens from now on. Commands look at what is returned.
pub(crate) fn listen() -> Result<Arc<Interrupt>> {
    let interrupt = Arc::new(Interrupt::default());
    let mut signals = Signals::new([SIGINT, SIGTERM]).or_fail(Code::Start)?;
    let listener = Arc::clone(&interrupt);
    thread::Builder::new()
        .name("pgdyno-signals".to_owned())
        .spawn(move || {
            for (nth, signal) in signals.forever().enumerate() {
                match nth {
                    0 => listener.end(),
                    1 => listener.end_at_once(),
                    // Whatever hangs, a third time is meant: the private server's supervisor cleans up.
                    _ => {
                        live::give_back();
                        drop(signal_hook::low_level::emulate_default_handler(signal));
                    }
                }
            }
        })
        .or_fail(Code::Start)?;
    Ok(interrupt)
}

/// So long a run may take to end cleanly after its input has ended; as long again, and it ends by a signal of its own.
const ENDING: Duration = Duration::from_secs(60);

/// Ends the run cleanly when standard input ends, which whoever started it holds open: also when that process was
/// killed. Nobody is left then who could ask once more, so time does.
pub(crate) fn end_with_input(interrupt: &Arc<Interrupt>) -> Result<()> {
    let interrupt = Arc::clone(interrupt);
    thread::Builder::new()
        .name("pgdyno-input".to_owned())
        .spawn(move || {
            // An input that cannot be read has ended, too.
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            interrupt.orphaned.store(true, Ordering::Release);
            interrupt.end_cleanly();
            thread::sleep(ENDING);
            interrupt.at_once.store(true, Ordering::Release);
            interrupt.kill();
            thread::sleep(ENDING);
            drop(signal_hook::low_level::emulate_default_handler(SIGTERM));
        })
        .or_fail(Code::Start)?;
    Ok(())
}

/// The signal that ended the drop-in, if one did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Caught(Arc<AtomicI32>);

impl Caught {
    /// What the process exits with, when a benchmark ended with `code`: 128 and the signal's number where that was it.
    pub(crate) fn exit_code(&self, code: u8) -> u8 {
        let signal = u8::try_from(self.0.load(Ordering::Acquire)).unwrap_or_default();
        if code == EXIT_INTERRUPTED && signal > 0 { 128 + signal } else { code }
    }
}

/// Listens for the drop-in: the first signal ends the benchmark at once, and is `caught`. A signal that was ignored
/// when the program began stays ignored.
pub(crate) fn listen_as_pgbench(control: &Arc<Control>, caught: &Caught) -> std::io::Result<()> {
    let wanted: Vec<i32> = [SIGINT, SIGTERM].into_iter().filter(|signal| !signals::is_ignored(*signal)).collect();
    let mut signals = Signals::new(wanted)?;
    let (control, caught) = (Arc::clone(control), caught.clone());
    thread::Builder::new().name("pgdyno-signals".to_owned()).spawn(move || {
        for (nth, signal) in signals.forever().enumerate() {
            if nth > 0 {
                drop(signal_hook::low_level::emulate_default_handler(signal));
            }
            caught.0.store(signal, Ordering::Release);
            control.kill();
        }
    })?;
    Ok(())
}
