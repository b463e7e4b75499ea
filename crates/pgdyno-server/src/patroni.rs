//! A member of a Patroni cluster on this machine: its Patroni and its server, which can be killed.

use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, test_kill_process};

use crate::os::process;
use crate::process::{PidFile, is_postmaster_of, kill_with_children, send};

/// The name of the program.
const PROGRAM: &str = "patroni";

/// Processes of a member.
#[derive(Debug)]
pub struct PatroniMember {
    patroni: i32,
    /// The data directory of its server.
    data: PathBuf,
}

/// A Patroni that runs, as far as it can be read.
struct RunningPatroni {
    pid: i32,
    name: Option<String>,
    data: Option<PathBuf>,
}

impl PatroniMember {
    /// Finds a member by its name in the cluster.
    ///
    /// # Errors
    /// When it does not run on this machine, or may not be killed: says why.
    pub fn find(name: &str) -> Result<Self, String> {
        let running: Vec<_> = process::all().filter_map(RunningPatroni::look).collect();
        if running.is_empty() {
            return Err(nowhere());
        }
        let mut named = running.iter().filter(|patroni| patroni.name.as_deref() == Some(name));
        let found = match (named.next(), named.next()) {
            (Some(found), None) => found,
            (Some(_), Some(_)) => return Err(format!("several Patronis of this machine have a member {name}")),
            (None, _) => {
                let known: Vec<_> = running.iter().filter_map(|patroni| patroni.name.as_deref()).collect();
                let known = if known.is_empty() { "none whose name can be read".to_owned() } else { known.join(", ") };
                return Err(format!("no Patroni of this machine has the member {name}: there is {known}"));
            }
        };
        let Some(data) = found.data.clone() else {
            return Err(format!("the configuration of the member {name} has no data_dir that can be read"));
        };
        if Pid::from_raw(found.pid).is_none_or(|pid| test_kill_process(pid).is_err()) {
            return Err(format!("the Patroni of the member {name} belongs to another account"));
        }
        Ok(Self { patroni: found.pid, data })
    }

    /// Kills Patroni, and then its server with all backends (SIGKILL). Nothing starts them again.
    ///
    /// # Errors
    /// When its server does not run: Patroni is killed nevertheless.
    pub fn kill(&self) -> Result<(), String> {
        // First: it would start the server again.
        send(self.patroni, Signal::KILL);
        match PidFile::read(&self.data).filter(|file| is_postmaster_of(file.pid, &self.data)) {
            Some(PidFile { pid, .. }) => {
                // While it is stopped, it starts no backend that would be missed.
                send(pid, Signal::STOP);
                kill_with_children(pid);
                Ok(())
            }
            None => Err(format!("no server runs in {}", self.data.display())),
        }
    }
}

/// Returns why no member can be killed on this machine; `None` if one runs.
#[must_use]
pub fn patroni_missing() -> Option<String> {
    process::all().find_map(RunningPatroni::look).is_none().then(nowhere)
}

fn nowhere() -> String {
    "no Patroni runs on this machine whose processes can be read".to_owned()
}

impl RunningPatroni {
    /// Returns the Patroni in this process, if it is one.
    fn look(pid: i32) -> Option<Self> {
        let read = |name: &str| std::fs::read(format!("/proc/{pid}/{name}")).ok().map(texts);
        let words = read("cmdline")?;
        let config = config_of(&words)?;
        let environment = read("environ").unwrap_or_default();
        let variable = |name: &str| {
            environment.iter().find_map(|text| text.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned)
        };
        let config = config.or_else(|| variable("PATRONI_CONFIG_FILE").map(PathBuf::from));
        let directory = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
        let text = config.and_then(|config| std::fs::read_to_string(directory.join(config)).ok()).unwrap_or_default();
        let name = variable("PATRONI_NAME").or_else(|| setting(&text, "name", true));
        let data = variable("PATRONI_POSTGRESQL_DATA_DIR")
            .or_else(|| setting(section(&text, "postgresql"), "data_dir", false));
        Some(Self { pid, name, data: data.map(PathBuf::from) })
    }
}

/// Returns texts that a NUL ends.
fn texts(bytes: Vec<u8>) -> Vec<String> {
    let texts = bytes.split(|byte| *byte == 0).filter(|text| !text.is_empty());
    texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

/// Returns the file that the command line of a Patroni names, if it names one; `None` for another program. The first word is the program
/// or its interpreter.
fn config_of(words: &[String]) -> Option<Option<PathBuf>> {
    let is_patroni = |word: &String| Path::new(word).file_name().is_some_and(|name| name == PROGRAM);
    let program = words.iter().take(2).position(is_patroni)?;
    let file = words[program + 1..].iter().find(|word| !word.starts_with('-'));
    Some(file.map(PathBuf::from))
}

/// Returns the lines below a key that is not indented, up to the next one; all of the text if there is no such key.
fn section<'a>(text: &'a str, key: &str) -> &'a str {
    let is_begin = |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.trim_end() == ":");
    let mut at = 0;
    let mut lines = text.split_inclusive('\n').map(|line| {
        at += line.len();
        (at, line)
    });
    let Some((from, _)) = lines.find(|(_, line)| is_begin(line)) else { return text };
    let is_next = |line: &str| line.starts_with(|first: char| !first.is_whitespace() && first != '#' && first != '-');
    let end = lines.find(|(_, line)| is_next(line)).map_or(text.len(), |(after, line)| after - line.len());
    &text[from..end]
}

/// Returns a setting of a configuration in block style: the first line with this key, which is not indented if it is `on_top`.
fn setting(text: &str, key: &str, on_top: bool) -> Option<String> {
    let value = text.lines().find_map(|line| {
        let line = if on_top { line } else { line.trim_start() };
        line.strip_prefix(key)?.trim_start().strip_prefix(':')
    })?;
    let value = value.trim();
    let value = match value.chars().next()? {
        quote @ ('"' | '\'') => value[1..].split(quote).next()?,
        _ => value.split(" #").next()?.trim_end(),
    };
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patroni_is_known_by_its_command_line() {
        let of = |line: &str| config_of(&texts(line.replace(' ', "\0").into_bytes()));
        let file = |path: &str| Some(Some(PathBuf::from(path)));
        assert_eq!(of("/usr/bin/python3 /usr/bin/patroni /etc/patroni/1.yml"), file("/etc/patroni/1.yml"));
        assert_eq!(of("patroni --debug p.yml"), file("p.yml"));
        assert_eq!(of("/usr/bin/python3 /usr/bin/patroni"), Some(None));
        assert_eq!(of("less /usr/share/patroni.yml"), None);
        assert_eq!(of("vi /x/a.txt /usr/bin/patroni"), None);
        assert_eq!(of(""), None);
    }

    #[test]
    fn name_and_directory_are_read_in_block_style() {
        let text =
            "scope: main\nname: \"node-1\"\nbootstrap:\n  name: other\npostgresql:\n  data_dir: /srv/pg # fast\n";
        assert_eq!(setting(text, "name", true).as_deref(), Some("node-1"));
        let with_raft =
            "raft:\n  data_dir: /srv/raft\npostgresql: \n# here\n  data_dir: /srv/pg\nwatchdog:\n  data_dir: x\n";
        assert_eq!(setting(section(with_raft, "postgresql"), "data_dir", false).as_deref(), Some("/srv/pg"));
        assert_eq!(section(text, "nothing"), text);
        assert_eq!(setting(text, "data_dir", false).as_deref(), Some("/srv/pg"));
        assert_eq!(setting("  name: inner\n", "name", true), None);
        assert_eq!(setting("names: x\nname:\n", "name", true), None);
    }
}
