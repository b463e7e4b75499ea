//! The directory of a lab: its file, modules, journal, and a directory with configuration and state for each size.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_untrusted::{Directory, Lock, LockFile, RelativePath};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::cost::{Money, bound};
use crate::journal::{self, Journal, JournalEntry, LabStep, SizeStanding};
use crate::lab_file::{LabFile, LabSize};

/// The directory of labs in the results directory.
const LABS: &str = "labs";
const FILE: &str = "lab.toml";
const SPEC: &str = "lab.json";
const JOURNAL: &str = "journal.jsonl";
const LOCK: &str = "lock";
/// How often the lock is tried, and the pause between.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(50);
/// Bytes of the path of the local servers.
const ROOT_MAX: usize = 70;
/// Private key for the driver; the public one is beside it.
const KEY: &str = "driver_key";

/// What was decided when a lab was opened, beside its file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LabSpec {
    /// Directory of lab.toml: a suite's path is relative to it.
    pub base: PathBuf,
    /// Directory of local servers.
    pub root: PathBuf,
    /// Address from which drivers admit ssh.
    pub client_cidr: Option<String>,
    /// The engine.
    pub engine: PathBuf,
    /// What it may cost.
    pub max_cost: Option<String>,
}

/// A lab.
#[derive(Debug)]
pub struct Lab {
    /// Its directory.
    pub directory: PathBuf,
    /// The results directory.
    pub results: PathBuf,
    /// Its file, as it was when the lab was opened.
    pub file: LabFile,
    /// What was decided then.
    pub spec: LabSpec,
    /// Its journal.
    pub journal: Journal,
}

/// Returns the Unix time in seconds.
pub(crate) fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

impl Lab {
    /// Creates the directory of a lab that expires after `ttl_s`. One that is closed makes room.
    ///
    /// # Errors
    /// When a lab of this name is not closed, or the directory cannot be written.
    pub fn create(results: &Path, file: LabFile, text: &str, spec: LabSpec, ttl_s: f64) -> Result<Self> {
        let results = std::path::absolute(results).or_fail(Code::Start)?;
        file.admit_new()?;
        let directory = results.join(LABS).join(&file.name);
        if directory.join(SPEC).exists() {
            let earlier = Self::open(&results, &file.name)?;
            if !earlier.is_closed()? {
                let name = &file.name;
                return Err(CommandError::new(Code::Start, format!("lab {name} exists and is not closed")).hint(
                    format!("`pgdyno cloud resume {name}` continues it, `pgdyno cloud down {name}` destroys it"),
                ));
            }
        }
        if directory.exists() {
            let aside =
                (1..).map(|n| results.join(LABS).join(format!("{}.{n}", file.name))).find(|path| !path.exists());
            fs::rename(&directory, aside.unwrap_or_default()).or_fail(Code::Start)?;
        }
        let failed = |error: std::io::Error| {
            CommandError::new(Code::Start, format!("failed to create the lab {}: {error}", directory.display()))
        };
        private_directory(&directory).map_err(failed)?;
        file.module.write(&directory.join("modules")).map_err(failed)?;
        for size in &file.sizes {
            private_directory(&directory.join("sizes").join(&size.name)).map_err(failed)?;
        }
        write_private(&directory.join(FILE), text.as_bytes()).map_err(failed)?;
        let journal = Journal::open(&directory.join(JOURNAL)).map_err(failed)?;
        let expires_s = now_s() + ttl_s as u64;
        let opened = JournalEntry { expires_s: Some(expires_s), ..entry(None, LabStep::Opened) };
        journal.write(&opened).map_err(failed)?;
        for size in &file.sizes {
            journal.write(&entry(Some(&size.name), LabStep::Planned)).map_err(failed)?;
        }
        // Last: a directory without it is no lab, and nothing was created yet.
        let spec_text = serde_json::to_vec_pretty(&spec).or_fail(Code::Start)?;
        write_private(&directory.join(SPEC), &spec_text).map_err(failed)?;
        Ok(Self { directory, results, file, spec, journal })
    }

    /// Opens the lab of a name.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn open(results: &Path, name: &str) -> Result<Self> {
        let results = std::path::absolute(results).or_fail(Code::Start)?;
        let directory = results.join(LABS).join(name);
        if !RelativePath::parse(name).is_ok_and(|path| !path.as_str().contains('/')) || !directory.join(SPEC).is_file()
        {
            let error = format!("there is no lab {name} in {}", results.join(LABS).display());
            return Err(CommandError::new(Code::Start, error).hint("`pgdyno cloud status` lists the labs"));
        }
        let failed = |error: &dyn std::fmt::Display| {
            CommandError::new(Code::Start, format!("failed to read the lab {}: {error}", directory.display()))
        };
        let spec = fs::read(directory.join(SPEC)).map_err(|error| failed(&error))?;
        let spec: LabSpec = serde_json::from_slice(&spec).map_err(|error| failed(&error))?;
        let path = directory.join(FILE);
        let text = fs::read_to_string(&path).map_err(|error| failed(&error))?;
        let file = LabFile::read(&path.display().to_string(), &text, &spec.base)?;
        let journal = Journal::open(&directory.join(JOURNAL)).map_err(|error| failed(&error))?;
        Ok(Self { directory, results, file, spec, journal })
    }

    /// Returns the names of all labs, those that made room for others left out.
    #[must_use]
    pub fn names(results: &Path) -> Vec<String> {
        let Ok(entries) = fs::read_dir(results.join(LABS)) else { return Vec::new() };
        let is_lab = |path: &Path| path.join(SPEC).is_file();
        let names = entries.flatten().filter(|entry| is_lab(&entry.path()));
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| !name.contains('.')).collect();
        names.sort();
        names
    }

    /// Takes the lock of the lab: one process changes it at a time.
    ///
    /// # Errors
    /// When another process has it; its number is in the message.
    pub fn lock(&self) -> Result<Lock> {
        let file = self.lock_file()?;
        // One that only looks who has it, as `status` and `attach`, has it for a moment.
        for _ in 0..LOCK_TRIES {
            if let Some(lock) = file.try_lock().or_fail(Code::Start)? {
                return Ok(lock);
            }
            thread::sleep(LOCK_PAUSE);
        }
        let holder = file.holder().map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
        let name = &self.file.name;
        Err(CommandError::new(Code::Start, format!("lab {name} is in the hands of {holder}")).hint(format!(
            "`pgdyno cloud attach {name}` follows it, `pgdyno cloud down {name}` stops it and removes everything"
        )))
    }

    /// Returns the process that works on the lab.
    #[must_use]
    pub fn holder(&self) -> Option<u32> {
        let file = self.lock_file().ok()?;
        match file.try_lock() {
            Ok(Some(_)) | Err(_) => None,
            Ok(None) => file.holder(),
        }
    }

    fn lock_file(&self) -> Result<LockFile> {
        let directory = Directory::open(&self.directory).or_fail(Code::Start)?;
        LockFile::open(&directory, &RelativePath::parse(LOCK).or_fail(Code::Start)?).or_fail(Code::Start)
    }

    /// Returns the names of the runs that were fetched, in the order of the sizes.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn runs(&self) -> Result<Vec<String>> {
        let entries = self.journal.entries().or_fail(Code::Start)?;
        let of = |size: &LabSize| {
            let fetched =
                |entry: &&JournalEntry| entry.step == LabStep::Fetched && entry.size.as_ref() == Some(&size.name);
            let text = entries.iter().rev().find(fetched).and_then(|entry| entry.text.clone()).unwrap_or_default();
            text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        Ok(self.file.sizes.iter().flat_map(of).collect())
    }

    /// Returns the seconds until it expires; 0 if it has.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn left_s(&self) -> Result<u64> {
        Ok(self.expires_s()?.saturating_sub(now_s()))
    }

    /// Returns how far each size is.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn standings(&self) -> Result<BTreeMap<String, SizeStanding>> {
        Ok(journal::standings(&self.journal.entries().or_fail(Code::Start)?))
    }

    /// Returns true if every size is closed.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn is_closed(&self) -> Result<bool> {
        let standings = self.standings()?;
        let is_closed = |size: &LabSize| standings.get(&size.name).is_some_and(|it| it.step == Some(LabStep::Closed));
        Ok(self.file.sizes.iter().all(is_closed))
    }

    /// Returns the Unix time in seconds at which it expires.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn expires_s(&self) -> Result<u64> {
        Ok(journal::expires_s(&self.journal.entries().or_fail(Code::Start)?).unwrap_or(0))
    }

    /// Returns what its resources have cost until now by the prices in its file; `None` if a price is missing.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn cost(&self) -> Result<Option<Money>> {
        let (standings, now) = (self.standings()?, now_s());
        let mut amount = 0.0;
        for size in &self.file.sizes {
            let Some((Some(began), ended)) = standings.get(&size.name).map(|standing| standing.life_s) else {
                continue;
            };
            let Some(price) = size.price_per_hour.or_else(|| self.file.module.is_local().then_some(0.0)) else {
                return Ok(None);
            };
            amount += bound([price], ended.unwrap_or(now).saturating_sub(began) as f64);
        }
        Ok(Some(Money { amount, currency: self.file.currency.clone() }))
    }

    /// Returns what it costs at most: until it expires.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn cost_bound(&self) -> Result<Option<Money>> {
        let entries = self.journal.entries().or_fail(Code::Start)?;
        let began = entries.first().map_or(0, |entry| entry.at_s);
        let expires = journal::expires_s(&entries).unwrap_or(0);
        Ok(self.file.bound(expires.saturating_sub(began) as f64))
    }

    /// Writes a line into the journal.
    pub(crate) fn note(&self, size: &LabSize, step: LabStep, text: Option<String>) -> Result<()> {
        self.put(&JournalEntry { text, ..entry(Some(&size.name), step) })
    }

    /// Writes a line into the journal.
    pub(crate) fn put(&self, entry: &JournalEntry) -> Result<()> {
        self.journal.write(entry).map_err(|error| {
            CommandError::new(Code::Run, format!("failed to write the journal of lab {}: {error}", self.file.name))
        })
    }

    /// Returns the directory of a size.
    #[must_use]
    pub fn size_directory(&self, size: &LabSize) -> PathBuf {
        self.directory.join("sizes").join(&size.name)
    }

    /// Returns the path of the private key for its drivers.
    pub(crate) fn key(&self) -> PathBuf {
        self.directory.join(KEY)
    }

    /// Writes the configuration of a size: a call of its module.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn configure(&self, size: &LabSize) -> Result<()> {
        let mut module = Map::new();
        module.insert("source".to_owned(), format!("../../modules/{}", self.file.module.name).into());
        for (name, value) in self.file.variables.iter().chain(&size.variables) {
            module.insert(name.clone(), serde_json::to_value(value).or_fail(Code::Start)?);
        }
        module.insert("lab".to_owned(), self.file.name.clone().into());
        module.insert("size".to_owned(), size.name.clone().into());
        module.insert("expires".to_owned(), self.expires_s()?.into());
        module.insert("password".to_owned(), "${var.password}".into());
        if self.file.module.is_local() {
            module.insert("root".to_owned(), self.spec.root.display().to_string().into());
        } else {
            let public = fs::read_to_string(self.key().with_extension("pub")).or_fail(Code::Start)?;
            module.insert("ssh_public_key".to_owned(), public.trim().into());
            module.insert("client_cidr".to_owned(), self.spec.client_cidr.clone().into());
        }
        // Strings of the user are values: `${` begins no expression.
        let module = module.into_iter().map(|(name, value)| match name.as_str() {
            "password" => (name, value),
            _ => (name, literal(value)),
        });
        let configuration = json!({
            "module": {"size": module.collect::<Map<_, _>>()},
            "output": {"pgdyno": {"value": "${module.size.pgdyno}"}},
            "variable": {"password": {"type": "string", "ephemeral": true, "default": null, "sensitive": true}},
        });
        let text = serde_json::to_vec_pretty(&configuration).or_fail(Code::Start)?;
        write_private(&self.size_directory(size).join("main.tf.json"), &text).or_fail(Code::Start)
    }
}

/// Returns the directory of the local servers of a lab, below `cache`, the user's directory for such: a name that no lab of another
/// results directory has.
#[must_use]
pub fn local_root(cache: &Path, results: &Path, name: &str) -> PathBuf {
    let place = std::path::absolute(results).unwrap_or_else(|_| results.to_owned());
    let hash = Sha256::digest(place.as_os_str().as_encoded_bytes());
    let hash = pgdyno_text::hex(&hash[..4]);
    let root = cache.join("labs").join(format!("{name}-{hash}"));
    // The path of a socket has a limit.
    match root.as_os_str().len() {
        ..=ROOT_MAX => root,
        _ => PathBuf::from(format!("/var/tmp/pgdyno-{}/{name}-{hash}", rustix::process::getuid().as_raw())),
    }
}

/// Returns an entry of now.
pub(crate) fn entry(size: Option<&str>, step: LabStep) -> JournalEntry {
    JournalEntry { at_s: now_s(), size: size.map(str::to_owned), step, text: None, expires_s: None, server: None }
}

/// Escapes what the engine would read as an expression.
fn literal(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace("${", "$${").replace("%{", "%%{")),
        Value::Array(values) => Value::Array(values.into_iter().map(literal).collect()),
        Value::Object(map) => Value::Object(map.into_iter().map(|(name, value)| (name, literal(value))).collect()),
        other => other,
    }
}

fn private_directory(path: &Path) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a file for this user only, which is whole or the one before.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let part = path.with_extension("part");
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&part, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_the_user_is_no_expression_of_the_engine() {
        let value = json!({"a": ["${file(\"/etc/passwd\")}", 3], "b": "%{if true}"});
        assert_eq!(literal(value), json!({"a": ["$${file(\"/etc/passwd\")}", 3], "b": "%%{if true}"}));
    }
}
