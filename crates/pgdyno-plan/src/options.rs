//! The options of a run, each declared once.
//!
//! From a row of [`GROUPS`] follow the argument of the command line with its help, the key of suite files, the order's
//! field, the departures from a recipe and the first lines of a comparison ([`differences`]), the command line that makes
//! a plan again ([`arguments`]), and the table in `docs/options.md`. Options of workloads are declared in the workloads'
//! folders; [`all`] has both.

mod access;
mod analytics;
mod cycle;
mod data;
mod differences;
mod drive;
mod faults;
mod kept;
mod loading;
mod meeting;
mod output;
mod recipe;
mod target;
mod watch;
mod workload;

pub use differences::{Difference, differences};
pub use kept::{Bearing, KeptOption, OptionValue, Reported};
pub use workload::HELP as WORKLOAD_HELP;

use pgdyno_workload::{Commands, Omitted, OptionSpec, OptionTable, ValueKind, WorkloadOption, WorkloadOptionGroup};

use crate::{Order, Plan};
use access::Access;

/// An option of a run.
pub struct RunOption {
    /// How it is given.
    pub spec: OptionSpec,
    /// The commands that take it.
    pub commands: Commands,
    /// Its key in a `[[run]]` of a suite file, if suites have it.
    pub suite: Option<&'static str>,
    /// What it sets in an order.
    access: Access,
    /// What a plan keeps of it.
    pub kept: KeptOption,
    /// A value that is not the default, for tests; empty for a flag.
    pub sample: &'static str,
    /// The arguments with which the sample makes sense, for tests.
    pub beside: &'static str,
}

/// Options under one heading of the help.
pub struct OptionGroup {
    /// The heading.
    pub heading: &'static str,
    /// The options.
    pub options: &'static [RunOption],
}

/// All options but those of workloads, in the order of the help.
pub static GROUPS: &[OptionGroup] = &[
    workload::GROUP,
    target::GROUP,
    drive::GROUP,
    faults::GROUP,
    analytics::GROUP,
    output::GROUP,
    data::GROUP,
    loading::GROUP,
    recipe::GROUP,
    cycle::GROUP,
    watch::GROUP,
    meeting::GROUP,
];

/// Returns the options of any run, in the order of the help.
pub fn of_any_run() -> impl Iterator<Item = &'static RunOption> {
    GROUPS.iter().flat_map(|group| group.options)
}

/// An option of a run, or of its workload.
#[derive(Clone, Copy)]
pub enum AnyOption {
    /// Of any run.
    Run(&'static RunOption),
    /// Of some workloads.
    Workload(&'static WorkloadOption),
}

/// Returns all options with their headings, in the order of the help: those of several workloads, which `W` has first, those
/// of any run, and those of one workload or a few.
pub fn all<W: OptionTable>() -> impl Iterator<Item = (&'static str, AnyOption)> {
    let of_group =
        |group: &'static OptionGroup| group.options.iter().map(|option| (group.heading, AnyOption::Run(option)));
    let of_workloads = |group: &'static WorkloadOptionGroup| {
        group.options.iter().map(|option| (group.heading, AnyOption::Workload(option)))
    };
    let (shared, others) = W::GROUPS.split_at(W::GROUPS.len().min(1));
    shared
        .iter()
        .flat_map(of_workloads)
        .chain(GROUPS.iter().flat_map(of_group))
        .chain(others.iter().flat_map(of_workloads))
}

impl AnyOption {
    /// Returns how it is given.
    #[must_use]
    pub fn spec(self) -> &'static OptionSpec {
        match self {
            Self::Run(option) => &option.spec,
            Self::Workload(option) => &option.spec,
        }
    }

    /// Returns the commands that take it.
    #[must_use]
    pub fn commands(self) -> Commands {
        match self {
            Self::Run(option) => option.commands,
            Self::Workload(option) => option.commands,
        }
    }

    /// Returns its key in a suite file, if suites have it.
    #[must_use]
    pub fn suite_key(self) -> Option<String> {
        match self {
            Self::Run(option) => option.suite.map(str::to_owned),
            Self::Workload(option) => Some(option.spec.name.replace('-', "_")),
        }
    }

    /// Sets a value, which is empty for a flag. A further value of an option that may be given several times is added.
    ///
    /// # Errors
    /// What is wrong with the value.
    pub fn set(self, order: &mut Order, value: &str) -> Result<(), String> {
        match self {
            Self::Run(option) => (option.access.set)(order, value),
            Self::Workload(option) => {
                order.workload.options.insert(option.spec.name.to_owned(), (option.parse)(value)?);
                Ok(())
            }
        }
    }

    /// Returns the values in an order, as [`set`](Self::set) takes them.
    #[must_use]
    pub fn get(self, order: &Order) -> Vec<String> {
        match self {
            Self::Run(option) => (option.access.get)(order),
            Self::Workload(option) => {
                let value = order.workload.options.get(option.spec.name).cloned();
                value.into_iter().map(|value| if self.is_flag() { String::new() } else { value }).collect()
            }
        }
    }

    /// Returns true if it is its name alone.
    #[must_use]
    pub fn is_flag(self) -> bool {
        self.spec().value == ValueKind::Flag
    }

    /// Returns the argument that gives it this value, in one word: `--clients=4`.
    #[must_use]
    pub fn argument(self, value: &str) -> String {
        let name = self.spec().name;
        if self.is_flag() { format!("--{name}") } else { format!("--{name}={value}") }
    }

    /// Returns the arguments that give it this value, as people write them.
    #[must_use]
    pub fn arguments(self, value: &str) -> Vec<String> {
        let spec = self.spec();
        match (spec.short, spec.omitted) {
            _ if self.is_flag() => vec![format!("--{}", spec.name)],
            (None, Omitted::WithEquals(_)) => vec![format!("--{}={value}", spec.name)],
            (None, _) => vec![format!("--{}", spec.name), value.to_owned()],
            (Some(letter), _) => vec![format!("-{letter}"), value.to_owned()],
        }
    }
}

/// Returns the arguments of `pgdyno run` for all options that the plan keeps and for which `wanted` returns true. Leaves
/// out what arguments cannot say again, such as a command whose text is not stored.
#[must_use]
pub fn arguments(plan: &Plan, wanted: impl Fn(&RunOption) -> bool) -> Vec<String> {
    let order = Order::of_plan(plan);
    let given = of_any_run().filter(|option| option.kept.is_in(plan) && wanted(option)).flat_map(|option| {
        let option = AnyOption::Run(option);
        option.get(&order).into_iter().map(move |value| (option, value))
    });
    let has_own_scripts = !plan.scripts.is_empty() && plan.directory.is_none();
    let words = |(option, value): (AnyOption, String)| match (option.spec().name, value.split_once('=')) {
        // Sizes have letters of their own.
        ("param", Some(("scale", size))) => vec!["-s".to_owned(), size.to_owned()],
        ("param", Some(("warehouses", size))) if !has_own_scripts => vec!["-w".to_owned(), size.to_owned()],
        _ => option.arguments(&value),
    };
    given.flat_map(words).collect()
}

/// Returns the option of this long name among those of any run.
#[must_use]
pub fn find(name: &str) -> Option<&'static RunOption> {
    of_any_run().find(|option| option.spec.name == name)
}

#[cfg(test)]
mod tests;
