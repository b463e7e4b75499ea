//! The password file.

use std::path::Path;

use crate::Secret;

/// The lines of a password file. Searched when a connection is opened, because the password depends on host, port,
/// database and user.
#[derive(Clone, Debug, Default)]
pub(crate) struct PassFile {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    /// Host, port, database, user; `None` is `*`.
    matches: [Option<String>; 4],
    password: Secret,
}

impl PassFile {
    /// Reads the file, if there is one. Returns a warning if an existing file was ignored, in libpq's words if it has
    /// any.
    pub(crate) fn read(path: &Path) -> (Self, Option<String>) {
        use std::os::unix::fs::PermissionsExt as _;
        let ignored = |why: &str| {
            let warning = format!("password file \"{}\" {why}", path.display());
            (Self::default(), Some(warning))
        };
        let Ok(metadata) = std::fs::metadata(path) else {
            return (Self::default(), None);
        };
        if !metadata.is_file() {
            return ignored("is not a plain file");
        }
        if metadata.permissions().mode() & 0o077 != 0 {
            return ignored("has group or world access; permissions should be u=rw (0600) or less");
        }
        match std::fs::read_to_string(path) {
            Ok(text) => (Self::parse(&text), None),
            Err(error) => ignored(&format!("cannot be read: {error}")),
        }
    }

    pub(crate) fn parse(text: &str) -> Self {
        Self { entries: text.lines().filter(|line| !line.starts_with('#')).filter_map(entry).collect() }
    }

    /// Returns the password of the first matching line.
    pub(crate) fn password(&self, host: &str, port: u16, dbname: &str, user: &str) -> Option<&Secret> {
        let port = port.to_string();
        let wanted = [host, &port, dbname, user];
        self.entries
            .iter()
            .find(|entry| {
                entry.matches.iter().zip(wanted).all(|(pattern, value)| pattern.as_deref().is_none_or(|p| p == value))
            })
            .map(|entry| &entry.password)
    }
}

/// Parses `host:port:dbname:user:password`; a backslash escapes the next character.
fn entry(line: &str) -> Option<Entry> {
    let mut rest = line;
    let mut matches = [const { None }; 4];
    for slot in &mut matches {
        let (raw, after) = split_field(rest)?;
        *slot = (raw != "*").then(|| unescape(raw));
        rest = after;
    }
    let password = split_field(rest).map_or(rest, |(password, _)| password);
    Some(Entry { matches, password: Secret::new(unescape(password)) })
}

/// Splits at the first colon without a backslash before it.
fn split_field(text: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            ':' if !escaped => return Some((&text[..at], &text[at + 1..])),
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    None
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_matches_counts() {
        let file = PassFile::parse(
            "# localhost:*:*:*:comment\n\
             db1:5432:bench:ann:first\n\
             db1:*:*:ann:second\n\
             broken line\n\
             fe80\\:\\:1:*:*:*:v6\n\
             *:*:*:bob:a\\:b\\\\c\n",
        );
        let find = |host, port, dbname, user| file.password(host, port, dbname, user).map(|p| p.reveal().as_str());
        assert_eq!(find("db1", 5432, "bench", "ann"), Some("first"));
        assert_eq!(find("db1", 5433, "bench", "ann"), Some("second"));
        assert_eq!(find("fe80::1", 1, "x", "y"), Some("v6"));
        assert_eq!(find("any", 1, "x", "bob"), Some("a:b\\c"));
        assert_eq!(find("localhost", 1, "x", "y"), None);
    }

    #[test]
    fn a_file_that_others_may_read_is_ignored_with_a_warning() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pgpass");
        assert!(PassFile::read(&path).1.is_none(), "no file, no warning");
        std::fs::write(&path, "*:*:*:*:secret\n").unwrap();
        for (mode, found) in [(0o600, true), (0o640, false), (0o604, false)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let (file, warning) = PassFile::read(&path);
            assert_eq!(file.password("h", 1, "d", "u").is_some(), found, "{mode:o}");
            assert_eq!(warning.is_none(), found, "{mode:o}");
            assert!(warning.is_none_or(|w| w.contains("u=rw (0600) or less") && !w.contains("secret")));
        }
        assert!(PassFile::read(dir.path()).1.is_some(), "a directory");
    }
}
