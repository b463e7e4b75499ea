//! `pgdyno completions` and `pgdyno man`: from the command line as clap knows it.

use std::path::Path;

use clap::{Arg, Command, CommandFactory as _};
use clap_complete::Shell;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};

use crate::cli::{Cli, help};

/// Files that all commands use.
const FILES: &[(&str, &str)] = &[
    (
        "pgdyno-results/",
        "Directories of runs and of studies, and results.csv, a row for each run; another place by --out.",
    ),
    ("pgdyno-results/RUN/run.json", "The record of a run: its plan, its figures and its warnings."),
    ("pgdyno-results/RUN/report.html", "The report of a run as one page."),
    ("pgdyno.toml", "Targets by name, with their hooks."),
    ("~/.pgpass, ~/.pg_service.conf", "Passwords and services, as libpq reads them."),
    (
        "~/.cache/pgdyno/",
        "Programs and loaded data of private servers: see pgdyno cache. Root's is /var/cache/pgdyno/.",
    ),
];

/// Variables that all commands read.
const ENVIRONMENT: &[(&str, &str)] = &[
    (
        "PGHOST, PGPORT, PGDATABASE, PGUSER, PGSERVICE",
        "The server where --target is not given, and the other variables of libpq.",
    ),
    ("PGPASSWORD, PGPASSFILE", "The password, or the file that has it."),
    ("PGDYNO_STORE", "The store of a team, as --store takes it."),
    ("PGDYNO_POSTGRES", "The directory with the programs of PostgreSQL for private servers."),
    ("PGDYNO_CACHE", "The directory of the cache, for example on another disk."),
    ("XDG_CACHE_HOME", "Where the cache is otherwise, except for root [default: ~/.cache]."),
    ("NO_COLOR", "No colours, if it is not empty."),
];

/// Prints the completions of a shell.
pub(crate) fn completions(shell: Shell) -> Result<Code> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "pgdyno", &mut script);
    super::print(&script)?;
    Ok(Code::Success)
}

/// Writes a manual page for pgdyno and for each command.
pub(crate) fn pages(directory: &Path) -> Result<Code> {
    std::fs::create_dir_all(directory).or_fail(Code::Start)?;
    write_pages(&help::command(), "pgdyno", directory)?;
    Ok(Code::Success)
}

/// Writes the page of a command, whose words are joined by hyphens in `name`, and those of its parts.
fn write_pages(command: &Command, name: &str, directory: &Path) -> Result<()> {
    std::fs::write(directory.join(format!("{name}.1")), page(command, name)).or_fail(Code::Start)?;
    let parts = command.get_subcommands().filter(|part| part.get_name() != "help" && !part.is_hide_set());
    parts.into_iter().try_for_each(|part| write_pages(part, &format!("{name}-{}", part.get_name()), directory))
}

/// Returns the page of a command, for man(7) of groff and of mandoc.
fn page(command: &Command, name: &str) -> String {
    let words = name.replace('-', " ");
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").split_whitespace().collect::<Vec<_>>().join(" ");
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let long_about = command.get_long_about().map_or_else(|| about.clone(), ToString::to_string);
    let mut page = format!(".TH {name} 1\n");
    page += &(section("NAME") + &text(&format!("{name} - {about}")));
    page += &(section("SYNOPSIS") + &text(&usage) + ".br\n" + &text(&format!("{words} --help")));
    page += &(section("DESCRIPTION") + &text(&long_about).replace("\n\n", "\n.PP\n"));
    page += &options(command);
    if command.has_subcommands() {
        page += &commands(command, name);
    }
    page + &more(command, name)
}

/// Returns the section with the options, by heading, and the arguments of a command.
fn options(command: &Command) -> String {
    let shown: Vec<&Arg> = command.get_arguments().filter(|argument| !argument.is_hide_set()).collect();
    let mut headings: Vec<Option<&str>> = Vec::new();
    for heading in shown.iter().map(|argument| argument.get_help_heading()) {
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    // Those without a heading come first.
    headings.sort_by_key(Option::is_some);
    let part = |heading: Option<&str>| {
        let title = heading.map(|heading| format!(".SS \"{heading}\"\n")).unwrap_or_default();
        let of_it = shown.iter().filter(|argument| argument.get_help_heading() == heading);
        title + &of_it.map(|argument| item(&argument_name(argument), &argument_text(argument))).collect::<String>()
    };
    let parts: String = headings.into_iter().map(part).collect();
    if parts.is_empty() { parts } else { section("OPTIONS") + &parts }
}

/// Returns an argument as it is written, such as `-c, --clients N`.
fn argument_name(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default().join(" ");
    let (short, long) = (argument.get_short(), argument.get_long());
    let option = [short.map(|short| format!("-{short}")), long.map(|long| format!("--{long}"))];
    let option = option.into_iter().flatten().collect::<Vec<_>>().join(", ");
    match (argument.get_action().takes_values(), option.is_empty()) {
        (false, _) => option,
        (true, true) => names,
        (true, false) => format!("{option} {names}"),
    }
}

/// Returns what an argument is for, with its default and the values that it takes.
fn argument_text(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let defaults: Vec<_> = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    let values: Vec<_> = argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    let is_flag = !argument.get_action().takes_values();
    let default = match defaults.as_slice() {
        [] => String::new(),
        _ if is_flag || argument.is_hide_default_value_set() => String::new(),
        defaults => format!(" [default: {}]", defaults.join(" ")),
    };
    let values = match values.as_slice() {
        [] => String::new(),
        _ if is_flag || argument.is_hide_possible_values_set() => String::new(),
        values => format!(" [possible values: {}]", values.join(", ")),
    };
    help + &default + &values
}

/// Returns the section with the commands that are parts of a command.
fn commands(command: &Command, name: &str) -> String {
    let parts = command.get_subcommands().filter(|part| part.get_name() != "help");
    let about = |part: &Command| part.get_about().map(ToString::to_string).unwrap_or_default();
    let items = parts.map(|part| item(&format!("{name}-{}(1)", part.get_name()), &about(part)));
    section("COMMANDS") + &items.collect::<String>()
}

/// Returns the sections after the options: those that all commands have, and the examples of each.
fn more(command: &Command, name: &str) -> String {
    let codes = Code::ALL.iter().map(|code| item(&(*code as u8).to_string(), &without_links(code.meaning())));
    let items = |of: &[(&str, &str)]| of.iter().map(|(name, what)| item(name, what)).collect::<String>();
    let help = command.get_after_long_help().or(command.get_after_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let (remarks, examples) = help.split_once("Examples:\n").unwrap_or((&help, ""));
    let notes = if remarks.trim().is_empty() { String::new() } else { section("NOTES") + &text(remarks.trim()) };
    let examples = if examples.is_empty() { String::new() } else { section("EXAMPLES") + &literal(examples) };
    let others = match name {
        "pgdyno" => "pgdyno-run(1), pgbench(1), psql(1)",
        _ => "pgdyno(1), pgdyno-run(1), pgdyno-plan(1), pgdyno-report(1), pgbench(1)",
    };
    let own = format!("{name}(1), ");
    [
        notes,
        section("EXIT STATUS") + &codes.collect::<String>(),
        section("ENVIRONMENT") + &items(ENVIRONMENT),
        section("FILES") + &items(FILES),
        examples,
        section("SEE ALSO") + &text(&others.replace(&own, "")),
    ]
    .concat()
}

/// Returns a text without the marks of Markdown: of a link to a page its path remains.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, page, after)) = first_link(rest) {
        plain += &format!("{before}docs/{page}");
        rest = after;
    }
    (plain + rest).replace('`', "")
}

/// Returns the text before the first link, the page to which the link leads, and the text after it.
fn first_link(text: &str) -> Option<(&str, &str, &str)> {
    let (named, target) = text.split_once("](")?;
    let (before, _) = named.rsplit_once('[')?;
    let (page, after) = target.split_once(')')?;
    Some((before, page, after))
}

fn section(title: &str) -> String {
    format!(".SH \"{title}\"\n")
}

fn item(term: &str, what: &str) -> String {
    format!(".TP\n\\fB{}\\fR\n{}", escaped(term), text(what))
}

fn text(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", escaped(line))).collect()
}

fn literal(lines: &str) -> String {
    format!(".nf\n{}.fi\n", text(lines))
}

/// Returns a line that roff prints as it is.
fn escaped(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if line.starts_with('.') { format!("\\&{line}") } else { line }
}
