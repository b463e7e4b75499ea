//! Loaded data of private servers, kept for the next one that wants the same.
//!
//! ```text
//! cache/.lock               shared while data is copied from here, exclusive while entries are made or removed
//!       <key>/entry.json    an Entry; the file's time is that of the last use
//!             data/         a data directory, shut down cleanly
//!       new-<random>/       an entry that is being made
//! ```
//!
//! It is below the user's own directory of [`Places`]: no two users share it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::private::fingerprint::{digest, named};
use crate::private::instance::{lock_file, set_mode, size_of_tree};
use crate::private::new_cluster;
use crate::private::places::Places;
use crate::private::programs::installation::Installation;
use crate::private::space::free_bytes;

const ENTRY: &str = "entry.json";
const DATA: &str = "data";
/// The beginning of the name of an entry that is being made.
const UNFINISHED: &str = "new-";
/// Free space that stays after an entry is made, in bytes: the run needs room, too.
const SPARE_BYTES: u64 = 1 << 30;

/// The data that a private server is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedData {
    /// What it is, for a person: `tproc-c, 20 warehouses`.
    pub about: String,
    /// Everything that shapes it, but the build of the server.
    pub identity: String,
    /// Maximum number of bytes of all kept data; with 0 none is used or kept.
    pub cache_bytes_max: u64,
    /// Whether it is loaded anew even if it is kept.
    pub is_loaded_anew: bool,
}

/// Kept data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptData {
    /// Its key: 16 hexadecimal digits.
    pub key: String,
    /// What it is, for a person.
    pub about: String,
    /// The PostgreSQL that made it, with the directory of its programs.
    pub build: String,
    /// Its size.
    pub bytes: u64,
    /// When it was loaded, in seconds since 1970.
    pub made_unix_s: u64,
    /// A digest over the names and lengths of its files.
    files: String,
}

/// Whether data was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// It was.
    Kept(KeptData),
    /// It was not, and why.
    Not(String),
}

/// The kept data of a user.
#[derive(Clone, Debug)]
pub struct Cache {
    places: Places,
}

/// An entry that nobody removes while this value lives.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) entry: KeptData,
    pub(crate) data: PathBuf,
    _lock: File,
}

/// An entry that is being made; its directory is removed unless it is finished.
#[derive(Debug)]
pub(crate) struct Making {
    dir: tempfile::TempDir,
    _lock: File,
}

impl Cache {
    /// Returns the one of these directories.
    #[must_use]
    pub fn at(places: &Places) -> Self {
        Self { places: places.clone() }
    }

    /// Returns all entries with the time of their last use, the latest first.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn list(&self) -> io::Result<Vec<(KeptData, SystemTime)>> {
        self.places.require_own(&self.dir())?;
        let mut entries: Vec<_> = self
            .directories()?
            .iter()
            .filter_map(|dir| Some((read(dir)?, fs::metadata(dir.join(ENTRY)).ok()?.modified().ok()?)))
            .collect();
        entries.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.key.cmp(&b.0.key)));
        Ok(entries)
    }

    /// Removes everything, once no server is being started from it, and the new clusters of builds. Returns the bytes that they had.
    ///
    /// # Errors
    /// When a directory cannot be removed.
    pub fn clear(&self) -> io::Result<u64> {
        let bytes_of_clusters = new_cluster::clear(&self.places)?;
        if !self.dir().is_dir() {
            return Ok(bytes_of_clusters);
        }
        self.places.require_own(&self.dir())?;
        let _lock = self.lock()?;
        self.directories()?.iter().try_fold(bytes_of_clusters, |bytes, dir| {
            let size = size_of_tree(dir);
            fs::remove_dir_all(dir).map(|()| bytes + size)
        })
    }

    /// Returns the entry of this key if it is whole. One that is not is left: it is replaced by the next one.
    pub(crate) fn find(&self, key: &str) -> Option<Held> {
        let dir = self.dir().join(key);
        if !dir.is_dir() || self.places.require_own(&self.dir()).is_err() {
            return None;
        }
        let lock = lock_file(&self.dir().join(".lock")).ok()?;
        lock.lock_shared().ok()?;
        let (entry, data) = (read(&dir)?, dir.join(DATA));
        if entry.key != key || digest(&data).ok()? != entry.files {
            return None;
        }
        // The least recently used entry is removed first.
        let _ =
            File::options().append(true).open(dir.join(ENTRY)).and_then(|file| file.set_modified(SystemTime::now()));
        Some(Held { entry, data, _lock: lock })
    }

    /// Makes room for an entry of this size, and a directory for it.
    ///
    /// # Errors
    /// Why there is no room, or what the system refuses.
    pub(crate) fn begin(&self, bytes: u64, bytes_max: u64) -> io::Result<Making> {
        if bytes > bytes_max {
            return Err(io::Error::other("it is larger than --cache-size"));
        }
        self.places.make(&self.dir())?;
        let lock = self.lock()?;
        let unfinished =
            |dir: &&PathBuf| dir.file_name().is_some_and(|name| name.to_string_lossy().starts_with(UNFINISHED));
        self.directories()?.iter().filter(unfinished).try_for_each(fs::remove_dir_all)?;
        let mut entries = self.list()?;
        let sum = |entries: &[(KeptData, SystemTime)]| entries.iter().map(|(entry, _)| entry.bytes).sum::<u64>();
        let has_room = |entries: &[(KeptData, SystemTime)]| {
            let free = free_bytes(&self.dir()).unwrap_or(u64::MAX);
            sum(entries) + bytes <= bytes_max && free >= bytes.saturating_mul(2).saturating_add(SPARE_BYTES)
        };
        while !has_room(&entries) {
            let Some((oldest, _)) = entries.pop() else {
                return Err(io::Error::other("too little space is free on its disk"));
            };
            fs::remove_dir_all(self.dir().join(oldest.key))?;
        }
        let dir = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(self.dir())?;
        set_mode(dir.path())?;
        Ok(Making { dir, _lock: lock })
    }

    /// Gives a new entry its name, in place of an older one.
    pub(crate) fn finish(
        &self,
        making: Making,
        key: &str,
        wanted: &WantedData,
        build: &Installation,
    ) -> io::Result<KeptData> {
        let data = making.data();
        let entry = KeptData {
            key: key.to_owned(),
            about: wanted.about.clone(),
            build: named(build),
            bytes: size_of_tree(&data),
            made_unix_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            files: digest(&data)?,
        };
        fs::write(making.dir.path().join(ENTRY), serde_json::to_vec_pretty(&entry)?)?;
        let place = self.dir().join(key);
        if place.exists() {
            fs::remove_dir_all(&place)?;
        }
        fs::rename(making.dir.path(), &place)?;
        Ok(entry)
    }

    fn dir(&self) -> PathBuf {
        self.places.root().join("cache")
    }

    /// Waits until nobody else uses it.
    fn lock(&self) -> io::Result<File> {
        let lock = lock_file(&self.dir().join(".lock"))?;
        lock.lock()?;
        Ok(lock)
    }

    /// Returns the directories of entries, finished or not.
    fn directories(&self) -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(self.dir()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let paths = entries.map(|entry| entry.map(|entry| entry.path()));
        Ok(paths.collect::<io::Result<Vec<_>>>()?.into_iter().filter(|path| path.is_dir()).collect())
    }
}

impl Making {
    /// Returns the place for the data directory.
    pub(crate) fn data(&self) -> PathBuf {
        self.dir.path().join(DATA)
    }
}

fn read(dir: &Path) -> Option<KeptData> {
    serde_json::from_slice(&fs::read(dir.join(ENTRY)).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::private::fingerprint::key;
    use crate::private::programs::installation::InstallationOrigin;
    use crate::private::programs::version::PgVersion;

    fn wanted(identity: &str) -> WantedData {
        WantedData {
            about: format!("data {identity}"),
            identity: identity.to_owned(),
            cache_bytes_max: 1 << 20,
            is_loaded_anew: false,
        }
    }

    fn build(version: &str) -> Installation {
        Installation {
            bindir: "/nowhere".into(),
            version: PgVersion::parse(version).unwrap(),
            origin: InstallationOrigin::Path,
        }
    }

    /// Makes an entry of so many bytes, last used `age_s` seconds ago.
    fn made(cache: &Cache, identity: &str, bytes: usize, age_s: u64) -> String {
        let (wanted, build) = (wanted(identity), build("18.1"));
        let key = key(&wanted.identity, &build);
        let making = cache.begin(bytes as u64, wanted.cache_bytes_max).unwrap();
        fs::create_dir(making.data()).unwrap();
        fs::write(making.data().join("base"), vec![1; bytes]).unwrap();
        cache.finish(making, &key, &wanted, &build).unwrap();
        let used = SystemTime::now() - std::time::Duration::from_secs(age_s);
        let entry = File::options().append(true).open(cache.dir().join(&key).join(ENTRY)).unwrap();
        entry.set_modified(used).unwrap();
        key
    }

    fn keys(cache: &Cache) -> Vec<String> {
        cache.list().unwrap().into_iter().map(|(entry, _)| entry.key).collect()
    }

    #[test]
    fn data_is_found_by_all_that_shapes_it() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::at(&Places::at(root.path().join("pgdyno")));
        assert_eq!((cache.list().unwrap(), cache.clear().unwrap()), (Vec::new(), 0));
        let one = made(&cache, "one", 1000, 0);
        let held = cache.find(&one).unwrap();
        assert_eq!((held.entry.about.as_str(), held.entry.bytes), ("data one", 1000));
        assert_eq!(held.data, cache.dir().join(&one).join("data"));
        assert!(cache.find(&key(&wanted("two").identity, &build("18.1"))).is_none());
        assert!(cache.find(&key(&wanted("one").identity, &build("18.2"))).is_none());
        drop(held);
        assert!(cache.clear().unwrap() > 1000);
        assert!(cache.find(&one).is_none());
    }

    #[test]
    fn data_with_a_file_that_is_shorter_is_not_used() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::at(&Places::at(root.path().join("pgdyno")));
        let one = made(&cache, "one", 1000, 0);
        fs::write(cache.dir().join(&one).join("data/base"), [1; 999]).unwrap();
        assert!(cache.find(&one).is_none());
        // The next one takes its place.
        made(&cache, "one", 1000, 0);
        assert!(cache.find(&one).is_some());
    }

    #[test]
    fn what_was_not_used_for_longest_makes_room() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::at(&Places::at(root.path().join("pgdyno")));
        let [old, older, new] =
            [("old", 100), ("older", 200), ("new", 0)].map(|(name, age)| made(&cache, name, 300_000, age));
        assert_eq!(keys(&cache), [new.clone(), old.clone(), older.clone()]);
        // A use counts: what was oldest is now the newest.
        assert!(cache.find(&older).is_some());
        let next = made(&cache, "next", 300_000, 50);
        assert_eq!(keys(&cache), [older, new, next]);
        let too_large = cache.begin(1 << 21, 1 << 20).unwrap_err();
        assert!(too_large.to_string().contains("--cache-size"));
    }

    #[test]
    fn what_was_not_finished_is_removed() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::at(&Places::at(root.path().join("pgdyno")));
        made(&cache, "one", 10, 0);
        let left = cache.dir().join("new-left");
        fs::create_dir(&left).unwrap();
        assert_eq!(keys(&cache).len(), 1);
        made(&cache, "two", 10, 0);
        assert!(!left.exists());
    }
}
