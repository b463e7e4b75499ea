//! The PostgreSQL that a private server is asked to be of.

use std::path::{Path, PathBuf};

use crate::private::programs::installation::Installation;

/// The PostgreSQL of a private server.
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

impl Want {
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
