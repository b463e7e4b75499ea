//! Another machine, by a shell there that prints its `/proc` on request.
//!
//! One `ssh` lasts for the whole run. The shell waits for a line, so it ends with the connection, which ends with
//! pgdyno; and its looks have the same times as those at this machine.

use std::collections::HashMap;
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Instant;

use super::beat::{Beat, Wake};
use super::child::Teller;
use super::observer::{MachineReading, Observer};
use super::os_metrics::OsMetrics;
use super::proc::{BOOT, FILES, ProcTexts};
use super::process::Process;
use super::report::{MachineReport, Sink};
use super::{MACHINE, PROCESSES};

/// Options before the user's: never prompt, notice a host that is gone, and use no terminal.
const OPTIONS: [&str; 11] = [
    "-T",
    "-o",
    "LogLevel=ERROR",
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=10",
    "-o",
    "ServerAliveInterval=5",
    "-o",
    "ServerAliveCountMax=3",
];

/// Beginning of the line that names a text.
const NAMES: &str = "== ";

/// Name of the line after the last text of a look.
const END: &str = "end";

/// Looks at processes are less frequent by one for so many of them: a shell is slower than this program.
const PROCESSES_PER_SECOND: usize = 500;

/// Looks after which the server's processes count as not found.
const SEARCH: u64 = 3;

/// Commands of the shell there, in one line and without a single quote, so that any login shell can run it. It reads
/// a line for each look: `processes` in it requests all processes, numbers request the titles of some. The shell
/// itself reads the files, so that a look at a thousand processes starts none.
fn script() -> String {
    let files = FILES.join(" ");
    format!(
        "cd /proc && while read -r asked; do \
         for f in {files}; do echo \"{NAMES}$f\"; cat $f; done; \
         case $asked in *processes*) echo \"{NAMES}processes\"; \
         for p in [0-9]*; do read -r line < $p/stat && printf \"%s\\n\" \"$line\"; done;; esac; \
         echo \"{NAMES}titles\"; \
         for p in $asked; do case $p in [0-9]*) line=; read -r line < $p/cmdline; printf \"%s %s\\n\" $p \"$line\";; esac; done; \
         echo \"{NAMES}{END}\"; done 2>/dev/null"
    )
}

/// Looks at the machine that `words` lead `ssh` to, every second until it is stopped, or `ssh` ends.
pub(crate) fn watch(
    mut ssh: Command,
    words: &[String],
    mut observer: Observer,
    own: &Sender<Wake>,
    wake: &Receiver<Wake>,
    report: &Sink,
) {
    let name = OsMetrics::Ssh(words.to_vec()).name();
    let left_out = |why: String| report(MachineReport::LeftOut { source: MACHINE, why: format!("{name}: {why}") });
    ssh.args(OPTIONS).args(words).arg(format!("exec sh -c '{}'", script()));
    let mut teller = match Teller::start(&mut ssh, own) {
        Ok(teller) => teller,
        Err(error) => return left_out(format!("it could not be started: {error}")),
    };
    let began = Instant::now();
    let (mut beat, mut stream) = (Beat::begin(), Stream::default());
    let (mut looks, mut count, mut seconds) = (0_u64, 0_usize, 0_usize);
    let mut wanted: Vec<i32> = observer.tally.wanted(&[]);
    let mut asked: Option<Instant> = None;
    loop {
        if asked.is_none() {
            let processes = if seconds.is_multiple_of(1 + count / PROCESSES_PER_SECOND) { "processes" } else { "" };
            let titles: String = wanted.iter().map(|pid| format!(" {pid}")).collect();
            // If it has ended, its output ends as well.
            let _ = teller.ask(&format!("{processes}{titles}"));
            asked = Some(Instant::now());
        }
        seconds += 1;
        // Takes input until the next second.
        while let Some(woken) = beat.wait(wake) {
            match woken {
                Wake::Stop if looks == 0 => {
                    return left_out(format!("no answer within {:.0} s", began.elapsed().as_secs_f64()));
                }
                Wake::Stop => return,
                Wake::Ended if looks == 0 => return left_out(format!("it returned nothing: {}", teller.epitaph())),
                Wake::Ended => return left_out(format!("it ended after {looks} samples: {}", teller.epitaph())),
                Wake::Line(line) => {
                    let Some(texts) = stream.take(&line) else { continue };
                    let moment = asked.take().map_or_else(Instant::now, |asked| asked + asked.elapsed() / 2);
                    if looks == 0 && texts.file(BOOT) == super::local::boot() {
                        observer.tally.is_here();
                    }
                    let look = digested(texts);
                    match observer.digest(&look, moment) {
                        Ok(frames) => frames.into_iter().for_each(|frame| report(MachineReport::Frame(frame))),
                        Err(malformed) => return left_out(format!("{malformed}; is that machine Linux?")),
                    }
                    looks += 1;
                    if let Some(processes) = &look.processes {
                        count = processes.len();
                        wanted = observer.tally.wanted(processes);
                    }
                    if looks == SEARCH && observer.tally.seeks_server() && !observer.tally.has_server() {
                        let why = "the server's processes are not among those of that machine, or hidden".to_owned();
                        report(MachineReport::LeftOut { source: PROCESSES, why: format!("{name}: {why}") });
                    }
                }
            }
        }
    }
}

/// Parses a look from its texts.
pub(super) fn digested(texts: ProcTexts) -> MachineReading {
    let processes = texts.processes.as_ref().map(|lines| lines.lines().filter_map(Process::parse).collect());
    let title = |line: &str| {
        let (pid, title) = line.split_once(' ')?;
        Some((pid.parse().ok()?, title.to_owned()))
    };
    let titles: HashMap<i32, String> = texts.titles.lines().filter_map(title).collect();
    MachineReading { texts, processes, titles }
}

/// Assembles looks from the lines of the shell.
#[derive(Debug, Default)]
pub(super) struct Stream {
    texts: ProcTexts,
    /// The text that lines belong to; `None` before the first look, while a host may send a banner.
    name: Option<String>,
}

impl Stream {
    /// Takes a line. The last line of a look completes it.
    pub(super) fn take(&mut self, line: &str) -> Option<ProcTexts> {
        match (line.strip_prefix(NAMES), &self.name) {
            (Some(END), _) => {
                self.name = None;
                return Some(std::mem::take(&mut self.texts));
            }
            (Some(name), _) => {
                // An empty text was read, too.
                self.texts.place(name);
                self.name = Some(name.to_owned());
            }
            (None, Some(name)) => {
                if let Some(text) = self.texts.place(name) {
                    text.push_str(line);
                    text.push('\n');
                }
            }
            (None, None) => {}
        }
        None
    }
}

#[cfg(test)]
mod tests;
