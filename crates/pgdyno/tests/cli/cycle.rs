//! What is done to a server around a run: restart, caches, settings and their return, hooks, the lock.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_testing::directory::TestDirectory;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::given_server::{Place, TRUST};
use crate::program::{self, Home, Ran, Run, Running};
use crate::server;

const SHORT: &str = "run select-only -s 1 -c 2 -t 20 -q";

/// A server that a hook of pgdyno.toml can restart: one of its own, by `pg_ctl`. Ended with its value.
struct Hooked {
    home: Home,
    dir: TestDirectory,
}

impl Hooked {
    /// A server and its target `db`, where there is a PostgreSQL; `more` ends the target's section.
    fn new(test: &str, more: &str) -> Option<Self> {
        if !server::available(test) {
            return None;
        }
        let dir = TestDirectory::new("pgdyno-hooked");
        server::hand_over(dir.path());
        let this = Self { home: Home::new(), dir };
        let data = this.data();
        let mut initdb = server::command("initdb");
        finish(
            initdb
                .arg("-D")
                .arg(&data)
                .args(["-U", "postgres", "-A", "trust", "-N", "--no-locale"])
                .stdout(Stdio::null()),
        );
        let conf = data.join("postgresql.conf");
        let text = std::fs::read_to_string(&conf).unwrap();
        let socket = this.dir.path().display();
        let settings = format!(
            "\nlisten_addresses = ''\nunix_socket_directories = '{socket}'\nfsync = off\nshared_buffers = 16MB\n"
        );
        std::fs::write(&conf, text + &settings).unwrap();
        finish(&mut this.pg_ctl("start"));
        this.config(more);
        Some(this)
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    fn pg_ctl(&self, what: &str) -> Command {
        let mut command = server::command("pg_ctl");
        command.arg(what).arg("-D").arg(self.data()).args(["-w", "-s", "-l"]).arg(self.dir.path().join("log"));
        // Nobody is to wait for the end of what the server says.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// The command that restarts it, for a hook.
    fn restart(&self) -> String {
        let pg_ctl = server::command("pg_ctl").get_program().to_string_lossy().into_owned();
        let line = format!(
            "{pg_ctl} -D {} -w -m fast -l {} restart",
            self.data().display(),
            self.dir.path().join("log").display()
        );
        match rustix::process::geteuid().is_root() {
            true => format!("setpriv --reuid=postgres --regid=postgres --clear-groups {line}"),
            false => line,
        }
    }

    /// Writes pgdyno.toml.
    fn config(&self, more: &str) {
        let dsn = format!("host={} user=postgres dbname=postgres", self.dir.path().display());
        let text = format!("[target.db]\ndsn = '{dsn}'\n{more}\n");
        std::fs::write(self.home.join("pgdyno.toml"), text).unwrap();
    }

    fn with_restart(&self, more: &str) {
        self.config(&format!("{more}\n[target.db.hooks]\nrestart = {{ command = \"{}\" }}", self.restart()));
    }

    fn args(args: &str) -> Vec<&str> {
        args.split(' ').chain(["--target", "db"]).collect()
    }

    fn run(&self, args: &str) -> Ran {
        self.home.run(&Self::args(args))
    }

    fn start(&self, args: &str) -> Running {
        self.home.start(&Self::args(args))
    }

    fn admin(&self, name: &str) -> Admin {
        let options = ConnectOptions::for_socket(self.dir.path(), 5432, "postgres", "postgres");
        Admin::connect(&options.with_application_name(name)).unwrap()
    }

    fn ask(&self, sql: &str) -> String {
        self.admin("test").query_one(sql).unwrap()
    }

    fn execute(&self, sql: &str) {
        self.admin("test").execute(sql).unwrap();
    }

    fn last(&self) -> Run {
        self.home.runs().pop().unwrap()
    }

    /// Notes of settings that are to be put back.
    fn notes(&self) -> Vec<PathBuf> {
        files(&self.home.join(".local/state/pgdyno/settings-to-restore"))
    }

    /// What ALTER SYSTEM has written, but for comments.
    fn altered(&self) -> String {
        let text = std::fs::read_to_string(self.data().join("postgresql.auto.conf")).unwrap();
        text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Hooked {
    fn drop(&mut self) {
        self.pg_ctl("stop").args(["-m", "immediate"]).status().ok();
    }
}

/// Runs a command to its successful end.
fn finish(command: &mut Command) {
    assert!(command.status().unwrap().success(), "{command:?}");
}

fn files(directory: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(directory).map(|entries| entries.map(|e| e.unwrap().path()).collect()).unwrap_or_default()
}

/// The steps of a record: their names, and whether they were done.
fn steps(run: &Run) -> Vec<(String, bool)> {
    let steps = run.record["cycle"].as_array().cloned().unwrap_or_default();
    steps.iter().map(|step| (step["step"].as_str().unwrap().to_owned(), step["done"] == true)).collect()
}

/// What a record says of a step.
fn step<'a>(run: &'a Run, name: &str) -> &'a Value {
    let mut steps = run.at("/cycle").as_array().unwrap().iter();
    steps.find(|step| step["step"] == name).unwrap_or_else(|| panic!("no {name} in {}", run.at("/cycle")))
}

/// A setting in a record: how it was set, what was shown, whether it was put back.
fn setting(run: &Run, name: &str) -> (String, String, Option<bool>) {
    let settings = run.at("/settings_set").as_array().unwrap();
    let found = settings.iter().find(|setting| setting["name"] == name).unwrap();
    let text = |key: &str| found[key].as_str().unwrap().to_owned();
    (text("by"), text("shown"), found["restored"].as_bool())
}

fn pair(name: &str, done: bool) -> (String, bool) {
    (name.to_owned(), done)
}

#[test]
fn a_private_server_is_made_as_wanted_and_each_step_has_its_evidence() {
    if !server::available("steps around a run on a private server") {
        return;
    }
    let home = Home::of_an_ordinary_user();
    let args = "run select-only -s 2 -c 2 -t 20 -q --restart --drop-caches --prewarm --checkpoint \
                --set shared_buffers=1MB --set Work_Mem=5120kB";
    let ran = home.run(&args.split_whitespace().collect::<Vec<_>>()).ok();
    let run = home.the_run();
    let names = ["restart", "drop-caches", "prewarm", "checkpoint"].map(|name| pair(name, true));
    assert_eq!(steps(&run), names);
    assert!(step(&run, "restart")["what"].as_str().unwrap().contains("cold"));
    assert!(step(&run, "prewarm")["what"].as_str().unwrap().contains("pg_prewarm"));
    assert_eq!(setting(&run, "shared_buffers"), ("start".into(), "1MB".into(), None));
    assert_eq!(setting(&run, "work_mem"), ("start".into(), "5MB".into(), None));
    assert_eq!(run.text("/plan/settings/work_mem"), "5120kB");
    // 1 MB of shared buffers is far less than the data, which the system has just read or written.
    assert!(run.number("/summary/cache_hit_ratio") < 0.95);
    if cfg!(target_os = "linux") {
        let ratio = run.number("/summary/os_cache_hit_ratio");
        assert!((0.5..=1.0).contains(&ratio), "{ratio}");
    }
    ran.prints(&["shared_buffers = 1MB"]);
    let words = ["around the run: restart", "settings of the run: shared_buffers = 1MB (start)", "file cache"];
    home.run(&["report", "last", "-v"]).ok().prints(&words);
    home.assert_clean();
}

#[test]
fn a_kept_server_is_restarted_on_its_data_and_its_settings_come_back() {
    if !server::available("steps around a run on the kept server") {
        return;
    }
    let home = Home::of_an_ordinary_user();
    home.run(&["server", "start"]).ok();
    let run = |args: &str| home.run(&args.split_whitespace().collect::<Vec<_>>());
    run(&format!("{SHORT} --set max_wal_size=333MB --set max_locks_per_transaction=77 --set jit=off")).ok();
    let first = home.runs().pop().unwrap();
    assert!(first.text("/server/origin").starts_with("private and kept"));
    assert_eq!(setting(&first, "max_wal_size"), ("server".into(), "333MB".into(), Some(true)));
    assert_eq!(setting(&first, "max_locks_per_transaction"), ("server".into(), "77".into(), Some(true)));
    assert_eq!(setting(&first, "jit"), ("session".into(), "off".into(), None));
    let done = [pair("restart", true), pair("restart", true), pair("restore-settings", true)];
    assert_eq!(steps(&first), done, "once for the setting, and once to put it back");
    run(&format!("{SHORT} --no-load --drop-caches --restart")).ok();
    let second = home.runs().pop().unwrap();
    assert_eq!(steps(&second), [pair("restart", true), pair("drop-caches", true)]);
    assert_ne!(second.text("/server/settings/max_wal_size"), "333MB");

    // One that PostgreSQL does not start with costs neither the server nor its data.
    run(&format!("{SHORT} --no-load --set shared_preload_libraries=no_such_library"))
        .ended(10)
        .says(&["no_such_library"]);
    let failed = home.runs().pop().unwrap();
    assert_eq!((failed.text("/status"), steps(&failed)), ("failed", vec![pair("restore-settings", true)]));
    run(&format!("{SHORT} --no-load")).ok();
    run("server stop").ok();
    home.assert_clean();
}

#[test]
fn settings_that_a_session_may_set_die_with_it_and_others_are_put_back() {
    let Some(db) = Hooked::new("settings of a given server", "settings = { work_mem = '6MB' }") else { return };
    let before = db.altered();
    db.run(&format!("{SHORT} --set enable_hashjoin=off --set checkpoint_timeout=17min --set block_size=8192")).ok();
    let run = db.last();
    assert_eq!(setting(&run, "work_mem"), ("session".into(), "6MB".into(), None));
    assert_eq!(setting(&run, "enable_hashjoin"), ("session".into(), "off".into(), None));
    assert_eq!(setting(&run, "block_size"), ("already".into(), "8192".into(), None));
    assert_eq!(setting(&run, "checkpoint_timeout"), ("server".into(), "17min".into(), Some(true)));
    assert_eq!(run.text("/server/settings/checkpoint_timeout"), "17min");
    assert_eq!(db.ask("show checkpoint_timeout"), "5min");
    assert_eq!((db.altered(), db.notes().len()), (before, 0));

    // What ALTER SYSTEM had set before is set again.
    db.execute("alter system set checkpoint_timeout = '11min'");
    db.ask("select pg_reload_conf()");
    let before = db.altered();
    // A run that is no part of the suite names the suite that measures here.
    let mut suite = db.admin("pgdyno suite guides, pid 7 on db1");
    suite.query("select pg_advisory_lock(1885824121, 1937074548)").unwrap();
    let said = db.run(&format!("{SHORT} --no-load --set checkpoint_timeout=18min")).ok();
    said.says(&["pgdyno suite guides, pid 7 on db1 (process ", "measures this server at the same time"]);
    db.run(&format!("{SHORT} --no-load --suite-run guides:1:cell:1")).ok();
    assert!(!db.last().record["warnings"].to_string().contains("suite guides"));
    drop(suite);
    assert_eq!(db.altered(), before);

    // What cannot be set leaves no run that `last` would mean.
    let runs = db.home.runs().len();
    for (set, words) in [
        ("work_men=1MB", &["no setting 'work_men'", "did you mean work_mem"][..]),
        ("server_version=9", &["cannot be changed"]),
    ] {
        db.run(&format!("{SHORT} --no-load --set {set}")).ended(1).says(words);
        assert_eq!((db.home.runs().len(), db.altered(), db.notes().len()), (runs, before.clone(), 0), "{set}");
    }
    // A value that is wrong, or cannot be, is reported before anything is measured.
    for (set, words) in [
        ("max_connections=50", &["takes effect only after a restart", "hook `restart`"][..]),
        ("checkpoint_timeout=soon", &["checkpoint_timeout", "soon"]),
        ("work_mem=lots", &["work_mem", "lots"]),
        ("checkpoint_timeout=19min --set work_mem=lots", &["work_mem", "lots"]),
    ] {
        db.run(&format!("{SHORT} --no-load --set {set}")).ended(1).says(words);
        assert_eq!(db.last().text("/status"), "failed", "{set}");
        assert!(db.last().record.get("summary").is_none(), "{set}");
        assert_eq!((db.altered(), db.notes().len()), (before.clone(), 0), "{set}");
    }
}

#[test]
fn a_setting_that_wants_a_restart_gets_one_by_the_hook_and_so_does_its_return() {
    let Some(db) = Hooked::new("hook restart", "") else { return };
    db.with_restart("");
    let began = db.ask("select pg_postmaster_start_time()");
    db.run(&format!("{SHORT} --set shared_buffers=24MB")).ok();
    let run = db.last();
    assert_eq!(setting(&run, "shared_buffers"), ("server".into(), "24MB".into(), Some(true)));
    assert_eq!(run.text("/server/settings/shared_buffers"), "24MB");
    assert_eq!(step(&run, "restart")["output"], "hook-restart.log");
    let log = std::fs::read_to_string(run.path.join("hook-restart.log")).unwrap();
    assert_eq!(log.matches("server started").count(), 2, "{log}");
    assert_eq!(db.ask("show shared_buffers"), "16MB");
    assert_ne!(db.ask("select pg_postmaster_start_time()"), began);

    // Data that is to be loaded anew goes before the restart.
    db.run("load select-only -s 3 --replace -q").ok();
    db.run("run select-only -c 2 -t 20 -q --restart --replace").ok();
    let run = db.last();
    assert_eq!(steps(&run), [pair("drop", true), pair("restart", true)]);
    assert!(run.number("/plan/scale") == 3.0 && run.record.get("load").is_some(), "it is as large as it was");
    // What another user has done is noted and not done again.
    let began = db.ask("select pg_postmaster_start_time()");
    let order = json!({
        "workload": { "names": ["select-only"] },
        "target": { "target": "db" },
        "drive": { "clients": 2, "time_s": 1.0, "ramp_s": 0.0 },
        "cycle": { "restart": true, "done": [["restart", "elsewhere"]] },
        "no_load": true,
    });
    db.home.order("run", &order).ok();
    assert_eq!(step(&db.last(), "restart")["what"], "elsewhere");
    assert_eq!(db.ask("select pg_postmaster_start_time()"), began);
}

#[test]
fn a_run_that_ends_early_puts_settings_back_and_after_a_killed_one_the_next_does() {
    let Some(db) = Hooked::new("settings after kill -9", "") else { return };
    let before = db.altered();
    let long = "run select-only -s 1 -c 2 -R 200 -T 1h --ramp 0 --set checkpoint_timeout=17min";
    let mut running = db.start(long);
    running.until_it_says("progress:", 1);
    assert_eq!((db.ask("show checkpoint_timeout").as_str(), db.notes().len()), ("17min", 1));
    // Another one with the same setting is refused meanwhile, and one without is informed.
    db.run(&format!("{SHORT} --no-load --set checkpoint_timeout=19min"))
        .ended(1)
        .says(&["a run of process", "checkpoint_timeout"]);
    db.run(&format!("{SHORT} --no-load"))
        .ok()
        .says(&["has temporarily changed settings of this server: checkpoint_timeout"]);
    running.signal(Signal::INT);
    running.end().ended(130);
    assert_eq!((db.altered(), db.notes().len()), (before.clone(), 0));

    let mut running = db.start(long);
    running.until_it_says("progress:", 1);
    running.signal(Signal::KILL);
    drop(running);
    assert_eq!((db.ask("show checkpoint_timeout").as_str(), db.notes().len()), ("17min", 1));
    db.run(&SHORT.replace(" -q", " --no-load")).ok().says(&["was killed before it put settings of this server back"]);
    assert_eq!(steps(&db.last()), [pair("restore-settings", true)]);
    assert_eq!((db.altered(), db.notes().len()), (before, 0));
    assert_eq!(db.ask("show checkpoint_timeout"), "5min");
}

#[test]
fn a_hook_that_fails_fails_its_run_and_leaves_its_evidence() {
    let Some(db) = Hooked::new("failing hooks", "") else { return };
    let hooks = |hooks: &str| db.config(&format!("[target.db.hooks]\n{hooks}"));
    // It fails.
    hooks("restart = { command = 'echo no such machine >&2; exit 3' }");
    db.run(&format!("{SHORT} --restart")).ended(13).says(&["hook restart failed", "hook-restart.log"]);
    let run = db.last();
    assert_eq!(
        (run.text("/status"), run.number("/exit_code"), steps(&run)),
        ("failed", 13.0, vec![pair("restart", false)])
    );
    assert_eq!(std::fs::read_to_string(run.path.join("hook-restart.log")).unwrap(), "no such machine\n");
    // It says that all is well, and nothing was restarted.
    hooks("restart = { command = 'true', timeout = '300ms' }");
    db.run(&format!("{SHORT} --restart")).ended(13).says(&["did not come back", "it has been running since"]);
    // It does not end.
    hooks("drop_caches = { command = 'sleep 600', timeout = '200ms' }");
    db.run(&format!("{SHORT} --drop-caches")).ended(13).says(&["did not end within"]);
    // There is none: that is reported, and the run goes on.
    hooks("drop_caches = { command = 'echo $PGUSER' }");
    db.run(&format!("{SHORT} --drop-caches")).ok();
    assert_eq!(std::fs::read_to_string(db.last().path.join("hook-drop_caches.log")).unwrap(), "postgres\n");
    hooks("");
    db.run(&format!("{SHORT} --restart")).ok().says(&["restart: not done", "no hook restart"]);
    assert_eq!(steps(&db.last()), [pair("restart", false)]);
    db.run(&format!("{SHORT} --provision")).ended(1).says(&["has no hook provision"]);
    let list = std::fs::read_to_string(db.home.join("pgdyno-results/results.csv")).unwrap();
    assert_eq!(list.lines().count(), 7, "a line each, and the header: {list}");
}

/// Lets a process go on, at the end of this value at the latest.
struct Stopped(Pid);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::CONT);
    }
}

#[test]
fn ctrl_c_ends_the_wait_for_a_server_that_a_hook_does_not_bring_back() {
    let Some(db) = Hooked::new("a restart that does not come back", "") else { return };
    db.run("load tpcb-like -s 1").ok();
    let pid = std::fs::read_to_string(db.data().join("postmaster.pid")).unwrap();
    let pid = Pid::from_raw(pid.lines().next().unwrap().trim().parse().unwrap()).unwrap();
    // It takes connections in and does not answer. Nobody gives up by himself.
    let text = format!(
        "[target.db]\ndsn = 'host={} user=postgres dbname=postgres connect_timeout=3600'\n[target.db.hooks]\n\
         restart = {{ command = 'kill -STOP {}', timeout = '1h' }}\n",
        db.dir.path().display(),
        pid.as_raw_nonzero()
    );
    std::fs::write(db.home.join("pgdyno.toml"), text).unwrap();
    let is_stopped = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
    };
    let before = db.altered();
    // What was changed on the server is put back before the end, or until the second signal.
    for (more, signals) in [("", &[Signal::INT][..]), (" --set shared_buffers=17MB", &[Signal::INT, Signal::TERM])] {
        let running = db.start(&format!("{SHORT} --restart{more}"));
        program::eventually("the server is stopped", program::PATIENCE, is_stopped);
        let _stopped = Stopped(pid);
        signals.iter().for_each(|signal| running.signal(*signal));
        running.end().ended(130).says(&["interrupted"]);
    }
    assert_eq!(db.notes().len(), 1);
    db.config("");
    db.run(&SHORT.replace(" -q", "")).ok().says(&["put settings of this server back"]);
    assert_eq!((db.altered(), db.notes().len()), (before, 0));
}

#[test]
fn a_target_is_provisioned_and_removed_whatever_comes_of_the_run() {
    let Some(db) = Hooked::new("provisioning", "") else { return };
    let socket = db.dir.path().display().to_string();
    let config = |provision: &str| {
        std::fs::write(
            db.home.join("pgdyno.toml"),
            format!(
                "[target.db]\ndsn = 'host=/nowhere user=postgres'\n[target.db.hooks]\nprovision = {{ command = \"{provision}\" }}\n\
                 teardown = {{ command = 'echo $PGDYNO_TARGET $PGHOST; pwd; env | grep -c PASSWORD; ls $PGDYNO_RUN_DIR/run.json' }}\n"
            ),
        )
        .unwrap();
    };
    config(&format!("echo making; echo 'dsn=host={socket} user=postgres dbname=postgres password=geheim'"));
    let args = format!("{SHORT} --provision");
    let mut command = db.home.command(Hooked::args(&args));
    command.env("PGPASSWORD", "secret-of-the-environment");
    program::finish(command).ok();
    let run = db.last();
    assert_eq!(steps(&run), [pair("provision", true), pair("teardown", true)]);
    let teardown = std::fs::read_to_string(run.path.join("hook-teardown.log")).unwrap();
    assert!(
        teardown.starts_with(&format!("db {socket}\n")) && teardown.contains("\n0\n") && teardown.contains("run.json"),
        "{teardown}"
    );
    let made = std::fs::read_to_string(run.path.join("hook-provision.log")).unwrap();
    assert!(made.contains("making") && !made.contains("geheim"), "{made}");
    assert!(!run.record.to_string().contains("geheim"));

    // A run that fails, and a server that was made by half, are removed, too.
    db.run(&format!("{SHORT} --provision --set no_such=1")).ended(1);
    assert_eq!(steps(&db.last()), [pair("provision", true), pair("teardown", true)]);
    config("echo half; exit 4");
    db.run(&format!("{SHORT} --provision")).ended(13);
    assert_eq!(steps(&db.last()), [pair("provision", false), pair("teardown", true)]);
    assert_eq!(db.last().text("/status"), "failed");
}

#[test]
fn what_the_role_may_not_do_is_reported() {
    let Some(place) = Place::new("steps of an ordinary role", "", TRUST) else { return };
    place.execute("create role plain login; grant create on schema public to plain");
    let target = format!("host={} port={} user=plain dbname=postgres", place.server.dir().display(), place.server.port);
    let run = |args: &str| place.home.run(&args.split_whitespace().chain(["--target", &target]).collect::<Vec<_>>());
    let said = run("run select-only -s 1 -c 2 -t 20 -q --prewarm --checkpoint --set work_mem=5MB").ok();
    said.says(&["prewarm: not done", "checkpoint: not done"]);
    let last = place.home.runs().pop().unwrap();
    assert_eq!(steps(&last), [pair("prewarm", false), pair("checkpoint", false)]);
    assert_eq!(setting(&last, "work_mem").0, "session");
    run(&format!("{SHORT} --no-load --set log_statement=all")).ended(1).says(&["log_statement", "may not set it"]);
    run(&format!("{SHORT} --no-load --set checkpoint_timeout=17min"))
        .ended(1)
        .says(&["this role may not reload the server's configuration", "by its own means"]);
    // With the right to reload, the setting itself is what is refused.
    place.execute("grant execute on function pg_reload_conf() to plain; grant pg_read_all_settings to plain");
    run(&format!("{SHORT} --no-load --set checkpoint_timeout=17min"))
        .ended(1)
        .says(&["(SQLSTATE 42501), in: alter system", "by its own means"]);
    assert_eq!(files(&place.home.join(".local/state/pgdyno/settings-to-restore")).len(), 0);
}
