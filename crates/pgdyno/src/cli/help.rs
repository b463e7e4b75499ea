//! What `-h` and `--help` print: with `-h` what most runs need, on one screen; with `--help` everything by heading; and after the
//! name of a workload what that workload takes.

use std::ffi::OsString;

use clap::{Arg, Command, CommandFactory as _};
use pgdyno_plan::options::all;
use pgdyno_text::paint::Paint;
use pgdyno_workload::Meta;
use pgdyno_workloads::families;
use pgdyno_workloads::options::{self, Options};

use super::Cli;
use super::options::{WORKLOAD, in_short};

/// What `-h` says of the workload.
const WORKLOAD_IN_SHORT: &str = "A name of `pgdyno list workloads`, a script, or a directory";

/// The heading of the options that print help.
const HELP: &str = "Help";

/// The commands by what they are for.
const COMMANDS: [(&str, &[&str]); 6] = [
    ("Measure", &["run", "ab", "search", "frontier", "suite", "cloud"]),
    ("Prepare", &["plan", "doctor", "capture", "fit", "load", "check", "drop", "server", "cache"]),
    ("Read results", &["report", "compare", "history", "scaling", "export", "serve", "store"]),
    ("Look up", &["list", "show", "fault", "help", "man", "completions"]),
    ("Several drivers", &["agent", "agents"]),
    ("As pgbench", &["pgbench"]),
];

/// Options of runs that all of these studies set by themselves or do not have, and refuse.
const REFUSED: [&str; 7] = ["rate", "fault", "fault-at", "fault-every", "tcp", "again", "json"];

/// The studies, and what each of them refuses besides.
const STUDIES: [(&str, &[&str]); 3] =
    [("ab", &["time", "transactions", "ramp"]), ("search", &[]), ("frontier", &["transactions", "streams", "alone"])];

/// Returns true for an option of runs that a command refuses.
fn is_refused(command: &str, option: &str) -> bool {
    let study = STUDIES.iter().find(|(name, _)| *name == command);
    study.is_some_and(|(_, own)| REFUSED.contains(&option) || own.contains(&option))
}

/// A help text of a command for an option of runs whose default is another one there.
struct OwnText {
    command: &'static str,
    option: &'static str,
    in_short: &'static str,
    in_full: &'static str,
}

const OWN_TEXTS: [OwnText; 1] = [OwnText {
    command: "search",
    option: "time",
    in_short: "Measured time of each run: 60, 90s [default: 10]",
    in_full: "Length of the measured window of each run: seconds, or with a unit: 90s, 10min, 1h [default: 10]",
}];

/// Returns the help text that a command has of its own for an option of runs.
fn own_text(command: &str, option: &str) -> Option<&'static OwnText> {
    OWN_TEXTS.iter().find(|text| text.command == command && text.option == option)
}

/// Returns the whole command line as help and manual pages show it: without options that a command refuses, and with those that print
/// help under a heading of their own. It is for rendering: clap does not parse by a command that was changed after it was built.
pub(crate) fn command() -> Command {
    fn arranged(mut command: Command) -> Command {
        let hides_some = command.get_arguments().any(Arg::is_hide_short_help_set);
        if command.get_arguments().any(|argument| argument.get_id() == "help") {
            command = command.mut_arg("help", |help| match hides_some {
                true => help
                    .help_heading(HELP)
                    .help("Print this; --help prints all options")
                    .long_help("Print all options; -h prints the common ones"),
                false => help.help_heading(HELP),
            });
        }
        let name = command.get_name().to_owned();
        let adapted = |argument: Arg| {
            let option = argument.get_id().as_str();
            let (is_hidden, own) = (is_refused(&name, option), own_text(&name, option));
            let argument = if is_hidden { argument.hide(true) } else { argument };
            match own {
                Some(own) => argument.help(own.in_full),
                None => argument,
            }
        };
        command.mut_args(adapted).mut_subcommands(arranged)
    }
    let mut command = Cli::command();
    command.build();
    arranged(command)
}

/// Returns the help that these arguments, the program's name first, ask for.
pub(crate) fn answer(args: &[OsString]) -> String {
    let words: Vec<_> = args.iter().skip(1).map(|arg| arg.to_string_lossy()).collect();
    let (mut command, mut rest) = (command(), words.as_slice());
    let mut is_long = words.iter().any(|word| word == "--help");
    while let Some((word, after)) = rest.split_first() {
        match command.find_subcommand(word.as_ref()) {
            // `help` is a command of its own, whose words are those of others.
            Some(_) if word == "help" => is_long = true,
            Some(found) => command = found.clone(),
            None => break,
        }
        rest = after;
    }
    let meta = match takes_a_workload(&command) {
        true => rest.iter().find_map(|word| families::meta(word)?.ok()),
        false => None,
    };
    let help = match (is_long, meta) {
        (true, None) => command.render_long_help(),
        (true, Some(meta)) => of_workload(command, meta).render_long_help(),
        (false, meta) => short(command, meta).render_help(),
    };
    help.to_string()
}

/// Returns help with its headings and the names of options in bold.
pub(crate) fn painted(help: &str, paint: &Paint) -> String {
    help.split_inclusive('\n')
        .map(|line| {
            let text = line.trim_end();
            let indent = text.len() - text.trim_start().len();
            let name = match text.trim_start() {
                heading if indent == 0 && heading.ends_with(':') => heading,
                usage if indent == 0 && usage.starts_with("Usage:") => "Usage:",
                option if indent > 0 && option.starts_with('-') => option.split(['<', '[']).next().unwrap_or(option),
                _ => "",
            };
            let name = name.split("  ").next().unwrap_or(name).trim_end();
            let at = indent + name.len();
            if name.is_empty() { line.to_owned() } else { line[..indent].to_owned() + &paint.bold(name) + &line[at..] }
        })
        .collect()
}

/// Returns true if the command has options of runs.
fn takes_a_workload(command: &Command) -> bool {
    command.get_positionals().any(|argument| argument.get_id() == WORKLOAD)
}

/// Returns a command with one list of options, for one screen. Of the sizes it has that of the workload.
fn short(command: Command, meta: Option<&Meta>) -> Command {
    if command.get_name() == "pgdyno" {
        return overview(command);
    }
    let is_of_runs = takes_a_workload(&command);
    let command_name = command.get_name().to_owned();
    command.mut_args(|argument| {
        let name = argument.get_id().as_str();
        let is_shown = meta.is_none_or(|meta| is_taken(meta, name) != Some(false));
        let own = own_text(&command_name, name).map(|own| own.in_short);
        let common = in_short(name).or((name == WORKLOAD).then_some(WORKLOAD_IN_SHORT));
        let text = own.or(common).filter(|_| is_of_runs);
        let argument = if is_shown { argument } else { argument.hide(true) };
        let argument = match text {
            Some(text) => argument.help(text),
            None => argument,
        };
        if argument.is_positional() { argument } else { argument.help_heading(None::<&str>) }
    })
}

/// Returns the program with its commands in some lines.
fn overview(command: Command) -> Command {
    let width = COMMANDS.iter().map(|(purpose, _)| purpose.len()).max().unwrap_or_default();
    let line = |(purpose, names): &(&str, &[&str])| format!("  {purpose:<width$}  {}\n", names.join(", "));
    let commands: String = COMMANDS.iter().map(line).collect();
    let template = "{about}\n\n{usage-heading} {usage}\n\nCommands:\n";
    command.help_template(format!("{template}{}{{after-help}}", commands.trim_end()))
}

/// Returns a command with its own options, the common ones, and those of one workload.
fn of_workload(command: Command, meta: &'static Meta) -> Command {
    let more: Vec<_> = meta.params.iter().filter(|param| !param.is_fixed() && !has_option(param.name)).collect();
    let more = more.iter().map(|param| format!("  -D {}=…  {} [default: {}]\n", param.name, param.help, param.default));
    let (id, more) = (meta.id, more.collect::<String>());
    let more = if more.is_empty() { more } else { format!("Parameters of {id} without an option:\n{more}\n") };
    let everything = format!("`pgdyno {} --help` prints all options.", command.get_name());
    let hidden = move |argument: Arg| {
        let name = argument.get_id().as_str();
        let is_of_runs = all::<Options>().any(|(heading, _)| argument.get_help_heading() == Some(heading));
        let taken = is_taken(meta, name);
        let is_shown = taken.unwrap_or(!is_of_runs || in_short(name).is_some());
        let argument = if taken == Some(true) { argument.help_heading(id) } else { argument };
        if is_shown { argument } else { argument.hide(true) }
    };
    command.mut_args(hidden).after_long_help(pgdyno_text::wrap::folded(&format!("{more}{everything}")))
}

/// Returns whether a workload takes an option of workloads; `None` for other options.
fn is_taken(meta: &Meta, name: &str) -> Option<bool> {
    let option = options::find(name)?;
    Some(meta.params.iter().any(|param| param.name == option.param && !param.is_fixed()))
}

/// Returns true if an option sets the parameter.
fn has_option(param: &str) -> bool {
    options::all().any(|option| option.param == param)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::examples::tests::commands;

    fn help(line: &str) -> String {
        answer(&line.split(' ').map(OsString::from).collect::<Vec<_>>()).to_string()
    }

    #[test]
    fn headings_and_names_of_options_are_bold_and_values_are_not() {
        let help = "Run it\n\nUsage: pgdyno run [WORKLOAD]\n\nOptions:\n  -c, --clients <N>  Clients: two\n      --open         Open\n";
        let bold = "Run it\n\n*Usage:* pgdyno run [WORKLOAD]\n\n*Options:*\n  *-c, --clients* <N>  Clients: two\n      *--open*         Open\n";
        let shown = painted(help, &Paint(true)).replace("\x1b[1m", "*").replace("\x1b[0m", "*");
        assert_eq!((shown.as_str(), painted(help, &Paint(false)).as_str()), (bold, help));
    }

    #[test]
    fn the_short_help_of_every_command_is_one_screen() {
        let mut too_long = Vec::new();
        for (name, _) in commands(&Cli::command(), "pgdyno") {
            let help = help(&format!("{name} -h"));
            let lines = help.lines().count();
            too_long.extend((lines > 30).then(|| format!("{name}: {lines} lines\n{help}")));
            assert!(help.lines().all(|line| line.chars().count() <= 80), "{name}\n{help}");
            assert!(help.contains("Examples:"), "{name}\n{help}");
            assert!(name == "pgdyno" || help.contains("--help"), "{name}\n{help}");
        }
        assert!(too_long.is_empty(), "{}", too_long.join("\n"));
        for option in ["--target", "-c, ", "-T, ", "-R, ", "-w, ", "-s, "] {
            assert!(help("pgdyno run -h").contains(option), "{option}");
        }
    }

    #[test]
    fn the_program_lists_each_of_its_commands() {
        let mut listed: Vec<_> = COMMANDS.iter().flat_map(|(_, names)| *names).copied().collect();
        let command = command();
        let mut all: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
        listed.sort_unstable();
        all.sort_unstable();
        assert_eq!(listed, all);
        assert!(
            help("pgdyno -h").contains("run, ab, search") && help("pgdyno --help").contains("Run a matrix of runs")
        );
    }

    #[test]
    fn the_long_help_begins_with_the_options_of_the_command() {
        let first_screen = |line: &str| help(line).lines().take(24).collect::<Vec<_>>().join("\n");
        assert!(
            first_screen("pgdyno ab --help").contains("--a <") && first_screen("pgdyno ab --help").contains("--b <")
        );
        assert!(first_screen("pgdyno search --help").contains("--slo <"));
        for refused in ["pgdyno ab -h", "pgdyno ab --help"] {
            assert!(!help(refused).contains("--time <") && !help(refused).contains("--rate <"), "{refused}");
        }
        for refused in ["pgdyno frontier -h", "pgdyno frontier --help", "pgdyno frontier ch-benchmark --help"] {
            for option in ["--rate <", "--streams <", "--alone\n", "--json <", "--again <"] {
                assert!(!help(refused).contains(option), "{option} in {refused}");
            }
        }
        let all = help("pgdyno run --help");
        assert_eq!(all, help("pgdyno help run"));
        let place = |heading: &str| all.find(heading).unwrap_or_else(|| panic!("{heading} in {all}"));
        assert!(place("Workload:") < place("Target:") && place("Several drivers:") < place("ycsb-a to ycsb-f:"));
        assert!(place("--no-live") > 0 && place("--distribution") > 0);
    }

    #[test]
    fn the_default_of_an_option_is_that_of_the_command() {
        for line in ["pgdyno search -h", "pgdyno search --help", "pgdyno search tproc-c --help"] {
            let help = help(line);
            assert!(help.contains("each run") && help.contains("[default: 10]"), "{line}: {help}");
            assert!(!help.contains("[default: 30]"), "{line}: {help}");
        }
        assert!(help("pgdyno run -h").contains("[default: 30]"));
    }

    #[test]
    fn help_on_a_workload_has_its_options_and_no_others() {
        let help_on = |workload: &str| help(&format!("pgdyno run {workload} --help"));
        let tproc_c = help_on("tproc-c");
        for option in [
            "--target",
            "--clients",
            "--warehouses",
            "--partitions",
            "--call",
            "--profile",
            "--foreign-keys",
            "--shard-count",
            "--all-warehouses",
            "--keying-time",
            "--no-think",
            "-D seed=",
            "-D routine-schema=",
        ] {
            assert!(tproc_c.contains(option), "{option} in {tproc_c}");
        }
        for option in ["--scale", "--records", "--queries", "--tables", "--agents", "--pipeline"] {
            assert!(!tproc_c.contains(&format!("{option} ")), "{option} in {tproc_c}");
        }
        assert!(help_on("ycsb-a").contains("--records") && !help_on("ycsb-a").contains("--warehouses"));
        assert!(help_on("sensor-1").contains("-D rows="));
        assert!(help("pgdyno ab tproc-c --help").contains("--margin"));
        assert!(
            help("pgdyno run tpcb-like -h").contains("--scale")
                && !help("pgdyno run tpcb-like -h").contains("--warehouses")
        );
        assert_eq!(help_on("./my.sql"), help_on(""));
    }
}
