//! Options of several workloads, and the list of all.

use pgdyno_workload::{Commands, OptionSpec, OptionTable, ValueKind, WorkloadOption};

use crate::{ch_benchmark, oltp, query_set, tproc_c, tproc_h, ycsb};

/// The options of all workloads.
#[derive(Clone, Copy, Debug)]
pub enum Options {}

impl OptionTable for Options {
    /// In the order of the command line.
    const ALL: &'static [&'static [WorkloadOption]] = &[
        SHARED,
        tproc_c::options::OPTIONS,
        query_set::options::OPTIONS,
        tproc_h::options::OPTIONS,
        ch_benchmark::options::OPTIONS,
        ycsb::options::OPTIONS,
        oltp::options::OPTIONS,
    ];
}

/// Returns the option of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static WorkloadOption> {
    Options::ALL.iter().copied().flatten().find(|option| option.spec.name == name)
}

/// Those of several workloads.
const SHARED: &[WorkloadOption] = &[
    WorkloadOption {
        commands: Commands::Data,
        ..WorkloadOption::of(
            OptionSpec {
                short: Some('s'),
                conflicts: &["warehouses"],
                details: "The default is what is loaded; else for pgbench's workloads one for each client, at most 10; for tproc-h, \
                          which takes fractions, 1; for sysbench's workloads 100000; for scripts, where it is :scale, 1",
                ..OptionSpec::value(
                    "scale",
                    ValueKind::Number,
                    "N",
                    "Scale of pgbench's workloads, tproc-h and scripts; rows of each table of sysbench's workloads",
                )
            },
            "workloads that have a scale",
            ("7", "simple-update"),
        )
    },
    WorkloadOption {
        commands: Commands::Data,
        ..WorkloadOption::of(
            OptionSpec::value(
                "partitions",
                ValueKind::Whole,
                "N",
                "Partitions of tproc-c's order_line (by hash) or of pgbench_accounts, 0 for none; of tproc-h's orders and lineitem: \
                 month, or none",
            ),
            "built-in workloads",
            ("2", "tproc-c"),
        )
    },
    WorkloadOption::flag(
        OptionSpec::flag("pipeline", "Send a whole transaction as one pipeline"),
        "built-in workloads",
        "simple-update",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    #[test]
    fn each_option_sets_a_parameter_of_the_workload_of_its_sample() {
        for option in Options::ALL.iter().copied().flatten() {
            let (value, workload) = option.sample;
            let value = (option.parse)(value).unwrap();
            let built = registry::build(workload, [(option.param, value.as_str())]);
            let built = built.unwrap_or_else(|error| panic!("--{}: {error}", option.spec.name));
            let usual = registry::build(workload, []).unwrap();
            assert_ne!(built.params, usual.params, "--{} changes nothing", option.spec.name);
        }
    }

    #[test]
    fn names_and_letters_are_used_once() {
        let specs = || Options::ALL.iter().copied().flatten().map(|option| option.spec);
        let mut names: Vec<_> = specs().map(|spec| spec.name).collect();
        let mut letters: Vec<_> = specs().filter_map(|spec| spec.short).collect();
        let all = (names.len(), letters.len());
        names.sort_unstable();
        names.dedup();
        letters.sort_unstable();
        letters.dedup();
        assert_eq!((names.len(), letters.len()), all);
    }
}
