//! The files of a study: its record, and the page of it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pgdyno_life::events::EventSink;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};

use pgdyno_results::{Resumable, write_inside};

/// Writes a record.
pub type RenderPage<R> = fn(&R, &mut dyn Write) -> io::Result<()>;

/// Writes the page of a record beside it, and says where both are.
pub fn show_files<R: Resumable>(record: &R, results: &Path, page: RenderPage<R>, events: &dyn EventSink) {
    show_beside(record, &record.path(results), page, events);
}

/// Writes the page of the record at `path` beside it, and says where both are.
pub fn show_beside<R>(record: &R, path: &Path, page: RenderPage<R>, events: &dyn EventSink) {
    events.note(&format!("record: {}", path.display()));
    match write_beside(record, path, page) {
        Ok(path) => events.note(&format!("page: {}", path.display())),
        Err(failure) => events.warn(&failure.text()),
    }
}

/// Writes the page of the record at `path` beside it, and returns where it is.
pub(crate) fn write_beside<R>(record: &R, path: &Path, page: RenderPage<R>) -> Result<PathBuf> {
    let mut bytes = Vec::new();
    page(record, &mut bytes).or_fail(Code::Start)?;
    let path = path.with_extension("html");
    let (directory, name) = (path.parent().unwrap_or(Path::new("")), path.file_name().unwrap_or_default());
    write_inside(directory, &name.to_string_lossy(), &bytes).or_fail(Code::Start)?;
    Ok(path)
}
