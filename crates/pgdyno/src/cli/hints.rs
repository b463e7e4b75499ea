//! What a mistaken argument is answered with: the word that pgdyno has for it.

use std::ffi::OsString;

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use pgdyno_workloads::families;

/// How a server is named: also the answer to [`means_a_host`].
pub(crate) const PLACE: &str = "name the server by --target \"host=db1 port=5432 dbname=bench user=ann\", or by PGHOST, PGPORT, PGDATABASE and \
                     PGUSER";

/// Words of psql, pgbench and other benchmarks, and what to write instead.
const WORDS: &[(&[&str], &str)] = &[
    (&["-h", "--host", "-p", "--port", "-U", "--user", "--username", "-d", "--dbname", "--database"], PLACE),
    (&["--duration", "--seconds", "--runtime"], "write --time (-T)"),
    (&["--seed"], "write --random-seed"),
    (&["--table-size", "--table_size"], "write --scale (-s): rows of each table"),
    (&["--recordcount"], "write --records"),
    (&["--jobs"], "write --threads (-j)"),
    (&["-P", "--progress"], "progress is shown every second; --quiet leaves it out"),
    (&["-S", "--select-only"], "write pgdyno run select-only"),
    (&["-N", "--skip-some-updates"], "write pgdyno run simple-update"),
    (&["-b", "--builtin"], "name it as the workload: pgdyno run tpcb-like"),
    (&["-f", "--file"], "name it as the workload: pgdyno run ./script.sql"),
    (&["-i", "--initialize"], "write pgdyno load tpcb-like -s SCALE"),
    (
        &["-C", "--connect", "--vacuum-all", "-r", "--report-per-command", "-l"],
        "pgdyno pgbench has it: it takes all options of pgbench",
    ),
];

/// Commands that pgdyno does not have, and what to write instead.
const COMMANDS: &[(&str, &str)] = &[
    ("recipes", "write pgdyno list recipes, and pgdyno show NAME"),
    ("workloads", "write pgdyno list workloads"),
    ("runs", "write pgdyno list runs"),
    ("init", "write pgdyno load WORKLOAD"),
    ("bench", "write pgdyno run WORKLOAD"),
];

/// Commands that drive a server as pgbench does.
const DRIVES: [&str; 7] = ["run", "plan", "load", "check", "search", "frontier", "ab"];

/// Adds to an error in the arguments what was probably meant. Returns it with clap's own suggestion to pass the word as a value
/// left out.
pub(crate) fn explained(mut error: Error, args: &[OsString]) -> (Error, Option<String>) {
    if error.kind() == ErrorKind::ValueValidation && error.to_string().contains("invalid digit") {
        return (no_number(&error, "write a whole number without a unit, such as 4"), None);
    }
    if error.kind() == ErrorKind::ValueValidation && error.to_string().contains("number too large") {
        return (no_number(&error, "it is too large"), None);
    }
    if let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
    {
        let hint = COMMANDS.iter().find(|(known, _)| *known == word).map(|(_, hint)| (*hint).to_owned());
        if hint.is_some() {
            error.remove(ContextKind::Usage);
        }
        return (error, hint);
    }
    let word = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) => word.clone(),
        _ => return (error, None),
    };
    let is_drive = args.get(1).and_then(|command| command.to_str()).is_some_and(|command| DRIVES.contains(&command));
    let known = WORDS.iter().find(|(words, _)| words.contains(&word.as_str())).filter(|_| is_drive);
    let hint = known.map(|(_, hint)| (*hint).to_owned());
    if hint.is_some() {
        error.remove(ContextKind::Suggested);
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
    }
    (error, hint)
}

/// Returns the error of a value that is no number, or too large a one, without words of Rust.
fn no_number(error: &Error, why: &str) -> Error {
    let context = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    let (value, arg) = (context(ContextKind::InvalidValue), context(ContextKind::InvalidArg));
    let text = format!("'{value}' is not a valid value for '{arg}': {why}");
    Error::raw(ErrorKind::ValueValidation, text + "\n")
}

/// Returns true if `-h` came with a value: `-h db1` names a host, as in psql.
pub(crate) fn means_a_host(args: &[OsString]) -> bool {
    let words: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
    let is_drive = words.get(1).is_some_and(|command| DRIVES.contains(&command.as_ref()));
    let with_value = |pair: &[std::borrow::Cow<'_, str>]| {
        pair[0] == "-h" && !pair[1].starts_with('-') && families::meta(&pair[1]).is_none()
    };
    is_drive && (words.windows(2).any(with_value) || words.iter().any(|word| word.len() > 2 && word.starts_with("-h")))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Cli;

    fn said(line: &str) -> (String, Option<String>) {
        let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = Cli::try_parse_from(&args).unwrap_err();
        let (error, hint) = explained(error, &args);
        let text = error.to_string();
        assert!(hint.is_none() || !text.contains("as a value") && !text.contains("Usage"), "{text}");
        (text, hint)
    }

    fn hint(line: &str) -> Option<String> {
        said(line).1
    }

    #[test]
    fn words_of_psql_and_pgbench_are_answered_with_those_of_pgdyno() {
        assert!(hint("pgdyno run --host db1").unwrap().contains("--target"));
        let (text, _) = said("pgdyno run -c 4x");
        assert!(text.contains("'4x' for '--clients <N>': write a whole number without a unit"), "{text}");
        let (text, _) = said("pgdyno run -t 99999999999999999999999");
        assert!(text.contains("for '--transactions <N>': it is too large"), "{text}");
        let (text, _) = said("pgdyno run -T 2147483648");
        assert!(text.contains("for '--time <TIME>': it is too large: 100000000 seconds"), "{text}");
        let (text, _) = said("pgdyno run -R 1e400");
        assert!(text.contains("for '--rate <PER_S>': it is too large"), "{text}");
        assert!(hint("pgdyno run -P 1").unwrap().contains("every second"));
        assert!(hint("pgdyno run --duration 10").unwrap().contains("--time"));
        assert!(hint("pgdyno run oltp-read-write --table-size=1000").unwrap().contains("--scale"));
        assert!(hint("pgdyno run -S").unwrap().contains("select-only"));
        assert!(hint("pgdyno run --nonsense").is_none());
        assert!(hint("pgdyno list -S").is_none());
        assert!(hint("pgdyno recipes").unwrap().contains("list recipes") && hint("pgdyno nonsense").is_none());
    }

    #[test]
    fn a_host_after_h_is_no_question_for_help() {
        let means = |line: &str| means_a_host(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(means("pgdyno run -h db1 -p 5433") && means("pgdyno run -hdb1"));
        assert!(
            !means("pgdyno run -h")
                && !means("pgdyno run -h tproc-c")
                && !means("pgdyno run tproc-c -h")
                && !means("pgdyno -h run")
        );
    }
}
