//! Kinds of targets. No other file knows the texts that name them.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

const NONE: &str = "none";
const NULL: &str = "null";
const PRIVATE: &str = "embedded";
/// Private servers with a standby, and whether commits wait for it.
const PAIRS: [(&str, bool); 2] = [("ha", false), ("ha,sync", true)];

/// The kind of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// No server: the workload measures pgdyno itself. Nobody asks for it, plans name it so.
    None,
    /// A null server, which answers every query at once.
    Null,
    /// A private server of this PostgreSQL.
    Private(TargetBuild),
    /// A name in `pgdyno.toml`.
    Named,
    /// A connection string.
    Given,
}

/// The PostgreSQL of a private server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetBuild {
    /// The newest installed one, else the portable one.
    Any,
    /// This major version, installed or portable.
    Major(u32),
    /// The one in this directory, or in `bin` below it.
    Directory(String),
    /// The newest installed one, else the portable one: as a primary with a standby that streams from it.
    Pair {
        /// Whether commits wait for the standby.
        is_synchronous: bool,
    },
    /// A mistake, or a build that only another version of pgdyno knows.
    Unknown,
}

/// A target as orders, plans and records name it, with its kind. Stored as its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "String", into = "String")]
#[cfg_attr(feature = "schema", schemars(with = "String", inline))]
pub struct TargetName {
    text: String,
    kind: TargetKind,
}

impl TargetKind {
    fn of(text: &str) -> Self {
        match text {
            NONE => Self::None,
            NULL => Self::Null,
            PRIVATE => Self::Private(TargetBuild::Any),
            _ => match text.strip_prefix(PRIVATE).and_then(|rest| rest.strip_prefix(':')) {
                Some(build) => Self::Private(TargetBuild::of(build)),
                None if text.is_empty() || text.contains(['=', ':', '/']) => Self::Given,
                None => Self::Named,
            },
        }
    }

    /// Returns true if there is no server.
    #[must_use]
    pub fn is_none(&self) -> bool {
        match self {
            Self::None => true,
            Self::Null | Self::Private(_) | Self::Named | Self::Given => false,
        }
    }

    /// Returns true for a null server, which has no data, settings or statistics.
    #[must_use]
    pub fn is_null(&self) -> bool {
        match self {
            Self::Null => true,
            Self::None | Self::Private(_) | Self::Named | Self::Given => false,
        }
    }

    /// Returns true if the server is a PostgreSQL. If it is not, a run measures the driver.
    #[must_use]
    pub fn is_postgres(&self) -> bool {
        match self {
            Self::None | Self::Null => false,
            Self::Private(_) | Self::Named | Self::Given => true,
        }
    }

    /// Returns the PostgreSQL of a private server.
    #[must_use]
    pub fn build(&self) -> Option<&TargetBuild> {
        match self {
            Self::Private(build) => Some(build),
            Self::None | Self::Null | Self::Named | Self::Given => None,
        }
    }

    /// Returns true for a private server.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.build().is_some()
    }

    /// Returns true if pgdyno would run programs from a directory that the target names.
    #[must_use]
    pub fn names_programs(&self) -> bool {
        match self.build() {
            // Another version may know a directory where this one knows nothing.
            Some(TargetBuild::Directory(_) | TargetBuild::Unknown) => true,
            Some(TargetBuild::Any | TargetBuild::Major(_) | TargetBuild::Pair { .. }) | None => false,
        }
    }

    /// Returns true if `pgdyno.toml` may have a target of this name.
    #[must_use]
    pub fn is_name(&self) -> bool {
        match self {
            Self::None | Self::Named => true,
            Self::Null | Self::Private(_) | Self::Given => false,
        }
    }

    /// Returns true if the text may hold a password.
    #[must_use]
    pub fn may_hold_password(&self) -> bool {
        match self {
            Self::Given => true,
            Self::None | Self::Null | Self::Private(_) | Self::Named => false,
        }
    }
}

impl TargetBuild {
    /// A directory contains a `/`, or is `.`, `..` or `~`.
    fn of(text: &str) -> Self {
        if let Some((_, is_synchronous)) = PAIRS.into_iter().find(|(name, _)| *name == text) {
            return Self::Pair { is_synchronous };
        }
        if text.contains('/') || matches!(text, "." | ".." | "~") {
            return Self::Directory(text.to_owned());
        }
        let digits = Some(text).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
        digits.and_then(|digits| digits.parse().ok()).map_or(Self::Unknown, Self::Major)
    }
}

impl TargetName {
    /// The name of the standby of a private pair, where a run takes another server beside its target.
    pub const STANDBY: &'static str = "standby";

    /// Returns the name of the absence of a server.
    #[must_use]
    pub fn none() -> Self {
        NONE.into()
    }

    /// Returns the name of a null server.
    #[must_use]
    pub fn null() -> Self {
        NULL.into()
    }

    /// Returns the name of the private server of any build.
    #[must_use]
    pub fn private() -> Self {
        PRIVATE.into()
    }

    /// Returns the name of a private server of this major version.
    #[must_use]
    pub fn private_of(major: u32) -> Self {
        format!("{PRIVATE}:{major}").into()
    }

    /// Returns the name of a private server of the build in this directory.
    #[must_use]
    pub fn private_in(directory: impl fmt::Display) -> Self {
        format!("{PRIVATE}:{directory}").into()
    }

    /// Returns the name of a private primary with a standby.
    #[must_use]
    pub fn private_pair(is_synchronous: bool) -> Self {
        let name = PAIRS.iter().find(|(_, is)| *is == is_synchronous).map_or("", |(name, _)| name);
        format!("{PRIVATE}:{name}").into()
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> &TargetKind {
        &self.kind
    }

    /// Returns what `--target` takes for it; none for a workload without a server, which accepts no target.
    #[must_use]
    pub fn as_option(&self) -> Option<&Self> {
        (!self.kind.is_none()).then_some(self)
    }

    /// Returns how a run begins with it, as a step of a plan.
    pub(crate) fn preparation(&self) -> String {
        match &self.kind {
            TargetKind::None => "no server: the workload measures pgdyno itself".to_owned(),
            TargetKind::Null => "start a null server, which answers every query at once".to_owned(),
            TargetKind::Private(TargetBuild::Any) => {
                "start a private PostgreSQL, or use the one that `pgdyno server start` keeps".to_owned()
            }
            TargetKind::Private(TargetBuild::Directory(dir)) => format!("start a private PostgreSQL from {dir}"),
            TargetKind::Private(TargetBuild::Pair { is_synchronous }) => {
                let how = if *is_synchronous { "synchronously" } else { "asynchronously" };
                format!("start a private PostgreSQL and a standby, which streams from it {how}")
            }
            TargetKind::Private(TargetBuild::Major(_) | TargetBuild::Unknown) => {
                let build = self.text.split_once(':').map_or("", |(_, build)| build);
                format!("start a private PostgreSQL {build}")
            }
            TargetKind::Named | TargetKind::Given => format!("connect to {}", self.text),
        }
    }

    /// Returns the target with its relative directory below `base`, unless that is empty.
    pub(crate) fn below(&self, base: &str) -> Self {
        match &self.kind {
            TargetKind::Private(TargetBuild::Directory(dir)) if !base.is_empty() && !dir.starts_with(['/', '~']) => {
                Self::private_in(format_args!("{base}/{}", dir.trim_start_matches("./")))
            }
            TargetKind::None | TargetKind::Null | TargetKind::Private(_) | TargetKind::Named | TargetKind::Given => {
                self.clone()
            }
        }
    }
}

impl From<String> for TargetName {
    fn from(text: String) -> Self {
        Self { kind: TargetKind::of(&text), text }
    }
}

impl From<&str> for TargetName {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<TargetName> for String {
    fn from(name: TargetName) -> Self {
        name.text
    }
}

impl FromStr for TargetName {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.into())
    }
}

impl fmt::Display for TargetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_has_a_kind() {
        let private = TargetKind::Private;
        for (text, kind) in [
            ("none", TargetKind::None),
            ("null", TargetKind::Null),
            ("embedded", private(TargetBuild::Any)),
            ("embedded:18", private(TargetBuild::Major(18))),
            ("embedded:/opt/pg/bin", private(TargetBuild::Directory("/opt/pg/bin".to_owned()))),
            ("embedded:a/b", private(TargetBuild::Directory("a/b".to_owned()))),
            ("embedded:..", private(TargetBuild::Directory("..".to_owned()))),
            ("embedded:~", private(TargetBuild::Directory("~".to_owned()))),
            ("embedded:ha", private(TargetBuild::Pair { is_synchronous: false })),
            ("embedded:ha,sync", private(TargetBuild::Pair { is_synchronous: true })),
            ("embedded:", private(TargetBuild::Unknown)),
            ("embedded:x", private(TargetBuild::Unknown)),
            ("embedded:+8", private(TargetBuild::Unknown)),
            ("embedded18", TargetKind::Named),
            ("db16", TargetKind::Named),
            ("my target", TargetKind::Named),
            ("host=x", TargetKind::Given),
            ("postgres://x", TargetKind::Given),
            ("./db", TargetKind::Given),
            ("", TargetKind::Given),
        ] {
            let name = TargetName::from(text);
            assert_eq!((name.kind(), name.as_str()), (&kind, text));
        }
    }

    #[test]
    fn a_pair_has_its_name() {
        for name in ["embedded:ha", "embedded:ha,sync"] {
            let TargetKind::Private(TargetBuild::Pair { is_synchronous }) = *TargetName::from(name).kind() else {
                panic!()
            };
            assert_eq!(TargetName::private_pair(is_synchronous).as_str(), name);
        }
    }

    #[test]
    fn a_target_is_stored_as_its_text() {
        for text in ["embedded:018", "db1", "host=x"] {
            let name = TargetName::from(text);
            let stored = serde_json::to_value(&name).unwrap();
            assert_eq!(stored, text);
            assert_eq!(serde_json::from_value::<TargetName>(stored).unwrap(), name);
        }
    }

    #[test]
    fn only_names_can_be_in_the_file_of_targets() {
        let is_name = |text: &str| TargetName::from(text).kind().is_name();
        assert!(["db16", "my target", "none", "embedded18"].into_iter().all(is_name));
        assert!(!["host=x", "postgres://x", "", "embedded:18", "embedded", "null", "./db"].into_iter().any(is_name));
    }
}
