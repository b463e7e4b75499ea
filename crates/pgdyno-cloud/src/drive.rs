//! Drives a size: its suite runs in the background, here or on the size's driver, and is asked how far it is. Nothing depends on
//! the connection, or on this process: the next process finds the suite by its directory.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use pgdyno_life::agents::SshMachine;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::target::own_program;
use pgdyno_net::{Admin, ConnectOptions, Env};
use pgdyno_untrusted::ShellWord;
use serde_json::Value;

use crate::bounded::{self, Printed};
use crate::engine::{LabServer, PASSWORD};
use crate::lab::{now_s, write_private};
use crate::lab_file::{LabFile, LabSize, TARGET, Work, quoted};
use crate::order::LabOrder;

/// Results of a size's suite, in its directory, here and on the driver.
pub(crate) const RESULTS: &str = "results";
const SUITE: &str = "suite.toml";
const TARGETS: &str = "pgdyno.toml";

/// How long one question may take.
const QUESTION: Duration = Duration::from_secs(120);
/// How long a server and a driver may take to answer after they were created.
const ANSWER: Duration = Duration::from_secs(900);
const POLL_HERE: Duration = Duration::from_millis(300);
/// The first pause between two questions to a driver; each is twice the one before, up to the last.
const POLL_THERE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));
/// How often a suite that was broken off is resumed.
const RESUMES_MAX: u32 = 3;
/// How often a wait looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);
/// How a suite is that runs, and how one is that a kill, a signal or the end of its machine has ended.
const RUNNING: &str = "running";
const OPEN: [&str; 2] = ["broken off", "interrupted"];
/// How an error says that a driver cannot be reached now.
const BROKEN: &str = "the connection is broken";

/// Where the suite of a size runs.
pub(crate) struct Driver<'a> {
    order: &'a LabOrder<'a>,
    size: &'a LabSize,
    server: &'a LabServer,
    /// The machine and the directory there; none if it is this one.
    pub(crate) machine: Option<(SshMachine, String)>,
    /// The directory of the size here.
    pub(crate) directory: PathBuf,
}

impl<'a> Driver<'a> {
    pub(crate) fn of(order: &'a LabOrder<'a>, size: &'a LabSize, server: &'a LabServer) -> Self {
        let lab = order.lab;
        let machine = server.driver.as_ref().map(|driver| {
            let known = lab.directory.join("known_hosts");
            let mut options = vec!["-i".to_owned(), lab.key().display().to_string()];
            // The host's key is pinned when the driver is reached first; nothing else of the user's is offered to it.
            for option in [
                "IdentitiesOnly=yes".to_owned(),
                "StrictHostKeyChecking=accept-new".to_owned(),
                format!("UserKnownHostsFile={}", known.display()),
                "ServerAliveInterval=15".to_owned(),
                "ServerAliveCountMax=4".to_owned(),
            ] {
                options.extend(["-o".to_owned(), option]);
            }
            options.extend(driver.port.into_iter().flat_map(|port| ["-p".to_owned(), port.to_string()]));
            let machine = SshMachine { destination: format!("{}@{}", driver.user, driver.host), options };
            (machine, format!("pgdyno-lab-{}-{}", lab.file.name, size.name))
        });
        Self { order, size, server, machine, directory: lab.size_directory(size) }
    }

    /// Waits until the driver is ready and the server answers.
    pub(crate) fn wait_until_up(&self) -> Result<()> {
        let until = Instant::now() + ANSWER;
        let mut is_noted = false;
        loop {
            let asked = match &self.machine {
                None => self.ask_here(),
                Some(_) => self.ask_there(),
            };
            let Err(error) = asked else { return Ok(()) };
            if !std::mem::replace(&mut is_noted, true) {
                let text = format!("{}: waiting for the driver and the server: {}", self.size.name, error.text());
                self.order.events.note(&text);
            }
            self.pause(Duration::from_secs(1))?;
            if Instant::now() > until {
                return Err(error);
            }
        }
    }

    fn ask_here(&self) -> Result<()> {
        let mut options = ConnectOptions::resolve(&self.dsn(), &Env::default()).or_fail(Code::Run)?;
        if let Some(password) = self.order.password {
            options = options.with_password(pgdyno_net::Secret::new(password.to_owned()));
        }
        let options = self.order.interrupt.options(&options);
        Admin::connect(&options).or_fail(Code::Run)?.query_one("SELECT 1").or_fail(Code::Run).map(drop)
    }

    /// Looks whether the driver is ready, gives it this program and the password, and lets it ask the server.
    fn ask_there(&self) -> Result<()> {
        let Some((machine, directory)) = &self.machine else { return Ok(()) };
        let place = ShellWord(directory);
        // 2: it is done, with warnings. A short question, so that Ctrl-C is not waited for.
        let ready = format!(
            "if command -v cloud-init >/dev/null; then timeout 5 cloud-init status --wait >/dev/null 2>&1 || [ $? = 2 ] || {{ echo 'cloud-init is not done' >&2; exit 1; }}; fi
             umask 077 && mkdir -p {place}"
        );
        answered(bounded::run(machine.command(&ready), QUESTION), "prepare the driver")?;
        machine.install(&format!("{directory}/pgdyno"))?;
        let LabServer { host, port, user, .. } = self.server;
        if let Some(password) = self.order.password {
            // In the order of libpq's password file, in which these two letters are escaped.
            let escaped = |text: &str| text.replace('\\', "\\\\").replace(':', "\\:");
            let line = format!("{}:{port}:*:{}:{}\n", escaped(host), escaped(user), escaped(password));
            self.put(&format!("umask 077 && cat >{place}/pgpass"), line.as_bytes())?;
        }
        self.put(&format!("cat >{place}/{TARGETS}"), self.targets().as_bytes())?;
        let suite = match &self.order.lab.file.work {
            Work::Suite(path) => fs::read_to_string(path).or_fail(Code::Start)?,
            _ => self.order.lab.file.suite_text(self.size).unwrap_or_default(),
        };
        self.put(&format!("cat >{place}/{SUITE}"), suite.as_bytes())?;
        let asked = self.shell(&format!(
            "./pgdyno doctor --target {TARGET} --config {TARGETS} >doctor.txt 2>&1; c=$?; [ $c = 0 ] || [ $c = 30 ] || [ $c = 31 ] || {{ head -n 3 doctor.txt >&2; exit 1; }}"
        ));
        answered(asked, "reach the server from the driver").map(drop)
    }

    /// Writes standard input of a script on the driver.
    fn put(&self, script: &str, bytes: &[u8]) -> Result<()> {
        let Some((machine, _)) = &self.machine else { return Ok(()) };
        let failed = |why: String| CommandError::new(Code::Run, format!("failed to write to the driver: {why}"));
        let mut child = machine
            .command(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        // One that has ended says why.
        let _ = child.stdin.take().map(|mut input| input.write_all(bytes));
        let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
        }
    }

    /// Runs a script in the directory on the driver.
    pub(crate) fn shell(&self, script: &str) -> io::Result<Printed> {
        let Some((machine, directory)) = &self.machine else { return Err(io::Error::other("there is no driver")) };
        let script =
            format!("cd {} && PGPASSFILE=\"$PWD/pgpass\" && export PGPASSFILE && {script}", ShellWord(directory));
        bounded::run(machine.command(&script), QUESTION)
    }

    /// Runs this program, here or on the driver, in the directory of the size.
    fn pgdyno(&self, args: &[&str]) -> io::Result<Printed> {
        if self.machine.is_some() {
            let words: Vec<_> = args.iter().map(|word| ShellWord(word).to_string()).collect();
            return self.shell(&format!("./pgdyno {}", words.join(" ")));
        }
        let program = own_program().map_err(|error| io::Error::other(error.text()))?;
        let mut command = Command::new(program);
        command.args(args).current_dir(&self.directory).env_remove(PASSWORD);
        for name in ["PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGPASSWORD", "PGSERVICE", "PGOPTIONS"] {
            command.env_remove(name);
        }
        if let Some(password) = self.order.password {
            command.env("PGPASSWORD", password);
        }
        bounded::run(command, QUESTION)
    }

    /// Follows the suite to its end, and begins or resumes it where it does not run. Returns how it ended. `has_begun`: it may have begun
    /// before.
    pub(crate) fn drive(&self, has_begun: bool) -> std::result::Result<String, LeftSuite> {
        let (mut is_broken, mut resumed, mut has_begun) = (false, 0, has_begun);
        let mut poll = self.polls().0;
        loop {
            let unfinished = |error| LeftSuite { error, is_unfinished: has_begun };
            let state = match self.state() {
                Err(error) if error.text().contains(BROKEN) => {
                    if !is_broken {
                        let text = format!("{}: {}; the suite goes on, trying again", self.size.name, error.text());
                        self.order.events.note(&text);
                    }
                    is_broken = true;
                    None
                }
                state => Some(state.map_err(unfinished)?),
            };
            // A suite that has ended meanwhile has its results.
            let has_ended = matches!(&state, Some(Some(state)) if !is_open(state));
            if !has_ended && now_s() > self.order.lab.expires_s().map_err(unfinished)? {
                let error = CommandError::new(Code::Run, "the lab has expired while its suite ran")
                    .hint("give more time: --ttl, or `pgdyno cloud extend`");
                return Err(LeftSuite { error, is_unfinished: false });
            }
            if let Some(state) = state {
                if std::mem::take(&mut is_broken) {
                    self.order.events.note(&format!("{}: the driver answers again", self.size.name));
                }
                has_begun |= state.is_some();
                if let Some(ended) = self.advance(state, &mut resumed)? {
                    return Ok(ended);
                }
            }
            let goes_on = |_| CommandError::new(Code::Interrupted, "interrupted; the suite goes on");
            self.pause(poll).map_err(goes_on).map_err(|error| LeftSuite { error, is_unfinished: has_begun })?;
            poll = (poll * 2).min(self.polls().1);
        }
    }

    /// Does what the state of the suite asks for. Returns how it ended, if it has.
    fn advance(&self, state: Option<Value>, resumed: &mut u32) -> std::result::Result<Option<String>, LeftSuite> {
        let Some(state) = state else {
            // One that a killed pgdyno has started may have begun meanwhile. Where the connection broke, the next look finds out.
            if let Err(error) = self.start()
                && !error.text().contains(BROKEN)
                && !matches!(self.state(), Ok(Some(_)))
            {
                return Err(LeftSuite { error, is_unfinished: false });
            }
            return Ok(None);
        };
        let words = word_of(&state);
        if words == RUNNING {
            return Ok(None);
        }
        if !is_open(&state) {
            return Ok(Some(ending(&state, words)));
        }
        if *resumed >= RESUMES_MAX {
            let error = format!("its suite broke off {} times: {}", RESUMES_MAX + 1, ending(&state, words));
            return Err(LeftSuite { error: CommandError::new(Code::Run, error), is_unfinished: true });
        }
        *resumed += 1;
        let args = ["suite", "resume", "--detach", "--out", RESULTS, "--yes"];
        // Where it goes on already, it cannot be resumed.
        if let Err(error) = answered(self.pgdyno(&args), "resume the suite") {
            self.order.events.note(&format!("{}: {}", self.size.name, error.text()));
            // Where the connection broke, it was not tried.
            *resumed -= u32::from(error.text().contains(BROKEN));
        }
        Ok(None)
    }

    /// Returns the first and the last pause between two questions.
    fn polls(&self) -> (Duration, Duration) {
        if self.machine.is_some() { POLL_THERE } else { (POLL_HERE, POLL_HERE) }
    }

    /// Returns where the suite is; none if it has not begun.
    fn state(&self) -> Result<Option<Value>> {
        let printed =
            answered(self.pgdyno(&["suite", "list", "--out", RESULTS, "--format", "json"]), "ask for the suite")?;
        let mut answer: Value = serde_json::from_slice(&printed.stdout).or_fail(Code::Run)?;
        Ok(answer["suites"].as_array_mut().and_then(Vec::pop))
    }

    fn start(&self) -> Result<()> {
        let lab = self.order.lab;
        let mut suite = SUITE.to_owned();
        if self.machine.is_none() {
            write_private(&self.directory.join(TARGETS), self.targets().as_bytes()).or_fail(Code::Run)?;
            match &lab.file.work {
                Work::Suite(path) => suite = path.display().to_string(),
                _ => {
                    let text = lab.file.suite_text(self.size).unwrap_or_default();
                    write_private(&self.directory.join(SUITE), text.as_bytes()).or_fail(Code::Run)?;
                }
            }
        }
        let labels = [format!("lab={}", lab.file.name), format!("size={}", self.size.name)];
        let [of_lab, of_size] = &labels;
        let args =
            ["suite", "start", &suite, "--config", TARGETS, "--out", RESULTS, "--label", of_lab, "--label", of_size];
        answered(self.pgdyno(&args), "start the suite").map(drop)
    }

    /// Ends the suite, if it runs.
    pub(crate) fn stop(&self) {
        // Where it does not run, or cannot be reached, there is nothing to end.
        let _ = self.pgdyno(&["suite", "stop", "--now", "--out", RESULTS]);
    }

    fn dsn(&self) -> String {
        dsn(self.server)
    }

    fn targets(&self) -> String {
        targets(&self.order.lab.file, self.size, self.server)
    }

    /// Waits, but not after Ctrl-C.
    pub(crate) fn pause(&self, time: Duration) -> Result<()> {
        let until = Instant::now() + time;
        while Instant::now() < until {
            if self.order.interrupt.waits().is_interrupted() {
                return Err(CommandError::new(Code::Interrupted, "interrupted"));
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }
}

/// Why a suite was not followed to its end.
pub(crate) struct LeftSuite {
    pub(crate) error: CommandError,
    /// Whether it has begun and can still be continued.
    pub(crate) is_unfinished: bool,
}

/// Returns the word for the state of a suite.
fn word_of(state: &Value) -> &str {
    state["state"].as_str().unwrap_or_default()
}

/// Returns true if a suite runs, or can be continued.
fn is_open(state: &Value) -> bool {
    word_of(state) == RUNNING || OPEN.contains(&word_of(state))
}

/// Returns the connection string, without a password.
fn dsn(server: &LabServer) -> String {
    let LabServer { host, port, user, database, sslmode, .. } = server;
    let word = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    let (host, user, database, sslmode) = (word(host), word(user), word(database), word(sslmode));
    format!("host={host} port={port} user={user} dbname={database} sslmode={sslmode}")
}

/// Returns the file of targets of a size: one, which the suite names.
fn targets(lab: &LabFile, size: &LabSize, server: &LabServer) -> String {
    let vcpus = server.cores.ceil().max(1.0) as u32;
    let price = size.price_per_hour.filter(|price| *price > 0.0);
    let price = price.map_or_else(String::new, |price| {
        format!("price_per_hour = {price:?}\ncurrency = {}\n", quoted(&lab.currency))
    });
    let memory = lab.memory(size).map_or_else(String::new, |memory| format!("memory = {}\n", quoted(&memory)));
    let module = lab.module;
    format!(
        "[target.{TARGET}]\ndsn = {}\nkind = {}\nvcpus = {vcpus}\n{memory}{price}labels = {{ lab = {}, size = {}, verified = {} }}\n",
        quoted(&dsn(server)),
        quoted(&module.name),
        quoted(&lab.name),
        quoted(&size.name),
        quoted(&module.verified.line()),
    )
}

/// Returns the file of targets as it will be, for a check of the suite before there is a server.
#[must_use]
pub fn draft_targets(lab: &LabFile, size: &LabSize) -> String {
    let text = |text: &str| text.to_owned();
    let server = LabServer {
        host: text("localhost"),
        port: 5432,
        user: text("pgdyno"),
        database: text("pgdyno"),
        driver: None,
        cores: 1.0,
        sslmode: text("prefer"),
        instance: None,
        nodes: Vec::new(),
    };
    targets(lab, size, &server)
}

/// Returns what a command has printed, or why it failed.
pub(crate) fn answered(printed: io::Result<Printed>, what: &str) -> Result<Printed> {
    let failed = |why: &str| CommandError::new(Code::Run, format!("failed to {what}: {why}"));
    match printed {
        Ok(printed) if printed.is_success => Ok(printed),
        Ok(printed) if printed.is_broken => Err(failed(&format!("{BROKEN}: {}", printed.said))),
        Ok(printed) => Err(failed(&printed.said)),
        Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(failed(&format!("{BROKEN}: {error}"))),
        Err(error) => Err(failed(&error.to_string())),
    }
}

/// Returns how a suite ended, in words: `complete`, or how many of its runs failed.
fn ending(state: &Value, ended: &str) -> String {
    let number = |name: &str| state[name].as_u64().unwrap_or(0);
    match (number("complete"), number("planned"), number("failed")) {
        (complete, planned, 0) if complete == planned => COMPLETE.to_owned(),
        (complete, planned, failed) => format!("{complete} of {planned} runs are complete, {failed} failed ({ended})"),
    }
}

/// How a suite ends whose runs are all complete.
pub(crate) const COMPLETE: &str = "complete";
