//! Ctrl-C and SIGTERM: the first ends the run cleanly, the second at once.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use pgdyno_engine::Control;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};
use pgdyno_life::interrupt::Interrupt;
use pgdyno_life::pgbench::Caught;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Listens from now on. Commands look at what is returned.
pub(crate) fn listen() -> Result<Arc<Interrupt>> {
    let interrupt = Arc::new(Interrupt::default());
    let mut signals = Signals::new([SIGINT, SIGTERM]).or_fail(Code::Start)?;
    let listener = Arc::clone(&interrupt);
    thread::Builder::new()
        .name("pgdyno-signals".to_owned())
        .spawn(move || {
            for (nth, signal) in signals.forever().enumerate() {
                let told = match nth {
                    0 => listener.end(),
                    1 => listener.end_at_once(),
                    // Whatever hangs, a third time is meant: the private server's supervisor cleans up.
                    _ => {
                        pgdyno_live::give_back();
                        drop(signal_hook::low_level::emulate_default_handler(signal));
                        continue;
                    }
                };
                // A view tells it, where there is one, and nobody writes over that.
                if listener.events.get().is_none() {
                    drop(writeln!(std::io::stderr(), "\n{told}"));
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
            interrupt.kill();
            thread::sleep(ENDING);
            drop(signal_hook::low_level::emulate_default_handler(SIGTERM));
        })
        .or_fail(Code::Start)?;
    Ok(())
}

/// Listens for the drop-in: the first signal ends the benchmark at once, and is `caught`. A signal that was ignored
/// when the program began stays ignored.
pub(crate) fn listen_as_pgbench(control: &Arc<Control>, caught: &Caught) -> std::io::Result<()> {
    let wanted: Vec<i32> = [SIGINT, SIGTERM].into_iter().filter(|signal| !pgdyno_live::is_ignored(*signal)).collect();
    let mut signals = Signals::new(wanted)?;
    let (control, caught) = (Arc::clone(control), caught.clone());
    thread::Builder::new().name("pgdyno-signals".to_owned()).spawn(move || {
        for (nth, signal) in signals.forever().enumerate() {
            if nth > 0 {
                drop(signal_hook::low_level::emulate_default_handler(signal));
            }
            caught.set(signal);
            control.kill();
        }
    })?;
    Ok(())
}
