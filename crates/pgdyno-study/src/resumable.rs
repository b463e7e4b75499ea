//! The end of a measurement of many runs, and what is shown of it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pgdyno_life::events::EventSink;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{Failure, OrFail, Result};

use pgdyno_results::{Resumable, write_inside};

use crate::child::Stopped;

/// Writes a record.
type Render<R> = fn(&R, &mut dyn Write) -> io::Result<()>;

/// Saves why a measurement ended beside what it measured, and returns how the program ends. `measured` has both, or what stopped it.
pub fn conclude<R: Resumable>(
    record: &mut R,
    results: &Path,
    measured: std::result::Result<(&str, Code), Stopped>,
) -> Result<Code> {
    let (why, result) = match measured {
        Ok((why, code)) => (why.to_owned(), Ok(code)),
        Err(Stopped::Interrupted) => ("interrupted".to_owned(), Ok(Code::Interrupted)),
        Err(Stopped::Failed(failure)) => (failure.text(), Err(failure)),
    };
    record.set_ended(Some(why));
    record.save(results).or_fail(Code::Start)?;
    result
}

/// Returns what renders this format.
pub fn renderer<R>(format: &str, render: Option<Render<R>>) -> Result<Render<R>> {
    render.ok_or_else(|| Failure::new(Code::Start, format!("unknown format '{format}'")))
}

/// Renders a record.
pub fn rendered<R>(record: &R, render: Render<R>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    render(record, &mut bytes).or_fail(Code::Start)?;
    Ok(bytes)
}

/// Writes the page of a record beside it, and says where both are.
pub fn show_files<R: Resumable>(record: &R, results: &Path, page: Render<R>, progress: &dyn EventSink) {
    progress.note(&format!("record: {}", record.path(results).display()));
    match write_page(record, results, page) {
        Ok(path) => progress.note(&format!("page: {}", path.display())),
        Err(failure) => progress.warn(&failure.text()),
    }
}

/// Writes the page of a record beside it, and returns where it is.
pub fn write_page<R: Resumable>(record: &R, results: &Path, page: Render<R>) -> Result<PathBuf> {
    let (directory, name) = (R::directory(results), format!("{}.html", record.id()));
    write_inside(&directory, &name, &rendered(record, page)?).or_fail(Code::Start)?;
    Ok(directory.join(name))
}
