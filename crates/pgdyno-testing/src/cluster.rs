//! Clusters that servers of tests start with copies of: a new one, and those that were filled once. They are kept in `target/`. All have
//! the same system identifier.

use std::fs::{File, Permissions};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::SystemTime;

use rustix::fs::{FlockOperation, flock};

use crate::postgres::{command, hand_over};

/// Of a server that fills one: few segments of WAL are left to copy.
pub(crate) const CONF: &str = "max_wal_size = 64MB\nmin_wal_size = 32MB\nwal_recycle = off\n";

/// Copies a cluster. Most of its last WAL segment is zero, which takes no space in the copy.
pub(crate) fn copy(from: &Path, to: &Path) {
    run(Command::new("cp").args(["-a", "--sparse=always"]).arg(from).arg(to));
}

pub(crate) fn initdb(data: &Path) {
    let mut initdb = command("initdb");
    initdb.arg("-D").arg(data).args(["-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--no-locale"]);
    run(&mut initdb);
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the directory of a new cluster: initdb takes longer than a copy. It is made once for an installation.
pub(crate) fn fresh() -> &'static Path {
    static FRESH: LazyLock<PathBuf> = LazyLock::new(|| {
        let mut key = DefaultHasher::new();
        key_of_postgres().hash(&mut key);
        let kept = target().join(format!("new-cluster-{:016x}", key.finish()));
        if !kept.exists() {
            // The servers' account may not write, or not even look, below `target/`.
            let new = tempfile::tempdir().unwrap();
            std::fs::set_permissions(new.path(), Permissions::from_mode(0o755)).unwrap();
            hand_over(new.path());
            let data = new.path().join("data");
            initdb(&data);
            let made = kept.with_extension(std::process::id().to_string());
            copy(&data, &made);
            // Where another test binary was faster, its copy is as good.
            if std::fs::rename(&made, &kept).is_err() {
                std::fs::remove_dir_all(&made).unwrap();
            }
        }
        kept
    });
    &FRESH
}

/// Copies the cluster that has this name to `to`. `fill` makes it where it is not there or `program` is another one.
pub(crate) fn copy_filled(name: &str, program: &Path, fill: impl FnOnce(&Path), to: &Path) {
    let kept = target().join(format!("filled-cluster-{name}"));
    std::fs::create_dir_all(&kept).unwrap();
    let (data, of) = (kept.join("data"), kept.join("of"));
    let key = format!("{:?} {}", key_of_postgres(), key_of(program));
    let is_there = || std::fs::read_to_string(&of).is_ok_and(|of| of == key);
    // Tests run in processes of their own. Closing the file releases it.
    let lock = File::create(kept.join("lock")).unwrap();
    flock(&lock, FlockOperation::LockShared).unwrap();
    if !is_there() {
        flock(&lock, FlockOperation::LockExclusive).unwrap();
        if !is_there() {
            drop((std::fs::remove_file(&of), std::fs::remove_dir_all(&data)));
            fill(&data);
            for file in ["postgresql.conf", "pg_hba.conf"] {
                std::fs::copy(fresh().join(file), data.join(file)).unwrap();
            }
            std::fs::write(&of, &key).unwrap();
        }
        flock(&lock, FlockOperation::LockShared).unwrap();
    }
    copy(&data, to);
}

/// The directory of a build. A test binary is `target/debug/deps/NAME`.
fn target() -> PathBuf {
    std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned()
}

/// An installation of PostgreSQL, and when it was built.
fn key_of_postgres() -> (PathBuf, SystemTime) {
    let postgres = crate::postgres::bin().join("postgres");
    let built = std::fs::metadata(&postgres).unwrap().modified().unwrap();
    (postgres, built)
}

/// A program, and when it was built.
fn key_of(program: &Path) -> String {
    let built = std::fs::metadata(program).unwrap().modified().unwrap();
    format!("{} {built:?}", program.display())
}
