//! Options as data: how they are written on the command line and in suite files, and their help.

use std::collections::BTreeMap;

/// What the value of an option is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// There is none: the option is its name alone; in suite files `true` or `false`.
    Flag,
    /// Any text.
    Text,
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// A number, a multiple such as `3x`, or a word.
    Rate,
    /// A length of time: seconds, or a number with its unit; in suite files always with the unit.
    Time,
    /// A length of time: milliseconds, or a number with its unit; in suite files always with the unit.
    Milliseconds,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text, several times; in suite files a text or a list of texts.
    Texts,
    /// `NAME=VALUE`, several times; in suite files a table.
    Pairs,
}

/// Whether the value of an option may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Omitted {
    /// It may not.
    Never,
    /// It may; then it is this one. A value follows after `=`.
    WithEquals(&'static str),
    /// It may; then it is this one. A value follows after `=` or as the next word.
    WithWord(&'static str),
}

/// How people give an option.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Its long name, without dashes.
    pub name: &'static str,
    /// Its letter.
    pub short: Option<char>,
    /// Further long names.
    pub aliases: &'static [&'static str],
    /// What its value is.
    pub value: ValueKind,
    /// The name of the value in help, such as `N`.
    pub value_name: &'static str,
    /// Whether the value may be left out.
    pub omitted: Omitted,
    /// What it does, in one sentence: all that `-h` shows.
    pub help: &'static str,
    /// What else there is to know: `--help` adds it.
    pub details: &'static str,
    /// Options that cannot be given beside it.
    pub conflicts: &'static [&'static str],
    /// The option without which it has no meaning.
    pub requires: Option<&'static str>,
}

impl OptionSpec {
    /// Returns an option with a value.
    #[must_use]
    pub const fn value(name: &'static str, value: ValueKind, value_name: &'static str, help: &'static str) -> Self {
        Self {
            name,
            short: None,
            aliases: &[],
            value,
            value_name,
            omitted: Omitted::Never,
            help,
            details: "",
            conflicts: &[],
            requires: None,
        }
    }

    /// Returns an option that is its name alone.
    #[must_use]
    pub const fn flag(name: &'static str, help: &'static str) -> Self {
        Self::value(name, ValueKind::Flag, "", help)
    }
}

/// The commands that take an option. Each takes those of the commands before it, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Commands {
    /// `check` and `drop`, and all others.
    Data,
    /// `load`, and those that run.
    Load,
    /// `run`, `plan`, `ab`, `search` and `frontier`.
    Run,
}

/// An option of one or several workloads: a parameter with a name of its own on the command line and in suite files.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadOption {
    /// How it is given.
    pub spec: OptionSpec,
    /// The commands that take it.
    pub commands: Commands,
    /// The parameter that it sets.
    pub param: &'static str,
    /// Turns a value, empty for a flag, into that of the parameter. The workload checks it further.
    pub parse: fn(&str) -> Result<String, String>,
    /// A value that is not the default, and a workload that takes it: for tests.
    pub sample: (&'static str, &'static str),
}

impl WorkloadOption {
    /// Returns an option whose values are those of the parameter of the same name.
    #[must_use]
    pub const fn of(spec: OptionSpec, sample: (&'static str, &'static str)) -> Self {
        Self { spec, commands: Commands::Run, param: spec.name, parse: |text| Ok(text.to_owned()), sample }
    }

    /// Returns a flag that sets the parameter of the same name to `true`.
    #[must_use]
    pub const fn flag(spec: OptionSpec, workload: &'static str) -> Self {
        Self { parse: |_| Ok("true".to_owned()), ..Self::of(spec, ("", workload)) }
    }
}

/// Values of options of workloads, by the option's name: what [`WorkloadOption::parse`] made of them.
pub type OptionValues = BTreeMap<String, String>;

/// Options of workloads under one heading of the help.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadOptionGroup {
    /// The heading: whose options they are.
    pub heading: &'static str,
    /// The options.
    pub options: &'static [WorkloadOption],
}

/// The options of all workloads. They are declared where the workloads are.
pub trait OptionTable {
    /// Those of several workloads, then one group for each folder that declares some.
    const GROUPS: &'static [WorkloadOptionGroup];
}
