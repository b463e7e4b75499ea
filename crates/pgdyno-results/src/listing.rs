//! `results.csv`: a line for each run that ended.
//!
//! A file keeps its columns forever. If a pgdyno with other columns finds one, it renames it to `results-1.csv`, or
//! the next free number, and starts a new one; a pgdyno with the older columns continues the renamed one. No line is
//! lost, or stands under a header with other columns, whichever versions run side by side.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::{StoreError, io_error};
use crate::record::RunRecord;
use crate::table::{self, RESULTS};

/// Appends a run's line to `results.csv` in `results`, in one write, so that runs side by side do not mix. Renames a
/// list with other columns to `results-N.csv` first. For a run that could not do so itself.
///
/// # Errors
/// When the system refuses, or the run's directory is gone.
pub fn list_run(results: &Path, record: &RunRecord) -> Result<(), StoreError> {
    append(results, &results.join(&record.id), record)
}

/// Returns true if `results.csv` in `results`, or a renamed list, has the line of the run `id`.
///
/// # Errors
/// When a list cannot be read; a missing list is no error.
pub fn is_listed(results: &Path, id: &str) -> Result<bool, StoreError> {
    let lists = (1..).map(|n| aside(results, n)).take_while(|path| path.exists());
    for path in std::iter::once(results.join("results.csv")).chain(lists) {
        let text = match fs::read_to_string(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            text => text.map_err(io_error("read", &path))?,
        };
        // A full disk may have cut the last line: ignore it.
        let mut whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        if whole.any(|line| line.strip_prefix(id).is_some_and(|rest| rest.starts_with(','))) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Appends the line of `record` to the list in `results`. Only this process writes to the directory `own`.
pub(crate) fn append(results: &Path, own: &Path, record: &RunRecord) -> Result<(), StoreError> {
    append_line(results, own, &table::csv_header(RESULTS), &table::csv_line(RESULTS, record))
}

fn append_line(results: &Path, own: &Path, header: &str, line: &str) -> Result<(), StoreError> {
    let path = results.join("results.csv");
    loop {
        // Then the renamed lists: a newer version may have renamed that of this version.
        for path in std::iter::once(path.clone()).chain((1..).map(|n| aside(results, n)).take_while(|p| p.exists())) {
            match open(&path).and_then(|mut file| add(&mut file, header, line)) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(e) if e.kind() == io::ErrorKind::NotFound => break,
                Err(e) => return Err(io_error("append to", &path)(e)),
            }
        }
        if path.exists() {
            set_aside(results, &path, header)?;
        } else {
            begin(&path, own, header)?;
        }
    }
}

/// Opens a list, and waits for its lock.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).append(true).open(path)?;
    // On a file system without locks, one write for a line is enough.
    let _ = file.lock();
    Ok(file)
}

/// Appends the line if the file has this header. If the file is renamed meanwhile, it keeps its header.
fn add(file: &mut File, header: &str, line: &str) -> io::Result<bool> {
    if !has_header(file, header)? {
        return Ok(false);
    }
    let line = if ends_in_a_line(file)? { line.to_owned() } else { "\n".to_owned() + line };
    file.write_all(line.as_bytes())?;
    Ok(true)
}

/// Returns the name of a renamed list.
fn aside(results: &Path, n: u32) -> PathBuf {
    results.join(format!("results-{n}.csv"))
}

/// Creates the list with its header, as a whole. If several processes do, one succeeds.
fn begin(path: &Path, own: &Path, header: &str) -> Result<(), StoreError> {
    let fresh = own.join("results.csv.tmp");
    fs::write(&fresh, header).map_err(io_error("write", &fresh))?;
    let linked = fs::hard_link(&fresh, path);
    fs::remove_file(&fresh).map_err(io_error("remove", &fresh))?;
    match linked {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(io_error("create", path)(e)),
        _ => Ok(()),
    }
}

fn has_header(file: &File, header: &str) -> io::Result<bool> {
    let mut first = Vec::new();
    // A header with more columns is longer, so it is enough to read that much.
    BufReader::new(file).take(header.len() as u64 + 1).read_until(b'\n', &mut first)?;
    Ok(first == header.as_bytes())
}

/// Returns true if the last line is complete: a full disk may have cut it.
fn ends_in_a_line(file: &mut File) -> io::Result<bool> {
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Renames the list if it has another header. If several processes do, one succeeds: the one that holds its lock
/// under its old name.
fn set_aside(results: &Path, path: &Path, header: &str) -> Result<(), StoreError> {
    let moved = || {
        let file = open(path)?;
        let (held, there) = (file.metadata()?, fs::metadata(path)?);
        if (held.dev(), held.ino()) != (there.dev(), there.ino()) || has_header(&file, header)? {
            return Ok(());
        }
        let free = (1..).map(|n| aside(results, n)).find(|path| !path.exists());
        // There is always a higher number.
        free.map_or(Ok(()), |free| fs::rename(path, free))
    };
    match moved() {
        // Another process has done it.
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        moved => moved.map_err(io_error("rename", path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &Path) -> Vec<String> {
        fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_list_of_other_columns_keeps_its_lines_under_another_name() {
        let directory = tempfile::tempdir().unwrap();
        let (results, list) = (directory.path(), directory.path().join("results.csv"));
        let old = "id,started_at,status\nrun-1,2026-01-01T00:00:00Z,complete\n";
        fs::write(&list, old).unwrap();
        append(results, results, &crate::fixture::all()[0]).unwrap();
        append(results, results, &crate::fixture::all()[1]).unwrap();
        assert_eq!(fs::read_to_string(results.join("results-1.csv")).unwrap(), old);
        let found = lines(&list);
        assert_eq!((found.len(), found[0].clone() + "\n"), (3, table::csv_header(RESULTS)));
    }

    #[test]
    fn a_part_of_the_header_is_another_header() {
        let directory = tempfile::tempdir().unwrap();
        let (results, list) = (directory.path(), directory.path().join("results.csv"));
        fs::write(&list, &table::csv_header(RESULTS)[..20]).unwrap();
        append(results, results, &crate::fixture::all()[0]).unwrap();
        assert_eq!((lines(&list).len(), lines(&results.join("results-1.csv")).len()), (2, 1));
    }

    #[test]
    fn versions_side_by_side_keep_their_lines_apart_and_lose_none() {
        const EACH: usize = 50;
        let versions = ["id,a\n", "id,a,b\n", "id,a,b,c\n"];
        for round in 0..10 {
            let directory = tempfile::tempdir().unwrap();
            let results = directory.path();
            let barrier = std::sync::Barrier::new(versions.len());
            std::thread::scope(|scope| {
                for (version, header) in versions.into_iter().enumerate() {
                    let barrier = &barrier;
                    scope.spawn(move || {
                        let own = results.join(version.to_string());
                        fs::create_dir(&own).unwrap();
                        barrier.wait();
                        for nth in 0..EACH {
                            let line = format!("{version}-{nth}{}\n", ",x".repeat(version + 1));
                            append_line(results, &own, header, &line).unwrap();
                        }
                    });
                }
            });
            let files = fs::read_dir(results).unwrap().map(|e| e.unwrap().path()).filter(|path| path.is_file());
            let mut ids = std::collections::BTreeSet::new();
            for file in files {
                let found = lines(&file);
                let columns = |line: &String| line.split(',').count();
                assert!(found.iter().all(|line| columns(line) == columns(&found[0])), "{round}: {found:?}");
                ids.extend(found[1..].iter().map(|line| line.split(',').next().unwrap().to_owned()));
            }
            assert_eq!(ids.len(), versions.len() * EACH, "round {round}");
        }
    }

    #[test]
    fn the_version_of_an_older_list_goes_on_in_it() {
        let directory = tempfile::tempdir().unwrap();
        let results = directory.path();
        for (header, line) in [("a\n", "1\n"), ("a,b\n", "2,2\n"), ("a\n", "3\n"), ("a,b\n", "4,4\n")] {
            append_line(results, results, header, line).unwrap();
        }
        assert_eq!(lines(&results.join("results.csv")), ["a,b", "2,2", "4,4"]);
        assert_eq!(lines(&results.join("results-1.csv")), ["a", "1", "3"]);
        assert!(!results.join("results-2.csv").exists());
    }

    #[test]
    fn a_cut_line_does_not_spoil_the_next() {
        let directory = tempfile::tempdir().unwrap();
        let (results, list) = (directory.path(), directory.path().join("results.csv"));
        fs::write(&list, table::csv_header(RESULTS) + "run-0,2026-01-").unwrap();
        append(results, results, &crate::fixture::all()[1]).unwrap();
        let found = lines(&list);
        assert_eq!(found.len(), 3);
        assert_eq!(found[2].clone() + "\n", table::csv_line(RESULTS, &crate::fixture::all()[1]));
    }

    #[test]
    fn many_that_append_at_once_lose_no_line_and_move_the_old_list_once() {
        const WRITERS: usize = 8;
        const EACH: usize = 25;
        for round in 0..20 {
            let directory = tempfile::tempdir().unwrap();
            let (results, list) = (directory.path(), directory.path().join("results.csv"));
            fs::write(&list, "old\nline\n").unwrap();
            let barrier = std::sync::Barrier::new(WRITERS);
            std::thread::scope(|scope| {
                for writer in 0..WRITERS {
                    let barrier = &barrier;
                    scope.spawn(move || {
                        let own = results.join(writer.to_string());
                        fs::create_dir(&own).unwrap();
                        let mut record = crate::fixture::all()[0].clone();
                        barrier.wait();
                        for nth in 0..EACH {
                            record.id = format!("{writer}-{nth}");
                            append(results, &own, &record).unwrap();
                        }
                    });
                }
            });
            let found = lines(&list);
            let ids: std::collections::BTreeSet<_> = found[1..].iter().map(|line| line.split(',').next()).collect();
            assert_eq!((found.len(), ids.len()), (WRITERS * EACH + 1, WRITERS * EACH), "round {round}");
            assert_eq!(lines(&results.join("results-1.csv")), ["old", "line"]);
            assert!(!results.join("results-2.csv").exists());
        }
    }
}
