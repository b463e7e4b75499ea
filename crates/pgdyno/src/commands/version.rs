//! `pgdyno --version`, with or without `--verbose`: which binary this is. Said before all commands and options are made up, which takes
//! as long as starting the process.

use std::process::ExitCode;

use pgdyno_life::exit_code::Code;
use pgdyno_results::FORMAT_VERSION;

use crate::arguments;

/// How much is to be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Version,
    All,
}

/// Prints what the arguments ask for; `None` if that is something else than the version.
pub(crate) fn answer() -> Option<ExitCode> {
    let arguments: Vec<_> =
        arguments::all().iter().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    let wanted = wanted(&arguments.iter().map(String::as_str).collect::<Vec<_>>())?;
    Some(match super::print_lines(&text(wanted)) {
        Ok(()) => Code::Success.into(),
        Err(failure) => super::report(&failure),
    })
}

/// Returns what is wanted if there is nothing but `--version` and `--verbose`, in any order and form.
fn wanted(arguments: &[&str]) -> Option<Wanted> {
    let is = |text: &str, names: [&str; 2]| names.contains(&text);
    let (version, verbose) = (["--version", "-V"], ["--verbose", "-v"]);
    match arguments {
        [one] if is(one, version) => Some(Wanted::Version),
        [one] if is(one, ["-Vv", "-vV"]) => Some(Wanted::All),
        [one, other] if is(one, version) && is(other, verbose) || is(one, verbose) && is(other, version) => {
            Some(Wanted::All)
        }
        _ => None,
    }
}

/// Returns the version; with all, a line of `name: value` for each fact about the build.
fn text(wanted: Wanted) -> String {
    let mut text = format!("pgdyno {}\n", env!("CARGO_PKG_VERSION"));
    if wanted == Wanted::Version {
        return text;
    }
    let commit = env!("PGDYNO_COMMIT");
    let lines = [
        ("commit", if commit.is_empty() { "unknown: built without a repository" } else { commit }),
        ("target", env!("PGDYNO_TARGET")),
        ("profile", env!("PGDYNO_PROFILE")),
        ("features", env!("PGDYNO_FEATURES")),
        ("rustc", env!("PGDYNO_RUSTC")),
    ];
    for (name, value) in lines {
        text += &format!("{name}: {value}\n");
    }
    text += &format!("record format: {FORMAT_VERSION}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_these_words_in_any_order_ask_for_the_version() {
        for all in [&["--version", "--verbose"][..], &["-v", "-V"], &["-Vv"], &["--verbose", "-V"]] {
            assert_eq!(wanted(all), Some(Wanted::All), "{all:?}");
        }
        for version in ["--version", "-V"] {
            assert_eq!(wanted(&[version]), Some(Wanted::Version));
        }
        for no in [&["--verbose"][..], &["-v", "-v"], &["--version", "--verbose", "run"], &["run", "-V"], &[]] {
            assert_eq!(wanted(no), None, "{no:?}");
        }
        assert!(text(Wanted::All).starts_with(&text(Wanted::Version)));
    }
}
