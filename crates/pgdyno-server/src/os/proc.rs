//! The texts of `/proc` in a look at a machine.

/// Files below `/proc` in every look, in their order in [`ProcTexts`].
pub(crate) const FILES: [&str; 12] = [
    "stat",
    "meminfo",
    "diskstats",
    "net/dev",
    "loadavg",
    "uptime",
    BOOT,
    "vmstat",
    "net/snmp",
    "pressure/cpu",
    "pressure/io",
    "pressure/memory",
];

/// The file with an id that no other start of any machine has.
pub(crate) const BOOT: &str = "sys/kernel/random/boot_id";

/// Content of `/proc` at one time. An unreadable file is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcTexts {
    /// The content of each of [`FILES`].
    pub(crate) files: [String; FILES.len()],
    /// Lines of `/proc/PID/stat` of all processes, if they were looked at.
    pub(crate) processes: Option<String>,
    /// Titles of the requested processes: number and title, a line each.
    pub(crate) titles: String,
}

impl ProcTexts {
    /// Returns the content of one of [`FILES`].
    pub(crate) fn file(&self, name: &str) -> &str {
        FILES.iter().position(|file| *file == name).map_or("", |nth| &self.files[nth])
    }

    /// Returns the text with this `name`: one of [`FILES`], `processes` or `titles`.
    pub(crate) fn place(&mut self, name: &str) -> Option<&mut String> {
        match name {
            "processes" => Some(self.processes.get_or_insert_default()),
            "titles" => Some(&mut self.titles),
            file => FILES.iter().position(|known| *known == file).map(|nth| &mut self.files[nth]),
        }
    }
}

/// The error when a text is not in the format of proc(5).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("/proc/{file} has an unexpected format: {text:?}")]
pub(crate) struct Malformed {
    file: &'static str,
    text: String,
}

impl Malformed {
    /// Returns the error for `text` of `/proc/file`, with its beginning.
    pub(crate) fn new(file: &'static str, text: &str) -> Self {
        Self { file, text: text.trim().chars().take(60).collect() }
    }
}
