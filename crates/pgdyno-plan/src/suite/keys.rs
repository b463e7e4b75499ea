//! The keys of options in a suite file, and their order in the key of a cell.

use pgdyno_workload::OptionTable;
use serde::de::Error;

use crate::options::{AnyOption, all};

/// The order of options in the key of a cell. That key identifies a run when its suite resumes, and names the runs of a cell
/// in comparisons with earlier suites: the order must not change. Other options come after these, by their names.
const ORDER: &str = "size variant fit short scale warehouses clients connections threads agents time transactions ramp grace \
                     rate arrivals mode wire pin max_tries latency_limit reconnect coalesce random_seed call profile \
                     all_warehouses pipeline keying_time no_think partitions foreign_keys shard_count indexes records fields \
                     field_bytes schema distribution tables streams repeat queries timeout no_refresh validation query_form \
                     alone params settings analytics_target analytics_set from_template no_load replace no_check no_vacuum \
                     allow_schema_changes loaders resumable unlogged restart drop_caches prewarm checkpoint \
                     latency_percentiles log no_samples os_metrics statement_plans plans perf args";

/// The key of arguments that have no key of their own.
const ARGS: &str = "args";

/// A key whose values go to a run.
#[derive(Clone, Copy)]
pub(super) enum Key {
    /// An option of `pgdyno run`.
    Option(AnyOption),
    /// Any arguments of `pgdyno run`.
    Args,
}

impl Key {
    /// Returns the key of this name; `others` are those which a table has beside options.
    pub(super) fn find<W: OptionTable, E: Error>(name: &str, others: &[&str]) -> Result<Self, E> {
        let known = || all::<W>().filter_map(|(_, option)| Some((option.suite_key()?, option)));
        match known().find(|(key, _)| key == name) {
            Some((_, option)) => Ok(Self::Option(option)),
            None if name == ARGS => Ok(Self::Args),
            None => {
                let names: Vec<_> = known().map(|(key, _)| key).collect();
                let names = others.iter().copied().chain(names.iter().map(String::as_str)).chain([ARGS]);
                let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
                Err(E::custom(format!("unknown field `{name}`, expected one of {}", names.join(", "))))
            }
        }
    }

    /// Returns its name.
    pub(super) fn name(self) -> String {
        match self {
            Self::Option(option) => option.suite_key().unwrap_or_default(),
            Self::Args => ARGS.to_owned(),
        }
    }

    /// Returns what sorts it into the key of a cell.
    pub(super) fn rank(self) -> (usize, String) {
        let name = self.name();
        let mut known = ORDER.split_whitespace();
        (known.position(|known| known == name).unwrap_or(usize::MAX), name)
    }
}

#[cfg(test)]
mod tests {
    use crate::options::{KeptOption, RunOption, of_any_run};

    #[test]
    fn a_suite_has_every_option_that_a_plan_keeps() {
        // A suite provisions a target once for all of its runs, and connects to its private servers by their sockets.
        let own = ["tcp", "provision"];
        let is_missing = |option: &&RunOption| option.suite.is_none() && !matches!(option.kept, KeptOption::Nothing);
        let missing: Vec<_> = of_any_run().filter(is_missing).map(|option| option.spec.name).collect();
        assert_eq!(missing, own);
    }

    #[test]
    fn keys_are_the_names_of_options_with_underscores() {
        for option in of_any_run() {
            let usual = option.spec.name.replace('-', "_");
            let expected = match option.spec.name {
                "param" => "params",
                "set" => "settings",
                _ => &usual,
            };
            assert!(option.suite.is_none_or(|key| key == expected), "{expected}");
        }
    }
}
