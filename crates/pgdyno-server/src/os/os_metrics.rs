//! `--os-metrics`.

/// Source of the server machine's samples, if that is not this machine's `/proc`.
#[derive(Clone, Debug, PartialEq)]
pub enum OsMetrics {
    /// A shell on that machine: the words after `ssh`.
    Ssh(Vec<String>),
    /// By a command for `sh -c` that prints CSV.
    Command {
        /// The command.
        command: String,
        /// CPUs of the server's machine, if the user gave them.
        cpus: Option<f64>,
    },
}

impl OsMetrics {
    /// Parses the user's text: `ssh` with its arguments, or a command. The words are separated by spaces; no shell
    /// reads them.
    #[must_use]
    pub fn parse(text: &str, cpus: Option<f64>) -> Self {
        match text.trim().strip_prefix("ssh ") {
            Some(words) => Self::Ssh(words.split_whitespace().map(str::to_owned).collect()),
            None => Self::Command { command: text.to_owned(), cpus },
        }
    }

    /// Returns its name in reports: `ssh user@host` without options, or `command`, whose text may hold a secret.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Ssh(words) => format!("ssh {}", words.last().map_or("", String::as_str)),
            Self::Command { .. } => "command".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ssh_is_known_by_its_word_and_all_else_is_a_command() {
        let words = OsMetrics::parse("ssh  -p 2222 me@db1 ", None);
        assert_eq!(words, OsMetrics::Ssh(["-p", "2222", "me@db1"].map(str::to_owned).to_vec()));
        assert_eq!(words.name(), "ssh me@db1");
        let command = OsMetrics::parse("sshmetrics --token geheim", Some(4.0));
        assert_eq!(command, OsMetrics::Command { command: "sshmetrics --token geheim".to_owned(), cpus: Some(4.0) });
        assert_eq!(command.name(), "command");
    }
}
