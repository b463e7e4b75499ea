//! libpq's `target_session_attrs`: which of several servers are suitable.

use crate::ConninfoError;

/// Condition on a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TargetSessionAttrs {
    /// Any server.
    #[default]
    Any,
    /// Sessions may write by default.
    ReadWrite,
    /// Sessions may not write by default.
    ReadOnly,
    /// Not in hot standby.
    Primary,
    /// In hot standby.
    Standby,
    /// A standby if there is one, else any.
    PreferStandby,
}

impl TargetSessionAttrs {
    const ALL: [Self; 6] =
        [Self::Any, Self::ReadWrite, Self::ReadOnly, Self::Primary, Self::Standby, Self::PreferStandby];

    /// Returns libpq's word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::ReadWrite => "read-write",
            Self::ReadOnly => "read-only",
            Self::Primary => "primary",
            Self::Standby => "standby",
            Self::PreferStandby => "prefer-standby",
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Self, ConninfoError> {
        Self::ALL.into_iter().find(|attrs| attrs.name() == text).ok_or_else(|| ConninfoError::Invalid {
            name: "target_session_attrs",
            value: text.to_owned(),
            expected: Self::ALL.map(Self::name).join(", "),
        })
    }

    /// Returns the conditions of each round over all hosts.
    pub(crate) fn rounds(self) -> &'static [Self] {
        match self {
            Self::Any => &[Self::Any],
            Self::ReadWrite => &[Self::ReadWrite],
            Self::ReadOnly => &[Self::ReadOnly],
            Self::Primary => &[Self::Primary],
            Self::Standby => &[Self::Standby],
            Self::PreferStandby => &[Self::Standby, Self::Any],
        }
    }

    /// Returns why a server in this state is not suitable.
    pub(crate) fn refuse(self, state: SessionState) -> Option<&'static str> {
        let SessionState { in_hot_standby, read_only } = state;
        match self {
            Self::ReadWrite if in_hot_standby => Some("it is in hot standby"),
            Self::ReadWrite if read_only => Some("its sessions are read-only"),
            Self::ReadOnly if !in_hot_standby && !read_only => Some("its sessions may write"),
            Self::Primary if in_hot_standby => Some("it is in hot standby"),
            Self::Standby if !in_hot_standby => Some("it is a primary"),
            _ => None,
        }
    }
}

/// State of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionState {
    pub(crate) in_hot_standby: bool,
    /// `default_transaction_read_only`.
    pub(crate) read_only: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_takes_the_servers_that_the_manual_says() {
        let state = |in_hot_standby, read_only| SessionState { in_hot_standby, read_only };
        // A primary, a primary with default_transaction_read_only, a standby.
        let servers = [state(false, false), state(false, true), state(true, false)];
        for (word, taken) in [
            ("any", [true, true, true]),
            ("read-write", [true, false, false]),
            ("read-only", [false, true, true]),
            ("primary", [true, true, false]),
            ("standby", [false, false, true]),
        ] {
            let attrs = TargetSessionAttrs::parse(word).unwrap();
            assert_eq!(servers.map(|s| attrs.refuse(s).is_none()), taken, "{word}");
        }
        assert!(TargetSessionAttrs::parse("master").unwrap_err().to_string().contains("prefer-standby"));
    }
}
