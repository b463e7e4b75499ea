//! What held the server back, where the cause is known: each file of `tests/causes/` makes a situation on a real server, and
//! says what must be found first, what must be found at all, and what must not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_testing::busy::Busy;
use serde::Deserialize;

use crate::given_server::{Place, TRUST};

/// A situation whose cause is known.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cause {
    /// One line for a person.
    about: String,
    /// Settings of the server.
    #[serde(default)]
    settings: BTreeMap<String, String>,
    /// Statements before the run, each a transaction.
    #[serde(default)]
    setup: Vec<String>,
    /// Statements after the load of a built-in workload, each a transaction.
    #[serde(default)]
    loaded: Vec<String>,
    /// The script; without one, `run` begins with a built-in workload.
    script: Option<String>,
    /// Arguments of `pgdyno run`.
    run: String,
    /// What a session of another program does once the clients are at work, one after the other. It stays connected until the run
    /// has ended.
    #[serde(default)]
    disturb: Vec<String>,
    /// Another program opens a session and closes it again meanwhile, over and over.
    #[serde(default)]
    connect_again: bool,
    /// CPUs that the control group of the server's sessions may use.
    cpus: Option<f64>,
    /// Other programs that keep each CPU busy meanwhile.
    #[serde(default)]
    busy_programs_per_cpu: usize,
    /// The rules of which one must be the first finding; empty where any may be.
    #[serde(default)]
    first: Vec<String>,
    /// Rules that must have found something, ranked or also seen.
    #[serde(default)]
    seen: Vec<String>,
    /// Words of which each must be in some finding.
    #[serde(default)]
    says: Vec<String>,
    /// Rules that must not.
    absent: Vec<String>,
    /// The first major version that shows the cause.
    #[serde(default)]
    since: u32,
    /// Whether clients are held up, so that the run may be `invalid`, for nothing ended for most of its window.
    #[serde(default)]
    holds_up: bool,
    /// SQL that returns true where the server can be in this situation.
    can: Option<String>,
    /// What the advice says. When it is followed, the same run commits more transactions.
    remedy: Option<Remedy>,
}

/// What is done about a cause.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Remedy {
    /// Settings of the server, beside those of the situation.
    #[serde(default)]
    settings: BTreeMap<String, String>,
    /// Statements after the load, each a transaction.
    #[serde(default)]
    execute: Vec<String>,
    /// Other arguments of `pgdyno run`.
    run: Option<String>,
    /// Whether the other program stays away.
    #[serde(default)]
    undisturbed: bool,
    /// It commits so many times as many transactions, at least.
    #[serde(default = "gain")]
    gain: f64,
}

fn gain() -> f64 {
    GAIN
}

/// A remedy that works commits so many times as many transactions, unless its file asks for more.
const GAIN: f64 = 1.05;

/// Times that a situation is made while programs that it does not have take most of the machine, until it is skipped.
const TRIES_MAX: usize = 3;

/// Pairs of runs, without and with a remedy, until it is said not to work.
const PAIRS_MAX: usize = 3;

/// Above this share of its CPUs, other programs crowd the machine.
const CROWDED: f64 = 0.25;

/// With this share of its CPUs or more, other programs are the cause, whatever the situation is.
const TAKEN: f64 = 0.5;

/// A driver that was on a CPU, or waited for one, for more of the time than this did take time of its clients: one that is built for
/// tests and shares two CPUs with its server may do so in any situation.
const DRIVER_HAD_WORK: f64 = 0.1;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/causes")
}

/// A control group with a limit, which is removed when it is dropped; its processes must have ended before.
struct Limited(PathBuf);

impl Limited {
    /// Puts a process into a new group, with all processes that it will start. `None` where this user may not do so.
    fn new(cpus: f64, pid: &str) -> Option<Self> {
        let quota = (cpus * 100_000.0).to_string();
        let versions = [("cpu", "cpu.cfs_quota_us", quota.clone()), ("", "cpu.max", format!("{quota} 100000"))];
        versions.into_iter().find_map(|(mount, file, limit)| {
            let dir = Path::new("/sys/fs/cgroup").join(mount).join(format!("pgdyno-test-{pid}"));
            std::fs::create_dir(&dir).ok()?;
            let group = Self(dir);
            std::fs::write(group.0.join(file), limit).ok()?;
            std::fs::write(group.0.join("cgroup.procs"), pid).ok()?;
            Some(group)
        })
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        // The kernel may need a moment to forget the processes.
        let is_gone = (0..100).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            std::fs::remove_dir(&self.0).is_ok()
        });
        assert!(is_gone || std::thread::panicking(), "{} is left", self.0.display());
    }
}

/// Sessions that come and go until it is dropped.
struct Repeated(Arc<AtomicBool>, Option<std::thread::JoinHandle<()>>);

impl Repeated {
    fn new(options: &ConnectOptions) -> Self {
        let (stop, options) = (Arc::new(AtomicBool::new(false)), options.with_application_name("another program"));
        let stopped = Arc::clone(&stop);
        let connect = move || {
            while !stopped.load(Ordering::Relaxed) {
                drop(Admin::connect(&options).unwrap());
            }
        };
        Self(stop, Some(std::thread::spawn(connect)))
    }
}

impl Drop for Repeated {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.take().unwrap().join().unwrap();
    }
}

fn read(name: &str) -> Cause {
    let text = std::fs::read_to_string(directory().join(format!("{name}.toml"))).unwrap();
    toml::from_str(&text).unwrap()
}

/// Makes the situation while other programs want all CPUs, and holds the findings against the file: the cause is the same.
fn hold_on_busy_machine(name: &str) {
    let cause = Cause { busy_programs_per_cpu: 1, ..read(name) };
    if let Some(measured) = measured(name, &cause) {
        found(&cause, &measured).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
}

/// Makes the situation, holds the findings against the file, and follows the advice.
fn hold(name: &str) {
    let cause = read(name);
    if crate::postgres::major() < cause.since {
        return crate::skipped::skipped(&format!("{}: PostgreSQL {} shows it", cause.about, cause.since));
    }
    let Some(mut first) = measured(name, &cause) else { return };
    let mut tries = 1;
    while let Err(why) = found(&cause, &first) {
        assert!(first.is_taken_by_others(&cause), "{name}: {why}");
        assert!(first.rules().iter().any(|rule| rule == "other-programs"), "{name}: {why}");
        if tries == TRIES_MAX {
            return crate::skipped::skipped(&format!("{}: other programs took most of the machine", cause.about));
        }
        tries += 1;
        first = measured(name, &cause).expect("a place like the first");
    }
    let Some(remedy) = cause.remedy.clone() else { return };
    // A setting of the remedy may have a part in it.
    let cause = Cause { can: None, ..cause };
    let mut remedied = cause.clone();
    remedied.settings.extend(remedy.settings);
    remedied.loaded.extend(remedy.execute);
    remedied.run = remedy.run.unwrap_or(remedied.run);
    if remedy.undisturbed {
        remedied.disturb.clear();
    }
    let again = |cause: &Cause| measured(name, cause).expect("a place like the first").tps();
    let (mut before, mut after) = (first.tps(), again(&remedied));
    // A machine that others use makes a pair differ by chance, too.
    for _ in 1..PAIRS_MAX {
        if after >= remedy.gain * before {
            return;
        }
        before += again(&cause);
        after += again(&remedied);
    }
    assert!(
        after >= remedy.gain * before,
        "{name}: {before:.0} transactions before, {after:.0} with the remedy: {}",
        first.record["findings"]
    );
}

/// A run in a situation.
struct Measured {
    status: String,
    record: serde_json::Value,
}

impl Measured {
    fn tps(&self) -> f64 {
        self.record["summary"]["tps"].as_f64().unwrap()
    }

    /// Returns the rules that found something, the first finding first.
    fn rules(&self) -> Vec<String> {
        let findings = self.record["findings"].as_array().into_iter().flatten();
        findings.map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns the share of the machine's CPUs that programs took which are neither the server nor the driver.
    fn others_share(&self) -> f64 {
        let machine = &self.record["server_machine"];
        machine["other_cpus"].as_f64().unwrap_or_default() / machine["cpus"].as_f64().unwrap_or(1.0)
    }

    /// Returns true if programs that the situation does not have took most of the machine.
    fn is_taken_by_others(&self, cause: &Cause) -> bool {
        cause.busy_programs_per_cpu == 0 && self.others_share() >= TAKEN
    }
}

/// Makes the situation and measures it; `None` where this machine cannot make it.
fn measured(name: &str, cause: &Cause) -> Option<Measured> {
    // Plans are those of a user's server.
    let statistics = "default_statistics_target = 100\n".to_owned();
    let settings = cause.settings.iter().map(|(name, value)| format!("{name} = '{value}'\n"));
    let conf: String = std::iter::once(statistics).chain(settings).collect();
    let skipped = |why: &str| crate::skipped::skipped(&format!("{}: {why}", cause.about));
    // Other programs that a situation has would be those of every other one. cargo-nextest does the same: .config/nextest.toml.
    static MACHINE: RwLock<()> = RwLock::new(());
    let (_alone, _together);
    if cause.busy_programs_per_cpu > 0 {
        _alone = MACHINE.write().unwrap_or_else(PoisonError::into_inner);
    } else {
        _together = MACHINE.read().unwrap_or_else(PoisonError::into_inner);
    }
    // Dropped after the server.
    let limited;
    let place = Place::new(&cause.about, &conf, TRUST)?;
    if cause.can.as_ref().is_some_and(|can| place.ask(can) != "t") {
        skipped("this build of PostgreSQL cannot do so");
        return None;
    }
    cause.setup.iter().for_each(|sql| place.execute(sql));
    limited = cause.cpus.map(|cpus| {
        let pid = std::fs::read_to_string(place.server.dir().join("data/postmaster.pid")).unwrap();
        Limited::new(cpus, pid.lines().next().unwrap())
    });
    if limited.as_ref().is_some_and(Option::is_none) {
        skipped("no control group can be made");
        return None;
    }
    let mut args = vec!["run"];
    if let Some(script) = &cause.script {
        std::fs::write(place.home.join("cause.sql"), script).unwrap();
        args.push("./cause.sql");
    } else {
        // Loaded before, so that nothing but the run is in its way.
        let workload: Vec<_> = cause.run.split(' ').take(3).collect();
        place.run(&format!("load {}", workload.join(" "))).ok();
    }
    cause.loaded.iter().for_each(|sql| place.execute(sql));
    args.extend(cause.run.split(' '));
    if !args.contains(&"-T") {
        args.extend(["-T", "5"]);
    }
    args.extend(["--ramp", "0"]);
    let mut running = place.start(&args.join(" "));
    running.until_it_says("progress:", 1);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let busy = Busy::start(cause.busy_programs_per_cpu * cpus);
    let other = (!cause.disturb.is_empty()).then(|| {
        let (mut admin, statements) = (place.server.admin(), cause.disturb.clone());
        std::thread::spawn(move || {
            admin.execute("SET application_name = 'another program'").unwrap();
            // What the run's end, or the server's, leaves of it does not matter.
            let _ = statements.iter().try_for_each(|sql| admin.execute(sql).map(drop));
            admin
        })
    });
    let connecting = cause.connect_again.then(|| Repeated::new(&place.server.options()));
    let ran = running.end();
    drop((busy, connecting));
    let run = place.home.the_run();
    let status = run.text("/status");
    let fits = status == "complete" || cause.holds_up && status == "invalid";
    assert!(fits, "{name}: {}{}", ran.stdout, ran.stderr);
    let measured = Measured { status: status.to_owned(), record: run.record.clone() };
    drop(place);
    drop(limited);
    if let Some(other) = other {
        let _ = other.join();
    }
    Some(measured)
}

/// Holds the findings against the file. Returns what is wrong with them.
fn found(cause: &Cause, measured: &Measured) -> Result<(), String> {
    let Measured { status, record } = measured;
    let (findings, rules) = (record["findings"].as_array().cloned().unwrap_or_default(), measured.rules());
    let fail_unless = |holds: bool, why: String| {
        let (about, time, findings) = (&cause.about, &record["clients_time"], &record["findings"]);
        if holds { Ok(()) } else { Err(format!("{why}: {about} ({status})\n{time}\n{findings}")) }
    };
    if !cause.first.is_empty() {
        let first = findings.first().filter(|finding| finding["also_seen"] != true);
        let rule = first.and_then(|finding| finding["rule"].as_str()).unwrap_or("nothing");
        fail_unless(cause.first.iter().any(|wanted| wanted == rule), format!("first is {rule}"))?;
    }
    for wanted in &cause.seen {
        fail_unless(rules.contains(wanted), format!("{wanted} is not found"))?;
    }
    for words in &cause.says {
        let has_words = |finding: &serde_json::Value| {
            let texts =
                finding["evidence"].as_array().into_iter().flatten().chain([&finding["text"], &finding["advice"]]);
            texts.filter_map(serde_json::Value::as_str).any(|text| text.contains(words))
        };
        fail_unless(findings.iter().any(has_words), format!("{words:?} is in no finding"))?;
    }
    // Where others take the machine, clients, server and driver do wait for CPUs: to say so is right then.
    let is_crowded = measured.others_share() > CROWDED;
    let client = &record["client"];
    let busiest =
        client["thread_busy"].as_array().unwrap().iter().filter_map(serde_json::Value::as_f64).fold(0.0, f64::max);
    let had_work = busiest + client["run_delay"].as_f64().unwrap_or_default() > DRIVER_HAD_WORK;
    let held = |rule: &&String| match rule.as_str() {
        "driver" => !is_crowded && !had_work,
        "cpu" => !is_crowded,
        _ => true,
    };
    for unwanted in cause.absent.iter().filter(held) {
        fail_unless(!rules.contains(unwanted), format!("{unwanted} is found"))?;
    }
    let shares: f64 = record["clients_time"].as_array().unwrap().iter().filter_map(|part| part["share"].as_f64()).sum();
    fail_unless((0.97..1.01).contains(&shares), "the parts do not add up".to_owned())
}

/// Makes situations that need little CPU side by side, and holds the findings of each against its file.
fn hold_all(names: &[&str]) {
    std::thread::scope(|scope| {
        names.iter().for_each(|name| drop(scope.spawn(|| hold(name))));
    });
}

macro_rules! causes {
    (alone: $($name:ident),*; $($group:ident: $($member:ident),*;)*) => {
        $(#[test] fn $name() { hold(stringify!($name)); })*
        $(#[test] fn $group() { hold_all(&[$(stringify!($member)),*]); })*

        #[test]
        fn every_file_is_tested() {
            let files = std::fs::read_dir(directory()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
            let mut files: Vec<_> = files.collect();
            let mut tested = vec![$(concat!(stringify!($name), ".toml")),*];
            $(tested.extend([$(concat!(stringify!($member), ".toml")),*]);)*
            files.sort();
            tested.sort_unstable();
            assert_eq!(files, tested);
        }
    };
}

/// Those that other programs hid in earlier versions.
#[test]
fn the_cause_is_the_same_on_a_busy_machine() {
    let names = ["missing_index", "one_branch", "small_max_wal_size", "temporary_files", "tiny_shared_buffers"];
    names.into_iter().for_each(hold_on_busy_machine);
}

causes! {
    alone:
    branch_and_checkpoints,
    busy_query,
    container_limit,
    dropped_primary_key,
    few_parallel_workers,
    idle_horizon,
    index_and_sorts,
    jit_compiles,
    long_query,
    missing_index,
    missing_index_with_rate,
    multixacts,
    no_vacuum,
    old_report,
    one_branch,
    other_program_connects,
    other_programs,
    other_session_sleeps,
    prepared_transaction,
    scans_of_what_does_not_fit,
    select_only,
    serialization,
    slow_vacuum,
    small_max_wal_size,
    small_shared_buffers,
    subtransactions,
    temporary_files,
    tiny_shared_buffers,
    unindexed_foreign_key;
    locks: advisory_lock, forgotten_transaction, hot_key, locked_table, one_row, prepared_lock, sleep_in_transaction;
    pauses: few_connections, rate_that_is_met, rate_too_high, script_sleeps, server_sleeps;
    commits: absent_standby, notify, slow_flush;
}
