//! `pgdyno --version --verbose`: which binary this is.

use std::process::ExitCode;

use pgdyno_life::exit_code::Code;
use pgdyno_results::FORMAT_VERSION;

/// Returns true if the arguments are `--version` and `--verbose`, in any order and form.
pub(crate) fn is_wanted() -> bool {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    is_asked(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

fn is_asked(arguments: &[&str]) -> bool {
    match arguments {
        [one] => ["-Vv", "-vV"].contains(one),
        [one, other] => {
            let is = |text: &str, names: [&str; 2]| names.contains(&text);
            let (version, verbose) = (["--version", "-V"], ["--verbose", "-v"]);
            is(one, version) && is(other, verbose) || is(one, verbose) && is(other, version)
        }
        _ => false,
    }
}

/// Prints the version, a line of `name: value` for each fact about the build.
pub(crate) fn print_all() -> ExitCode {
    let commit = env!("PGDYNO_COMMIT");
    let lines = [
        ("commit", if commit.is_empty() { "unknown: built without a repository" } else { commit }),
        ("target", env!("PGDYNO_TARGET")),
        ("profile", env!("PGDYNO_PROFILE")),
        ("features", env!("PGDYNO_FEATURES")),
        ("rustc", env!("PGDYNO_RUSTC")),
    ];
    let mut text = format!("pgdyno {}\n", env!("CARGO_PKG_VERSION"));
    for (name, value) in lines {
        text += &format!("{name}: {value}\n");
    }
    text += &format!("record format: {FORMAT_VERSION}\n");
    match super::print(text.as_bytes()) {
        Ok(()) => Code::Success.into(),
        Err(failure) => super::report(&failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_words_are_needed_and_nothing_else() {
        for yes in [&["--version", "--verbose"][..], &["-v", "-V"], &["-Vv"], &["--verbose", "-V"]] {
            assert!(is_asked(yes), "{yes:?}");
        }
        for no in [&["--version"][..], &["--verbose"], &["-v", "-v"], &["--version", "--verbose", "run"], &[]] {
            assert!(!is_asked(no), "{no:?}");
        }
    }
}
