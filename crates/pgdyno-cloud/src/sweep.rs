//! Asks the cloud itself what a lab has left there, by its tag: the engine's state may have lost a resource.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, Result};
use pgdyno_untrusted::ShellWord;
use serde_json::Value;

use crate::bounded;
use crate::lab_file::LabFile;
use crate::module::SweptKind;

/// How long one command of the cloud may take.
const LIST_MAX: Duration = Duration::from_secs(300);
const DELETE_MAX: Duration = Duration::from_secs(3600);
/// Bytes of an id.
const ID_MAX: usize = 1024;

/// Something that a lab has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// What it is.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// Unix time in seconds at which it may be deleted.
    pub expires_s: Option<u64>,
    /// The command that deletes it.
    pub command: Vec<String>,
}

impl Leftover {
    /// Returns the command as a line for a shell.
    #[must_use]
    pub fn line(&self) -> String {
        self.command.iter().map(|word| ShellWord(word).to_string()).collect::<Vec<_>>().join(" ")
    }
}

/// Returns what a lab has left: of one size, or of all. `root` is the directory of local servers, `modules` that of the module's
/// files. A module whose tags do not name the size is asked for the whole lab.
///
/// # Errors
/// When the cloud's command line fails, or answers something else than a list.
pub fn sweep(lab: &LabFile, root: &Path, modules: &Path) -> Result<Vec<Leftover>> {
    if lab.module.is_local() {
        return Ok(local(root, modules));
    }
    let mut found = Vec::new();
    for kind in &lab.module.sweep.resource {
        let argv = words(&kind.list, lab)?;
        let Some((program, args)) = argv.split_first() else { continue };
        let failed = |why: &str| {
            let line = argv.iter().map(|word| ShellWord(word).to_string()).collect::<Vec<_>>().join(" ");
            CommandError::new(Code::LeftOver, format!("failed to ask the cloud what lab {} has left: {why}", lab.name))
                .hint(format!("repeat it when this works: {line}"))
        };
        let mut command = Command::new(program);
        command.args(args);
        let printed = bounded::run(command, LIST_MAX).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => failed(&format!("{program} is not installed")),
            _ => failed(&format!("{program}: {error}")),
        })?;
        if !printed.is_success {
            return Err(failed(&printed.said));
        }
        found.extend(leftovers(&printed.stdout, kind, lab).map_err(|why| failed(&why))?);
    }
    Ok(found)
}

/// Deletes what was left.
///
/// # Errors
/// When the command fails.
pub fn delete(leftover: &Leftover) -> Result<()> {
    let failed = |why: &str| {
        CommandError::new(Code::LeftOver, format!("failed to delete {} {}: {why}", leftover.kind, leftover.id))
            .hint(format!("delete it by hand: {}", leftover.line()))
    };
    let Some((program, args)) = leftover.command.split_first() else {
        return Err(failed("there is no command for it"));
    };
    let mut command = Command::new(program);
    command.args(args);
    match bounded::run(command, DELETE_MAX) {
        Ok(printed) if printed.is_success => Ok(()),
        Ok(printed) => Err(failed(&printed.said)),
        Err(error) => Err(failed(&error.to_string())),
    }
}

/// Returns what is in the answer of a cloud. The answer is data of others: an id is one word of a command, or refused.
fn leftovers(answer: &[u8], kind: &SweptKind, lab: &LabFile) -> std::result::Result<Vec<Leftover>, String> {
    let text = answer.trim_ascii();
    let answer: Value = match text.is_empty() {
        true => Value::Array(Vec::new()),
        false => serde_json::from_slice(text).map_err(|error| format!("its answer is no JSON: {error}"))?,
    };
    let items = match &kind.items {
        None => Some(&answer),
        Some(pointer) => answer.pointer(pointer),
    };
    let items = items.and_then(Value::as_array).ok_or("its answer has no list")?;
    items.iter().map(|item| leftover(item, kind, lab)).collect()
}

fn leftover(item: &Value, kind: &SweptKind, lab: &LabFile) -> std::result::Result<Leftover, String> {
    let id = item.pointer(&kind.id).and_then(Value::as_str).ok_or_else(|| format!("a {} has no id", kind.kind))?;
    let is_shell = kind.delete.first().is_some_and(|program| program == "sh");
    let is_word = !id.is_empty() && id.len() <= ID_MAX && !id.starts_with('-') && !id.contains(char::is_control);
    if !is_word || (is_shell && !is_plain(id)) {
        let shown: String = id.chars().take(80).flat_map(char::escape_default).collect();
        return Err(format!("the id of a {} cannot be a word of a command: '{shown}'", kind.kind));
    }
    let expires_s = kind.expires.as_ref().and_then(|pointer| item.pointer(pointer)).and_then(|value| match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    });
    let command = words(&kind.delete, lab).map_err(|error| error.text())?;
    let command = command.into_iter().map(|word| word.replace("{id}", id)).collect();
    Ok(Leftover { kind: kind.kind.clone(), id: id.to_owned(), expires_s, command })
}

/// Returns true for text that no shell reads as anything but a word.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./:@+=,-".contains(&byte))
}

/// Replaces the names of the lab and of the module's variables in the words of a command.
pub(crate) fn words(words: &[String], lab: &LabFile) -> Result<Vec<String>> {
    let mut known: Vec<(String, String)> = vec![("lab".to_owned(), lab.name.clone())];
    for variable in &lab.module.variables {
        let value = lab.variables.get(&variable.name).or(variable.default.as_ref());
        if let Some(toml::Value::String(value)) = value {
            known.push((variable.name.clone(), value.clone()));
        }
    }
    filled(words, &known)
}

/// Replaces `{name}` by values, which must be plain words.
pub(crate) fn filled(words: &[String], known: &[(String, String)]) -> Result<Vec<String>> {
    let fill = |word: &String| {
        let mut word = word.clone();
        for (name, value) in known {
            let place = format!("{{{name}}}");
            if !word.contains(&place) {
                continue;
            }
            if !is_plain(value) {
                let error = format!("{name} is '{value}', and has letters that cannot be in a command");
                return Err(CommandError::new(Code::Start, error));
            }
            word = word.replace(&place, value);
        }
        Ok(word)
    };
    words.iter().map(fill).collect()
}

/// Returns local servers: whatever is in their directory, and a program that is making or removing one.
fn local(root: &Path, modules: &Path) -> Vec<Leftover> {
    let Ok(entries) = fs::read_dir(root) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let names: BTreeSet<String> = names.map(|name| name.trim_end_matches(".lock").to_owned()).collect();
    let program = modules.join("local/server.sh").display().to_string();
    let of = |name: &String| {
        let path = root.join(name);
        let runs = path.join("data/postmaster.pid").exists();
        let kind = if runs { "server process" } else { "directory of a server" };
        let command = vec!["sh".to_owned(), program.clone(), "stop".to_owned(), path.display().to_string()];
        Leftover { kind: kind.to_owned(), id: path.display().to_string(), expires_s: None, command }
    };
    names.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lab() -> LabFile {
        let text = "name = \"bulk\"\nmodule = \"local\"\n[run]\ncommand = [\"run\", \"noop\"]\n[[size]]\nname = \"a\"\ncpu = 1\n";
        LabFile::read("lab.toml", text, Path::new("/")).unwrap()
    }

    fn kind(delete: &[&str]) -> SweptKind {
        SweptKind {
            kind: "disk".to_owned(),
            list: Vec::new(),
            items: None,
            id: "/name".to_owned(),
            expires: Some("/labels/pgdyno-expires".to_owned()),
            delete: delete.iter().map(|word| (*word).to_owned()).collect(),
        }
    }

    #[test]
    fn an_answer_becomes_commands_of_whole_words() {
        let answer =
            br#"[{"name": "a; rm -rf /", "labels": {"pgdyno-expires": "1764374400"}}, {"name": "b", "labels": null}]"#;
        let found = leftovers(answer, &kind(&["cloud", "rm", "--lab={lab}", "{id}"]), &lab()).unwrap();
        assert_eq!(found[0].command, ["cloud", "rm", "--lab=bulk", "a; rm -rf /"]);
        assert_eq!(found[0].line(), "cloud rm --lab=bulk 'a; rm -rf /'");
        assert_eq!((found[0].expires_s, found[1].expires_s), (Some(1_764_374_400), None));
        assert_eq!(leftovers(b" \n", &kind(&["x"]), &lab()).unwrap(), []);
    }

    #[test]
    fn hostile_answers_are_refused() {
        let refused = |answer: &str, delete: &[&str]| leftovers(answer.as_bytes(), &kind(delete), &lab()).unwrap_err();
        assert!(refused("not JSON", &["rm", "{id}"]).contains("no JSON"));
        assert!(refused("{\"items\": []}", &["rm", "{id}"]).contains("no list"));
        assert!(refused("[{\"id\": 3}]", &["rm", "{id}"]).contains("no id"));
        assert!(refused("[{\"name\": \"--all\"}]", &["rm", "{id}"]).contains("cannot be a word"));
        assert!(refused("[{\"name\": \"a\\nb\"}]", &["rm", "{id}"]).contains("cannot be a word"));
        assert!(refused("[{\"name\": \"\"}]", &["rm", "{id}"]).contains("cannot be a word"));
        // The text of a shell takes plain words only.
        assert!(refused("[{\"name\": \"$(reboot)\"}]", &["sh", "-c", "rm {id}"]).contains("cannot be a word"));
        let long = format!("[{{\"name\": \"{}\"}}]", "x".repeat(ID_MAX + 1));
        assert!(refused(&long, &["rm", "{id}"]).contains("cannot be a word"));
    }

    #[test]
    fn a_value_that_is_no_plain_word_is_not_put_into_a_command() {
        let known = [("project".to_owned(), "x'; reboot; '".to_owned())];
        assert!(filled(&["list {project}".to_owned()], &known).is_err());
        assert_eq!(filled(&["list".to_owned()], &known).unwrap(), ["list"]);
    }

    #[test]
    fn whatever_is_in_the_directory_of_local_servers_is_left() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(local(&root.path().join("none"), Path::new("/m")), []);
        fs::create_dir_all(root.path().join("1cpu/data")).unwrap();
        fs::write(root.path().join("1cpu/data/postmaster.pid"), "1").unwrap();
        fs::write(root.path().join("2cpu.lock"), "").unwrap();
        let found = local(root.path(), Path::new("/m"));
        assert_eq!(
            found.iter().map(|it| it.kind.as_str()).collect::<Vec<_>>(),
            ["server process", "directory of a server"]
        );
        assert!(found[1].line().ends_with("/2cpu"), "{}", found[1].line());
    }
}
