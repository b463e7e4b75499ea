//! Appends samples as they come, so that those before a crash are kept.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pgdyno_untrusted::Directory;

use super::{AT, DIRECTORY};
use crate::file_name::relative;
use crate::store::write_inside;
use crate::table::quoted;

/// The files of a run's samples, each made with its first row.
#[derive(Debug)]
pub struct SampleFiles {
    run: PathBuf,
    files: BTreeMap<String, File>,
    failure: Option<String>,
}

impl SampleFiles {
    /// Returns the files of the run in `run`, none of which exists yet.
    #[must_use]
    pub fn of_run(run: &Path) -> Self {
        Self { run: run.to_owned(), files: BTreeMap::new(), failure: None }
    }

    /// Appends rows of one look to the file of `source`. A failure does not end the run; [`SampleFiles::failure`]
    /// returns it.
    pub fn append(&mut self, source: &str, at_s: f64, columns: &[&str], rows: &[Vec<Option<String>>]) {
        if let Err(e) = self.write(source, at_s, columns, rows)
            && self.failure.is_none()
        {
            self.failure = Some(format!("samples could not be written to {}: {e}", self.run.join(DIRECTORY).display()));
        }
    }

    /// Writes a text that belongs to the samples, and returns its path in the run directory. A failure is kept as in
    /// [`SampleFiles::append`].
    pub fn keep(&mut self, name: &str, text: &str) -> String {
        let written = write_inside(&self.run, &format!("{DIRECTORY}/{name}"), text.as_bytes());
        if let Err(e) = written
            && self.failure.is_none()
        {
            self.failure = Some(format!("{name} could not be written to {}: {e}", self.run.join(DIRECTORY).display()));
        }
        format!("{DIRECTORY}/{name}")
    }

    fn write(&mut self, source: &str, at_s: f64, columns: &[&str], rows: &[Vec<Option<String>>]) -> io::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        if !self.files.contains_key(source) {
            let file = Directory::open(&self.run)?.create_new(&relative(&format!("{DIRECTORY}/{source}.csv"))?)?;
            self.files.insert(source.to_owned(), file);
            text = [AT].iter().chain(columns).copied().collect::<Vec<_>>().join(",");
            text.push('\n');
        }
        for row in rows {
            text += &format!("{at_s:.3}");
            for cell in row {
                text.push(',');
                text += &quoted(cell.as_deref().unwrap_or_default());
            }
            text.push('\n');
        }
        // One write for each look: a reader of a growing file sees complete looks.
        self.files.get_mut(source).map_or(Ok(()), |file| file.write_all(text.as_bytes()))
    }

    /// Returns the first failure.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}
