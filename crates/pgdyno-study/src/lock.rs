//! The lock of a study: one process at a time measures it and writes its record. A killed process releases it.

use std::path::Path;

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_results::{Resumable, StudyKind};
use pgdyno_untrusted::{Directory, FileName, Lock, LockFile, RelativePath};

/// Takes the lock of a study, the file `ID.lock` beside its record.
///
/// # Errors
/// When another process holds it, the name is none, as in a record of a stranger, or the system refuses.
pub fn take(results: &Path, kind: StudyKind, id: &str) -> Result<Lock> {
    let name = FileName::parse(&format!("{id}.lock")).map_err(|error| {
        CommandError::new(Code::Start, format!("the record does not have the name of a study: {error}"))
            .hint("name a record that pgdyno wrote")
    })?;
    let directory = results.join(kind.directory());
    let refused = |error| {
        CommandError::new(Code::Start, format!("failed to lock {}: {error}", directory.join(name.as_str()).display()))
    };
    let place = Directory::create(&directory).map_err(refused)?;
    let file = LockFile::open(&place, &RelativePath::from(&name)).map_err(refused)?;
    file.try_lock().map_err(refused)?.ok_or_else(|| {
        let who = file.holder().map_or_else(String::new, |pid| format!(" (process {pid})"));
        CommandError::new(Code::Start, format!("{} {id} is already being measured{who}", kind.name()))
            .hint("wait until it ends, or end that process; then resume it")
    })
}

/// Returns the record of the study that a user names, and its lock, so that it can go on.
///
/// # Errors
/// When there is none, or another process measures it.
pub(crate) fn take_up<R: Resumable>(results: &Path, kind: StudyKind, name: &str) -> Result<(R, Lock)> {
    let path = R::find(results, name).or_fail(Code::Start)?;
    let lock = take(results, kind, R::read(&path).or_fail(Code::Start)?.id())?;
    // The process that held the lock before may have changed it.
    Ok((R::read(&path).or_fail(Code::Start)?, lock))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_at_a_time_measures_a_study() {
        let results = tempfile::tempdir().unwrap();
        let take = |kind, id| take(results.path(), kind, id);
        let held = take(StudyKind::Search, "one").unwrap();
        let refused = take(StudyKind::Search, "one").unwrap_err();
        let words = format!("search one is already being measured (process {})", std::process::id());
        assert_eq!(refused.text(), words);
        assert!(refused.remedy().is_some_and(|remedy| remedy.contains("then resume it")));
        // Another search, and another kind of study of that name.
        let _others = [take(StudyKind::Search, "other").unwrap(), take(StudyKind::Frontier, "one").unwrap()];
        drop(held);
        take(StudyKind::Search, "one").unwrap();
    }

    #[test]
    fn the_name_in_a_record_of_a_stranger_leads_nowhere_else() {
        let results = tempfile::tempdir().unwrap();
        for id in ["../one", "a/b", "/tmp/one"] {
            let refused = take(results.path(), StudyKind::Search, id).unwrap_err();
            assert!(refused.text().contains("does not have the name of a study"), "{id}: {}", refused.text());
        }
        assert!(!results.path().join("one.lock").exists());
    }
}
