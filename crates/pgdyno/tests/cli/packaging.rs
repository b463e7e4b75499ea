//! The packages that `packaging/` makes, of the binary that these tests have: unpacked and run.

use std::path::{Path, PathBuf};
use std::process::Command;

use yaml_rust2::YamlLoader;

use crate::program::{Home, finish};
use crate::skipped::skipped;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a script of `packaging/` on the binary of the tests; returns the file that it made.
fn package(script: &str, to: &Path) -> PathBuf {
    let mut command = Command::new(root().join("packaging").join(script));
    command.args(["--binary", env!("CARGO_BIN_EXE_pgdyno"), "--output"]).arg(to);
    command.env("DEB_COMPRESSION", "none").env("GZIP_LEVEL", "1").env("SOURCE_DATE_EPOCH", "1700000000");
    let ran = finish(command).ok();
    let file = PathBuf::from(ran.stdout.trim());
    assert!(file.is_file() && file.starts_with(to), "{}", ran.stdout);
    file
}

/// What a program prints.
fn said(program: &Path, args: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(args);
    finish(command).ok().stdout
}

#[test]
fn a_debian_package_has_what_belongs_there_and_runs() {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !has("dpkg-deb") || !cfg!(target_os = "linux") {
        return skipped("dpkg-deb, which makes packages for Debian, is not installed");
    }
    let home = Home::new();
    let file = package("deb.sh", home.path());
    let version = env!("CARGO_PKG_VERSION");
    let field = |name: &str| said(Path::new("dpkg-deb"), &["--field", file.to_str().unwrap(), name]).trim().to_owned();
    assert_eq!((field("Package"), field("Version")), ("pgdyno".to_owned(), version.to_owned()));
    assert!(field("Depends").starts_with("libc6 (>= 2."), "{}", field("Depends"));
    let clean = home.join("root");
    said(Path::new("dpkg-deb"), &["--extract", file.to_str().unwrap(), clean.to_str().unwrap()]);
    for name in [
        "usr/share/man/man1/pgdyno.1.gz",
        "usr/share/man/man1/pgdyno-run.1.gz",
        "usr/share/bash-completion/completions/pgdyno",
        "usr/share/zsh/vendor-completions/_pgdyno",
        "usr/share/fish/vendor_completions.d/pgdyno.fish",
        "usr/share/doc/pgdyno/copyright",
        "usr/share/doc/pgdyno/changelog.gz",
    ] {
        assert!(clean.join(name).metadata().is_ok_and(|file| file.len() > 0), "{name}");
    }
    let program = clean.join("usr/bin/pgdyno");
    let about = said(&program, &["--version", "--verbose"]);
    let (first, rest) = about.split_once('\n').unwrap();
    assert_eq!(first, format!("pgdyno {version}"));
    for name in ["commit: ", "target: ", "profile: ", "features: ", "rustc: ", "record format: 1"] {
        assert!(rest.lines().any(|line| line.starts_with(name)), "{about}");
    }
    // It has its recipes and workloads in itself.
    assert!(said(&program, &["list", "recipes"]).contains("alloydb/tpcc-full"));
    // The same input makes the same package.
    let again = package("deb.sh", &home.join("again"));
    assert!(std::fs::read(&file).unwrap() == std::fs::read(&again).unwrap(), "two packages differ");
}

#[test]
fn an_archive_unpacks_into_one_directory_and_runs() {
    let home = Home::new();
    let file = package("archive.sh", home.path());
    let mut unpack = Command::new("tar");
    unpack.arg("-xzf").arg(&file).args(["--strip-components=1", "-C"]).arg(home.path());
    finish(unpack).ok();
    let program = home.join("bin/pgdyno");
    assert!(said(&program, &["--version"]).starts_with("pgdyno "));
    assert!(
        home.join("share/man/man1/pgdyno-ab.1.gz").is_file() && home.join("share/doc/pgdyno/LICENSE-MIT").is_file()
    );
}

#[test]
fn the_release_workflow_runs_what_packaging_has() {
    let text = std::fs::read_to_string(root().join(".github/workflows/release.yml")).unwrap();
    let workflow = YamlLoader::load_from_str(&text).unwrap().remove(0);
    let steps = workflow["jobs"]["build"]["steps"].as_vec().unwrap();
    let scripts: Vec<_> = steps.iter().filter_map(|step| step["run"].as_str()).collect();
    for script in ["packaging/archive.sh", "packaging/deb.sh"] {
        assert!(scripts.iter().any(|run| run.starts_with(script)) && root().join(script).is_file(), "{scripts:?}");
    }
    // What the first script built is what the second one takes.
    let stage = std::fs::read_to_string(root().join("packaging/stage.sh")).unwrap();
    let binary = scripts.iter().find_map(|run| run.split_once("--binary target/")).unwrap().1;
    assert!(stage.contains(&format!("}}/{binary}\n")), "{binary}");
    let rust = scripts[0].split("install ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    assert_eq!(rust, env!("CARGO_PKG_RUST_VERSION"), "the toolchain is the one that Cargo.toml asks for");
}
