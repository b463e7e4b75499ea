//! What initdb makes, kept for the next private server of the same build: a copy is there sooner.
//!
//! ```text
//! clusters/<key>/data/       as initdb left it
//!                files       a digest over the names and lengths of its files
//!          new-<random>/     one that is being made
//! ```

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::private::account::Account;
use crate::private::copy::{Durability, copy};
use crate::private::fingerprint::{digest, key};
use crate::private::instance::{set_mode, size_of_tree};
use crate::private::places::Places;
use crate::private::postmaster::INITDB_ARGS;
use crate::private::programs::installation::Installation;

const DATA: &str = "data";
const FILES: &str = "files";
/// Number of clusters to keep. Each build of PostgreSQL has its own: someone who rebuilds it often would fill the disk.
const KEPT_MAX: usize = 5;

/// Makes `to`, where nothing is, a copy of the new cluster of this build. Returns false if none is kept, or the copy is not whole: another
/// process may remove the cluster meanwhile.
pub(crate) fn copy_to(
    places: &Places,
    build: &Installation,
    to: &Path,
    account: Option<&Account>,
    durability: Durability,
) -> bool {
    let kept = place(places, build);
    let copied = || {
        places.require_own(&places.clusters())?;
        let files = fs::read_to_string(kept.join(FILES))?;
        copy(&kept.join(DATA), to, account, durability)?;
        Ok::<_, io::Error>(digest(to)? == files)
    };
    let is_whole = copied().unwrap_or(false);
    if is_whole {
        let _ = File::open(&kept).and_then(|dir| dir.set_modified(SystemTime::now()));
    }
    is_whole
}

/// Keeps a copy of a cluster that initdb has just made for this build, unless another server was faster.
///
/// # Errors
/// When the system refuses; nothing is kept then.
pub(crate) fn keep(places: &Places, build: &Installation, data: &Path) -> io::Result<()> {
    let clusters = places.clusters();
    places.make(&clusters)?;
    make_room(&clusters);
    let making = tempfile::Builder::new().prefix("new-").tempdir_in(&clusters)?;
    set_mode(making.path())?;
    // After a loss of power, files that were not written have other lengths.
    copy(data, &making.path().join(DATA), None, Durability::OfTheSystem)?;
    fs::write(making.path().join(FILES), digest(&making.path().join(DATA))?)?;
    let kept = place(places, build);
    if is_whole(&kept) {
        return Ok(());
    }
    if kept.exists() {
        fs::remove_dir_all(&kept)?;
    }
    fs::rename(making.path(), &kept)
}

/// Removes them all. Returns the bytes that they had.
///
/// # Errors
/// When one cannot be removed.
pub(crate) fn clear(places: &Places) -> io::Result<u64> {
    let clusters = places.clusters();
    if !clusters.is_dir() {
        return Ok(0);
    }
    places.require_own(&clusters)?;
    let bytes = size_of_tree(&clusters);
    fs::remove_dir_all(&clusters).map(|()| bytes)
}

/// Returns true if no file of this cluster is missing or has another length.
fn is_whole(kept: &Path) -> bool {
    let looked = || Ok::<_, io::Error>(digest(&kept.join(DATA))? == fs::read_to_string(kept.join(FILES))?);
    looked().unwrap_or(false)
}

fn place(places: &Places, build: &Installation) -> PathBuf {
    places.clusters().join(key(&format!("new cluster: {}", INITDB_ARGS.join(" ")), build))
}

/// Removes the least recently used clusters, to make room for one more.
fn make_room(clusters: &Path) {
    let entries = fs::read_dir(clusters).into_iter().flatten().filter_map(Result::ok);
    let mut used: Vec<_> =
        entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    used.sort();
    for (_, path) in used.iter().rev().skip(KEPT_MAX - 1) {
        let _ = fs::remove_dir_all(path);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::private::programs::installation::InstallationOrigin;
    use crate::private::programs::version::PgVersion;

    fn build(version: &str) -> Installation {
        Installation {
            bindir: "/nowhere".into(),
            version: PgVersion::parse(version).unwrap(),
            origin: InstallationOrigin::Path,
        }
    }

    #[test]
    fn a_cluster_is_copied_for_its_build_as_long_as_it_is_whole() {
        let root = tempfile::tempdir().unwrap();
        let (places, made) = (Places::at(root.path().join("pgdyno")), root.path().join("made"));
        fs::create_dir_all(made.join("base/1")).unwrap();
        fs::write(made.join("base/1/1259"), [7; 9000]).unwrap();
        places.make(&places.instances()).unwrap();
        let copied =
            |version, to: &str| copy_to(&places, &build(version), &root.path().join(to), None, Durability::OfTheSystem);
        assert!(!copied("18.1", "before"));
        keep(&places, &build("18.1"), &made).unwrap();
        assert!(copied("18.1", "first") && !copied("18.2", "other"));
        assert_eq!(fs::read(root.path().join("first/base/1/1259")).unwrap(), [7; 9000]);

        let kept = place(&places, &build("18.1"));
        fs::write(kept.join("data/base/1/1259"), [7; 8999]).unwrap();
        assert!(!copied("18.1", "shorter"));
        fs::remove_file(kept.join("data/base/1/1259")).unwrap();
        assert!(!copied("18.1", "missing"), "as where another process removes it meanwhile");
        keep(&places, &build("18.1"), &made).unwrap();
        assert!(copied("18.1", "again"));
        assert!(clear(&places).unwrap() >= 9000 && !copied("18.1", "after"));
    }

    #[test]
    fn the_least_recently_used_goes() {
        let root = tempfile::tempdir().unwrap();
        let (places, made) = (Places::at(root.path().join("pgdyno")), root.path().join("made"));
        fs::create_dir(&made).unwrap();
        let versions = ["18.1", "18.2", "18.3", "18.4", "18.5", "18.6"];
        for (age, version) in versions.iter().enumerate() {
            keep(&places, &build(version), &made).unwrap();
            let used = SystemTime::now() - Duration::from_secs(100 + age as u64);
            File::open(place(&places, &build(version))).unwrap().set_modified(used).unwrap();
        }
        let is_there = versions.map(|version| place(&places, &build(version)).exists());
        assert_eq!(is_there, [true, true, true, true, false, true]);
    }
}
