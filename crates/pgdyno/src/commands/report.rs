//! `pgdyno report`: renders a report again, from the record.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_life::record::page;
use pgdyno_report::studies::StudyRecord;
use pgdyno_report::{FORMATS, html};
use pgdyno_results::{NamedRecord, StudyKind, admit_file, read_record, write_inside, write_whole};
use pgdyno_text::{TextStyle, wrap};

use super::results::Results;
use crate::cli::ReportArgs;

/// The format that needs more than the record, and goes to a file by default.
pub(super) const PAGE: &str = "html";

/// The hint when a file cannot be written.
const ELSEWHERE: &str = "name another place with -o FILE, or -o - for standard output";

pub(crate) fn run(args: &ReportArgs) -> Result<Code> {
    admit(args.output.as_ref())?;
    let results = Results::open(&args.results)?;
    let path = match results.find_record(&args.run)? {
        NamedRecord::Run(path) => path,
        NamedRecord::Study(kind, path) => return study(args, &results, kind, &path),
    };
    if !FORMATS.iter().any(|(name, _)| *name == args.format) {
        return Err(has_no_format("a run", &args.format, &FORMATS.iter().map(|(name, _)| *name).collect::<Vec<_>>()));
    }
    let record = read_record(&path).or_fail(Code::Start)?;
    if args.format == PAGE {
        results.complete(&path)?;
        let run = page::with_timeline(&path, record, results.directory())?;
        let place = run.timeline.directory.as_deref().or(path.parent()).unwrap_or(Path::new(""));
        let place = place.to_owned();
        let mut bytes = Vec::new();
        html::write(&[run], &mut bytes).or_fail(Code::Start)?;
        results.release();
        return put_and_open(&bytes, args, &place, page::FILE);
    }
    results.release();
    put_as(&record, FORMATS, &args.format, args.verbose, args.output.as_ref())
}

/// Renders the report of a study.
fn study(args: &ReportArgs, results: &Results, kind: StudyKind, path: &Path) -> Result<Code> {
    let record = StudyRecord::read(kind, path).or_fail(Code::Start)?;
    let mut bytes = Vec::new();
    if !record.render(&args.format, &mut bytes).or_fail(Code::Start)? {
        return Err(has_no_format(&format!("the {}", kind.name()), &args.format, &record.formats()));
    }
    let directory = path.parent().unwrap_or(Path::new(""));
    results.release();
    if args.format == PAGE {
        let name = Path::new(path.file_name().unwrap_or_default()).with_extension("html");
        return put_and_open(&bytes, args, directory, &name.to_string_lossy());
    }
    put(&super::plain_rendered(&args.format, &bytes), args.output.as_ref())
}

/// Writes a page, and opens it if that is asked for.
fn put_and_open(bytes: &[u8], args: &ReportArgs, directory: &Path, name: &str) -> Result<Code> {
    let code = put_page(bytes, args.output.as_ref(), directory, name)?;
    if args.open {
        let named = args.output.clone().filter(|file| file.as_os_str() != "-");
        super::open_page(&named.unwrap_or_else(|| directory.join(name)));
    }
    Ok(code)
}

fn has_no_format(what: &str, format: &str, formats: &[&str]) -> CommandError {
    CommandError::new(Code::Start, format!("{what} has no format '{format}'"))
        .hint(format!("give one of {}", formats.join(", ")))
}

/// A format by its name, and what renders a `T` in it.
type Format<T> = (&'static str, fn(&T, TextStyle, &mut dyn Write) -> io::Result<()>);

/// Renders in the format of this name, and writes as [`put`] does.
pub(super) fn put_as<T>(
    value: &T,
    formats: &[Format<T>],
    name: &str,
    verbose: bool,
    file: Option<&PathBuf>,
) -> Result<Code> {
    // clap accepts only known formats.
    let (_, render) = formats
        .iter()
        .find(|(known, _)| *known == name)
        .ok_or_else(|| CommandError::new(Code::Start, format!("unknown format '{name}'")))?;
    let mut bytes = Vec::new();
    // A file is no terminal, whatever standard output is.
    let look = TextStyle { verbose, ..if file.is_none() { super::look() } else { TextStyle::default() } };
    render(value, look, &mut bytes).or_fail(Code::Start)?;
    put(&super::plain_rendered(name, &bytes), file)
}

/// Checks that the given file can be written, before anything is read. Its lines do not depend on the terminal.
pub(super) fn admit(file: Option<&PathBuf>) -> Result<()> {
    let Some(file) = file.filter(|file| file.as_os_str() != "-") else { return Ok(()) };
    wrap::fit(wrap::COLUMNS);
    admit_file(file).map_err(|error| CommandError::new(Code::Start, error).hint(ELSEWHERE))
}

/// Writes a page to the file that the user named, or to `name` in a directory, and then prints its path.
pub(super) fn put_page(bytes: &[u8], file: Option<&PathBuf>, directory: &Path, name: &str) -> Result<Code> {
    if file.is_some() {
        return put(bytes, file);
    }
    write_inside(directory, name, bytes).map_err(|error| CommandError::new(Code::Start, error).hint(ELSEWHERE))?;
    super::print_text(&format!("{}\n", directory.join(name).display()))?;
    Ok(Code::Success)
}

/// Writes to standard output, or to a file that the user named, and then prints its path.
pub(super) fn put(bytes: &[u8], file: Option<&PathBuf>) -> Result<Code> {
    let Some(file) = file.filter(|file| file.as_os_str() != "-") else {
        super::print(bytes)?;
        return Ok(Code::Success);
    };
    write_whole(file, bytes).map_err(|error| CommandError::new(Code::Start, error).hint(ELSEWHERE))?;
    super::print_text(&format!("{}\n", file.display()))?;
    Ok(Code::Success)
}
