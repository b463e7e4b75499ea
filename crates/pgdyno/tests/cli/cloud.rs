//! Labs: servers of several sizes on this machine, by a real engine, killed at any moment.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pgdyno_testing::random::Random;
use rustix::process::{Pid, Signal, kill_process};

use crate::disk_full::Disk;
use crate::program::{Home, PATIENCE, Ran, Running, eventually, finish, processes};
use crate::schemas::validate_one;
use crate::{postgres, skipped::skipped};

/// A password that must be nowhere.
pub(crate) const SECRET: &str = "planted-secret-7c1f";

/// Returns the engine; none where there is none, or no PostgreSQL for local servers.
pub(crate) fn engine() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = ["tofu", "terraform"].iter().find_map(|name| {
        std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.is_file())
    });
    if found.is_none() {
        skipped("labs: neither tofu nor terraform is installed");
    }
    found
}

/// A home with lab.toml: `sizes` servers of PostgreSQL on this machine, each for a run of `command`.
struct Place {
    home: Home,
    engine: PathBuf,
}

impl Place {
    fn new(sizes: usize, command: &str) -> Option<Self> {
        let engine = engine()?;
        let home = Home::new();
        let sizes: String = (1..=sizes).map(|n| size(&format!("{n}cpu"), n)).collect();
        let bin = postgres::chosen()
            .map_or_else(String::new, |bin| format!("postgres_bin = {:?}\n", bin.display().to_string()));
        let words: Vec<_> = command.split_whitespace().map(|word| format!("{word:?}")).collect();
        let text = format!(
            "name = \"two\"\nmodule = \"local\"\nttl = \"1h\"\nmax_cost = \"10USD\"\n\n[run]\ncommand = [{}]\n\n[variables]\nmemory_mb = 256\n{bin}{sizes}",
            words.join(", ")
        );
        fs::write(home.join("lab.toml"), text).unwrap();
        Some(Self { home, engine })
    }

    /// Puts a script in the place of the engine, which has the real one as `$ENGINE`.
    fn with_engine(mut self, script: &str) -> Self {
        let path = self.home.join("engine");
        fs::write(&path, format!("#!/bin/sh\nENGINE={}\n{script}\nexec $ENGINE \"$@\"\n", self.engine.display()))
            .unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self.engine = path;
        self
    }

    /// Writes the lab of document 004 for this machine, smaller, with the name, the prices and the server of this place.
    fn write_bulk(&self) {
        let own = fs::read_to_string(self.home.join("lab.toml")).unwrap();
        let bin = own.lines().find(|line| line.starts_with("postgres_bin")).unwrap_or_default();
        self.run(&["cloud", "init", "citus/bulk", "--module", "local", "-o", "bulk.toml"]).ok();
        let bulk = fs::read_to_string(self.home.join("bulk.toml")).unwrap();
        for (written, shown) in [("name = \"bulk\"", "its name"), ("\"citus/tproc-c-250\"", "its recipe")] {
            assert!(bulk.contains(written), "{shown}: {bulk}");
        }
        let args = "args = [\"-w\", \"1\", \"-c\", \"2\", \"-T\", \"1\", \"--ramp\", \"0\"]\n\n[variables]";
        let text = bulk.replace("name = \"bulk\"", "name = \"two\"").replace("short = true", "# short = true");
        let text = text.replace("ttl = \"6h\"", "ttl = \"1h\"");
        let text =
            text.replace("\n[variables]", &format!("{args}\nmemory_mb = 256\n{bin}")).replace("\nmemory_mb = 1024", "");
        let (first, second) = text.split_once("price_per_hour = 0\n").unwrap();
        let second = second.replace("price_per_hour = 0", "price_per_hour = 2.5");
        fs::write(self.home.join("lab.toml"), format!("{first}price_per_hour = 1.5\n{second}")).unwrap();
    }

    fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = self.home.command(args);
        command.env("PGDYNO_CLOUD_PASSWORD", SECRET);
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        finish(self.command(args))
    }

    fn start(&self, args: &[&str]) -> Running {
        Running::new(self.command(args))
    }

    fn engine(&self) -> &str {
        self.engine.to_str().unwrap()
    }

    fn lab(&self) -> PathBuf {
        self.home.join("pgdyno-results/labs/two")
    }

    /// The directory of the local servers.
    fn root(&self) -> PathBuf {
        let spec: serde_json::Value = serde_json::from_slice(&fs::read(self.lab().join("lab.json")).unwrap()).unwrap();
        spec["root"].as_str().unwrap().into()
    }

    /// Steps of the journal of a size.
    fn steps(&self, size: &str) -> Vec<String> {
        let text = fs::read_to_string(self.lab().join("journal.jsonl")).unwrap();
        let entries = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        entries.filter(|entry| entry["size"] == size).map(|entry| entry["step"].as_str().unwrap().to_owned()).collect()
    }

    /// No process and no data of the lab is left.
    #[track_caller]
    fn assert_gone(&self) {
        let root = self.root();
        assert!(!root.exists(), "{} is left", root.display());
        let of_root = |args: &str| args.contains(root.to_str().unwrap());
        let left: Vec<_> = processes().into_iter().filter(|process| of_root(&process.args)).map(|it| it.args).collect();
        assert_eq!(left, Vec::<String>::new());
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What a failed test leaves.
        let servers = || fs::read_dir(self.lab().join("lab.json").exists().then(|| self.root())?).ok();
        for server in servers().into_iter().flatten().flatten() {
            let program = self.lab().join("modules/local/server.sh");
            drop(std::process::Command::new("sh").arg(program).arg("stop").arg(server.path()).output());
        }
    }
}

fn size(name: &str, cpus: usize) -> String {
    format!("\n[[size]]\nname = {name:?}\ncpu = {}\nprice_per_hour = {}.5\n", cpus.min(2), cpus)
}

/// All files below a directory.
pub(crate) fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files(&entry.path(), found),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
}

#[test]
fn a_lab_goes_from_nothing_to_the_chart_and_leaves_nothing() {
    let Some(place) = Place::new(2, "run tproc-c") else { return };
    let engine = place.engine().to_owned();
    place.write_bulk();
    place.run(&["cloud", "plan", "lab.toml"]).ok().prints(&[
        "2 sizes, at most 4.00 USD",
        "verified",
        "recipe citus/tproc-c-250, scaled to the size, with -w 1 -c 2 -T 1 --ramp 0",
        "nothing was created",
    ]);
    place
        .run(&["cloud", "run", "lab.toml", "--max-cost", "3USD", "--engine", &engine])
        .ended(1)
        .says(&["could cost 4.00 USD, which is above the limit of 3.00 USD"]);
    assert!(!place.lab().exists());

    let ran = place.run(&["cloud", "run", "lab.toml", "--engine", &engine]).ok();
    ran.prints(&[
        "NOPM by vCPUs",
        "a million transactions",
        "lab two is closed: nothing is left",
        "labs/two/scaling.html",
    ]);
    place.assert_gone();
    for size in ["1cpu", "2cpu"] {
        let steps = ["planned", "applying", "up", "driving", "ran", "fetched", "destroying", "swept", "closed"];
        assert_eq!(place.steps(size), steps);
    }
    let runs = place.home.runs();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs.iter().map(|run| run.number("/target/vcpus")).sum::<f64>(), 3.0);
    assert_eq!(runs[0].text("/labels/lab"), "two");
    assert_eq!(runs[0].text("/plan/recipe/name"), "citus/tproc-c-250");
    let page = fs::read_to_string(place.lab().join("scaling.html")).unwrap();
    for run in &runs {
        assert!(run.number("/cost/nopm_per_price") > 0.0, "{}", run.at("/cost"));
    }
    assert!(page.contains("NOPM") && page.contains("vCPUs"), "{page}");
    assert!(runs[0].text("/target/labels/verified").contains("real cloud:"));
    let list = fs::read_to_string(place.home.join("pgdyno-results/results.csv")).unwrap();
    assert_eq!(list.lines().count(), 3, "{list}");

    // The password is in nothing that was written: state, plan, logs, records, journal.
    let mut all = Vec::new();
    files(place.home.path(), &mut all);
    assert!(all.iter().any(|path| path.ends_with("terraform.tfstate")), "{all:?}");
    for path in all {
        let bytes = fs::read(&path).unwrap();
        let is_there = bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
        assert!(!is_there, "the password is in {}", path.display());
        if path.starts_with(place.lab().join("sizes")) && path.ends_with("terraform.tfstate") {
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0, "{}", path.display());
        }
    }
    place.run(&["cloud", "status"]).ok().prints(&["lab two: closed", "of at most 4.00 USD"]);
    place.check_json();
    place.run(&["cloud", "sweep"]).ok().prints(&["nothing is left of 1 lab"]);
    place.run(&["cloud", "down", "two"]).ok().prints(&["lab two is closed"]);
}

#[test]
fn a_lab_that_is_killed_at_any_moment_is_resumed_and_leaves_nothing() {
    let Some(place) = Place::new(1, "run select-only -s 1 -c 1 -t 20") else { return };
    let (engine, mut random) = (place.engine().to_owned(), Random::new());
    let real = fs::canonicalize(&place.engine).unwrap();
    let mut running = place.start(&["cloud", "run", "lab.toml", "--engine", &engine]);
    eventually("the lab is there", PATIENCE, || place.lab().join("lab.json").exists());
    for _ in 0..10 {
        let began = Instant::now();
        let wait = Duration::from_millis(100 + random.below(1500));
        while began.elapsed() < wait && !place.is_closed() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let of_engine = |pid: i32| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == real);
        let is_of_lab =
            |pid: i32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(place.lab()));
        let engines: Vec<i32> =
            processes().iter().map(|process| process.pid).filter(|pid| of_engine(*pid) && is_of_lab(*pid)).collect();
        // Both, the engine, or pgdyno.
        let which = random.below(3);
        if which != 2 {
            for pid in engines {
                let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
            }
        }
        if which != 1 {
            drop(running);
            running = place.start(&["cloud", "resume", "two", "--engine", &engine]);
        }
    }
    let _ = running.end();
    let last = place.run(&["cloud", "resume", "two", "--engine", &engine]);
    assert!(matches!(last.code, Some(0)), "{}\n{}\n{}", last.stdout, last.stderr, place.steps("1cpu").join(" "));
    place.assert_gone();
    assert_eq!(place.steps("1cpu").last().map(String::as_str), Some("closed"));
    place.run(&["cloud", "sweep"]).ok();
}

#[test]
fn a_size_that_cannot_be_created_is_destroyed_and_the_next_one_runs() {
    let Some(place) = Place::new(2, "run select-only -s 1 -c 1 -t 20") else { return };
    let place = place.with_engine("case \"$PWD $1\" in */1cpu\\ apply) echo '│ Error: no quota' >&2; exit 1 ;; esac");
    let engine = place.engine().to_owned();
    place.run(&["cloud", "run", "lab.toml", "--engine", &engine]).ended(2).says(&[
        "1cpu: ",
        "apply failed: ",
        "no quota",
    ]);
    place.assert_gone();
    assert_eq!(place.home.runs().len(), 1);
    place.run(&["cloud", "status", "two"]).ok().prints(&["closed; failed:", "no quota"]);
}

#[test]
fn what_cannot_be_destroyed_is_named_with_the_commands_that_delete_it() {
    let Some(place) = Place::new(1, "run select-only -s 1 -c 1 -t 20") else { return };
    // It lies, as engines do that have lost their state.
    let place = place.with_engine("[ \"$1\" = destroy ] && [ ! -e ../../../../../honest ] && exit 0");
    let engine = place.engine().to_owned();
    let ran = place.run(&["cloud", "run", "lab.toml", "--engine", &engine]).ended(15);
    let command = format!("server.sh stop {}/1cpu", place.root().display());
    ran.says(&["has left something, although the engine says that all is destroyed", "server process", &command]);
    place.run(&["cloud", "status", "two"]).ok().prints(&["interrupted", "destroying", "pgdyno cloud resume two"]);
    place.run(&["cloud", "sweep"]).ended(15).prints(&["1 resource left", &command]);
    place.run(&["cloud", "run", "lab.toml", "--engine", &engine]).ended(1).says(&["lab two exists and is not closed"]);
    place.run(&["cloud", "sweep", "two", "--delete"]).ok().prints(&["deleted server process"]);
    place.assert_gone_but_root();
    place.run(&["cloud", "down", "two", "--engine", &engine]).ok().prints(&["nothing is left"]);
    place.assert_gone();
}

#[test]
fn what_fails_to_be_destroyed_is_destroyed_by_the_next_command() {
    let Some(place) = Place::new(1, "run select-only -s 1 -c 1 -t 20") else { return };
    let refusal =
        "[ \"$1\" = destroy ] && [ ! -e ../../../../../honest ] && { echo 'Error: still in use' >&2; exit 1; }";
    let place = place.with_engine(refusal);
    let engine = place.engine().to_owned();
    let ran = place.run(&["cloud", "run", "lab.toml", "--engine", &engine]).ended(15);
    let ran = ran.says(&["size 1cpu of lab two could not be destroyed", "still in use", "server.sh stop"]);
    assert_eq!(ran.stderr.matches("trying again").count(), 2, "{}", ran.stderr);
    assert_eq!(place.home.runs().len(), 1, "its results are here");
    fs::write(place.home.join("honest"), "").unwrap();
    place.run(&["cloud", "resume", "two", "--engine", &engine]).ok().prints(&["lab two is closed"]);
    place.assert_gone();
}

#[test]
fn sizes_side_by_side_are_followed_and_fetched() {
    let Some(place) = Place::new(2, "run select-only -s 1 -c 1 -R 50 -T 10 --ramp 0") else { return };
    let engine = place.engine().to_owned();
    let text = fs::read_to_string(place.home.join("lab.toml")).unwrap();
    fs::write(place.home.join("lab.toml"), text.replace("ttl = \"1h\"", "ttl = \"1h\"\nparallel = 2")).unwrap();
    let running = place.start(&["cloud", "run", "lab.toml", "--engine", &engine]);
    // What has not begun when the lab is interrupted begins when it is resumed.
    let has_begun = |size: &str| place.lab().join(format!("sizes/{size}/results/suites")).is_dir();
    eventually("both have begun", PATIENCE, || has_begun("1cpu") && has_begun("2cpu"));
    place.run(&["cloud", "fetch", "two", "--engine", &engine]).ended(1).says(&["is in the hands of process"]);
    running.signal(Signal::INT);
    running.end().ended(130);
    place.run(&["cloud", "attach", "two"]).ended(2).says(&["no process works on lab two", "pgdyno cloud resume two"]);
    // What goes on is fetched when it has ended, and once.
    let fetched = || place.run(&["cloud", "fetch", "two", "--engine", &engine]).ok().stdout;
    eventually("both have ended", PATIENCE, || fetched().starts_with("2 runs in "));
    assert!(place.home.runs().iter().all(|run| run.text("/status") == "complete"));
    assert!(place.root().join("2cpu/data/postmaster.pid").exists(), "nothing was destroyed");
    let resumed = place.start(&["cloud", "resume", "two", "--engine", &engine]);
    eventually("it has the lab", PATIENCE, || {
        place.run(&["cloud", "status", "two"]).ok().stdout.contains("lab two: at work") || place.is_closed()
    });
    place.run(&["cloud", "attach", "two"]).ok().prints(&["1cpu driving", "2cpu closed"]);
    resumed.end().ok().prints(&["lab two is closed"]);
    place.assert_gone();
    let list = fs::read_to_string(place.home.join("pgdyno-results/results.csv")).unwrap();
    assert_eq!(list.lines().count(), 3, "{list}");
}

#[test]
fn a_suite_that_breaks_off_again_and_again_keeps_its_size_until_the_user_decides() {
    let Some(place) = Place::new(1, "run select-only -s 1 -c 1 -T 600 -R 50 --ramp 0") else { return };
    let engine = place.engine().to_owned();
    let results = place.lab().join("sizes/1cpu/results");
    let lock = || {
        let suites = fs::read_dir(results.join("suites")).ok()?.flatten().next()?;
        fs::read_to_string(suites.path().join("suite.lock")).ok()?.trim().parse::<i32>().ok()
    };
    // Kills whatever works on the suite, until the lab gives it up for the nth time.
    let break_off = |running: Running, nth: usize| {
        eventually("the suite is given up", PATIENCE, || {
            if let Some(pid) = lock().and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::KILL);
            }
            let has_journal = place.lab().join("journal.jsonl").exists();
            has_journal && place.steps("1cpu").iter().filter(|step| *step == "failed").count() == nth
        });
        running.end()
    };
    let words = ["its suite broke off 4 times: 0 of 1 runs are complete", "fetched 0 runs; nothing was destroyed"];
    let ran = break_off(place.start(&["cloud", "run", "lab.toml", "--engine", &engine]), 1).ended(15);
    ran.says(&words).says(&["pgdyno cloud resume two", "pgdyno cloud down two"]);
    assert_eq!(place.steps("1cpu"), ["planned", "applying", "up", "driving", "failed"]);
    assert!(place.root().join("1cpu/data/postmaster.pid").exists(), "nothing was destroyed");
    place.run(&["cloud", "status", "two"]).ok().prints(&["driving; failed: its suite broke off 4 times"]);
    // It goes on where it was.
    break_off(place.start(&["cloud", "resume", "two", "--engine", &engine]), 2).ended(15).says(&words);
    assert!(place.root().join("1cpu/data/postmaster.pid").exists(), "nothing was destroyed");
    place.run(&["cloud", "down", "two", "--engine", &engine]).ok().prints(&["nothing is left"]);
    place.assert_gone();
}

#[test]
fn a_full_disk_destroys_nothing_and_the_lab_is_resumed_when_there_is_room() {
    let Some(place) = Place::new(1, "run select-only -s 1 -c 1 -T 2 -R 50 --ramp 0") else { return };
    let Some(disk) = Disk::new("a full disk of a lab", 64) else { return };
    let results = disk.path().join("results");
    let (engine, out) = (place.engine().to_owned(), results.to_str().unwrap());
    let mut running = place.start(&["cloud", "run", "lab.toml", "--engine", &engine, "--out", out]);
    running.until_it_says("1cpu: driving", 1);
    let own = results.join("labs/two/sizes/1cpu/results");
    eventually("the suite has begun", PATIENCE, || own.is_dir());
    running.signal(Signal::INT);
    running.end().ended(130);
    let is_complete = || {
        let list = place.run(&["suite", "list", "--out", own.to_str().unwrap(), "--format", "json"]).ok().stdout;
        let list: serde_json::Value = serde_json::from_str(&list).unwrap();
        list["suites"][0]["complete"] == 1
    };
    eventually("the suite has ended", PATIENCE, is_complete);
    disk.fill();
    let full = place.run(&["cloud", "resume", "two", "--engine", &engine, "--out", out]).ended(15);
    full.says(&["No space left on device", "nothing was destroyed"]);
    let journal = fs::read_to_string(results.join("labs/two/journal.jsonl")).unwrap();
    assert!(!journal.contains("destroying"), "{journal}");
    disk.make_room();
    let args = ["cloud", "resume", "two", "--engine", &engine, "--out", out];
    place.run(&args).ok().prints(&["lab two is closed: nothing is left"]);
    let journal = fs::read_to_string(results.join("labs/two/journal.jsonl")).unwrap();
    let lines: Vec<_> = journal.lines().map(serde_json::from_str::<serde_json::Value>).collect();
    assert!(lines.iter().all(Result::is_ok), "{journal}");
    assert_eq!(fs::read_to_string(results.join("results.csv")).unwrap().lines().count(), 2);
}

#[test]
fn ctrl_c_keeps_what_was_created_and_down_removes_it() {
    let Some(place) = Place::new(1, "run select-only -s 1 -c 1 -T 60 -R 50 --ramp 0") else { return };
    let engine = place.engine().to_owned();
    let mut running = place.start(&["cloud", "run", "lab.toml", "--engine", &engine]);
    running.until_it_says("1cpu: driving", 1);
    place.run(&["cloud", "status"]).ok().prints(&["lab two: at work", "driving", "left"]);
    place
        .run(&["cloud", "extend", "two", "--ttl", "9h", "--engine", &engine])
        .ended(1)
        .says(&["above the limit of 10.00 USD"]);
    place.run(&["cloud", "extend", "two", "--ttl", "2h", "--engine", &engine]).ok().prints(&["of at most 3.0"]);
    running.signal(Signal::INT);
    running.end().ended(130).says(&["pgdyno cloud resume two", "pgdyno cloud down two"]);
    assert!(place.root().join("1cpu/data/postmaster.pid").exists());
    place.run(&["cloud", "down", "--all", "--engine", &engine]).ok().prints(&["nothing is left"]);
    place.assert_gone();
}

/// What `init` writes for each guide is a lab, once it is filled in.
#[test]
fn the_lab_of_each_guide_can_be_planned() {
    let home = Home::new();
    let list: serde_json::Value =
        serde_json::from_str(&home.run(&["cloud", "list", "--format", "json"]).ok().stdout).unwrap();
    for module in list["modules"].as_array().unwrap() {
        let name = module["name"].as_str().unwrap();
        let recipes = module["recipes"].as_array().unwrap().iter().map(|recipe| recipe.as_str().unwrap());
        let more = if name == "azure-citus-vms" { vec!["citus/bulk"] } else { Vec::new() };
        for what in recipes.chain(more) {
            let text = home.run(&["cloud", "init", what, "--module", name, "-o", "-"]).ok().stdout;
            assert!(text.lines().filter(|line| line.starts_with("# ")).all(|line| line.len() <= 110), "{text}");
            fs::write(home.join("lab.toml"), text.replace(" = \"\" ", " = \"x\" ")).unwrap();
            home.run(&["cloud", "plan", "lab.toml"]).ok().prints(&["size", "PGDYNO_CLOUD_PASSWORD"]);
        }
    }
    for guide in ["alloydb", "azure", "cloudsql", "polardb", "rds"] {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/guides/cloud-{guide}.md"));
        let page = fs::read_to_string(page).unwrap();
        let (lab, _) = page.split_once("```toml\n").unwrap().1.split_once("```").unwrap();
        fs::write(home.join("lab.toml"), lab).unwrap();
        home.run(&["cloud", "plan", "lab.toml"]).ok();
    }
    home.run(&["cloud", "plan", "lab.toml", "--ttl", "5"]).ended(1).says(&["ttl must be between 1min and 30 days"]);
    let run = ["cloud", "run", "lab.toml", "--client-cidr"];
    home.run(&[&run[..], &["198.51.100.0/24"]].concat()).ended(1).says(&["it must be one IPv4 address"]);
    let mut without = home.command([&run[..], &["198.51.100.7/32"]].concat());
    without.env("PATH", home.path()).env("PGDYNO_CLOUD_PASSWORD", SECRET);
    finish(without).ended(1).says(&["needs ", "the cloud's command line"]);
    home.run(&["cloud", "sweep"]).ended(1).says(&["there is no lab in", "pgdyno cloud sweep lab.toml"]);
}

#[test]
fn a_cloud_that_does_not_answer_keeps_no_sweep_from_the_other_labs() {
    let home = Home::new();
    for (module, file) in [("azure-flexible", "a.toml"), ("local", "b.toml")] {
        let text = home.run(&["cloud", "init", module, "-o", "-"]).ok().stdout;
        fs::write(home.join(file), text.replace(" = \"\" ", " = \"x\" ")).unwrap();
    }
    let stub = home.join("az");
    fs::write(&stub, "#!/bin/sh\necho 'please log in' >&2\nexit 1\n").unwrap();
    fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = home.command(["cloud", "sweep", "a.toml", "b.toml", "--delete"]);
    command.env("PATH", home.path());
    let ran = finish(command).ended(15).prints(&["nothing is left of 1 lab"]);
    ran.says(&["failed to ask the cloud what lab azure-flexible has left: please log in"]);
}

#[test]
fn without_an_engine_the_error_names_both() {
    let home = Home::new();
    home.run(&["cloud", "init", "local"]).ok().prints(&["wrote lab.toml"]);
    let mut command = home.command(["cloud", "run", "lab.toml"]);
    command.env("PATH", home.path());
    finish(command).ended(1).says(&["neither OpenTofu nor Terraform is installed", "tofu", "terraform"]);
    home.run(&["cloud", "status"]).ok().prints(&["no labs"]);
    home.run(&["cloud", "list"]).ok().prints(&["local", "verified"]);
    home.run(&["cloud", "down", "nothing"]).ended(1).says(&["there is no lab nothing"]);
    home.run(&["cloud", "status", "../.."]).ended(1).says(&["there is no lab"]);
}

impl Place {
    /// The forms are what the schemas say.
    fn check_json(&self) {
        let form = |name: &str, args: &[&str]| {
            let text = self.run(&[args, &["--format", "json"]].concat()).ok().stdout;
            validate_one(name, &text);
            serde_json::from_str::<serde_json::Value>(&text).unwrap()
        };
        let list = form("cloud-list", &["cloud", "list"]);
        assert!(list["modules"].as_array().unwrap().iter().any(|module| module["verified"]["real_cloud"] == "never"));
        let plan = form("cloud-plan", &["cloud", "plan", "lab.toml"]);
        assert_eq!(
            (&plan["bound"]["amount"], &plan["sizes"][1]["price_per_hour"]),
            (&4.0.into(), &2.5.into()),
            "{plan}"
        );
        let status = form("cloud-status", &["cloud", "status"]);
        let lab = &status["labs"][0];
        assert_eq!((&lab["state"], &lab["sizes"][0]["step"]), (&"closed".into(), &"closed".into()), "{status}");
        assert_eq!(lab["runs"].as_array().map(Vec::len), Some(2), "{status}");
    }

    /// No process of the lab is left.
    #[track_caller]
    fn assert_gone_but_root(&self) {
        assert!(!self.root().join("1cpu").exists());
    }

    /// Returns true if there is nothing to wait for.
    fn is_closed(&self) -> bool {
        self.steps("1cpu").last().is_some_and(|step| step == "closed")
    }
}
