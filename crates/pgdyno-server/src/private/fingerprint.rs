//! What distinguishes kept directories: the build of PostgreSQL that wrote them, and their files.

use std::fs;
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use pgdyno_text::hex;
use sha2::{Digest, Sha256};

use crate::private::programs::installation::Installation;

/// What makes entries of other versions of this program unusable: the way they are written.
const FORMAT: u32 = 1;

/// Returns the key of what has this identity on this build: a build is its version, its place, and the size and time of its server.
pub(crate) fn key(identity: &str, build: &Installation) -> String {
    let program = fs::metadata(build.bindir.join("postgres")).ok();
    let modified = program.as_ref().and_then(|program| program.modified().ok());
    let text = format!(
        "{FORMAT}\n{identity}\n{}\n{:?}\n{:?}",
        named(build),
        program.map(|program| program.len()),
        modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok())
    );
    hex(&Sha256::digest(text)[..8])
}

/// Returns the version and the place of a build, for a person.
pub(crate) fn named(build: &Installation) -> String {
    format!("PostgreSQL {} in {}", build.version.text, build.bindir.display())
}

/// Returns a digest over the names and lengths of all files below a directory.
pub(crate) fn digest(dir: &Path) -> io::Result<String> {
    fn add(dir: &Path, name: &str, hash: &mut Sha256) -> io::Result<()> {
        let mut entries = fs::read_dir(dir)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (meta, name) = (entry.metadata()?, format!("{name}/{}", entry.file_name().to_string_lossy()));
            if meta.is_dir() {
                add(&entry.path(), &name, hash)?;
            } else {
                hash.update(format!("{name} {}\n", meta.len()));
            }
        }
        Ok(())
    }
    let mut hash = Sha256::new();
    add(dir, "", &mut hash)?;
    Ok(hex(&hash.finalize()))
}
