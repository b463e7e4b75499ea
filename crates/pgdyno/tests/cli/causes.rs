//! What held the server back, where the cause is known: each file of `tests/causes/` makes a situation on a real server, and
//! says what must be found first, what must be found at all, and what must not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pgdyno_net::{Admin, ConnectOptions};
use serde::Deserialize;

use crate::given_server::{Place, TRUST};

/// A situation whose cause is known.
#[derive(Debug, Deserialize)]
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
    /// Threads of other programs that keep each CPU busy meanwhile.
    #[serde(default)]
    busy_threads_per_cpu: usize,
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
}

/// Above this share of its CPUs, other programs crowd the machine.
const CROWDED: f64 = 0.25;

/// A driver that was on a CPU, or waited for one, for more of the time than this did take time of its clients: one that is built for
/// tests and shares two CPUs with its server may do so in any situation.
const DRIVER_HAD_WORK: f64 = 0.15;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/causes")
}

/// Threads that keep CPUs busy until they are dropped.
struct Busy(Arc<AtomicBool>, Vec<std::thread::JoinHandle<()>>);

impl Busy {
    fn new(threads: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let spin = || {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop()
                }
            })
        };
        let threads = (0..threads).map(|_| spin()).collect();
        Self(stop, threads)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.drain(..).for_each(|thread| thread.join().unwrap());
    }
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

/// Makes the situation, and holds the findings against the file.
fn hold(name: &str) {
    let text = std::fs::read_to_string(directory().join(format!("{name}.toml"))).unwrap();
    let cause: Cause = toml::from_str(&text).unwrap();
    let conf: String = cause.settings.iter().map(|(name, value)| format!("{name} = '{value}'\n")).collect();
    if crate::postgres::major() < cause.since {
        return crate::skipped::skipped(&format!("{}: PostgreSQL {} shows it", cause.about, cause.since));
    }
    // Dropped after the server.
    let limited;
    let Some(place) = Place::new(&cause.about, &conf, TRUST) else { return };
    if cause.can.as_ref().is_some_and(|can| place.ask(can) != "t") {
        return crate::skipped::skipped(&format!("{}: this build of PostgreSQL cannot do so", cause.about));
    }
    cause.setup.iter().for_each(|sql| place.execute(sql));
    limited = cause.cpus.map(|cpus| {
        let pid = std::fs::read_to_string(place.server.dir().join("data/postmaster.pid")).unwrap();
        Limited::new(cpus, pid.lines().next().unwrap())
    });
    if limited.as_ref().is_some_and(Option::is_none) {
        return crate::skipped::skipped(&format!("{}: no control group can be made", cause.about));
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
    args.extend(cause.run.split(' '));
    if !args.contains(&"-T") {
        args.extend(["-T", "5"]);
    }
    args.extend(["--ramp", "0"]);
    let mut running = place.start(&args.join(" "));
    running.until_it_says("progress:", 1);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let busy = Busy::new(cause.busy_threads_per_cpu * cpus);
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
    let findings = run.record["findings"].as_array().cloned().unwrap_or_default();
    let rules: Vec<_> = findings.iter().map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect();
    let reported = || format!("{name}: {}\n{}\n{}", cause.about, run.record["clients_time"], run.record["findings"]);
    let status = run.text("/status");
    let fits = status == "complete" || cause.holds_up && status == "invalid";
    assert!(fits, "{name}: {}{}", ran.stdout, ran.stderr);
    if !cause.first.is_empty() {
        let first = findings.first().filter(|finding| finding["also_seen"] != true);
        let rule = first.and_then(|finding| finding["rule"].as_str()).unwrap_or("nothing");
        assert!(cause.first.iter().any(|wanted| wanted == rule), "first is {rule}: {}", reported());
    }
    for wanted in &cause.seen {
        assert!(rules.contains(wanted), "{wanted} is not found: {}", reported());
    }
    for words in &cause.says {
        let has_words = |finding: &serde_json::Value| {
            let texts =
                finding["evidence"].as_array().into_iter().flatten().chain([&finding["text"], &finding["advice"]]);
            texts.filter_map(serde_json::Value::as_str).any(|text| text.contains(words))
        };
        assert!(findings.iter().any(has_words), "{words:?} is in no finding: {}", reported());
    }
    // Where others take the machine, clients, server and driver do wait for CPUs: to say so is right then.
    let machine = &run.record["server_machine"];
    let others = machine["other_cpus"].as_f64().unwrap_or_default();
    let is_crowded = others > CROWDED * machine["cpus"].as_f64().unwrap_or(1.0);
    let client = &run.record["client"];
    let busiest =
        client["thread_busy"].as_array().unwrap().iter().filter_map(serde_json::Value::as_f64).fold(0.0, f64::max);
    let had_work = busiest + client["run_delay"].as_f64().unwrap_or_default() > DRIVER_HAD_WORK;
    let held = |rule: &&String| match rule.as_str() {
        "driver" => !is_crowded && !had_work,
        "cpu" => !is_crowded,
        _ => true,
    };
    for unwanted in cause.absent.iter().filter(held) {
        assert!(!rules.contains(unwanted), "{unwanted} is found: {}", reported());
    }
    let shares: f64 =
        run.record["clients_time"].as_array().unwrap().iter().filter_map(|part| part["share"].as_f64()).sum();
    assert!((0.97..1.01).contains(&shares), "the parts add up: {}", reported());
    drop(place);
    drop(limited);
    if let Some(other) = other {
        let _ = other.join();
    }
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

causes! {
    alone:
    busy_query,
    container_limit,
    few_parallel_workers,
    jit_compiles,
    long_query,
    missing_index,
    multixacts,
    no_vacuum,
    old_report,
    other_program_connects,
    other_programs,
    other_session_sleeps,
    prepared_transaction,
    select_only,
    serialization,
    slow_vacuum,
    small_max_wal_size,
    small_shared_buffers,
    subtransactions,
    temporary_files;
    locks: advisory_lock, forgotten_transaction, hot_key, locked_table, one_row, prepared_lock, sleep_in_transaction;
    pauses: few_connections, rate_too_high, script_sleeps, server_sleeps;
    commits: absent_standby, notify, slow_flush;
}
