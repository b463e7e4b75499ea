//! `pgdyno server`: the kept private server, and the null server.

use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pgdyno_life::events::EventSink as _;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{Failure, OrFail, Result};
use pgdyno_life::target;
use pgdyno_null::{NullServer, Options};
use pgdyno_report::units;
use pgdyno_server::{PrivateServer, kept};

use crate::cli::Server;
use pgdyno_live::Progress;

pub(crate) fn run(action: Server) -> Result<Code> {
    match action {
        Server::Start { tcp, target, connections, settings } => {
            let options = target::embedded_options(connections, tcp, settings)?;
            let progress = Progress::new(false);
            let want = target::private_version(&target::absolute(target, Path::new(""))?)?;
            let started = kept::start(&want, &options, &mut target::starting(&progress)).or_fail(Code::Server)?;
            for warning in &started.warnings {
                progress.warn(&warning.to_string());
            }
            let mut text = describe(&started.server);
            for setting in started.server.settings() {
                text += &format!("  {} = {}  ({})\n", setting.name, setting.value, setting.why);
            }
            if let (Some(dsn), Some(password)) = (started.server.tcp_dsn("postgres"), &started.password) {
                text += &format!("TCP: {dsn}\npassword, shown this once: {}\n", password.reveal());
            }
            super::print(text.as_bytes())?;
        }
        Server::Stop { keep_data } => {
            kept::stop(&target::places()?, keep_data).or_fail(Code::Server)?;
            super::print(if keep_data { b"stopped; its data is kept\n" } else { b"stopped; its data is removed\n" })?;
        }
        Server::Status => {
            let text = match kept::status(&target::places()?).or_fail(Code::Server)? {
                kept::Status::Running(server) => describe(&server),
                kept::Status::Busy => "starting or stopping\n".to_owned(),
                kept::Status::Absent => "not running; `pgdyno server start` starts one\n".to_owned(),
                kept::Status::Stopped { data_bytes, crashed } => format!(
                    "not running{}; {} of its data is kept: `pgdyno server start` uses it again, `pgdyno server stop` removes it\n",
                    if crashed { ", it ended without having been told to" } else { "" },
                    units::bytes(data_bytes)
                ),
            };
            super::print(text.as_bytes())?;
        }
        Server::Null { port, socket_dir, spin_us, until_eof } => {
            let options = Options { spin: Duration::from_micros(spin_us) };
            let own_dir = socket_dir.clone().filter(|_| until_eof);
            let (server, place) = match (port, socket_dir) {
                (Some(port), _) => {
                    let (server, port) = NullServer::bind_tcp(port, options).or_fail(Code::Server)?;
                    (server, format!("host=127.0.0.1 port={port}"))
                }
                (None, Some(directory)) => {
                    let path = directory.join(".s.PGSQL.5432");
                    (
                        NullServer::bind_unix(&path, options).or_fail(Code::Server)?,
                        format!("host={}", directory.display()),
                    )
                }
                (None, None) => return Err(Failure::new(Code::Start, "give --port or --socket-dir")),
            };
            // It may get thousands of connections.
            let _ = pgdyno_engine::raise_file_limit(u32::from(u16::MAX));
            super::print(format!("null server ready: {place} user=null dbname=null sslmode=disable\n").as_bytes())?;
            serve(server, until_eof)?;
            if let Some(directory) = own_dir {
                // The run removes it; a run that was killed cannot.
                let _ = std::fs::remove_file(directory.join(".s.PGSQL.5432"));
                let _ = std::fs::remove_dir(directory);
            }
        }
    }
    Ok(Code::Success)
}

/// Serves until the process is killed, or until standard input ends. The server must not outlive its run.
fn serve(server: NullServer, until_eof: bool) -> Result<()> {
    let stop = AtomicBool::new(false);
    let waker = server.waker();
    std::thread::scope(|scope| {
        if until_eof {
            scope.spawn(|| {
                let _ = std::io::stdin().read_to_end(&mut Vec::new());
                stop.store(true, Ordering::Release);
                waker.wake();
            });
        }
        server.serve(&stop).or_fail(Code::Server)
    })
}

fn describe(server: &PrivateServer) -> String {
    format!(
        "PostgreSQL {} ({}), process {}, up {}, data {}\n{}\n",
        server.installation().version.text,
        target::origin(server),
        server.postmaster_pid(),
        units::duration(server.uptime().as_secs_f64()),
        units::bytes(server.data_bytes()),
        server.psql_command()
    )
}
