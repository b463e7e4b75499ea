//! `results.csv`: a line for each run that ended.
//!
//! A file keeps its columns forever. If a pgdyno with other columns finds one, it renames it to `results-1.csv`, or
//! the next free number, and starts a new one; a pgdyno with the older columns continues the renamed one. No line is
//! lost, or stands under a header with other columns, whichever versions run side by side.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use pgdyno_untrusted::{Directory, RelativePath};

use crate::error::{StoreError, io_error};
use crate::file_name::relative;
use crate::record::{RunRecord, Status};
use crate::table::{self, RESULTS};

/// The list of a results directory.
const LIST: &str = "results.csv";

/// Appends a run's line to `results.csv` in `results`, in one write, so that runs side by side do not mix. Renames a
/// list with other columns to `results-N.csv` first. Follows no link.
///
/// # Errors
/// When the system refuses, or something else than an ordinary file has the name of the list.
pub fn list_run(results: &Path, record: &RunRecord) -> Result<(), StoreError> {
    append_line(results, &table::csv_header(RESULTS), &table::csv_line(RESULTS, record))
}

/// Returns true if `results.csv` in `results`, or a renamed list, has the line of the run `id`.
///
/// # Errors
/// When a list cannot be read; a missing list is no error.
pub fn is_listed(results: &Path, id: &str) -> Result<bool, StoreError> {
    let Some(directory) = found(Directory::open(results)).map_err(io_error("read", results))? else { return Ok(false) };
    for name in lists(&directory) {
        let path = results.join(name.as_path());
        let read = directory.open_file(&name).and_then(|mut file| {
            let mut text = String::new();
            file.read_to_string(&mut text).map(|_| text)
        });
        let Some(text) = found(read).map_err(io_error("read", &path))? else { continue };
        // A full disk may have cut the last line: ignore it.
        let mut whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        if whole.any(|line| line.strip_prefix(id).is_some_and(|rest| rest.starts_with(','))) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the complete runs of a plan in `results.csv`, in its order. A list that cannot be read has none.
pub(crate) fn listed_runs(results: &Path, plan_hash: &str) -> Vec<String> {
    let list = || Directory::open(results).and_then(|directory| directory.open_file(&relative(LIST)?)).ok();
    let Some(mut reader) = list().map(csv::Reader::from_reader) else { return Vec::new() };
    let Ok(header) = reader.headers().cloned() else { return Vec::new() };
    let column = |name: &str| header.iter().position(|known| known == name);
    let (Some(id), Some(status), Some(hash)) = (column("id"), column("status"), column("plan_hash")) else {
        return Vec::new();
    };
    let is_of_plan =
        |row: &csv::StringRecord| row.get(hash) == Some(plan_hash) && row.get(status) == Some(Status::Complete.name());
    let rows = reader.records().filter_map(std::result::Result::ok).filter(is_of_plan);
    rows.filter_map(|row| row.get(id).map(str::to_owned)).collect()
}

/// Returns the names of the list and of the renamed ones that are there.
fn lists(directory: &Directory) -> impl Iterator<Item = RelativePath> {
    let aside = (1..).map_while(|n| aside(n).ok()).take_while(|name| directory.has(name));
    relative(LIST).into_iter().chain(aside)
}

/// Takes "not found" for none.
fn found<T>(opened: io::Result<T>) -> io::Result<Option<T>> {
    match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some),
    }
}

fn append_line(results: &Path, header: &str, line: &str) -> Result<(), StoreError> {
    let path = results.join(LIST);
    let refused = |what| io_error(what, &path);
    let directory = Directory::open(results).map_err(refused("append to"))?;
    let list = relative(LIST).map_err(refused("append to"))?;
    loop {
        // Then the renamed lists: a newer version may have renamed that of this version.
        for name in lists(&directory) {
            let path = results.join(name.as_path());
            let added = open(&directory, &name).and_then(|mut file| add(&mut file, header, line));
            match found(added).map_err(io_error("append to", &path))? {
                Some(true) => return Ok(()),
                Some(false) => {}
                None => break,
            }
        }
        if directory.has(&list) {
            set_aside(&directory, &list, header).map_err(refused("rename"))?;
        } else {
            // If several processes create it, one succeeds.
            match directory.create_whole(&list, header.as_bytes()) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(refused("create")(error)),
                _ => {}
            }
        }
    }
}

/// Opens a list, and waits for its lock.
fn open(directory: &Directory, name: &RelativePath) -> io::Result<File> {
    let file = directory.open_to_append(name)?;
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
fn aside(n: u32) -> io::Result<RelativePath> {
    relative(&format!("results-{n}.csv"))
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
fn set_aside(directory: &Directory, list: &RelativePath, header: &str) -> io::Result<()> {
    // Another process may have done it.
    let Some(file) = found(open(directory, list))? else { return Ok(()) };
    let Some(there) = found(directory.open_file(list).and_then(|there| there.metadata()))? else { return Ok(()) };
    let held = file.metadata()?;
    if (held.dev(), held.ino()) != (there.dev(), there.ino()) || has_header(&file, header)? {
        return Ok(());
    }
    match (1..).map_while(|n| aside(n).ok()).find(|free| !directory.has(free)) {
        Some(free) => directory.rename(list, &free),
        // There is always a higher number.
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

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
        list_run(results, &crate::fixture::all()[0]).unwrap();
        list_run(results, &crate::fixture::all()[1]).unwrap();
        assert_eq!(fs::read_to_string(results.join("results-1.csv")).unwrap(), old);
        let found = lines(&list);
        assert_eq!((found.len(), found[0].clone() + "\n"), (3, table::csv_header(RESULTS)));
    }

    #[test]
    fn a_link_a_pipe_and_a_directory_in_its_place_are_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let (results, list) = (directory.path(), directory.path().join("results.csv"));
        let victim = results.join("victim");
        fs::write(&victim, table::csv_header(RESULTS)).unwrap();
        let record = &crate::fixture::all()[0];
        for target in [victim.as_path(), Path::new("nowhere")] {
            std::os::unix::fs::symlink(target, &list).unwrap();
            list_run(results, record).unwrap_err();
            is_listed(results, &record.id).unwrap_err();
            fs::remove_file(&list).unwrap();
        }
        assert_eq!((lines(&victim).len(), results.join("nowhere").exists()), (1, false));
        assert!(std::process::Command::new("mkfifo").arg(&list).status().unwrap().success());
        list_run(results, record).unwrap_err();
        is_listed(results, &record.id).unwrap_err();
        fs::remove_file(&list).unwrap();
        fs::create_dir(&list).unwrap();
        let refused = list_run(results, record).unwrap_err().to_string();
        assert!(refused.contains("results.csv"), "{refused}");
    }

    #[test]
    fn a_part_of_the_header_is_another_header() {
        let directory = tempfile::tempdir().unwrap();
        let (results, list) = (directory.path(), directory.path().join("results.csv"));
        fs::write(&list, &table::csv_header(RESULTS)[..20]).unwrap();
        list_run(results, &crate::fixture::all()[0]).unwrap();
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
                        barrier.wait();
                        for nth in 0..EACH {
                            let line = format!("{version}-{nth}{}\n", ",x".repeat(version + 1));
                            append_line(results, header, &line).unwrap();
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
            append_line(results, header, line).unwrap();
        }
        assert_eq!(lines(&results.join("results.csv")), ["a,b", "2,2", "4,4"]);
        assert_eq!(lines(&results.join("results-1.csv")), ["a", "1", "3"]);
        assert!(!results.join("results-2.csv").exists());
    }

    #[test]
    fn a_cut_line_does_not_disturb_the_next() {
        let directory = tempfile::tempdir().unwrap();
        let (results, list) = (directory.path(), directory.path().join("results.csv"));
        fs::write(&list, table::csv_header(RESULTS) + "run-0,2026-01-").unwrap();
        list_run(results, &crate::fixture::all()[1]).unwrap();
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
                        let mut record = crate::fixture::all()[0].clone();
                        barrier.wait();
                        for nth in 0..EACH {
                            record.id = format!("{writer}-{nth}");
                            list_run(results, &record).unwrap();
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
