//! A profile of a server's processes by Linux' `perf`: call stacks of all of its backends in the measured window.
//!
//! `perf record` attaches to the postmaster and to those children that stay, before the clients connect, and its events are inherited by
//! the backends that the postmaster forks. A process that it was given and that ends makes it poll without pause, which takes a CPU. It
//! samples from then on, since it does not see what a process forks and maps while its events are disabled; of the samples, those of the
//! window are read, by their times on the monotonic clock. Within the window it pauses for an interval now and then, so that the run
//! itself shows what it costs. Sources: perf-record(1) of Linux 5.11 and later, perf-script(1).

mod stacks;

use std::cell::Cell;
use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::process::Signal;
use rustix::time::{ClockId, Timespec, clock_gettime};

use super::process::{self, Process};
use crate::process::{ends_with_parent, send};

/// Samples a second on each CPU: enough for a flame graph of seconds, and not in step with timers.
pub const FREQUENCY_HZ: u32 = 199;

/// How long perf may take to attach, or to end.
const PATIENCE: Duration = Duration::from_secs(20);

/// Call stacks and how often each was seen: frames from the root to the leaf, separated by semicolons.
pub type Stacks = Vec<(String, u64)>;

/// Returns why this process cannot profile others here, and the remedy; `None` if it can.
#[must_use]
pub fn hindrance() -> Option<(String, String)> {
    let version = Command::new("perf").arg("--version").output();
    if !version.is_ok_and(|output| output.status.success()) {
        let remedy =
            "install perf (Debian: apt-get install linux-perf; Ubuntu: linux-tools-generic), or leave --perf out";
        return Some(("perf is not installed".to_owned(), remedy.to_owned()));
    }
    let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?.trim().parse::<i32>().ok()?;
    // Debian's kernels have a level 3, which leaves nothing to other users than root.
    (level > 2 && !rustix::process::geteuid().is_root()).then(|| {
        let what = format!("kernel.perf_event_paranoid is {level}: only root may use perf");
        (what, "sysctl kernel.perf_event_paranoid=1 as root, or leave --perf out".to_owned())
    })
}

/// `perf record` while it runs. Dropping it ends it and removes its files.
#[derive(Debug)]
pub struct Perf {
    child: Child,
    control: File,
    /// Begin and end of the measured window on the monotonic clock.
    window: [Cell<Option<Timespec>>; 2],
    /// A directory for the FIFOs and the data.
    place: PathBuf,
}

impl Perf {
    /// Attaches to a postmaster and its children that stay; `with_backends` to all, where a pooler has its connections already.
    /// `place` is a directory for its files, which it makes and removes. perf is killed if the calling thread ends.
    ///
    /// # Errors
    /// In words, when perf cannot be started or cannot attach.
    pub fn begin(postmaster: i32, with_backends: bool, place: PathBuf) -> Result<Self, String> {
        std::fs::create_dir_all(&place).map_err(failed("failed to make its directory"))?;
        let ((control_path, control), (answer_path, answer)) = (fifo(&place, "control")?, fifo(&place, "answer")?);
        let mut command = Command::new("perf");
        command
            .args(["record", "--quiet", "--call-graph", "fp", "--freq", &FREQUENCY_HZ.to_string()])
            .args(["--clockid", "CLOCK_MONOTONIC"])
            .arg("--control")
            .arg(format!("fifo:{},{}", control_path.display(), answer_path.display()))
            .arg("--output")
            .arg(place.join("perf.data"))
            .arg("--pid")
            .arg(family(postmaster, with_backends))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        // What it has written is of no use to a run that was killed.
        ends_with_parent(&mut command, Signal::KILL);
        let child = command.spawn().map_err(failed("failed to start perf"))?;
        let mut perf = Self { child, control, window: Default::default(), place };
        perf.ping(answer)?;
        Ok(perf)
    }

    /// Marks the begin of the measured window.
    pub fn window_opens(&self) {
        self.window[0].set(Some(clock_gettime(ClockId::Monotonic)));
    }

    /// Marks its end.
    pub fn window_closes(&self) {
        self.window[1].set(Some(clock_gettime(ClockId::Monotonic)));
    }

    /// Takes no samples until [`Perf::resume`].
    pub fn pause(&self) {
        self.order("disable\n");
    }

    /// Takes samples again.
    pub fn resume(&self) {
        self.order("enable\n");
    }

    fn order(&self, order: &str) {
        // A perf that has ended is reported at the end.
        let _ = (&self.control).write_all(order.as_bytes());
    }

    /// Ends perf and returns the stacks of the window.
    ///
    /// # Errors
    /// In words, when perf failed, its data cannot be read, or there was no window.
    pub fn end(mut self) -> Result<Stacks, String> {
        self.stop()?;
        let [Some(begin), Some(end)] = self.window.each_ref().map(Cell::get) else {
            return Err("the measured window has not come to its end".to_owned());
        };
        let seconds = |at: Timespec| format!("{}.{:09}", at.tv_sec, at.tv_nsec);
        let mut script = Command::new("perf")
            .args(["script", "--no-inline", "--fields", "comm,tid,ip,sym,dso", "--time"])
            .arg(format!("{},{}", seconds(begin), seconds(end)))
            .arg("--input")
            .arg(self.place.join("perf.data"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("failed to start perf script: {error}"))?;
        let read = match script.stdout.take() {
            Some(output) => stacks::read(BufReader::new(output)).map_err(|error| error.to_string()),
            None => Err("perf script has no output".to_owned()),
        };
        let status = script.wait().map_err(|error| error.to_string())?;
        if !status.success() {
            return Err(format!("perf script failed ({status})"));
        }
        read.and_then(|stacks| match stacks.is_empty() {
            true => Err("perf saw no process of the server on a CPU".to_owned()),
            false => Ok(stacks),
        })
    }

    /// Waits until perf answers, which it does once it has attached.
    fn ping(&mut self, answer: File) -> Result<(), String> {
        self.control.write_all(b"ping\n").map_err(failed("failed to ask perf"))?;
        let flags = rustix::fs::fcntl_getfl(&answer).map_err(|error| error.to_string())?;
        rustix::fs::fcntl_setfl(&answer, flags | OFlags::NONBLOCK).map_err(|error| error.to_string())?;
        let deadline = Instant::now() + PATIENCE;
        let mut bytes = [0; 64];
        while (&answer).read(&mut bytes).is_err() {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(self.complaint(&format!("perf ended at once ({status})")));
            }
            if Instant::now() > deadline {
                return Err("perf does not answer; version 5.11 or newer is needed".to_owned());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Ends `perf record` as Ctrl-C does, so that it writes its file.
    fn stop(&mut self) -> Result<(), String> {
        send(self.pid(), Signal::INT);
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.child.try_wait() {
                Ok(Some(_)) if self.place.join("perf.data").exists() => return Ok(()),
                Ok(Some(status)) => return Err(self.complaint(&format!("perf wrote nothing ({status})"))),
                Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(10)),
                Ok(None) => return Err("perf does not end".to_owned()),
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap_or_default()
    }

    /// Returns what perf, which has ended, said on standard error.
    fn complaint(&mut self, otherwise: &str) -> String {
        let mut text = String::new();
        if let Some(stderr) = &mut self.child.stderr {
            // What cannot be read is left out.
            let _ = stderr.read_to_string(&mut text);
        }
        let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if said.is_empty() { otherwise.to_owned() } else { said.chars().take(300).collect() }
    }
}

impl Drop for Perf {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
        remove(&self.place);
    }
}

fn remove(place: &Path) {
    // They are of no use to anybody, and a run does not fail by them.
    let _ = std::fs::remove_dir_all(place);
}

/// Returns a message that says what failed, and why.
fn failed<E: Display>(what: &'static str) -> impl FnOnce(E) -> String {
    move |error| format!("{what}: {error}")
}

/// Makes a FIFO, and opens both of its ends, so that neither opening nor writing waits for the other side.
fn fifo(place: &Path, name: &str) -> Result<(PathBuf, File), String> {
    let path = place.join(name);
    let made =
        Command::new("mkfifo").args(["-m", "600"]).arg(&path).status().map_err(failed("failed to run mkfifo"))?;
    if !made.success() {
        return Err(format!("failed to make the FIFO {}", path.display()));
    }
    let file = OpenOptions::new().read(true).write(true).open(&path).map_err(failed("failed to open a FIFO"))?;
    Ok((path, file))
}

/// Titles of a postmaster's children that stay as long as it does.
const STAYING: [&str; 8] = [
    "archiver",
    "autovacuum launcher",
    "background writer",
    "checkpointer",
    "logical replication launcher",
    "stats collector",
    "walsummarizer",
    "walwriter",
];

/// Returns a postmaster and its children as perf takes them: those that stay, or all.
fn family(postmaster: i32, with_backends: bool) -> String {
    let children = process::all().filter(|pid| Process::look(*pid).is_some_and(|process| process.parent == postmaster));
    let children = children.filter(|pid| with_backends || title(*pid).is_some_and(|title| stays(&title)));
    let all: Vec<_> = std::iter::once(postmaster).chain(children).map(|pid| pid.to_string()).collect();
    all.join(",")
}

/// Returns the title of a process; `None` if it has ended.
fn title(pid: i32) -> Option<String> {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    Some(String::from_utf8_lossy(&bytes).replace('\0', " "))
}

/// Returns true if a child of a postmaster with this title stays. Between `postgres: ` and its kind is the cluster's name, if it has one.
fn stays(title: &str) -> bool {
    let kind = title.rsplit_once(": ").map_or(title, |(_, kind)| kind).trim();
    STAYING.contains(&kind) || kind.starts_with("io worker ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_processes_that_stay_are_given_to_perf() {
        for title in ["postgres: checkpointer ", "postgres: main: walwriter   ", "postgres: io worker 2"] {
            assert!(stays(title), "{title}");
        }
        for title in [
            "postgres: ann bench [local] idle",
            "postgres: checkpointer db 10.0.0.7(40112) SELECT",
            "postgres: autovacuum worker bench",
            "postgres: parallel worker for PID 77",
            "postgres: walsender rep 10.0.0.7(40112) streaming 0/3000148",
        ] {
            assert!(!stays(title), "{title}");
        }
    }

    #[test]
    fn this_process_has_no_child_that_stays() {
        let own = std::process::id() as i32;
        assert_eq!(family(own, false), own.to_string());
    }
}
