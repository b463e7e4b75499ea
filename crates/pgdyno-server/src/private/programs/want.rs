//! The PostgreSQL of a private server, as a target names it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::private::programs::find::{Installation, OLDEST_MAJOR};

/// Prefix of a target that is a private server.
const WORD: &str = "embedded";

/// The PostgreSQL of a private server: `embedded`, `embedded:18` or `embedded:/path/to/bin`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Want {
    /// The newest installed one, else the portable one.
    #[default]
    Any,
    /// This major version, installed or portable.
    Major(u32),
    /// The one in this directory, or in `bin` below it.
    Directory(PathBuf),
}

/// The error when a word names no PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WantError {
    /// Neither a version nor a directory.
    #[error(
        "'{0}' is no target for the private server: write 'embedded', 'embedded:18' for a major version ({OLDEST_MAJOR} or \
         newer), or 'embedded:/path/to/bin' for a directory with postgres (one below this: 'embedded:./bin')"
    )]
    Unknown(String),
    /// `~name/…`.
    #[error("'{0}': only '~/', your own home directory, can be used here; write the whole path")]
    HomeOfAnother(String),
    /// `~/…` without a home.
    #[error("'{0}' needs a home directory, and HOME is not set; write the whole path")]
    NoHome(String),
}

impl FromStr for Want {
    type Err = WantError;

    /// Parses `embedded`, `embedded:18` or `embedded:DIRECTORY`. A directory contains a `/`, or is `.`, `..` or `~`.
    fn from_str(text: &str) -> Result<Self, WantError> {
        let unknown = || WantError::Unknown(text.to_owned());
        let rest = text.strip_prefix(WORD).ok_or_else(unknown)?;
        let Some(which) = rest.strip_prefix(':') else {
            return if rest.is_empty() { Ok(Self::Any) } else { Err(unknown()) };
        };
        if which.contains('/') || matches!(which, "." | ".." | "~") {
            return Ok(Self::Directory(PathBuf::from(which)));
        }
        let digits = Some(which).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
        let major = digits.and_then(|digits| digits.parse().ok()).filter(|major| *major >= OLDEST_MAJOR);
        major.map(Self::Major).ok_or_else(unknown)
    }
}

impl Want {
    /// Makes a directory absolute: one that begins with `~/` is below `home`, any other below `base`.
    ///
    /// # Errors
    /// For `~name/`, and for `~/` without a home.
    pub fn absolute(self, base: &Path, home: Option<&Path>) -> Result<Self, WantError> {
        let Self::Directory(path) = &self else { return Ok(self) };
        let name = || self.to_string();
        let mut parts = path.components();
        let path = match parts.next().map(|part| part.as_os_str().to_string_lossy()) {
            Some(first) if first == "~" => {
                let home = home.filter(|home| home.is_absolute()).ok_or_else(|| WantError::NoHome(name()))?;
                home.join(parts.as_path())
            }
            Some(first) if first.starts_with('~') => return Err(WantError::HomeOfAnother(name())),
            _ => base.join(path),
        };
        // Removes "." and doubled slashes; ".." stays, because it may follow a link.
        Ok(Self::Directory(path.components().collect()))
    }

    /// Returns true if an installation is the wanted one.
    #[must_use]
    pub fn is(&self, installation: &Installation) -> bool {
        match self {
            Self::Any => true,
            Self::Major(major) => installation.version.major == *major,
            Self::Directory(dir) => {
                let same = |dir: &Path| match (dir.canonicalize(), installation.bindir.canonicalize()) {
                    (Ok(one), Ok(other)) => one == other,
                    _ => false,
                };
                same(dir) || same(&dir.join("bin"))
            }
        }
    }
}

impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str(WORD),
            Self::Major(major) => write!(f, "{WORD}:{major}"),
            Self::Directory(dir) => write!(f, "{WORD}:{}", dir.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read() {
        assert_eq!("embedded".parse(), Ok(Want::Any));
        assert_eq!("embedded:18".parse(), Ok(Want::Major(18)));
        for bad in ["embedded:", "embedded:x", "embedded:+8", "embedded:0", "embedded:9", "embedded18", "host=x"] {
            assert_eq!(bad.parse::<Want>(), Err(WantError::Unknown(bad.to_owned())));
        }
        for dir in ["/opt/pg/bin", "./bin", "~/pg", "../pg", "a/b", ".", ".."] {
            let text = format!("embedded:{dir}");
            let want: Want = text.parse().unwrap();
            assert_eq!((&want, want.to_string()), (&Want::Directory(dir.into()), text));
        }
    }

    #[test]
    fn directories_become_absolute() {
        let absolute = |dir: &str, home: Option<&str>| {
            let want = Want::Directory(dir.into()).absolute(Path::new("/base"), home.map(Path::new));
            want.map(|want| want.to_string()).map_err(|error| error.to_string())
        };
        for (dir, path) in
            [("/opt//pg/bin/", "/opt/pg/bin"), ("./bin", "/base/bin"), ("../x", "/base/../x"), ("~/pg", "/home/me/pg")]
        {
            assert_eq!(absolute(dir, Some("/home/me")), Ok(format!("embedded:{path}")));
        }
        assert_eq!(absolute("~", Some("/home/me")), Ok("embedded:/home/me".to_owned()));
        assert!(absolute("~/pg", None).unwrap_err().contains("HOME is not set"));
        assert!(absolute("~you/pg", Some("/home/me")).unwrap_err().contains("write the whole path"));
        assert_eq!(Want::Major(18).absolute(Path::new("/base"), None), Ok(Want::Major(18)));
    }
}
