//! Embeds the modules below `clouds/`, without their tests: a list of paths and contents.

#![expect(clippy::disallowed_methods, reason = "a build script has its parameters in the environment")]

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=clouds");
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("clouds");
    let mut files = Vec::new();
    find(&root, &mut files);
    files.sort();
    let mut text = "&[\n".to_owned();
    for file in &files {
        let name = file.strip_prefix(&root).expect("it is below its root").to_string_lossy().replace('\\', "/");
        text += &format!("    ({name:?}, include_str!({:?})),\n", file.display().to_string());
    }
    text += "]\n";
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("modules.rs"), text).expect("a writable OUT_DIR");
}

fn find(directory: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match path.is_dir() {
            true if name != "tests" && !name.starts_with('.') => find(&path, files),
            false if !name.starts_with('.') => files.push(path),
            _ => {}
        }
    }
}
