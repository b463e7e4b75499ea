//! Settings of a run on servers that already run: sets them, reads them back, and restores them.
//!
//! Settings that a session may set are set in every session of the run, and end with it. Others are set on the server
//! by ALTER SYSTEM for the time of the run; before that, [`journal`] writes to disk what has to be restored, so that
//! the next run does it if this one is killed. [`mod@shown`] decides if the value that the server shows is the one that was
//! asked for.

mod change;
mod journal;
mod shown;

use std::collections::BTreeMap;

use pgdyno_net::{Admin, ConnectOptions, quote};
use pgdyno_plan::mistake::nearest;
use pgdyno_results::SettingRecord;

pub(crate) use change::{Changed, Restored, Ways, change, recover};
use shown::Shown;

use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};

/// How a setting is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// It already has the value, and no session can change it.
    There,
    /// In the startup message of each session.
    Session,
    /// By ALTER SYSTEM, and a reload.
    Reload,
    /// By ALTER SYSTEM, and a restart.
    Restart,
}

impl Way {
    /// Returns the word in records.
    fn name(self) -> &'static str {
        match self {
            Self::There => "already",
            Self::Session => "session",
            Self::Reload | Self::Restart => "server",
        }
    }
}

/// A requested setting, and its state on the server.
#[derive(Clone, Debug)]
struct Asked {
    value: String,
    there: Shown,
    way: Way,
}

/// Returns the rows of `pg_settings` for these settings, by their names in lower case.
fn shown<'a>(admin: &mut Admin, names: impl Iterator<Item = &'a String>) -> Result<BTreeMap<String, Shown>> {
    let names: Vec<_> = names.map(|name| quote::literal(name)).collect();
    let sql = format!(
        "select name, setting, coalesce(unit, ''), vartype, current_setting(name), context from pg_settings \
         where lower(name) = any (array[{}]::text[])",
        names.join(", ")
    );
    let rows = admin.promptly("its settings", |admin| admin.query(&sql)).or_fail(Code::Start)?;
    let shown = |row: Vec<Option<String>>| {
        let [name, setting, unit, vartype, value, context] =
            <[Option<String>; 6]>::try_from(row).unwrap_or_default().map(Option::unwrap_or_default);
        (name.to_ascii_lowercase(), Shown { name, setting, unit, vartype, value, context })
    };
    Ok(rows.rows.into_iter().map(shown).collect())
}

/// Refuses settings that this server does not have, or that nobody can change. Changes nothing.
///
/// # Errors
/// For such a setting, with a similar name if there is one.
pub(crate) fn admit(admin: &mut Admin, asked: &BTreeMap<String, String>) -> Result<()> {
    if asked.is_empty() { Ok(()) } else { look(admin, asked).map(drop) }
}

/// Reads the requested settings from the server, and decides how each can be set.
///
/// # Errors
/// For a setting that this server does not have, or that nobody can change.
fn look(admin: &mut Admin, asked: &BTreeMap<String, String>) -> Result<Vec<Asked>> {
    let mut there = shown(admin, asked.keys())?;
    let mut all = Vec::new();
    for (name, value) in asked {
        let Some(there) = there.remove(name) else { return Err(unknown(admin, name)) };
        let way = match there.context.as_str() {
            "user" | "backend" => Way::Session,
            "superuser" | "superuser-backend" if may_set(admin, &there.name) => Way::Session,
            _ if there.is(value) => Way::There,
            "superuser" | "superuser-backend" => {
                let error = format!("setting {name} is {}, and this role may not set it to {value}", there.value);
                return Err(CommandError::new(Code::Start, error).hint(
                    "let the role set it (GRANT SET ON PARAMETER), set it for the role (ALTER ROLE … SET), or connect as a superuser",
                ));
            }
            "sighup" => Way::Reload,
            "postmaster" => Way::Restart,
            _ => {
                let error =
                    format!("setting {name} is {} on this server, and cannot be changed to {value}", there.value);
                return Err(CommandError::new(Code::Start, error));
            }
        };
        all.push(Asked { value: value.clone(), there, way });
    }
    Ok(all)
}

/// Returns true if the role may set in its sessions what only superusers may by default.
fn may_set(admin: &mut Admin, name: &str) -> bool {
    let superuser = admin.query_opt("select current_setting('is_superuser')").ok().flatten();
    // This privilege exists since PostgreSQL 15.
    let granted = |admin: &mut Admin| {
        admin.query_opt(&format!("select has_parameter_privilege({}, 'SET')", quote::literal(name))).ok().flatten()
    };
    superuser.is_some_and(|superuser| superuser == "on") || granted(admin).is_some_and(|granted| granted == "t")
}

fn unknown(admin: &mut Admin, name: &str) -> CommandError {
    let failure = CommandError::new(Code::Start, format!("this server has no setting '{name}'"));
    let known = admin.query("select name from pg_settings").map(|rows| rows.rows).unwrap_or_default();
    let known: Vec<_> = known.into_iter().filter_map(|row| row.into_iter().next()?).collect();
    match nearest(name, known.iter().map(String::as_str)) {
        Some(nearest) => failure.hint(format!("did you mean {nearest}?")),
        None => failure.hint("settings of an extension exist only when shared_preload_libraries names it"),
    }
}

/// Reads the settings back as the clients' sessions will have them.
///
/// # Errors
/// If one did not take effect: nothing is measured then. The records are filled in anyway.
pub(crate) fn verify(
    options: &ConnectOptions,
    asked: &BTreeMap<String, String>,
    by: impl Fn(&str) -> (String, Option<String>),
) -> (Vec<SettingRecord>, Result<()>) {
    let mut admin = match Admin::connect(options) {
        Ok(admin) => admin,
        Err(error) => {
            let hint = "settings are sent in the startup message of each session; a pooler in between may refuse them";
            return (Vec::new(), Err(CommandError::new(Code::Start, error).hint(hint)));
        }
    };
    let mut shown = match shown(&mut admin, asked.keys()) {
        Ok(shown) => shown,
        Err(failure) => return (Vec::new(), Err(failure)),
    };
    let (mut records, mut wrong) = (Vec::new(), Vec::new());
    for (name, value) in asked {
        let shown = shown.remove(name).unwrap_or_else(|| placeholder(&mut admin, name));
        let (by, before) = by(name);
        if !shown.may_come_of(value) {
            wrong.push(format!("{name} is {}, and {value} was asked for", shown.value));
        }
        let record = SettingRecord {
            name: name.clone(),
            asked: value.clone(),
            shown: shown.value,
            restored: before.as_ref().map(|_| false),
            by,
            before,
        };
        records.push(record);
    }
    let verdict = match wrong.is_empty() {
        true => Ok(()),
        false => Err(CommandError::new(Code::Start, format!("settings did not take effect: {}", wrong.join("; "))).hint(
            "the server's command line, or a setting of the role or the database (ALTER ROLE or DATABASE … SET), may \
             override them",
        )),
    };
    (records, verdict)
}

/// A setting that no module has declared: text that anybody may set.
fn placeholder(admin: &mut Admin, name: &str) -> Shown {
    let sql = format!("select current_setting({}, true)", quote::literal(name));
    let value = admin.query_opt(&sql).ok().flatten().unwrap_or_default();
    Shown { name: name.to_owned(), value, ..Shown::default() }
}
