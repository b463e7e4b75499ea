//! Options of a run as arguments of clap, made from their table.

use std::marker::PhantomData;

use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser as _;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use pgdyno_plan::Order;
use pgdyno_plan::options::{AnyOption, WORKLOAD_HELP, all};
use pgdyno_workload::{Commands, Omitted, OptionSpec, ValueKind};
use pgdyno_workloads::options::Options;

/// The identifier of the workload among the arguments.
pub(super) const WORKLOAD: &str = "workload";

/// The options of a run that `-h` shows, and what it says of them in one line.
const COMMON: [(&str, &str); 6] = [
    ("target", "Server: URI, key=value string, or name [default: PG*]"),
    ("clients", "Clients [default: two for each CPU]"),
    ("time", "Measured time: 60, 90s or 10min [default: 30]"),
    ("rate", "Transactions a second [default: as many as possible]"),
    ("warehouses", "Warehouses (tproc-c and ch-benchmark)"),
    ("scale", "Scale factor, or rows of a table (most workloads)"),
];

/// Returns what `-h` says of an option of a run; `None` if it leaves it out.
pub(super) fn in_short(name: &str) -> Option<&'static str> {
    COMMON.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// A command that takes options of a run.
pub(crate) trait Takes {
    /// Which ones.
    const COMMANDS: Commands;
}

/// `check` and `drop`.
#[derive(Clone, Debug)]
pub(crate) enum OfData {}

impl Takes for OfData {
    const COMMANDS: Commands = Commands::Data;
}

/// `load`.
#[derive(Clone, Debug)]
pub(crate) enum OfLoad {}

impl Takes for OfLoad {
    const COMMANDS: Commands = Commands::Load;
}

/// `run` and the commands that run several times.
#[derive(Clone, Debug)]
pub(crate) enum OfRun {}

impl Takes for OfRun {
    const COMMANDS: Commands = Commands::Run;
}

/// The workload and all options that a command takes, as an order.
#[derive(Clone, Debug)]
pub(crate) struct OrderArgs<C> {
    /// What was given.
    pub(crate) order: Order,
    command: PhantomData<C>,
}

impl<C: Takes> OrderArgs<C> {
    fn options() -> impl Iterator<Item = (&'static str, AnyOption)> {
        all::<Options>().filter(|(_, option)| option.commands() <= C::COMMANDS)
    }
}

impl<C: Takes> Args for OrderArgs<C> {
    fn augment_args(command: Command) -> Command {
        let workload = Arg::new(WORKLOAD).value_name("WORKLOAD").num_args(0..).help(WORKLOAD_HELP);
        Self::options().fold(command.arg(workload), |command, (heading, option)| {
            command.arg(argument(option).help_heading(heading))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<C: Takes> FromArgMatches for OrderArgs<C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut args = Self { order: Order::default(), command: PhantomData };
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        let names = matches.get_many::<String>(WORKLOAD).into_iter().flatten();
        self.order.workload.names.extend(names.cloned());
        for (_, option) in Self::options() {
            for value in values(option, matches) {
                let refused = |why| Error::raw(clap::error::ErrorKind::ValueValidation, format!("{why}\n"));
                option.set(&mut self.order, &value).map_err(refused)?;
            }
        }
        Ok(())
    }
}

/// Returns the values that were given to an option: one, empty, to a flag.
fn values(option: AnyOption, matches: &ArgMatches) -> Vec<String> {
    let name = option.spec().name;
    match option.is_flag() {
        true => matches.get_flag(name).then(String::new).into_iter().collect(),
        false => matches.get_many::<String>(name).into_iter().flatten().cloned().collect(),
    }
}

/// Returns the argument of an option.
fn argument(option: AnyOption) -> Arg {
    let spec = option.spec();
    let argument = Arg::new(spec.name)
        .long(spec.name)
        .short(spec.short)
        .visible_aliases(spec.aliases)
        .help(spec.help)
        .conflicts_with_all(spec.conflicts)
        .hide_short_help(in_short(spec.name).is_none());
    let argument = if spec.details.is_empty() { argument } else { argument.long_help(long_help(spec)) };
    let argument = match spec.requires {
        Some(other) => argument.requires(other),
        None => argument,
    };
    if option.is_flag() {
        return argument.action(ArgAction::SetTrue);
    }
    let is_number = matches!(
        spec.value,
        ValueKind::Whole | ValueKind::Number | ValueKind::Rate | ValueKind::Time | ValueKind::Milliseconds
    );
    let is_list = matches!(spec.value, ValueKind::Pairs | ValueKind::Texts);
    let argument = argument.value_name(spec.value_name).allow_negative_numbers(is_number).action(if is_list {
        ArgAction::Append
    } else {
        ArgAction::Set
    });
    let argument = match spec.omitted {
        Omitted::Never => argument,
        Omitted::WithEquals(value) => argument.num_args(0..=1).require_equals(true).default_missing_value(value),
        Omitted::WithWord(value) => argument.num_args(0..=1).default_missing_value(value),
    };
    let checked = move |text: &str| option.set(&mut Order::default(), text).map(|()| text.to_owned());
    match spec.value {
        ValueKind::Choice(words) => argument.value_parser(PossibleValuesParser::new(words).map(String::from)),
        _ => argument.value_parser(checked),
    }
}

/// Returns the help with its details.
fn long_help(spec: &OptionSpec) -> String {
    format!("{}\n\n{}", spec.help, spec.details)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn row(option: AnyOption) -> String {
        let spec = option.spec();
        let name = match (spec.value_name, spec.omitted) {
            ("", _) => format!("--{}", spec.name),
            (value, Omitted::Never) => format!("--{} {value}", spec.name),
            (value, Omitted::WithEquals(_)) => format!("--{}[={value}]", spec.name),
            (value, Omitted::WithWord(_)) => format!("--{} [{value}]", spec.name),
        };
        let name = name.replace('|', "\\|");
        let letter = spec.short.map(|letter| format!("`-{letter}`, ")).unwrap_or_default();
        let aliases: String = spec.aliases.iter().map(|alias| format!(", `--{alias}`")).collect();
        let key = option.suite_key().map(|key| format!("`{key}`")).unwrap_or_default();
        let help = [spec.help, spec.details].join(". ");
        let mut help = help.trim_end_matches(". ").replace('|', "\\|");
        if let ValueKind::Choice(words) = spec.value {
            help += &format!("; one of `{}`", words.join("`, `"));
        }
        format!("| {letter}`{name}`{aliases} | {key} | {help} |\n")
    }

    #[test]
    fn the_page_of_options_is_their_table() {
        let mut wanted = String::new();
        let mut last = "";
        for (heading, option) in all::<Options>() {
            if heading != last {
                wanted += &format!("\n## {heading}\n\n| option | in suites | meaning |\n| --- | --- | --- |\n");
                last = heading;
            }
            wanted += &row(option);
        }
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/options.md");
        pgdyno_testing::pages::part_is(&page, "options", &(wanted + "\n"));
    }
}
