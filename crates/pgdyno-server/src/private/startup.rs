//! The work of a supervisor until its server accepts connections.

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::private::copy::{self, Durability};
use crate::private::instance::{self, Instance, own};
use crate::private::new_cluster;
use crate::private::pipe::{Event, Spec, report};
use crate::private::places::Places;
use crate::private::postmaster::{self, POLL, Postmaster, PostmasterPlace, Stop};
use crate::private::power_loss::WriteJournal;
use crate::private::server::PrivateServer;
use crate::private::sizing::Setting;
use crate::private::wake::Wake;
use crate::process;

/// The name of the data directory before it is complete.
const UNFINISHED: &str = "data.new";

/// Why the server did not start; `None` if it is not needed any more.
pub(crate) type Refusal = Option<String>;

/// Returns true if a request to end came before the server started.
fn is_unwanted(woken: &Receiver<Wake>) -> bool {
    matches!(woken.try_recv(), Ok(Wake::ParentGone | Wake::Signal(_)))
}

/// Creates the data directory if necessary, and starts the server on it; at the address of `last`, if that was the
/// same server before a shutdown. Call it on the main thread.
pub(crate) fn start(
    spec: &Spec,
    instance: &Instance,
    woken: &Receiver<Wake>,
    last: Option<&PrivateServer>,
) -> Result<(Postmaster, PrivateServer), Refusal> {
    let account = spec.account.as_ref();
    let because = |what: &'static str| move |error: io::Error| Some(format!("{what}: {error}"));
    let log_path = instance.log();
    // Truncated, then appended to by all writers.
    let log = File::create(&log_path)
        .and_then(|_| File::options().append(true).open(&log_path))
        .map_err(because("cannot write the server's log"))?;
    let new_log = || log.try_clone().map_err(because("cannot write the server's log"));
    let data = instance.data();
    if let Ok(major) = std::fs::read_to_string(data.join("PG_VERSION")) {
        if major.trim() != spec.installation.version.major.to_string() {
            return Err(Some(format!(
                "the kept data are of PostgreSQL {}, and this is {}; name that version, or remove them with 'pgdyno \
                 server stop'",
                major.trim(),
                spec.installation.version
            )));
        }
    } else if copied(spec, instance) {
        if spec.is_standby {
            let signal = data.join("standby.signal");
            File::create(&signal).and_then(|_| own(&signal, account)).map_err(because("cannot make a standby"))?;
        }
    } else if spec.is_standby {
        return Err(Some("the data of its primary cannot be copied".to_owned()));
    } else {
        report(&Event::Initialising);
        initialise(spec, instance, new_log()?, woken)?;
        // Removes initdb's output: the log's end should show why postgres does not start.
        log.set_len(0).map_err(because("cannot write the server's log"))?;
    }
    let socket_dir = match last.filter(|last| last.socket_dir.is_dir()) {
        Some(last) => last.socket_dir.clone(),
        None => instance.make_socket_dir(account).map_err(because("cannot make the directory of the socket"))?,
    };
    let journal = journal(spec, instance);
    report(&Event::Starting);
    // Another process may take the port before the server does, which matters for TCP only.
    for attempt in 0..5 {
        let port = match last.filter(|_| attempt == 0) {
            Some(last) => last.port,
            None => free_port().map_err(because("cannot find a free port"))?,
        };
        let config =
            configure(spec, instance, &socket_dir, port).map_err(because("cannot write the server's configuration"))?;
        let prepare = |postmaster: &mut Command| match &journal {
            Some(journal) => journal.begin(postmaster, account),
            None => Ok(()),
        };
        let place = PostmasterPlace { bindir: &spec.installation.bindir, data: &data, config: &config };
        let mut server =
            Postmaster::start(&place, account, new_log()?, prepare).map_err(because("cannot run postgres"))?;
        match await_ready(spec, &mut server, woken) {
            Ok(()) => {
                let running = PrivateServer {
                    supervisor_pid: std::process::id() as i32,
                    postmaster_pid: server.pid(),
                    installation: spec.installation.clone(),
                    settings: spec.settings.clone(),
                    dir: instance.dir().to_owned(),
                    data_dir: data,
                    socket_dir,
                    port,
                    tcp: spec.tcp,
                    started_unix_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
                    refused: None,
                };
                return Ok((server, running));
            }
            Err(refusal) => {
                server.stop(Stop::Immediate);
                let port_was_taken =
                    instance::log_tail(&log_path).iter().any(|line| line.contains("could not bind IPv4 address"));
                if refusal.is_none() || !port_was_taken {
                    return Err(refusal);
                }
                // The next attempt's log must not contain this one's error.
                log.set_len(0).map_err(because("cannot write the server's log"))?;
            }
        }
    }
    Err(Some("no port stays free for the server".to_owned()))
}

/// Returns the journal of a server's writes, if it has one.
pub(crate) fn journal(spec: &Spec, instance: &Instance) -> Option<WriteJournal> {
    spec.journals_writes.then(|| WriteJournal::of(instance.dir(), &instance.data()))
}

/// Makes the data directory a copy of kept data, if that is wanted. Returns false if there is none then.
fn copied(spec: &Spec, instance: &Instance) -> bool {
    let Some(kept) = &spec.data else { return false };
    report(&Event::Copying);
    let unfinished = instance.dir().join(UNFINISHED);
    let _ = std::fs::remove_dir_all(&unfinished);
    let copied = copy::copy(kept, &unfinished, spec.account.as_ref(), Durability::BeforeUse);
    copied.and_then(|()| std::fs::rename(&unfinished, instance.data())).is_ok()
}

/// Creates the data directory, which gets its name when it is complete: a copy of what initdb made for an earlier server, or else
/// by initdb.
fn initialise(spec: &Spec, instance: &Instance, log: File, woken: &Receiver<Wake>) -> Result<(), Refusal> {
    let unfinished = instance.dir().join(UNFINISHED);
    let (places, build) = (Places::at(&spec.places_root), &spec.installation);
    let durability = if spec.kept { Durability::BeforeUse } else { Durability::OfTheSystem };
    let _ = std::fs::remove_dir_all(&unfinished);
    if !new_cluster::copy_to(&places, build, &unfinished, spec.account.as_ref(), durability) {
        let _ = std::fs::remove_dir_all(&unfinished);
        run_initdb(spec, instance, log, woken)?;
        // The next one takes as long if this fails.
        let _ = new_cluster::keep(&places, build, &unfinished);
    }
    std::fs::rename(&unfinished, instance.data())
        .map_err(|e| Some(format!("cannot rename {}: {e}", unfinished.display())))
}

/// Makes a new cluster in the directory that has no name yet.
fn run_initdb(spec: &Spec, instance: &Instance, log: File, woken: &Receiver<Wake>) -> Result<(), Refusal> {
    let account = spec.account.as_ref();
    let unfinished = instance.dir().join(UNFINISHED);
    let data = instance
        .make_private(UNFINISHED, account)
        .map_err(|e| Some(format!("cannot make {}: {e}", unfinished.display())))?;
    let mut initdb = postmaster::initdb(&spec.installation.bindir, &data, account, spec.kept, log)
        .and_then(|mut command| command.spawn())
        .map_err(|error| match (account, error.kind()) {
            (Some(account), io::ErrorKind::PermissionDenied) => Some(format!(
                "user {} cannot reach {}: every directory above it must let that user pass (chmod o+x)",
                account.name,
                data.display()
            )),
            _ => Some(format!("cannot run initdb: {error}")),
        })?;
    // If killed, its postgres would leave shared memory in the kernel; it is nearly finished anyway.
    let mut unwanted_since: Option<Instant> = None;
    loop {
        match initdb.try_wait() {
            Ok(Some(_)) if unwanted_since.is_some() => return Err(None),
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(Some(format!("initdb failed ({status})"))),
            Ok(None) => {}
            Err(error) => return Err(Some(format!("cannot wait for initdb: {error}"))),
        }
        if is_unwanted(woken) {
            unwanted_since.get_or_insert_with(Instant::now);
        }
        if unwanted_since.is_some_and(|since| since.elapsed() > Duration::from_secs(5)) {
            process::kill_with_children(initdb.id() as i32);
            let _ = initdb.wait();
            return Err(None);
        }
        std::thread::sleep(POLL);
    }
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Writes the server's three configuration files.
fn configure(spec: &Spec, instance: &Instance, socket_dir: &Path, port: u16) -> io::Result<PathBuf> {
    let file = |name: &str| instance.dir().join(name);
    let (hba, ident, config) = (file("pg_hba.conf"), file("pg_ident.conf"), file("postgresql.conf"));
    // Only the server's account and root may enter the socket's directory; of those only the account that started the
    // server becomes the superuser.
    let mut access = "local all all peer map=pgdyno\n".to_owned();
    if spec.is_paired {
        access.push_str("local replication all peer map=pgdyno\n");
    }
    if spec.tcp {
        access.push_str("host all all 127.0.0.1/32 scram-sha-256\n");
    }
    postmaster::write_config(&hba, &access)?;
    // A standby of root's server runs as the account of its primary.
    let standby = spec.account.as_ref().filter(|_| spec.is_paired).map(|account| account.name.as_str());
    let callers = [spec.caller.as_str()].into_iter().chain(standby);
    postmaster::write_config(&ident, &callers.map(|name| format!("pgdyno \"{name}\" postgres\n")).collect::<String>())?;
    let path = |path: &Path| path.display().to_string();
    // The last value counts: given settings take precedence. Those that must not be changed are refused before.
    let own = [
        ("hba_file", path(&hba)),
        ("ident_file", path(&ident)),
        ("unix_socket_directories", path(socket_dir)),
        ("unix_socket_permissions", "0700".to_owned()),
        ("listen_addresses", if spec.tcp { "127.0.0.1" } else { "" }.to_owned()),
        ("port", port.to_string()),
        ("password_encryption", "scram-sha-256".to_owned()),
        ("cluster_name", "pgdyno".to_owned()),
        ("logging_collector", "off".to_owned()),
        ("log_destination", "stderr".to_owned()),
        ("log_timezone", "UTC".to_owned()),
        ("timezone", "UTC".to_owned()),
        ("lc_messages", "C".to_owned()),
        ("default_text_search_config", "pg_catalog.english".to_owned()),
    ]
    .map(|(name, value)| Setting::new(name, value, ""));
    postmaster::write_config(&config, &postmaster::config_text(own.iter().chain(&spec.settings)))?;
    Ok(config)
}

fn await_ready(spec: &Spec, server: &mut Postmaster, woken: &Receiver<Wake>) -> Result<(), Refusal> {
    // Kept data may need recovery.
    let patience = Duration::from_secs(if spec.kept { 600 } else { 60 });
    let deadline = Instant::now() + patience;
    while !server.is_ready() {
        if let Some(status) = server.ended() {
            return Err(Some(format!("postgres ended while it started ({status})")));
        }
        if is_unwanted(woken) {
            return Err(None);
        }
        if Instant::now() > deadline {
            return Err(Some(format!("postgres did not accept connections within {} s", patience.as_secs())));
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}
