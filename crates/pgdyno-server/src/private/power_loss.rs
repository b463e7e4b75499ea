//! A loss of power, simulated: a library that is preloaded into the server keeps what unsynced writes overwrite, and after the
//! server was killed these writes are undone. Needs no rights, and a C compiler.
//!
//! `power_loss.c` is the library and says what it does not see. What was written before the clients began counts as synced
//! ([`mark_synced`]): a kernel writes everything back within half a minute.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::private::account::Account;
use crate::private::instance::own;
use crate::private::postmaster::write_config;

/// The source of the library.
const SOURCE: &str = include_str!("power_loss.c");
/// The compiler of the system.
const COMPILER: &str = "cc";
/// The first bytes of a record. The same as `MAGIC` in the library.
const MAGIC: u64 = 0x6a6f_7572_6e61_6c31;
/// Bytes of a record's header.
const HEADER: usize = 48;
/// Marks that everything before counts as synced. The library writes no such record.
const ALL_SYNCED: u32 = 5;

/// The library and its journal, for one server.
#[derive(Clone, Debug)]
pub(crate) struct WriteJournal {
    library: PathBuf,
    file: PathBuf,
    data: PathBuf,
}

/// Returns why the library cannot be built on this machine, if it cannot.
#[must_use]
pub fn power_loss_missing() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return Some("it works on Linux only".to_owned());
    }
    let asked = Command::new(COMPILER).arg("--version").stdin(Stdio::null()).output();
    match asked {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(format!("the C compiler (cc) does not work ({})", output.status)),
        Err(error) => Some(format!("there is no C compiler (cc): {error}")),
    }
}

impl WriteJournal {
    /// Returns the journal of the server with this directory and these data.
    pub(crate) fn of(dir: &Path, data: &Path) -> Self {
        let [library, file] = ["power_loss.so", "power_loss.journal"].map(|name| dir.join(name));
        Self { library, file, data: data.to_owned() }
    }

    /// Builds the library.
    fn build(&self) -> io::Result<()> {
        let source = self.library.with_extension("c");
        write_config(&source, SOURCE)?;
        let mut command = Command::new(COMPILER);
        command
            .args(["-shared", "-fPIC", "-O2", "-o"])
            .arg(&self.library)
            .arg(&source)
            .arg("-ldl")
            .stdin(Stdio::null());
        let built = command.output()?;
        if !built.status.success() {
            let said = String::from_utf8_lossy(&built.stderr);
            return Err(io::Error::other(format!("cc failed ({}): {}", built.status, said.trim())));
        }
        Ok(())
    }

    /// Begins an empty journal, and makes a postmaster write it.
    pub(crate) fn begin(&self, postmaster: &mut Command, account: Option<&Account>) -> io::Result<()> {
        if !self.library.exists() {
            self.build()?;
        }
        File::create(&self.file)?;
        own(&self.file, account)?;
        postmaster.env("LD_PRELOAD", &self.library);
        postmaster.env("PGDYNO_JOURNAL", &self.file).env("PGDYNO_JOURNAL_OF", &self.data);
        Ok(())
    }

    /// Counts everything that was written so far as synced.
    pub(crate) fn mark_synced(&self) -> io::Result<()> {
        let mut record = [0; HEADER];
        record[..8].copy_from_slice(&MAGIC.to_ne_bytes());
        record[24..28].copy_from_slice(&ALL_SYNCED.to_ne_bytes());
        File::options().append(true).open(&self.file)?.write_all(&record)
    }

    /// Undoes all writes and renames that were not synced, the last one first. The server must have ended. Returns the number of those
    /// that were undone.
    pub(crate) fn undo(&self) -> io::Result<u64> {
        let mut journal = File::open(&self.file)?;
        let records = index(&mut journal)?;
        if records.is_empty() {
            return Err(io::Error::other("the journal of its writes is empty: the library was not loaded"));
        }
        let mut undo = UndoWalk { journal, names: HashMap::new(), synced: HashSet::new(), undone: 0 };
        for record in records.iter().rev() {
            match record.kind {
                1 => undo.write(record)?,
                2 => undo.sync(record),
                3 => undo.rename(record)?,
                4 => {
                    undo.names.insert(record.path.clone(), None);
                }
                _ => break,
            }
        }
        Ok(undo.undone)
    }
}

/// A record without its content, which stays in the journal.
struct JournalRecord {
    kind: u32,
    offset: u64,
    size_before: u64,
    written: u64,
    kept: usize,
    path: PathBuf,
    other: PathBuf,
    content_at: u64,
}

/// Reads the headers of a journal. A process may have been killed while it wrote a record: the change that it announced was not made, and
/// the record is left out.
fn index(journal: &mut File) -> io::Result<Vec<JournalRecord>> {
    let end = journal.metadata()?.len();
    let mut reader = BufReader::with_capacity(1 << 20, journal);
    let (mut records, mut at) = (Vec::new(), 0);
    while at + HEADER as u64 <= end {
        match read_record(&mut reader, at, end)? {
            Some(record) => {
                at = record.content_at + record.kept as u64;
                records.push(record);
            }
            None => at += 1,
        }
    }
    Ok(records)
}

/// Reads the record at this place, if there is a whole one.
fn read_record(reader: &mut BufReader<&mut File>, at: u64, end: u64) -> io::Result<Option<JournalRecord>> {
    let here = reader.stream_position()?;
    reader.seek_relative(at.cast_signed() - here.cast_signed())?;
    let mut header = [0; HEADER];
    reader.read_exact(&mut header)?;
    let long = |at: usize| u64::from_ne_bytes(std::array::from_fn(|nth| header[at + nth]));
    let short = |at: usize| u32::from_ne_bytes(std::array::from_fn(|nth| header[at + nth]));
    let [kind, written, path_length, other_length, kept] = [24, 28, 32, 36, 40].map(short);
    let content_at = at + HEADER as u64 + u64::from(path_length) + u64::from(other_length);
    let next = content_at + u64::from(kept);
    if long(0) != MAGIC || path_length > 4096 || other_length > 4096 || next > end {
        return Ok(None);
    }
    let mut path = |length: u32| {
        let mut bytes = vec![0; length as usize];
        reader.read_exact(&mut bytes).map(|()| PathBuf::from(std::ffi::OsString::from_vec(bytes)))
    };
    let (path, other) = (path(path_length)?, path(other_length)?);
    if next + 8 <= end {
        // Another record must follow: of an incomplete one only the beginning is there.
        let mut magic = [0; 8];
        reader.seek_relative(i64::from(kept))?;
        reader.read_exact(&mut magic)?;
        if u64::from_ne_bytes(magic) != MAGIC {
            return Ok(None);
        }
    }
    Ok(Some(JournalRecord {
        kind,
        offset: long(8),
        size_before: long(16),
        written: u64::from(written),
        kept: kept as usize,
        path,
        other,
        content_at,
    }))
}

/// A walk through the journal from its end.
struct UndoWalk {
    journal: File,
    /// The present name of the file that had a name at this point of the walk; none if it was removed later.
    names: HashMap<PathBuf, Option<PathBuf>>,
    /// Files, by their present names, and directories that were synced later.
    synced: HashSet<PathBuf>,
    undone: u64,
}

impl UndoWalk {
    fn present_name(&self, path: &Path) -> Option<PathBuf> {
        self.names.get(path).cloned().unwrap_or_else(|| Some(path.to_owned()))
    }

    fn sync(&mut self, record: &JournalRecord) {
        let present = self.present_name(&record.path);
        self.synced.extend(present);
    }

    fn write(&mut self, record: &JournalRecord) -> io::Result<()> {
        let Some(path) = self.present_name(&record.path).filter(|path| !self.synced.contains(path)) else {
            return Ok(());
        };
        let file = match File::options().write(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            opened => opened?,
        };
        let mut content = vec![0; record.kept];
        self.journal.read_exact_at(&mut content, record.content_at)?;
        file.write_all_at(&content, record.offset)?;
        if record.offset + record.written > record.size_before {
            file.set_len(record.size_before)?;
        }
        self.undone += 1;
        Ok(())
    }

    /// A rename lasts once its directory was synced.
    fn rename(&mut self, record: &JournalRecord) -> io::Result<()> {
        let JournalRecord { path, other, .. } = record;
        let mut present = self.present_name(other);
        let is_safe = other.parent().is_some_and(|directory| self.synced.contains(directory));
        if let Some(now) = present.clone().filter(|_| !is_safe) {
            match std::fs::rename(&now, path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                renamed => {
                    renamed?;
                    if self.synced.remove(&now) {
                        self.synced.insert(path.clone());
                    }
                    present = Some(path.clone());
                    self.undone += 1;
                }
            }
        }
        self.names.insert(path.clone(), present);
        // Of a file that was replaced nothing is left.
        self.names.insert(other.clone(), None);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appends a record as the library does.
    fn append(
        journal: &mut Vec<u8>,
        kind: u32,
        paths: [&Path; 2],
        [offset, size_before, written]: [u64; 3],
        kept: &[u8],
    ) {
        let paths = paths.map(|path| path.as_os_str().as_encoded_bytes());
        for long in [MAGIC, offset, size_before] {
            journal.extend(long.to_ne_bytes());
        }
        let lengths = [paths[0].len(), paths[1].len(), kept.len(), 0].map(|length| length as u32);
        for short in [kind, written as u32].into_iter().chain(lengths) {
            journal.extend(short.to_ne_bytes());
        }
        journal.extend(paths.concat());
        journal.extend(kept);
    }

    fn undone(dir: &Path, journal: &[u8]) -> u64 {
        let file = dir.join("journal");
        std::fs::write(&file, journal).unwrap();
        WriteJournal { library: PathBuf::new(), file, data: dir.to_owned() }.undo().unwrap()
    }

    #[test]
    fn writes_after_the_last_sync_of_their_file_are_undone() {
        let dir = tempfile::tempdir().unwrap();
        let [one, two, none] = ["one", "two", ""].map(|name| dir.path().join(name));
        let none = if none == dir.path().join("") { Path::new("") } else { &none };
        let mut journal = Vec::new();
        // one: "ab" was synced, then overwritten by "cdef". two: never synced.
        append(&mut journal, 1, [&one, none], [0, 0, 2], b"");
        append(&mut journal, 2, [&one, none], [0; 3], b"");
        append(&mut journal, 1, [&one, none], [1, 2, 4], b"b");
        append(&mut journal, 1, [&two, none], [0, 0, 3], b"");
        std::fs::write(&one, "acdef").unwrap();
        std::fs::write(&two, "xyz").unwrap();
        assert_eq!(undone(dir.path(), &journal), 2);
        assert_eq!([&one, &two].map(|file| std::fs::read_to_string(file).unwrap()), ["ab", ""]);
    }

    #[test]
    fn a_file_is_followed_through_its_renames_and_an_incomplete_record_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| dir.path().join(name));
        let nothing = Path::new("");
        let mut journal = Vec::new();
        append(&mut journal, 1, [&old, nothing], [0, 1, 1], b"1");
        append(&mut journal, 3, [&old, &new], [0; 3], b"");
        append(&mut journal, 2, [dir.path(), nothing], [0; 3], b"");
        let whole = journal.len();
        append(&mut journal, 1, [&new, nothing], [0, 1, 1], b"x");
        journal.truncate(whole + 20);
        append(&mut journal, 1, [&new, nothing], [0, 1, 1], b"2");
        std::fs::write(&new, "3").unwrap();
        // The rename was synced, and the writes were not.
        assert_eq!(undone(dir.path(), &journal), 2);
        assert_eq!(std::fs::read_to_string(&new).unwrap(), "1");
        assert!(!old.exists());
        // Without the sync of the directory the rename is lost, too.
        let mut journal = Vec::new();
        append(&mut journal, 3, [&old, &new], [0; 3], b"");
        assert_eq!(undone(dir.path(), &journal), 1);
        assert_eq!(std::fs::read_to_string(&old).unwrap(), "1");
    }
}
