//! Names and relative paths that cannot lead elsewhere.

use std::fmt;
use std::path::Path;

/// The longest name of a file or directory, in bytes.
const NAME_BYTES_MAX: usize = 200;

/// The longest relative path, in bytes.
const PATH_BYTES_MAX: usize = 1000;

/// The most directories above the file of a relative path.
const DEPTH_MAX: usize = 16;

/// A name or path that was refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum InvalidName {
    /// It is empty, or a part of it is.
    #[error("{0:?} has an empty part")]
    Empty(String),
    /// It is too long or too deep.
    #[error("{0:.60?}… is too long")]
    TooLong(String),
    /// It begins at the root.
    #[error("{0:?} is absolute; only a path inside the directory is allowed")]
    Absolute(String),
    /// It leads out of the directory.
    #[error("{0:?} leads out of the directory")]
    Outside(String),
    /// It has a character that such a name may not have.
    #[error("{name:?} contains {character:?}, which is not allowed here")]
    Character {
        /// The whole name.
        name: String,
        /// The first such character.
        character: char,
    },
}

/// A name of a file or directory: ASCII letters, digits and `-_.+=@,`, not beginning with a dot, at most 200 bytes.
///
/// Runs, studies and stores have such names.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct FileName(String);

impl FileName {
    /// Checks a name.
    ///
    /// # Errors
    /// When it is not of this form.
    pub fn parse(name: &str) -> Result<Self, InvalidName> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.+=@,".contains(c);
        if name.is_empty() {
            return Err(InvalidName::Empty(name.to_owned()));
        }
        if name.len() > NAME_BYTES_MAX {
            return Err(InvalidName::TooLong(name.to_owned()));
        }
        let refused = if name.starts_with('.') { Some('.') } else { name.chars().find(|&c| !fits(c)) };
        match refused {
            Some(character) => Err(InvalidName::Character { name: name.to_owned(), character }),
            None => Ok(Self(name.to_owned())),
        }
    }

    /// Returns true if a name is of this form.
    #[must_use]
    pub fn is_valid(name: &str) -> bool {
        Self::parse(name).is_ok()
    }

    /// Returns it as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A path below a directory: no root, no `..`, no control characters; `./` and doubled slashes are removed.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RelativePath(String);

impl RelativePath {
    /// Checks a path as people write it in a file, with `/` between its parts.
    ///
    /// # Errors
    /// When it is empty, absolute, too long, has control characters, or leads out of the directory.
    pub fn parse(path: &str) -> Result<Self, InvalidName> {
        let character = |character| InvalidName::Character { name: path.to_owned(), character };
        if path.starts_with('/') || path.starts_with('~') {
            return Err(InvalidName::Absolute(path.to_owned()));
        }
        if let Some(refused) = path.chars().find(|&c| c.is_control() || c == '\\') {
            return Err(character(refused));
        }
        let parts: Vec<_> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        if parts.is_empty() || path.ends_with('/') {
            return Err(InvalidName::Empty(path.to_owned()));
        }
        if parts.contains(&"..") {
            return Err(InvalidName::Outside(path.to_owned()));
        }
        if path.len() > PATH_BYTES_MAX || parts.len() > DEPTH_MAX + 1 {
            return Err(InvalidName::TooLong(path.to_owned()));
        }
        Ok(Self(parts.join("/")))
    }

    /// Checks a path as programs write it: names of the strict form with single `/` between them, as it is.
    ///
    /// # Errors
    /// When a part is no [`FileName`], or it is too long or too deep.
    pub fn parse_names(path: &str) -> Result<Self, InvalidName> {
        path.split('/').try_for_each(|name| FileName::parse(name).map(drop))?;
        Self::parse(path)
    }

    /// Returns the path of a name in the directory at this path.
    #[must_use]
    pub fn join(&self, name: &FileName) -> Self {
        Self(format!("{}/{name}", self.0))
    }

    /// Returns it as text, with `/` between its parts.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns it as a path.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl From<&FileName> for RelativePath {
    fn from(name: &FileName) -> Self {
        Self(name.0.clone())
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_part_that_leads_elsewhere() {
        for name in ["", ".", "..", ".a", "a/b", "/a", "a/", "a\\b", "a\0", "a b", "ä", "a\n", &"x".repeat(201)] {
            assert!(!FileName::is_valid(name), "{name:?}");
        }
        for name in ["a", "run.json", "20261125T101112Z-tproc-c-0a1b2c", "a..b", &"x".repeat(200)] {
            assert!(FileName::is_valid(name), "{name:?}");
        }
    }

    #[test]
    fn a_relative_path_stays_in_its_directory() {
        let deep = "a/".repeat(17) + "b";
        for path in [
            "",
            ".",
            "./",
            "/",
            "/etc/passwd",
            "..",
            "../a",
            "a/../../b",
            "a/..",
            "a/",
            "~/a",
            "a\0",
            "a\n",
            "a\\b",
            &deep,
        ] {
            assert!(RelativePath::parse(path).is_err(), "{path:?}");
        }
        for path in ["", "/a", "a//b", "./a", "a/", "a/../b", "a/.b", "a b", ".ssh/x", &deep] {
            assert!(RelativePath::parse_names(path).is_err(), "{path:?}");
        }
        assert_eq!(RelativePath::parse_names("samples/wal.csv").expect("a path").as_str(), "samples/wal.csv");
        for (path, plain) in [("a", "a"), ("./a", "a"), ("a//b.sql", "a/b.sql"), ("my files/ä.csv", "my files/ä.csv")]
        {
            assert_eq!(RelativePath::parse(path).expect(path).as_str(), plain);
        }
    }
}
