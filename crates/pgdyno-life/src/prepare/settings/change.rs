//! Changes settings of a whole server for a run, and restores them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, AdminError, ConnectOptions, quote};

use super::journal::{Before, Entry, Found, Journal};
use super::{Asked, Way, look, shown};
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};

/// How long a server may take to reload its configuration.
const RELOAD: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(50);

/// Settings whose elements ALTER SYSTEM takes one by one. Source: PostgreSQL, `variable_is_guc_list_quote`.
const LISTS: [&str; 6] = [
    "local_preload_libraries",
    "search_path",
    "session_preload_libraries",
    "shared_preload_libraries",
    "temp_tablespaces",
    "unix_socket_directories",
];

/// How to reach the server whose settings are changed.
pub(crate) struct Ways {
    /// Until Ctrl-C.
    pub(crate) first: ConnectOptions,
    /// Until the second Ctrl-C, to restore settings.
    pub(crate) last: ConnectOptions,
}

/// The settings of a run, once they are set.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    /// Options for every session of the run.
    session: BTreeMap<String, String>,
    /// How each setting was set, and its previous value on the server if that changed.
    ways: BTreeMap<String, (String, Option<String>)>,
    /// What has to be restored, if anything.
    open: Option<(Journal, Vec<Before>)>,
}

/// The result of restoring settings.
pub(crate) struct Restored {
    /// Names of the settings.
    pub(crate) names: Vec<String>,
    /// Whether some of them need a restart of the server.
    pub(crate) restart: bool,
    journal: Journal,
    settings: Vec<Before>,
}

impl Changed {
    /// Returns these options with those of every session.
    pub(crate) fn options(&self, options: &ConnectOptions) -> ConnectOptions {
        options.with_settings(self.session.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// Returns how a setting was set, in the record's word, and its previous value on the server.
    pub(crate) fn way(&self, name: &str) -> (String, Option<String>) {
        self.ways.get(name).cloned().unwrap_or_default()
    }

    /// Returns true if the server must be restarted for the settings to take effect.
    pub(crate) fn wants_restart(&self) -> bool {
        self.open.iter().any(|(_, settings)| settings.iter().any(|setting| setting.restart))
    }

    /// Restores the settings of the server; returns `None` if none was changed.
    pub(crate) fn restore(&mut self, options: &ConnectOptions) -> Option<Result<Restored>> {
        let (journal, settings) = self.open.take()?;
        Some(put_back(journal, settings, options))
    }
}

impl Restored {
    /// Checks that all settings are restored; call this after the restart, if one is needed.
    ///
    /// # Errors
    /// When they are not: the journal keeps what has to be restored for the next run.
    pub(crate) fn finish(self, options: &ConnectOptions) -> Result<()> {
        let path = self.journal.path().display().to_string();
        let names: Vec<_> = self.settings.iter().map(|before| before.name.to_ascii_lowercase()).collect();
        let as_before = |admin: &mut Admin| -> Result<bool> {
            let there = shown(admin, names.iter())?;
            let same = |before: &Before| {
                there.get(&before.name.to_ascii_lowercase()).is_some_and(|now| now.value == before.shown)
            };
            Ok(self.settings.iter().all(same))
        };
        if until(options, as_before)? {
            self.journal.close();
            return Ok(());
        }
        let error = format!("the server does not show the previous values of {}", self.names.join(", "));
        Err(CommandError::new(Code::Start, error).hint(format!(
            "restart it; {path} lists the settings to put back, and the next run on this server tries again"
        )))
    }
}

/// Longest name of a server without a number.
const NAME_MAX: usize = 200;

/// Checks in new sessions, until the settings match or a reload would have finished.
fn until(options: &ConnectOptions, mut holds: impl FnMut(&mut Admin) -> Result<bool>) -> Result<bool> {
    let deadline = Instant::now() + RELOAD;
    loop {
        // An existing session reads a reload at its own time.
        let mut admin = Admin::connect(options).or_fail(Code::Start)?;
        if holds(&mut admin)? {
            return Ok(true);
        }
        if Instant::now() > deadline {
            return Ok(false);
        }
        std::thread::sleep(POLL);
    }
}

/// Returns the name of a server in file names: the number that its data directory got when it was created, if it says one.
fn key(admin: &mut Admin, options: &ConnectOptions) -> String {
    let sql = "select system_identifier from pg_control_system()";
    let identifier = admin.promptly("its identifier", |admin| admin.query_opt(sql)).ok().flatten();
    identifier.filter(|identifier| is_number(identifier)).unwrap_or_else(|| {
        let [(_, host), (_, port), ..] = options.environment();
        let plain = format!("{host}-{port}").replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-");
        plain.chars().take(NAME_MAX).collect()
    })
}

/// Returns true for the digits of a 64-bit number. The owner of a database can let the question have any answer.
fn is_number(text: &str) -> bool {
    text.parse::<u64>().is_ok_and(|number| number.to_string() == text)
}

/// Restores settings that a killed run left changed. Writes to `note` if another running run has changed settings.
pub(crate) fn recover(
    admin: &mut Admin,
    ways: &Ways,
    note: &mut dyn FnMut(String),
) -> Result<Option<(String, Result<Restored>)>> {
    match Journal::open(&key(admin, &ways.first), false)? {
        None => Ok(None),
        Some(Found::Free(journal, Some(entry))) => Ok(Some((entry.who, put_back(journal, entry.settings, &ways.last)))),
        Some(Found::Free(journal, None)) => {
            journal.close();
            Ok(None)
        }
        Some(Found::Taken(entry)) => {
            let (who, what) = described(entry);
            note(format!("{who} has temporarily changed settings of this server{what}"));
            Ok(None)
        }
    }
}

fn described(entry: Option<Entry>) -> (String, String) {
    entry.map_or_else(
        || ("another run".to_owned(), String::new()),
        |entry| {
            let names: Vec<_> = entry.settings.into_iter().map(|before| before.name).collect();
            (entry.who, format!(": {}", names.join(", ")))
        },
    )
}

/// Returns the journal of a server whose settings nobody else has changed.
fn journal(admin: &mut Admin, options: &ConnectOptions) -> Result<Journal> {
    match Journal::open(&key(admin, options), true)? {
        Some(Found::Free(journal, None)) => Ok(journal),
        // Restoring the settings of a killed run was tried earlier.
        Some(Found::Free(..)) | None => {
            let error = "settings that an earlier run changed have not been put back yet";
            Err(CommandError::new(Code::Start, error).hint("restart the server, and run again"))
        }
        Some(Found::Taken(entry)) => {
            let (who, what) = described(entry);
            let error = format!("{who} has temporarily changed settings of this server{what}");
            Err(CommandError::new(Code::Start, error)
                .hint("wait until it ends: otherwise each would put back the other's settings"))
        }
    }
}

/// Sets by ALTER SYSTEM what a session cannot set, after writing the journal. Settings that need a restart require a
/// way to do that: `can_restart`.
///
/// # Errors
/// When a setting cannot be set here, or did not take effect. Settings that were changed until then are restored.
pub(crate) fn change(
    ways: &Ways,
    asked: &BTreeMap<String, String>,
    target: &str,
    can_restart: bool,
) -> Result<Changed> {
    let options = &ways.first;
    let mut admin = Admin::connect(options).or_fail(Code::Start)?;
    let all = look(&mut admin, asked)?;
    let mut changed = Changed::default();
    for (name, one) in asked.keys().zip(&all) {
        let before = matches!(one.way, Way::Reload | Way::Restart).then(|| one.there.value.clone());
        changed.ways.insert(name.clone(), (one.way.name().to_owned(), before));
        if one.way == Way::Session {
            changed.session.insert(one.there.name.clone(), one.value.clone());
        }
    }
    let on_server: Vec<_> = all.iter().filter(|one| matches!(one.way, Way::Reload | Way::Restart)).collect();
    if on_server.is_empty() {
        return Ok(changed);
    }
    if let Some(one) = on_server.iter().find(|one| one.way == Way::Restart && !can_restart) {
        let error = format!(
            "setting {} is {} on {target}, and {} takes effect only after a restart, which pgdyno cannot do there",
            one.there.name, one.there.value, one.value
        );
        return Err(CommandError::new(Code::Start, error)
            .hint("give the target a hook `restart` in pgdyno.toml, or set it yourself, restart, and run again"));
    }
    require_reload(&mut admin)?;
    let journal = journal(&mut admin, options)?;
    changed.open = Some(alter_server(&mut admin, ways, target, &on_server, journal)?);
    Ok(changed)
}

/// Writes the journal and sets the settings of the server. Returns what has to be restored.
///
/// # Errors
/// When a setting cannot be set. Settings that were changed until then are restored.
fn alter_server(
    admin: &mut Admin,
    ways: &Ways,
    target: &str,
    on_server: &[&Asked],
    mut journal: Journal,
) -> Result<(Journal, Vec<Before>)> {
    let before = |one: &&Asked| {
        let altered = altered(admin, &one.there.name)?;
        let (name, shown) = (one.there.name.clone(), one.there.value.clone());
        Ok(Before { name, altered, shown, restart: one.way == Way::Restart })
    };
    let mut befores = match on_server.iter().map(before).collect::<Result<Vec<_>>>() {
        Ok(befores) => befores,
        Err(failure) => {
            journal.close();
            return Err(failure);
        }
    };
    let who = format!("a run of process {}", std::process::id());
    journal.write(&Entry { target: target.to_owned(), who, settings: befores.clone() })?;
    let mut done = 0;
    let wanted = on_server.iter().map(|one| (one.there.name.as_str(), Some(one.value.as_str())));
    let altered = alter(admin, wanted, &mut done);
    // Settings that did not take effect are reported, with all others, when they are read back.
    let reloaded = altered.and_then(|()| until(&ways.first, |admin| have_taken(admin, on_server)));
    let Err(failure) = reloaded else { return Ok((journal, befores)) };
    befores.truncate(done);
    if befores.is_empty() {
        journal.close();
        return Err(failure);
    }
    // Nothing was restarted, so there is nothing to wait for; if this fails the journal stays.
    let restored = put_back(journal, befores, &ways.last).and_then(|restored| restored.finish(&ways.last));
    Err(match restored {
        Ok(()) => failure,
        Err(left) => CommandError::new(failure.code(), format!("{}; not put back: {}", failure.text(), left.text()))
            .hint(left.remedy().unwrap_or_default()),
    })
}

/// Returns true if the settings that a reload sets are as asked for.
fn have_taken(admin: &mut Admin, settings: &[&Asked]) -> Result<bool> {
    let reloads: Vec<_> = settings.iter().filter(|one| one.way == Way::Reload).collect();
    let names: Vec<_> = reloads.iter().map(|one| one.there.name.to_ascii_lowercase()).collect();
    let there = shown(admin, names.iter())?;
    let took = |(name, one): (&String, &&&Asked)| there.get(name).is_some_and(|now| now.may_come_of(&one.value));
    Ok(names.iter().zip(&reloads).all(took))
}

/// Refuses to change what this role could not put into effect, nor put back.
fn require_reload(admin: &mut Admin) -> Result<()> {
    let sql =
        "select quote_ident(current_user) where not has_function_privilege('pg_catalog.pg_reload_conf()', 'execute')";
    match admin.query_opt(sql).or_fail(Code::Start)? {
        None => Ok(()),
        Some(role) => Err(CommandError::new(Code::Start, "this role may not reload the server's configuration")
            .hint(format!(
                "give the setting to the server by its own means (a managed one has flags for that), or, beside ALTER SYSTEM, GRANT EXECUTE \
                 ON FUNCTION pg_reload_conf() TO {role}"
            ))),
    }
}

/// Returns the value that ALTER SYSTEM has set, if any.
///
/// # Errors
/// When this role may not see it: it could not be put back.
fn altered(admin: &mut Admin, name: &str) -> Result<Option<String>> {
    let name = quote::literal(name);
    let sql = format!(
        "select setting from pg_file_settings where name = {name} and sourcefile like '%postgresql.auto.conf' \
         order by seqno desc limit 1"
    );
    match admin.query_opt(&sql) {
        Ok(value) => Ok(value),
        Err(error) if error.is_lost() => Err(error).or_fail(Code::Start),
        // A role that may alter only single settings may not read the file; then the source of the current value shows
        // it.
        Err(_) => {
            let hidden = format!(
                "select quote_ident(current_user) from pg_settings where name = {name} and source = 'configuration file' and \
                 sourcefile is null"
            );
            if let Some(role) = admin.query_opt(&hidden).or_fail(Code::Start)? {
                let error =
                    format!("this role may not see whether ALTER SYSTEM has set {name}, and could not put it back");
                let hint = format!("GRANT pg_read_all_settings TO {role}, or leave --set out");
                return Err(CommandError::new(Code::Start, error).hint(hint));
            }
            let shown = "select reset_val from pg_settings where name =";
            admin.query_opt(&format!("{shown} {name} and sourcefile like '%postgresql.auto.conf'")).or_fail(Code::Start)
        }
    }
}

/// Executes ALTER SYSTEM for each setting, and a reload. Without a value the setting is reset. Adds to `done` the
/// settings that may be set at the end.
fn alter<'a>(
    admin: &mut Admin,
    settings: impl Iterator<Item = (&'a str, Option<&'a str>)>,
    done: &mut usize,
) -> Result<()> {
    for (name, value) in settings {
        let sql = match value {
            None => format!("alter system reset {}", quote::identifier(name)),
            Some(value) if LISTS.contains(&name) && !value.trim().is_empty() => {
                let elements: Vec<_> =
                    value.split(',').map(|one| quote::literal(one.trim().trim_matches('"'))).collect();
                format!("alter system set {} = {}", quote::identifier(name), elements.join(", "))
            }
            Some(value) => format!("alter system set {} = {}", quote::identifier(name), quote::literal(value)),
        };
        let set = admin.execute(&sql);
        // A statement without an answer may or may not have been executed.
        *done += usize::from(set.as_ref().map_or_else(AdminError::is_lost, |_| true));
        set.map_err(|error| {
            CommandError::new(Code::Start, error).hint(
                "give it to the server by its own means (a managed one has flags for that) and run again: a setting that is \
                 as asked for is left alone",
            )
        })?;
    }
    admin.query("select pg_reload_conf()").or_fail(Code::Start)?;
    Ok(())
}

fn put_back(journal: Journal, settings: Vec<Before>, options: &ConnectOptions) -> Result<Restored> {
    let names: Vec<_> = settings.iter().map(|before| before.name.clone()).collect();
    let put = || -> Result<bool> {
        let mut admin = Admin::connect(options).or_fail(Code::Start)?;
        alter(&mut admin, settings.iter().map(|before| (before.name.as_str(), before.altered.as_deref())), &mut 0)?;
        // The restart never happened, so none is needed now.
        let lower: Vec<_> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        let there = shown(&mut admin, lower.iter())?;
        let differs =
            |before: &&Before| there.get(&before.name.to_ascii_lowercase()).is_none_or(|now| now.value != before.shown);
        Ok(settings.iter().filter(|before| before.restart).any(|before| differs(&before)))
    };
    let put = put().map_err(|failure| {
        let noted = journal.path().display().to_string();
        failure.hint(format!("what is to be put back is noted in {noted}, and the next run on this server tries again"))
    });
    put.map(|restart| Restored { names, restart, journal, settings })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_by_a_number_and_never_by_a_path() {
        assert!(is_number("7343312322222222222") && is_number(&u64::MAX.to_string()));
        for answer in ["", "/home/me/.docker/config", "../x", "7/../../x", "+7", "07", " 7", "-7", "７"] {
            assert!(!is_number(answer), "{answer}");
        }
    }
}
