//! Ctrl-C and SIGTERM: the first ends the run cleanly, the second at once.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use pgdyno_engine::Stop;
use pgdyno_life::events::RunEvent;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};
use pgdyno_life::interrupt::Interrupt;
use pgdyno_life::pgbench::Caught;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Handles signals from now on. Commands check the returned value.
pub(crate) fn listen() -> Result<Arc<Interrupt>> {
    let interrupt = Arc::new(Interrupt::default());
    let mut signals = Signals::new([SIGINT, SIGTERM]).or_fail(Code::Start)?;
    report_waits(&interrupt);
    let listener = Arc::clone(&interrupt);
    thread::Builder::new()
        .name("pgdyno-signals".to_owned())
        .spawn(move || {
            for (nth, signal) in signals.forever().enumerate() {
                let message = match nth {
                    0 => listener.end(),
                    1 => listener.end_at_once(),
                    // The third signal ends the process, whatever hangs: the private server's supervisor cleans up.
                    _ => {
                        pgdyno_live::give_back();
                        drop(signal_hook::low_level::emulate_default_handler(signal));
                        continue;
                    }
                };
                // A view shows the message, if there is one, and nothing else may write over it.
                if listener.events.get().is_none() {
                    drop(writeln!(std::io::stderr(), "\n{message}"));
                }
            }
        })
        .or_fail(Code::Start)?;
    Ok(interrupt)
}

/// Reports what long waits are for: to the view, if there is one.
fn report_waits(interrupt: &Arc<Interrupt>) {
    let known = Arc::downgrade(interrupt);
    interrupt.lookout.report_to(move |text| {
        let interrupt = known.upgrade();
        match interrupt.as_ref().and_then(|interrupt| interrupt.events.get()) {
            Some(events) => events.event(&RunEvent::Waiting { text }),
            // If standard error is closed, the line is lost.
            None => drop(writeln!(std::io::stderr(), "waiting: {text}")),
        }
    });
}

/// How long a run may take to end cleanly after its input has ended. After twice this time it ends itself by a signal.
const ENDING: Duration = Duration::from_secs(60);

/// Ends the run cleanly when standard input ends. The parent process holds it open, so this also happens when that is
/// killed. Then nobody can send a second signal, so a time limit replaces it.
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

/// Handles signals for the drop-in: the first one ends the benchmark at once, and is stored in `caught`. Signals that
/// were ignored when the program started stay ignored.
pub(crate) fn listen_as_pgbench(stop: &Arc<Stop>, caught: &Caught) -> std::io::Result<()> {
    let wanted: Vec<i32> = [SIGINT, SIGTERM].into_iter().filter(|signal| !pgdyno_live::is_ignored(*signal)).collect();
    let mut signals = Signals::new(wanted)?;
    let (stop, caught) = (Arc::clone(stop), caught.clone());
    thread::Builder::new().name("pgdyno-signals".to_owned()).spawn(move || {
        for (nth, signal) in signals.forever().enumerate() {
            if nth > 0 {
                drop(signal_hook::low_level::emulate_default_handler(signal));
            }
            caught.set(signal);
            stop.at_once();
        }
    })?;
    Ok(())
}
