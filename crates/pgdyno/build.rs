//! Facts about the build, for `pgdyno --version --verbose`: the commit if the sources are in a repository or a package of one,
//! target, profile, features and compiler.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let features: Vec<_> = std::env::vars()
        .filter_map(|(name, _)| Some(name.strip_prefix("CARGO_FEATURE_")?.to_lowercase().replace('_', "-")))
        .collect();
    let rustc = output(Command::new(variable("RUSTC")).arg("--version"));
    for (name, value) in [
        ("COMMIT", commit().unwrap_or_default()),
        ("TARGET", variable("TARGET")),
        ("PROFILE", profile().unwrap_or_else(|| variable("PROFILE"))),
        ("FEATURES", if features.is_empty() { "none".to_owned() } else { features.join(" ") }),
        ("RUSTC", rustc.unwrap_or_default()),
    ] {
        println!("cargo::rustc-env=PGDYNO_{name}={value}");
    }
}

/// Returns the name of the profile: the directory that it builds in. PROFILE says only whether it is a kind of debug or of release.
fn profile() -> Option<String> {
    let built = std::env::var("OUT_DIR").ok()?;
    // .../target/dist/build/pgdyno-0123456789abcdef/out
    Path::new(&built).ancestors().nth(3)?.file_name()?.to_str().map(str::to_owned)
}

/// Returns the commit of the sources.
fn commit() -> Option<String> {
    // A package from a registry has its commit in a file.
    if let Ok(text) = std::fs::read_to_string(".cargo_vcs_info.json") {
        let (_, rest) = text.split_once("\"sha1\": \"")?;
        return rest.get(..12).map(str::to_owned);
    }
    let git = |args: &[&str]| output(Command::new("git").args(args));
    // Not a repository of another user that the sources lie in.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]).unwrap_or_default();
    for name in ["HEAD", &branch] {
        // A path that does not exist would build anew each time.
        if let Some(path) = git(&["rev-parse", "--git-path", name]).filter(|path| Path::new(path).is_file()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    git(&["log", "-1", "--format=%h, %cs", "--abbrev=12"])
}

/// Returns what a command prints, if it can be run and succeeds.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned())
}
