//! Fetches the records of a size: from its driver into its directory here, and from there into the results directory. Every file is
//! compared by its hash before the original may be destroyed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_results::{RECORD, Status, is_listed, is_run_name, list_run, read_record};
use pgdyno_untrusted::{RelativePath, ShellWord};
use sha2::{Digest as _, Sha256};

use crate::cloud_metrics;
use crate::drive::{Driver, RESULTS, answered};
use crate::engine::LabServer;
use crate::lab_file::LabSize;
use crate::order::LabOrder;

/// Lists the files of the results on the driver: hash and path. A suite that never began has none. The lock of a suite has the number
/// of a process, and changes without a run.
const LIST: &str = "mkdir -p results && cd results && find . -type f ! -name suite.lock -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum";
/// How often a fetch from a driver is tried, and the pause before the second try; it grows.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_secs(2);

/// Which runs are fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fetched {
    /// Those that have ended: another one comes later.
    Ended,
    /// All: what is not fetched now is lost.
    All,
}

/// Fetches what the size has, and returns the names of the runs that are in the results directory now.
pub(crate) fn fetch(order: &LabOrder<'_>, size: &LabSize, server: &LabServer, which: Fetched) -> Result<Vec<String>> {
    let driver = Driver::of(order, size, server);
    if driver.machine.is_some() {
        let mut tried = 1;
        while let Err(error) = copy_from_driver(&driver, which) {
            if tried == TRIES {
                return Err(error);
            }
            order.events.note(&format!("{}: {}; trying again", size.name, error.text()));
            driver.pause(PAUSE * tried)?;
            tried += 1;
        }
    }
    let mut runs = Vec::new();
    let results = driver.directory.join(RESULTS);
    let entries = match fs::read_dir(&results) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(runs),
        Err(error) => return Err(unreadable(&results, &error)),
    };
    for entry in entries {
        let entry = entry.map_err(|error| unreadable(&results, &error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let has_record = is_run_name(&name) && entry.path().join(RECORD).is_file();
        if has_record && (which == Fetched::All || has_ended(&entry.path())) {
            import(order, size, server, &entry.path(), &name)?;
            runs.push(name);
        }
    }
    runs.sort();
    Ok(runs)
}

fn unreadable(results: &Path, error: &io::Error) -> CommandError {
    CommandError::new(Code::Run, format!("failed to read {}: {error}", results.display()))
        .hint("nothing was destroyed; `pgdyno cloud resume` goes on")
}

/// Returns true if a run has ended: until then, its record says that it was interrupted.
fn has_ended(run: &Path) -> bool {
    read_record(&run.join(RECORD)).is_ok_and(|record| record.status != Status::Interrupted)
}

/// Copies the results of a driver, and compares each file.
fn copy_from_driver(driver: &Driver<'_>, which: Fetched) -> Result<()> {
    let Some((machine, directory)) = &driver.machine else { return Ok(()) };
    let listed = answered(driver.shell(LIST), "list the files on the driver")?;
    let part = driver.directory.join("results.part");
    let _ = fs::remove_dir_all(&part);
    fs::create_dir_all(&part).or_fail(Code::Run)?;
    let failed =
        |why: &str| CommandError::new(Code::Run, format!("failed to fetch the results from the driver: {why}"));
    let script = format!("cd {}/results && tar -cf - .", ShellWord(directory));
    let mut sender = machine
        .command(&script)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(&error.to_string()))?;
    let Some(stream) = sender.stdout.take() else { return Err(failed("it sends nothing")) };
    // As root, tar would keep the bits that let a program run as its owner.
    let options = ["-xf", "-", "--no-same-owner", "--no-same-permissions"];
    let received = Command::new("tar").args(options).current_dir(&part).stdin(stream).output();
    let received = received.map_err(|error| failed(&error.to_string()))?;
    let sent = sender.wait().map_err(|error| failed(&error.to_string()))?;
    // tar ends with 1 where a file has grown meanwhile: the hashes decide.
    if !received.status.success() || !matches!(sent.code(), Some(0 | 1)) {
        return Err(failed(
            String::from_utf8_lossy(&received.stderr).lines().last().unwrap_or("the connection is broken"),
        ));
    }
    compare(&String::from_utf8_lossy(&listed.stdout), &part, which)?;
    let whole = driver.directory.join(RESULTS);
    let _ = fs::remove_dir_all(&whole);
    fs::rename(&part, &whole).or_fail(Code::Run)
}

/// Compares files below `directory` with a list of hashes and paths: all, or those of runs that have ended, for others may change.
fn compare(list: &str, directory: &Path, which: Fetched) -> Result<()> {
    let damaged = |what: String| {
        CommandError::new(Code::Run, format!("what was fetched is not what the driver has: {what}"))
            .hint("nothing was destroyed; `pgdyno cloud resume` fetches again")
    };
    for line in list.lines() {
        let Some((hash, path)) = line.split_once("  ") else { return Err(damaged(format!("'{line}'"))) };
        let path = RelativePath::parse(path.trim_start_matches("./")).map_err(|error| damaged(error.to_string()))?;
        let run = path.as_str().split_once('/').map(|(first, _)| first).filter(|first| is_run_name(first));
        if which == Fetched::Ended && !run.is_some_and(|run| has_ended(&directory.join(run))) {
            continue;
        }
        match sha256(&directory.join(path.as_path())) {
            Ok(own) if own == hash => {}
            Ok(_) => return Err(damaged(path.as_str().to_owned())),
            Err(error) => return Err(damaged(format!("{}: {error}", path.as_str()))),
        }
    }
    Ok(())
}

fn sha256(path: &Path) -> io::Result<String> {
    let (mut file, mut digest) = (File::open(path)?, Sha256::new());
    let mut block = vec![0; 1 << 20];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(pgdyno_text::hex(&digest.finalize())),
            read => digest.update(&block[..read]),
        }
    }
}

/// Copies a run into the results directory, with the cloud's own figures, and lists it.
fn import(order: &LabOrder<'_>, size: &LabSize, server: &LabServer, from: &Path, name: &str) -> Result<()> {
    let results = &order.lab.results;
    let to = results.join(name);
    if !to.exists() {
        let part = results.join(format!(".{name}.part"));
        let _ = fs::remove_dir_all(&part);
        let copied = copy(from, &part).and_then(|()| {
            let (was, is) = (hashes(from)?, hashes(&part)?);
            if was == is { Ok(()) } else { Err(io::Error::other("the copy differs from the original")) }
        });
        copied.map_err(|error| {
            CommandError::new(Code::Run, format!("failed to copy {} to {}: {error}", from.display(), to.display()))
                .hint("make room there; nothing was destroyed, and `pgdyno cloud resume` goes on")
        })?;
        cloud_metrics::add(order, size, server, &part.join(RECORD))?;
        fs::rename(&part, &to).or_fail(Code::Run)?;
    }
    let record = read_record(&to.join(RECORD)).or_fail(Code::Run)?;
    if !is_listed(results, &record.id).or_fail(Code::Run)? {
        list_run(results, &record).or_fail(Code::Run)?;
    }
    Ok(())
}

/// Copies ordinary files and directories, without their modes; links are left out.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()))?;
        } else if kind.is_file() {
            let mut copy = File::create(to.join(entry.file_name()))?;
            io::copy(&mut File::open(entry.path())?, &mut copy)?;
            copy.sync_all()?;
        }
    }
    Ok(())
}

/// Returns the hashes of all ordinary files below a directory.
fn hashes(directory: &Path) -> io::Result<BTreeMap<PathBuf, String>> {
    fn add(directory: &Path, below: &Path, hashes: &mut BTreeMap<PathBuf, String>) -> io::Result<()> {
        for entry in fs::read_dir(directory.join(below))? {
            let entry = entry?;
            let path = below.join(entry.file_name());
            let kind = entry.file_type()?;
            if kind.is_dir() {
                add(directory, &path, hashes)?;
            } else if kind.is_file() {
                hashes.insert(path.clone(), sha256(&directory.join(&path))?);
            }
        }
        Ok(())
    }
    let mut all = BTreeMap::new();
    add(directory, Path::new(""), &mut all)?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_but_the_lock_of_a_suite_are_listed_and_none_before_it_begins() {
        let directory = tempfile::tempdir().unwrap();
        let listed = || {
            let output = Command::new("sh").args(["-c", LIST]).current_dir(directory.path()).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        assert_eq!(listed(), "");
        fs::create_dir_all(directory.path().join("results/suites/s")).unwrap();
        for name in ["suites/s/suite.lock", "suites/s/state.json", "lock"] {
            fs::write(directory.path().join("results").join(name), "1").unwrap();
        }
        let list = listed();
        let paths: Vec<_> = list.lines().filter_map(|line| line.split_once("  ")).map(|(_, path)| path).collect();
        assert_eq!(paths, ["./lock", "./suites/s/state.json"]);
        compare(&list, &directory.path().join("results"), Fetched::All).unwrap();
    }

    #[test]
    fn a_file_that_differs_or_leaves_the_directory_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("a")).unwrap();
        fs::write(directory.path().join("a/run.json"), "{}").unwrap();
        let hash = sha256(&directory.path().join("a/run.json")).unwrap();
        compare(&format!("{hash}  ./a/run.json\n"), directory.path(), Fetched::All).unwrap();
        for list in [
            format!("{hash}  ./a/other.json"),
            format!("{}  ./a/run.json", hash.replace('4', "5")),
            format!("{hash}  ./../../etc/passwd"),
            format!("{hash}  /etc/passwd"),
            "\\escaped".to_owned(),
        ] {
            assert!(compare(&list, directory.path(), Fetched::All).is_err(), "{list}");
        }
        // What is no run that has ended may change meanwhile.
        compare(&format!("{}  ./a/run.json\n", hash.replace('4', "5")), directory.path(), Fetched::Ended).unwrap();
    }
}
