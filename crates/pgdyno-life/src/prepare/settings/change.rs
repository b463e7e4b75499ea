//! Settings of a whole server: changed for a run, and put back.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, AdminError, ConnectOptions, quote};

use super::journal::{Before, Entry, Found, Journal};
use super::{Asked, Way, look, shown};
use crate::exit_code::Code;
use crate::failure::{Failure, OrFail, Result};

/// How long a server may take to read its configuration again.
const RELOAD: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(50);

/// Settings whose elements ALTER SYSTEM wants one by one. Source: PostgreSQL, `variable_is_guc_list_quote`.
const LISTS: [&str; 6] = [
    "local_preload_libraries",
    "search_path",
    "session_preload_libraries",
    "shared_preload_libraries",
    "temp_tablespaces",
    "unix_socket_directories",
];

/// The ways to a server whose settings are changed.
pub(crate) struct Ways {
    /// Until Ctrl-C.
    pub(crate) first: ConnectOptions,
    /// Until the second one, for what is put back.
    pub(crate) last: ConnectOptions,
}

/// What was done for the settings of a run.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    /// For every session of the run.
    session: BTreeMap<String, String>,
    /// How each setting was set, and its value on the server before that, where that was changed.
    ways: BTreeMap<String, (String, Option<String>)>,
    /// What is to be put back, where something is.
    open: Option<(Journal, Vec<Before>)>,
}

/// What came of putting settings back.
pub(crate) struct Restored {
    /// Their names.
    pub(crate) names: Vec<String>,
    /// Whether the server must be restarted for some of them.
    pub(crate) restart: bool,
    journal: Journal,
    settings: Vec<Before>,
}

impl Changed {
    /// These options with what goes into each session.
    pub(crate) fn options(&self, options: &ConnectOptions) -> ConnectOptions {
        options.with_settings(self.session.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// How a setting was set, in the record's word, and the value on the server before.
    pub(crate) fn way(&self, name: &str) -> (String, Option<String>) {
        self.ways.get(name).cloned().unwrap_or_default()
    }

    /// Whether the server must be restarted for the settings to count.
    pub(crate) fn wants_restart(&self) -> bool {
        self.open.iter().any(|(_, settings)| settings.iter().any(|setting| setting.restart))
    }

    /// Puts back what was changed on the server; `None` where nothing was.
    pub(crate) fn restore(&mut self, options: &ConnectOptions) -> Option<Result<Restored>> {
        let (journal, settings) = self.open.take()?;
        Some(put_back(journal, settings, options))
    }
}

impl Restored {
    /// Makes sure that all is as before; to be called when the server was restarted, where that was needed.
    ///
    /// # Errors
    /// When it is not: the note of what is to be put back stays for the next run.
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
        let error = format!("the server does not show the values of before for {}", self.names.join(", "));
        Err(Failure::new(Code::Start, error).hint(format!(
            "restart it; what is to be put back is noted in {path}, and the next run on this server tries again"
        )))
    }
}

/// Looks whether it is so, in new sessions, until it is or a reload would have been over.
fn until(options: &ConnectOptions, mut holds: impl FnMut(&mut Admin) -> Result<bool>) -> Result<bool> {
    let deadline = Instant::now() + RELOAD;
    loop {
        // A session that was there before hears of a reload at its own time.
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

/// What stands for a server in the names of files: the number that its data directory got when it was made.
fn key(admin: &mut Admin, options: &ConnectOptions) -> String {
    let sql = "select system_identifier from pg_control_system()";
    let identifier = admin.promptly("its identifier", |admin| admin.query_opt(sql)).ok().flatten();
    identifier.unwrap_or_else(|| {
        let [(_, host), (_, port), ..] = options.environment();
        format!("{host}-{port}").replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-")
    })
}

/// Puts back what a run that was killed has left changed, over `last`. Whether another run that lives has changed settings
/// is told in `note`.
pub(crate) fn recover(
    options: &ConnectOptions,
    last: &ConnectOptions,
    note: &mut dyn FnMut(String),
) -> Result<Option<(String, Result<Restored>)>> {
    let mut admin = Admin::connect(options).or_fail(Code::Start)?;
    match Journal::open(&key(&mut admin, options), false)? {
        None => Ok(None),
        Some(Found::Free(journal, Some(entry))) => Ok(Some((entry.who, put_back(journal, entry.settings, last)))),
        Some(Found::Free(journal, None)) => {
            journal.close();
            Ok(None)
        }
        Some(Found::Taken(entry)) => {
            let (who, what) = described(entry);
            note(format!("{who} has changed settings of this server for its time{what}"));
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

/// The journal of a server whose settings nobody else has changed.
fn journal(admin: &mut Admin, options: &ConnectOptions) -> Result<Journal> {
    match Journal::open(&key(admin, options), true)? {
        Some(Found::Free(journal, None)) => Ok(journal),
        // What a killed run has left was tried before.
        Some(Found::Free(..)) | None => {
            let error = "settings that an earlier run has changed are not put back yet";
            Err(Failure::new(Code::Start, error).hint("restart the server, and run again"))
        }
        Some(Found::Taken(entry)) => {
            let (who, what) = described(entry);
            let error = format!("{who} has changed settings of this server for its time{what}");
            Err(Failure::new(Code::Start, error).hint("wait for its end: two would put back each other's settings"))
        }
    }
}

/// Has the settings that are asked for set where a session cannot do it: by ALTER SYSTEM, noted before. Those that want a
/// restart count after one, for which there must be a way: `can_restart`.
///
/// # Errors
/// When a setting cannot be set here, or did not take. What was changed until then is put back.
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
            "setting {} is {} on {target}, and {} counts only after a restart, which pgdyno cannot do there",
            one.there.name, one.there.value, one.value
        );
        return Err(Failure::new(Code::Start, error)
            .hint("give the target a hook `restart` in pgdyno.toml, or set it yourself, restart, and run again"));
    }
    let mut journal = journal(&mut admin, options)?;
    let mut befores = Vec::new();
    for one in &on_server {
        befores.push(Before {
            name: one.there.name.clone(),
            altered: altered(&mut admin, &one.there.name)?,
            shown: one.there.value.clone(),
            restart: one.way == Way::Restart,
        });
    }
    let who = format!("a run of process {}", std::process::id());
    journal.write(&Entry { target: target.to_owned(), who, settings: befores.clone() })?;
    let mut done = 0;
    let wanted = on_server.iter().map(|one| (one.there.name.as_str(), Some(one.value.as_str())));
    let altered = alter(&mut admin, wanted, &mut done);
    // What did not take is told, with all the others, when they are read back.
    let reloaded = altered.and_then(|()| until(options, |admin| have_taken(admin, &on_server)));
    let Err(failure) = reloaded else {
        changed.open = Some((journal, befores));
        return Ok(changed);
    };
    befores.truncate(done);
    if befores.is_empty() {
        journal.close();
    } else if let Ok(restored) = put_back(journal, befores, &ways.last) {
        // Nothing was restarted, so there is nothing to wait for; where this fails the note stays.
        let _ = restored.finish(&ways.last);
    }
    Err(failure)
}

/// Whether those that a reload brings are as asked for.
fn have_taken(admin: &mut Admin, settings: &[&Asked]) -> Result<bool> {
    let reloads: Vec<_> = settings.iter().filter(|one| one.way == Way::Reload).collect();
    let names: Vec<_> = reloads.iter().map(|one| one.there.name.to_ascii_lowercase()).collect();
    let there = shown(admin, names.iter())?;
    let took = |(name, one): (&String, &&&Asked)| there.get(name).is_some_and(|now| now.may_come_of(&one.value));
    Ok(names.iter().zip(&reloads).all(took))
}

/// What ALTER SYSTEM has set a setting to, where it has.
fn altered(admin: &mut Admin, name: &str) -> Result<Option<String>> {
    let name = quote::literal(name);
    let sql = format!(
        "select setting from pg_file_settings where name = {name} and sourcefile like '%postgresql.auto.conf' \
         order by seqno desc limit 1"
    );
    match admin.query_opt(&sql) {
        Ok(value) => Ok(value),
        Err(error) if error.is_lost() => Err(error).or_fail(Code::Start),
        // Who may alter single settings only may not read the file; then the place of what counts tells.
        Err(_) => admin
            .query_opt(&format!(
                "select reset_val from pg_settings where name = {name} and sourcefile like '%postgresql.auto.conf'"
            ))
            .or_fail(Code::Start),
    }
}

/// ALTER SYSTEM for each, and a reload. Without a value it is as if it had never been set. `done` of them may be set in the
/// end.
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
        // Of a statement whose answer never came nobody knows what became of it.
        *done += usize::from(set.as_ref().map_or_else(AdminError::is_lost, |_| true));
        set.map_err(|error| {
            Failure::new(Code::Start, error).hint(
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
        // Where the restart never came, none is needed now.
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
