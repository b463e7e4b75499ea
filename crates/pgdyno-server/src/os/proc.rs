//! The texts of `/proc` that a look at a machine consists of.

/// The files below `/proc` that every look has, in their order in [`ProcTexts`].
pub(crate) const FILES: [&str; 7] = ["stat", "meminfo", "diskstats", "net/dev", "loadavg", "uptime", BOOT];

/// The file with a number that no other start of any machine has.
pub(crate) const BOOT: &str = "sys/kernel/random/boot_id";

/// What `/proc` said at one moment. A file that could not be read is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcTexts {
    /// The content of each of [`FILES`].
    pub(crate) files: [String; FILES.len()],
    /// The lines of `/proc/PID/stat` of all processes, where they were looked at.
    pub(crate) processes: Option<String>,
    /// The titles of the processes that were asked for: number and title, a line each.
    pub(crate) titles: String,
}

impl ProcTexts {
    /// The content of one of [`FILES`].
    pub(crate) fn file(&self, name: &str) -> &str {
        FILES.iter().position(|file| *file == name).map_or("", |nth| &self.files[nth])
    }

    /// The place of the text that goes by `name`: one of [`FILES`], `processes` or `titles`.
    pub(crate) fn place(&mut self, name: &str) -> Option<&mut String> {
        match name {
            "processes" => Some(self.processes.get_or_insert_default()),
            "titles" => Some(&mut self.titles),
            file => FILES.iter().position(|known| *known == file).map(|nth| &mut self.files[nth]),
        }
    }
}

/// A text that is not what proc(5) says of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("/proc/{file} is not as Linux writes it: {text:?}")]
pub(crate) struct Malformed {
    file: &'static str,
    text: String,
}

impl Malformed {
    /// `text` of `/proc/file`, shown by its begin.
    pub(crate) fn new(file: &'static str, text: &str) -> Self {
        Self { file, text: text.trim().chars().take(60).collect() }
    }
}
