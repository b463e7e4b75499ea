//! Lists the files of the questions of tproc-ds: what the folders have is what the program has.

use std::fmt::Write as _;
use std::path::Path;

#[expect(clippy::disallowed_methods, reason = "a build script has its directory from cargo's environment")]
fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tproc_ds");
    println!("cargo::rerun-if-changed=build.rs");
    let mut code = String::new();
    for (name, part, ends) in [("QUESTIONS", "questions", ".sql"), ("LISTS", "lists", ".txt")] {
        let folder = folder.join(part);
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut files: Vec<_> = std::fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|file| file.ends_with(ends))
            .collect();
        files.sort_unstable();
        // A text takes everything.
        let _ = writeln!(
            code,
            "/// Name and text of each file of `{part}`.\npub(super) const {name}: &[(&str, &str)] = &["
        );
        for file in &files {
            let path = folder.join(file);
            let stem = file.trim_end_matches(ends);
            let _ = writeln!(code, "    ({stem:?}, include_str!({path:?})),");
        }
        code += "];\n";
        if name == "QUESTIONS" {
            let numbers =
                files.iter().filter_map(|file| file.strip_prefix('q')?.strip_suffix(ends)?.parse::<u32>().ok());
            let names: Vec<_> = numbers.map(|number| format!("\"q{number}\"")).collect();
            let _ = writeln!(
                code,
                "/// The names of the questions as transactions.\npub(super) const NAMES: &[&str] = &[{}];",
                names.join(", ")
            );
        }
    }
    let out = std::env::var("OUT_DIR").expect("cargo sets it");
    std::fs::write(Path::new(&out).join("tproc_ds.rs"), code).expect("the build directory is writable");
}
