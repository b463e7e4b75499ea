//! Directories that are part of the program: `workloads/` of the repository.

use super::{OwnError, WorkloadDirectory};

/// A directory: its name, and its files with their texts.
type Embedded = (&'static str, &'static [(&'static str, &'static str)]);

macro_rules! embedded {
    ($name:literal: $($file:literal),+) => {
        ($name, &[$(($file, include_str!(concat!("../../workloads/", $name, "/", $file)))),+])
    };
}

static ALL: [Embedded; 6] = [
    embedded!("index-insert": "workload.toml", "insert.sql"),
    embedded!("mixed": "workload.toml", "write.sql", "read.sql", "branches.sql", "tellers.sql", "accounts.sql"),
    embedded!("polardb-ro": "workload.toml", "select.sql"),
    embedded!("polardb-rw": "workload.toml", "update.sql"),
    embedded!("sensor-1": "workload.toml", "schema.sql", "load.sql", "sensor.sql"),
    embedded!("sensor-2": "workload.toml", "schema.sql", "load.sql", "sensor.sql"),
];

/// Returns their names, in the order of lists.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(name, _)| *name)
}

/// Returns the directory of this name, if there is one.
///
/// # Errors
/// When one of its files is wrong.
#[must_use]
pub fn find(name: &str) -> Option<Result<WorkloadDirectory, OwnError>> {
    let (name, files) = ALL.iter().find(|(known, _)| *known == name)?;
    let text = |file: &str| files.iter().find(|(known, _)| *known == file).map(|(_, text)| text.as_bytes().to_vec());
    Some(WorkloadDirectory::read(name, &mut |file| Ok(text(file))))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_program_holds_the_files_of_the_repository() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
        let names_in = |path: &Path| {
            let entries = std::fs::read_dir(path).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort_unstable();
            names
        };
        assert_eq!(names().collect::<Vec<_>>(), names_in(&folder));
        for (name, files) in &ALL {
            let held: BTreeMap<_, _> = files.iter().copied().collect();
            let there = names_in(&folder.join(name));
            assert_eq!(held.keys().copied().collect::<Vec<_>>(), there, "{name}");
            for file in there {
                assert_eq!(held[file.as_str()], std::fs::read_to_string(folder.join(name).join(&file)).unwrap());
            }
        }
    }

    #[test]
    fn each_of_them_is_a_workload_of_its_name() {
        for name in names() {
            let directory = find(name).unwrap().unwrap();
            assert_eq!((directory.name(), directory.meta().id), (name, name));
            assert!(!directory.meta().summary.is_empty() && !directory.scripts().is_empty(), "{name}");
        }
        assert!(find("sensor-3").is_none() && find("").is_none());
    }
}
