//! `pgdyno server`: the kept private server, and the null server.

use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pgdyno_life::events::EventSink as _;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::target;
use pgdyno_null::{NullOptions, NullServer};
use pgdyno_report::forms::{FORMAT_VERSION, NullServerForm, ServerForm, ServerSettingForm, ServerState};
use pgdyno_server::{PrivateServer, Setting, kept};

use crate::cli::Server;
use pgdyno_live::ProgressView;
use pgdyno_text::units;

pub(crate) fn run(action: Server) -> Result<Code> {
    match action {
        Server::Start { tcp, target, connections, settings, format } => {
            let options = target::embedded_options(connections, tcp, settings)?;
            let progress = ProgressView::new(false);
            let want = target::private_version(&target::absolute(target, Path::new(""))?)?;
            let started = kept::start(&want, &options, &mut target::starting(&progress)).or_fail(Code::Server)?;
            for warning in &started.warnings {
                progress.warn(&warning.to_string());
            }
            if format.is_json() {
                let mut form = running(&started.server);
                form.settings = started.server.settings().iter().map(setting).collect();
                form.password = started.password.as_ref().map(|password| password.reveal().to_string());
                super::print_form(&form)?;
                return Ok(Code::Success);
            }
            let mut text = describe(&started.server);
            for setting in started.server.settings() {
                text += &format!("  {} = {}  ({})\n", setting.name, setting.value, setting.why);
            }
            if let (Some(dsn), Some(password)) = (started.server.tcp_dsn("postgres"), &started.password) {
                text += &format!("TCP: {dsn}\npassword, shown this once: {}\n", password.reveal());
            }
            super::print_lines(&text)?;
        }
        Server::Stop { keep_data, format } => {
            kept::stop(&target::places()?, keep_data).or_fail(Code::Server)?;
            if format.is_json() {
                let state = if keep_data { ServerState::Stopped } else { ServerState::Absent };
                super::print_form(&ServerForm { format_version: FORMAT_VERSION, state, ..ServerForm::default() })?;
                return Ok(Code::Success);
            }
            super::print_lines(if keep_data {
                "stopped; its data is kept\n"
            } else {
                "stopped; its data is removed\n"
            })?;
        }
        Server::Status(format) => {
            let status = kept::status(&target::places()?).or_fail(Code::Server)?;
            if format.is_json() {
                super::print_form(&form(&status))?;
                return Ok(Code::Success);
            }
            let text = match status {
                kept::KeptServerStatus::Running(server) => describe(&server),
                kept::KeptServerStatus::Busy => "starting or stopping\n".to_owned(),
                kept::KeptServerStatus::Absent => "not running; `pgdyno server start` starts one\n".to_owned(),
                kept::KeptServerStatus::Stopped { data_bytes, crashed } => format!(
                    "not running{}; {} of its data is kept: `pgdyno server start` uses it again, `pgdyno server stop` removes it\n",
                    if crashed { ", it ended by itself" } else { "" },
                    units::bytes(data_bytes)
                ),
            };
            super::print_lines(&text)?;
        }
        Server::Null { port, socket_dir, spin_us, format, until_eof } => {
            let options = NullOptions { spin: Duration::from_micros(spin_us) };
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
                        pgdyno_net::pair("host", &directory.to_string_lossy()),
                    )
                }
                (None, None) => return Err(CommandError::new(Code::Start, "give --port or --socket-dir")),
            };
            // It may get thousands of connections.
            let _ = pgdyno_engine::raise_file_limit(u32::from(u16::MAX));
            let target = format!("{place} user=null dbname=null sslmode=disable");
            match format.is_json() {
                true => super::print_form(&NullServerForm { format_version: FORMAT_VERSION, target })?,
                false => super::print_lines(&format!("null server ready: {target}\n"))?,
            }
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

/// Returns the state of the kept server for programs.
fn form(status: &kept::KeptServerStatus) -> ServerForm {
    let only = |state| ServerForm { format_version: FORMAT_VERSION, state, ..ServerForm::default() };
    match status {
        kept::KeptServerStatus::Running(server) => running(server),
        kept::KeptServerStatus::Busy => only(ServerState::Busy),
        kept::KeptServerStatus::Absent => only(ServerState::Absent),
        kept::KeptServerStatus::Stopped { data_bytes, crashed } => {
            ServerForm { data_bytes: Some(*data_bytes), crashed: Some(*crashed), ..only(ServerState::Stopped) }
        }
    }
}

fn running(server: &PrivateServer) -> ServerForm {
    ServerForm {
        format_version: FORMAT_VERSION,
        state: ServerState::Running,
        version: Some(server.installation().version.text.clone()),
        origin: Some(target::origin(server)),
        pid: Some(server.postmaster_pid()),
        uptime_s: Some(server.uptime().as_secs_f64()),
        data_bytes: Some(server.data_bytes()),
        psql: Some(server.psql_command()),
        tcp_dsn: server.tcp_dsn("postgres"),
        ..ServerForm::default()
    }
}

fn setting(setting: &Setting) -> ServerSettingForm {
    let Setting { name, value, why } = setting.clone();
    ServerSettingForm { name, value, why }
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
