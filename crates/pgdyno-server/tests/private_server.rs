//! The private server with a real PostgreSQL: it starts, is used, and is gone, however its owner ends.
//!
//! The owner is `examples/private_server.rs`, a process of its own, so that it can be killed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, ConnectOptions, Env};
use pgdyno_server::{
    Account, DiskReads, EmbeddedError, HeldServer, Places, PrivateServerOptions, SUPERUSER, Sample, Want, capabilities,
    facts, kept, power_loss_missing, search,
};
use pgdyno_testing::postgres;
use pgdyno_testing::skipped::skipped;
use rustix::process::{Pid, Signal, kill_process};

/// What takes longer hangs. (A killed owner's server is gone in a fraction of a second, and the supervisor's
/// harshest way takes 6; a busy machine must not fail a test.)
const PATIENCE: Duration = Duration::from_secs(60);

/// The program that owns servers in these tests: an example, which cargo builds before the tests.
fn owner_program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let target = test.parent().and_then(Path::parent).unwrap();
    target.join("examples/private_server")
}

/// A directory for everything, which other users can pass through.
fn place() -> (tempfile::TempDir, Places) {
    let root = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
    std::fs::set_permissions(root.path(), Permissions::from_mode(0o755)).unwrap();
    let places = Places::at(root.path().join("cache"));
    (root, places)
}

/// Options for a server of this process; `None`, aloud, where no PostgreSQL is installed.
#[expect(clippy::disallowed_methods, reason = "programs are searched for where the shell searches")]
fn options(places: &Places) -> Option<PrivateServerOptions> {
    let path = std::env::var_os("PATH");
    let account = Account::for_server().unwrap();
    if want() == Want::Any && search(path.as_deref(), account.as_ref()).usable.is_empty() {
        skipped("no PostgreSQL is installed here");
        return None;
    }
    let mut options = PrivateServerOptions::new(owner_program(), places.clone());
    options.path = path;
    Some(options)
}

/// The newest one that is installed, or the one that tests are to use.
fn want() -> Want {
    postgres::chosen().map_or(Want::Any, Want::Directory)
}

fn start(options: &PrivateServerOptions) -> HeldServer {
    HeldServer::start(&want(), options, &mut |_| {}).unwrap()
}

/// Whether a process runs; one that only waits to be reaped does not.
fn lives(pid: i32) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output().unwrap();
    let state = String::from_utf8(output.stdout).unwrap();
    !state.trim().is_empty() && !state.trim_start().starts_with('Z')
}

/// All processes that have `text` in their command line.
fn processes_with(text: &str) -> Vec<String> {
    let output = Command::new("ps").args(["-A", "-ww", "-o", "pid=,args="]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn kill(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

fn instances(places: &Places) -> Vec<PathBuf> {
    std::fs::read_dir(places.root().join("instances"))
        .map(|entries| entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect())
        .unwrap_or_default()
}

/// A process that owns a server.
struct Owner {
    process: Child,
    postmaster: i32,
    supervisor: i32,
    port: u16,
    socket_dir: PathBuf,
    data_dir: PathBuf,
}

impl Owner {
    fn start(places: &Places, account: Option<&Account>) -> Self {
        let mut command = Command::new(owner_program());
        command.envs(postgres::chosen().map(|bin| ("PGDYNO_POSTGRES", bin)));
        if let Some(account) = account {
            command.uid(account.uid).gid(account.gid);
        }
        let mut process = command.arg(places.root()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let [postmaster, supervisor, port, socket_dir, data_dir] = words[..] else {
            panic!("the owner started no server: {line:?}");
        };
        Self {
            process,
            postmaster: postmaster.parse().unwrap(),
            supervisor: supervisor.parse().unwrap(),
            port: port.parse().unwrap(),
            socket_dir: socket_dir.into(),
            data_dir: data_dir.into(),
        }
    }

    fn connect(&self) -> Admin {
        let options = ConnectOptions::for_socket(&self.socket_dir, self.port, SUPERUSER, "postgres");
        Admin::connect(&options).unwrap()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

#[test]
fn a_server_starts_answers_and_leaves_nothing() {
    let (_root, places) = place();
    let Some(options) = options(&places) else {
        return;
    };
    let embedded = start(&options);
    let server = embedded.server().clone();
    let mut admin = Admin::connect(&server.connect_options("postgres")).unwrap();
    for (name, value) in [
        ("fsync", "on"),
        ("full_page_writes", "on"),
        ("synchronous_commit", "on"),
        ("listen_addresses", ""),
        ("wal_level", "minimal"),
        ("server_encoding", "UTF8"),
    ] {
        let sql = format!("SELECT current_setting('{name}')");
        assert_eq!(admin.query_one(&sql).unwrap(), value, "{name}");
    }
    for setting in server.settings() {
        // As a number without unit, such as 4GB is to current_setting().
        let sql = format!("SELECT current_setting('{}')", setting.name);
        assert_eq!(admin.query_one(&sql).unwrap(), setting.value, "{}", setting.name);
    }
    let socket_dir_mode = server.socket_dir().metadata().unwrap().mode();
    assert_eq!(socket_dir_mode & 0o777, 0o700, "others may enter the socket's directory");
    assert_eq!(server.data_dir().metadata().unwrap().mode() & 0o077, 0);
    assert!(lives(server.supervisor_pid()) && lives(server.postmaster_pid()));

    // A connection that is open must not keep it from ending.
    embedded.stop();
    assert!(!lives(server.supervisor_pid()) && !lives(server.postmaster_pid()));
    assert_eq!(instances(&places), Vec::<PathBuf>::new());
    assert!(!server.socket_dir().exists());
    assert!(admin.query("SELECT 1").is_err());
    let root = places.root().display().to_string();
    assert_eq!(processes_with(&root), Vec::<String>::new());
}

#[test]
fn two_at_once_have_their_own_directories_and_ports() {
    let (_root, places) = place();
    if options(&places).is_none() {
        return;
    }
    let (one, two) = (Owner::start(&places, None), Owner::start(&places, None));
    assert_ne!(one.data_dir, two.data_dir);
    assert_ne!(one.port, two.port);
    one.connect().execute("CREATE TABLE only_here ()").unwrap();
    assert!(two.connect().execute("TABLE only_here").is_err());
    drop(one);
    two.connect().query_one("SELECT 1").unwrap();
    assert_eq!(instances(&places).len(), 1);
}

#[test]
fn killing_the_owner_ends_the_server_and_removes_its_directories() {
    let (root, _) = place();
    // So long a path that no socket fits into it: the socket has a directory elsewhere, which goes too.
    let places = Places::at(root.path().join("c".repeat(90)));
    if options(&places).is_none() {
        return;
    }
    let mut owner = Owner::start(&places, None);
    // In the middle of work.
    let mut admin = owner.connect();
    let worker = std::thread::spawn(move || admin.execute("SELECT pg_sleep(60)"));
    kill(owner.process.id() as i32, Signal::KILL);
    owner.process.wait().unwrap();
    eventually("the postmaster ends", || !lives(owner.postmaster));
    eventually("its supervisor ends", || !lives(owner.supervisor));
    assert!(instances(&places).is_empty(), "{:?}", instances(&places));
    assert!(!owner.socket_dir.starts_with(places.root()) && !owner.socket_dir.exists());
    assert!(worker.join().unwrap().is_err());
    eventually("every process ends", || processes_with(&places.root().display().to_string()).is_empty());
}

#[test]
fn killing_the_owner_while_the_server_starts_leaves_nothing() {
    let (_root, places) = place();
    if options(&places).is_none() {
        return;
    }
    for step in ["Initialising", "Starting"] {
        let mut owner = Command::new(owner_program())
            .envs(postgres::chosen().map(|bin| ("PGDYNO_POSTGRES", bin)))
            .arg(places.root())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let steps = BufReader::new(owner.stderr.take().unwrap());
        assert!(steps.lines().any(|line| line.unwrap().starts_with(step)), "no {step}");
        owner.kill().unwrap();
        owner.wait().unwrap();
        eventually("every process ends", || processes_with(&places.root().display().to_string()).is_empty());
        eventually("its directories go", || instances(&places).is_empty());
    }
}

#[test]
fn killing_the_supervisor_ends_the_server_and_the_owner_removes_the_rest() {
    let (_root, places) = place();
    let Some(options) = options(&places) else {
        return;
    };
    let mut embedded = start(&options);
    embedded.check().unwrap();
    let server = embedded.server().clone();
    kill(server.supervisor_pid(), Signal::KILL);
    if cfg!(target_os = "linux") {
        eventually("the postmaster ends", || !lives(server.postmaster_pid()));
    }
    eventually("the owner notices", || embedded.check().is_err());
    embedded.stop();
    assert!(!lives(server.postmaster_pid()));
    assert!(instances(&places).is_empty(), "{:?}", instances(&places));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "programs are searched for where the shell searches")]
fn what_dead_owners_left_is_swept_by_the_next() {
    let (_root, places) = place();
    if options(&places).is_none() {
        return;
    }
    let mut owner = Owner::start(&places, None);
    // Stopped, the supervisor cannot see that its owner dies; killed, it can do nothing about it.
    kill(owner.supervisor, Signal::STOP);
    kill(owner.process.id() as i32, Signal::KILL);
    owner.process.wait().unwrap();
    kill(owner.supervisor, Signal::KILL);
    eventually("supervisor and postmaster are dead", || {
        !lives(owner.supervisor) && (cfg!(not(target_os = "linux")) || !lives(owner.postmaster))
    });
    let dir = owner.data_dir.parent().unwrap();
    assert_eq!(instances(&places), [dir]);
    // Where the system does not end an orphaned postmaster, it still runs.
    let installed = || search(std::env::var_os("PATH").as_deref(), None).usable[0].bindir.clone();
    let bindir = postgres::chosen().unwrap_or_else(installed);
    let mut stray = Command::new(bindir.join("postgres"));
    stray
        .arg("-D")
        .arg(&owner.data_dir)
        .arg(format!("--config-file={}/postgresql.conf", dir.display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Some(account) = Account::for_server().unwrap() {
        stray.uid(account.uid).gid(account.gid);
    }
    let mut stray = stray.spawn().unwrap();
    eventually("the stray server is ready", || {
        std::fs::read_to_string(owner.data_dir.join("postmaster.pid")).is_ok_and(|text| text.contains("ready"))
    });

    let next = Owner::start(&places, None);
    assert!(stray.try_wait().unwrap().is_some(), "the stray server still runs");
    assert_eq!(instances(&places), [next.data_dir.parent().unwrap().to_owned()]);
}

#[test]
fn a_server_that_was_crashed_is_there_again_with_what_was_committed() {
    let (root, places) = place();
    let Some(options) = options(&places) else { return };
    let mut server = start(&options);
    let old = server.server().postmaster_pid();
    let connect = |server: &HeldServer| Admin::connect(&server.server().connect_options("postgres")).unwrap();
    for rows in 1..=2 {
        let mut admin = connect(&server);
        admin.execute("create table if not exists kept (n int); insert into kept values (1)").unwrap();
        let mut open = connect(&server);
        open.execute("begin; insert into kept values (2)").unwrap();
        server.crash().unwrap();
        assert!(admin.query("select 1").is_err() && open.execute("commit").is_err());
        assert_eq!(connect(&server).query_one("select count(*) from kept").unwrap(), rows.to_string());
        assert!(server.server().log_tail().iter().any(|line| line.contains("not properly shut down")));
        server.check().unwrap();
    }
    assert!(!lives(old) && server.server().postmaster_pid() != old);

    // One that dies by itself afterwards is noticed still.
    kill(server.server().postmaster_pid(), Signal::KILL);
    eventually("it is noticed", || server.check().is_err());
    drop(server);
    assert_eq!(processes_with(root.path().to_str().unwrap()), Vec::<String>::new());
    assert_eq!(instances(&places), Vec::<PathBuf>::new());
}

#[test]
fn a_server_that_is_killed_for_good_leaves_no_shared_memory() {
    let (_root, places) = place();
    let Some(options) = options(&places) else { return };
    let server = start(&options);
    let pid = server.server().postmaster_pid();
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let segments: Vec<_> = maps.lines().filter_map(|line| line.split_whitespace().nth(5)).collect();
    let segments: Vec<_> = segments.into_iter().filter(|path| path.starts_with("/dev/shm/PostgreSQL.")).collect();
    if segments.is_empty() {
        return skipped("shared memory that stays: the server has none in /dev/shm");
    }
    assert!(segments.iter().all(|path| Path::new(path).exists()), "{segments:?}");
    server.kill();
    eventually("it is dead", || !lives(pid));
    assert!(!segments.iter().any(|path| Path::new(path).exists()), "{segments:?}");
}

#[test]
fn a_loss_of_power_costs_acknowledged_commits_without_fsync_and_none_with_it() {
    if let Some(why) = power_loss_missing() {
        skipped(&format!("a loss of power: {why}"));
        return;
    }
    let (root, places) = place();
    let Some(options) = options(&places) else { return };
    let rows_after_loss = |fsync: &str| {
        let settings = vec![setting("fsync", fsync)];
        let mut server = start(&PrivateServerOptions { journals_writes: true, settings, ..options.clone() });
        let connect = |server: &HeldServer| Admin::connect(&server.server().connect_options("postgres")).unwrap();
        let mut admin = connect(&server);
        assert_eq!(admin.query_one("show wal_sync_method").unwrap(), "fdatasync");
        admin.execute("create table acknowledged (n int)").unwrap();
        admin.execute("insert into acknowledged values (0)").unwrap();
        server.mark_synced().unwrap();
        for n in 1..=200 {
            admin.execute(&format!("insert into acknowledged values ({n})")).unwrap();
        }
        server.lose_power().unwrap();
        assert!(admin.query("select 1").is_err());
        connect(&server).query_one("select count(*) from acknowledged").unwrap()
    };
    assert_eq!(rows_after_loss("on"), "201");
    assert_eq!(rows_after_loss("off"), "1", "only what counted as synced");
    // A server without a journal says so.
    let mut plain = start(&options);
    assert!(plain.mark_synced().unwrap_err().to_string().contains("it has no journal"));
    drop(plain);
    assert_eq!(processes_with(root.path().to_str().unwrap()), Vec::<String>::new());
    assert_eq!(instances(&places), Vec::<PathBuf>::new());
}

#[test]
fn a_server_that_dies_is_noticed_with_its_log() {
    let (_root, places) = place();
    let Some(options) = options(&places) else {
        return;
    };
    let mut embedded = start(&options);
    let server = embedded.server().clone();
    // Not by SIGKILL, after which PostgreSQL leaves shared memory in the kernel.
    kill(server.postmaster_pid(), Signal::QUIT);
    let mut reported = String::new();
    eventually("its death is reported", || match embedded.check() {
        Ok(()) => false,
        Err(error) => {
            reported = error.to_string();
            true
        }
    });
    assert!(reported.contains("postgres ended"), "{reported}");
    assert!(reported.contains("received immediate shutdown request"), "{reported}");
    // It is reported again by each later call.
    assert!(embedded.check().is_err());
    embedded.stop();
    assert!(instances(&places).is_empty());
    let root = places.root().display().to_string();
    eventually("its backends end", || processes_with(&root).is_empty());
}

#[test]
fn a_server_that_does_not_start_says_why_and_leaves_nothing() {
    let (_root, places) = place();
    let Some(mut options) = options(&places) else {
        return;
    };
    options.settings = vec![("work_mem".to_owned(), "a lot".to_owned())];
    let error = HeldServer::start(&want(), &options, &mut |_| {}).unwrap_err();
    assert!(matches!(error, EmbeddedError::Start { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("postgres ended while it started"), "{text}");
    assert!(text.contains("work_mem"), "{text}");
    assert!(instances(&places).is_empty());

    options.settings.clear();
    options.supervisor = "/nowhere/pgdyno".into();
    let error = HeldServer::start(&want(), &options, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("/nowhere/pgdyno"), "{error}");
    assert!(instances(&places).is_empty());
}

#[test]
fn tcp_asks_for_the_password() {
    let (_root, places) = place();
    let Some(mut options) = options(&places) else {
        return;
    };
    options.tcp = true;
    let embedded = start(&options);
    let dsn = embedded.server().tcp_dsn("postgres").unwrap();
    let connect = |password: &str| {
        let dsn = format!("{dsn} password={password}");
        Admin::connect(&ConnectOptions::resolve(&dsn, &Env::default()).unwrap())
    };
    let password = embedded.password().unwrap();
    let mut admin = connect(password.reveal()).unwrap();
    assert_eq!(admin.query_one("SHOW listen_addresses").unwrap(), "127.0.0.1");
    let refused = connect("wrong").unwrap_err();
    assert_eq!(refused.code().unwrap().to_string(), "28P01");
    assert!(!format!("{embedded:?}").contains(password.reveal().as_str()));
}

#[test]
fn an_ordinary_user_has_a_server_too() {
    if !rustix::process::geteuid().is_root() {
        skipped("an ordinary user beside root, as this is not root");
        return;
    }
    let (root, _) = place();
    let places = Places::at(root.path().join("theirs/cache"));
    if options(&places).is_none() {
        return;
    }
    let Some(nobody) = Account::named("nobody") else {
        skipped("there is no account nobody");
        return;
    };
    let theirs = root.path().join("theirs");
    std::fs::create_dir(&theirs).unwrap();
    std::os::unix::fs::chown(&theirs, Some(nobody.uid), Some(nobody.gid)).unwrap();
    let can_run = Command::new("test").arg("-x").arg(owner_program()).uid(nobody.uid).gid(nobody.gid).status().unwrap();
    if !can_run.success() {
        skipped(&format!("nobody cannot reach {}", owner_program().display()));
        return;
    }
    let mut owner = Owner::start(&places, Some(&nobody));
    assert_eq!(owner.data_dir.metadata().unwrap().uid(), nobody.uid);
    // Root gets into every directory, and is still not let in: the server runs for another user.
    let options = ConnectOptions::for_socket(&owner.socket_dir, owner.port, SUPERUSER, "postgres");
    assert!(Admin::connect(&options).is_err());
    kill(owner.process.id() as i32, Signal::KILL);
    owner.process.wait().unwrap();
    eventually("the postmaster ends", || !lives(owner.postmaster));
    eventually("its directories go", || instances(&places).is_empty());
}

#[test]
fn the_kept_server_stays_goes_on_with_its_data_and_goes() {
    let (_root, places) = place();
    let Some(options) = options(&places) else {
        return;
    };
    let start = || kept::start(&want(), &options, &mut |_| {});
    assert_eq!(kept::status(&places).unwrap(), kept::KeptServerStatus::Absent);
    assert!(matches!(kept::stop(&places, false), Err(kept::KeptError::NotRunning)));

    let first = start().unwrap().server;
    let mut admin = Admin::connect(&first.connect_options("postgres")).unwrap();
    admin.execute("CREATE TABLE kept AS SELECT 7 AS n").unwrap();
    let kept::KeptServerStatus::Running(seen) = kept::status(&places).unwrap() else {
        panic!("it does not run");
    };
    assert_eq!(seen, first);
    assert!(seen.data_bytes() > 1 << 20);
    let again = start().unwrap_err().to_string();
    assert!(again.contains("is already running"), "{again}");

    kept::stop(&places, true).unwrap();
    assert!(!lives(first.postmaster_pid()));
    assert!(matches!(kept::status(&places).unwrap(), kept::KeptServerStatus::Stopped { crashed: false, .. }));

    let second = start().unwrap().server;
    let mut admin = Admin::connect(&second.connect_options("postgres")).unwrap();
    assert_eq!(admin.query_one("SELECT n FROM kept").unwrap(), "7");

    // As after a crash of the machine: the file says that it runs, and nobody holds the lock.
    kill(second.supervisor_pid(), Signal::KILL);
    eventually("the lock is free", || {
        matches!(kept::status(&places).unwrap(), kept::KeptServerStatus::Stopped { crashed: true, .. })
    });
    let third = start().unwrap().server;
    assert!(!lives(second.postmaster_pid()), "the stray server still runs");
    let mut admin = Admin::connect(&third.connect_options("postgres")).unwrap();
    assert_eq!(admin.query_one("SELECT n FROM kept").unwrap(), "7");

    kept::stop(&places, false).unwrap();
    assert!(!lives(third.postmaster_pid()));
    assert_eq!(kept::status(&places).unwrap(), kept::KeptServerStatus::Absent);
    assert!(!places.root().join("kept").exists());
}

#[test]
fn a_server_is_probed_and_sampled() {
    let (_root, places) = place();
    let Some(options) = options(&places) else {
        return;
    };
    let embedded = start(&options);
    let connect_options = embedded.server().connect_options("postgres");
    let mut admin = Admin::connect(&connect_options).unwrap();
    let version = &embedded.server().installation().version;
    assert_eq!(capabilities(&mut admin, &connect_options).unwrap().major(), version.major);

    let facts = facts(&mut admin, &connect_options).unwrap();
    assert!(facts.version.contains(&version.text), "{}", facts.version);
    assert!(facts.is_local && facts.tls.is_none());
    assert_eq!(facts.in_recovery, Some(false));
    assert_eq!(facts.synchronous_standbys, Some(0));
    assert_eq!(facts.encoding.as_deref(), Some("UTF8"));
    assert!(facts.database_bytes.unwrap() > 1 << 20);
    assert!(facts.extensions.contains_key("plpgsql"));
    assert_eq!(facts.settings["fsync"].value, "on");
    assert_eq!(facts.settings["wal_level"].source, "configuration file");
    assert_eq!(facts.settings["jit"].source, "default");

    let before = Sample::take(&mut admin).unwrap().unwrap();
    {
        let mut client = Admin::connect(&connect_options).unwrap();
        client.execute("CREATE TABLE t AS SELECT generate_series(1, 1000) AS n").unwrap();
        for _ in 0..49 {
            client.execute("INSERT INTO t VALUES (0)").unwrap();
        }
        client.execute("BEGIN; ROLLBACK").unwrap();
    }
    // Its counts arrive when it ends, which the end of its connection does not wait for.
    let mut work = None;
    eventually("the client's work is counted", || {
        let now = Sample::take(&mut admin).unwrap().unwrap();
        work = now.since(&before);
        work.is_some_and(|work| work.counters.tup_inserted >= 49)
    });
    let work = work.unwrap();
    assert!(work.transactions() >= 50, "{work:?}");
    assert!(work.wal_bytes.unwrap() > 49 * 50, "{work:?}");
    assert!(work.hit_ratio().unwrap() > 0.5, "{work:?}");
}

fn setting(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

#[test]
fn data_are_copied_from_a_server_to_another_and_both_go_on() {
    let (_root, places) = place();
    let Some(mut options) = options(&places) else { return };
    let mut one = start(&options);
    options.settings = vec![setting("work_mem", "7MB")];
    let mut other = start(&options);
    let connect = |server: &HeldServer| Admin::connect(&server.server().connect_options("postgres")).unwrap();
    connect(&one).execute("create table loaded as select generate_series(1, 1000) as n").unwrap();
    connect(&other).execute("create table lost as select 1 as n").unwrap();
    let places = [&one, &other].map(|server| server.server().port());

    one.copy_data_to(&mut other).unwrap();
    assert_eq!([&one, &other].map(|server| server.server().port()), places);
    connect(&one).execute("insert into loaded values (0)").unwrap();
    let mut admin = connect(&other);
    assert_eq!(admin.query_one("select count(*) from loaded").unwrap(), "1000", "they share nothing");
    assert_eq!(admin.query_one("select to_regclass('lost') is null").unwrap(), "t");
    assert_eq!(admin.query_one("show work_mem").unwrap(), "7MB", "its settings are its own");
    one.check().and(other.check()).unwrap();
}

#[test]
fn a_server_restarts_with_other_settings_where_it_was_and_one_that_cannot_goes_on_as_before() {
    let (_root, places) = place();
    let Some(mut options) = options(&places) else { return };
    options.settings = vec![setting("work_mem", "7MB")];
    let mut server = start(&options);
    let connect = |server: &HeldServer| Admin::connect(&server.server().connect_options("postgres")).unwrap();
    let mut admin = connect(&server);
    admin.execute("create table kept as select 7 as n").unwrap();
    let place = |server: &HeldServer| (server.server().port(), server.server().socket_dir().to_owned());
    let (first, pid) = (place(&server), server.server().postmaster_pid());

    server.restart(&[setting("shared_buffers", "9MB")]).unwrap();
    assert!(admin.query("select 1").is_err(), "the sessions of before are gone");
    let mut admin = connect(&server);
    assert_eq!(admin.query_one("select n from kept").unwrap(), "7");
    let show = |admin: &mut Admin, name: &str| admin.query_one(&format!("show {name}")).unwrap();
    assert_eq!(show(&mut admin, "shared_buffers"), "9MB");
    assert_ne!(show(&mut admin, "work_mem"), "7MB", "settings of an earlier start count no more");
    assert!(!server.server().log_tail().iter().any(|line| line.contains("not properly shut down")));
    assert!(place(&server) == first && server.server().postmaster_pid() != pid && !lives(pid));

    let refused = server.restart(&[setting("max_connections", "1")]).unwrap_err().to_string();
    assert!(refused.contains("max_connections"), "{refused}");
    let refused = server.restart(&[setting("port", "1")]).unwrap_err().to_string();
    assert!(refused.contains("pgdyno sets it"), "{refused}");
    let mut admin = connect(&server);
    assert_eq!((show(&mut admin, "shared_buffers").as_str(), place(&server)), ("9MB", first));
    server.check().unwrap();
}

#[test]
fn the_kept_server_restarts_with_what_alter_system_wrote_unless_that_cannot_be() {
    let (_root, places) = place();
    let Some(options) = options(&places) else { return };
    assert!(matches!(kept::restart(&places), Err(kept::KeptError::NotRunning)));
    let first = kept::start(&want(), &options, &mut |_| {}).unwrap().server;
    let ask = |server: &pgdyno_server::PrivateServer, sql: &str| {
        Admin::connect(&server.connect_options("postgres")).unwrap().query(sql).unwrap().rows
    };
    ask(&first, "create table kept as select 7 as n");
    ask(&first, "alter system set shared_buffers = '9MB'");
    let second = kept::restart(&places).unwrap();
    assert_eq!((second.port(), second.socket_dir()), (first.port(), first.socket_dir()));
    assert_ne!(second.postmaster_pid(), first.postmaster_pid());
    assert_eq!(ask(&second, "show shared_buffers"), [[Some("9MB".to_owned())]]);
    assert_eq!(ask(&second, "select n from kept"), [[Some("7".to_owned())]]);

    // PostgreSQL lets it be written, and does not start with it.
    ask(&second, "alter system set shared_preload_libraries = 'no_such_library'");
    let refused = kept::restart(&places).unwrap_err().to_string();
    assert!(refused.contains("no_such_library") && refused.contains("runs with the previous ones"), "{refused}");
    let kept::KeptServerStatus::Running(third) = kept::status(&places).unwrap() else { panic!("it does not run") };
    assert_eq!(ask(&third, "show shared_buffers"), [[Some("9MB".to_owned())]]);
    assert_eq!(ask(&third, "select n from kept"), [[Some("7".to_owned())]]);
    kept::stop(&places, false).unwrap();
}

/// Bytes of the file that are in memory.
fn cached(file: &Path) -> u64 {
    let output = Command::new("fincore").args(["--bytes", "--noheadings", "--output", "RES"]).arg(file).output();
    String::from_utf8(output.unwrap().stdout).unwrap().trim().parse().unwrap()
}

#[test]
fn what_was_forgotten_is_read_from_the_disk_again_and_counted() {
    let (_root, places) = place();
    let Some(mut options) = options(&places) else { return };
    if Command::new("fincore").arg("--version").output().is_err() {
        return skipped("fincore is not there to see what is in memory");
    }
    options.settings = vec![setting("shared_buffers", "1MB"), setting("autovacuum", "off")];
    let server = start(&options);
    let target = server.server().connect_options("postgres");
    let mut admin = Admin::connect(&target).unwrap();
    admin.execute("create table wide as select n, repeat('x', 500) from generate_series(1, 20000) n").unwrap();
    admin.execute("checkpoint").unwrap();
    let file = admin.query_one("select pg_relation_filepath('wide')").unwrap();
    let file = server.server().data_dir().join(file);
    let size = std::fs::metadata(&file).unwrap().len();

    let Some(mut warm) = DiskReads::begin(&mut admin, &target).unwrap() else {
        return skipped("the server's processes do not show what they read");
    };
    admin.execute("select count(*) from wide").unwrap();
    warm.go_on();
    assert!(cached(&file) > size / 2 && warm.bytes() < size / 2, "{} of {size}", warm.bytes());

    let bytes = pgdyno_server::caches::forget_files(server.server().data_dir()).unwrap();
    assert!(bytes > size, "{bytes}");
    if cached(&file) > size / 2 {
        return skipped("this file system does not drop its cache");
    }
    let mut cold = DiskReads::begin(&mut admin, &target).unwrap().unwrap();
    // A session that comes and stays counts as one that was there.
    let mut other = Admin::connect(&target).unwrap();
    other.execute("select count(*) from wide").unwrap();
    cold.go_on();
    assert!(cold.bytes() > size / 2, "{} of {size}", cold.bytes());
}
