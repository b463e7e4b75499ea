//! `pgdyno capture`: takes what a server executes from its own counters, and shows it.

use std::cell::Cell;
use std::fs::File;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use pgdyno_capture::{CaptureOrder, CaptureRecord, FORMATS, Progress, TakeError, read, take, write};
use pgdyno_life::events::{EventSink, RunEvent};
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::interrupt::Interrupt;
use pgdyno_life::target::reach::is_null;
use pgdyno_life::target::{Access, Target};
use pgdyno_live::ProgressView;
use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_plan::TargetOrder;
use pgdyno_results::{admit_file, write_whole};
use pgdyno_text::units;

use super::report::{admit, put_as};
use crate::cli::{CaptureAction, CaptureArgs, TakeArgs};
use crate::interrupt;

/// How often Ctrl-C is looked for while the window lasts.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long a connection may take.
const CONNECTING: Duration = Duration::from_secs(30);

pub(crate) fn run(args: &CaptureArgs) -> Result<Code> {
    match &args.action {
        Some(CaptureAction::Show { file, format, output, verbose }) => show(file, format, *verbose, output.as_ref()),
        None => capture(&args.take),
    }
}

fn show(file: &Path, format: &str, verbose: bool, output: Option<&PathBuf>) -> Result<Code> {
    admit(output)?;
    let capture = captured(file)?;
    put_as(&capture, FORMATS, format, verbose, output)
}

fn capture(args: &TakeArgs) -> Result<Code> {
    let interrupt = interrupt::listen()?;
    let options = given(&args.order(), "a capture is of a server that clients use, and none is named", &interrupt)?;
    let file = args.output.clone().unwrap_or_else(|| default_file(options.dbname()));
    admit_file(&file).or_fail(Code::Start)?;
    let events: Arc<dyn EventSink> = Arc::new(ProgressView::new(args.quiet));
    let window_s = args.window.seconds();
    let window = Duration::from_secs_f64(window_s);
    let wanted =
        CaptureOrder { window, anonymise: args.anonymise, logs: args.log.clone(), log_prefix: args.log_prefix.clone() };
    // The signal that has ended the window does not end the reading of its logs.
    let is_early = Cell::new(false);
    let mut wait = |length: Duration| {
        if length.is_zero() {
            let stop = if is_early.get() { &interrupt.last_stop } else { &interrupt.stop };
            return stop.is_requested();
        }
        let until = Instant::now() + length;
        while Instant::now() < until && !interrupt.stop.is_requested() {
            thread::sleep(LOOK_EVERY.min(until.saturating_duration_since(Instant::now())));
        }
        interrupt.stop.is_requested()
    };
    let watching = format!("watching {}", options.dbname());
    let mut has_begun = false;
    let mut report = |progress: Progress| match progress {
        Progress::Watching { elapsed_s, active } => {
            if !std::mem::replace(&mut has_begun, true) {
                let text = format!("{watching} for {}; Ctrl-C ends the window", units::duration(window_s));
                events.event(&RunEvent::Note { text: &text });
            }
            let so_far = format!("{active} of its other sessions execute a statement");
            events.event(&RunEvent::Study { now: &watching, so_far: &so_far, done: elapsed_s, of: window_s });
        }
        Progress::Reading => {
            is_early.set(interrupt.stop.is_requested());
            events.ended();
        }
    };
    let taken = interrupt.driving(|| take(&options, &wanted, &mut wait, &mut report));
    events.ended();
    let captured = interrupt.attribute_to_signal(taken.map_err(failed))?;
    let mut bytes = Cursor::new(Vec::new());
    write(&captured, &mut bytes).or_fail(Code::Start)?;
    write_whole(&file, bytes.get_ref()).or_fail(Code::Start)?;
    put_as(&captured, FORMATS, "text", false, None)?;
    let path = file.display();
    super::print_text(&format!("\n{path}  (pgdyno capture show {path} -v)\n"))?;
    Ok(Code::Success)
}

/// Reads a capture.
pub(super) fn captured(file: &Path) -> Result<CaptureRecord> {
    let unread = |error: String| CommandError::new(Code::Start, format!("cannot read {}: {error}", file.display()));
    let opened = File::open(file).map_err(|error| unread(error.to_string()))?;
    read(opened).map_err(|error| {
        unread(error.to_string()).hint("name a file that `pgdyno capture` of this version or an older one wrote")
    })
}

/// Returns how to connect to a server that must be given; `why` says what for.
pub(super) fn given(order: &TargetOrder, why: &str, interrupt: &Interrupt) -> Result<ConnectOptions> {
    let target = Target::resolve(order)?;
    let Access::Given(_) = &target.access else {
        let hint = "name it: --target \"host=db1 dbname=shop\", or PGHOST and PGDATABASE";
        return Err(CommandError::new(Code::Start, why.to_owned()).hint(hint));
    };
    let reached = target.reach(order)?;
    let options = reached.options().ok_or_else(|| CommandError::new(Code::Start, "there is no server to reach"))?;
    let options = interrupt.options(options).with_default_connect_timeout(CONNECTING);
    if is_null(&Admin::connect(&options).or_fail(Code::Start)?) {
        return Err(CommandError::new(Code::Start, format!("{options} is a null server: it executes nothing")));
    }
    Ok(options)
}

fn failed(error: TakeError) -> CommandError {
    let remedy = error.remedy();
    let failure = CommandError::new(Code::Start, error);
    match remedy {
        Some(remedy) => failure.hint(remedy),
        None => failure,
    }
}

/// Returns the file of a database without another name.
fn default_file(database: &str) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    PathBuf::from(format!("{}.capture", database.chars().map(plain).collect::<String>()))
}
