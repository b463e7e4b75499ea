//! Options of several workloads, and the list of all.

use pgdyno_text::list::listed;
use pgdyno_workload::{Commands, OptionSpec, OptionTable, ValueKind, WorkloadOption, WorkloadOptionGroup};

use crate::families::having;
use crate::{ch_benchmark, oltp, query_set, tproc_c, tproc_ds, tproc_h, ycsb};

/// The options of all workloads.
#[derive(Clone, Copy, Debug)]
pub enum Options {}

impl OptionTable for Options {
    /// In the order of the command line.
    const GROUPS: &'static [WorkloadOptionGroup] = &[
        WorkloadOptionGroup { heading: "Workload", options: SHARED },
        WorkloadOptionGroup { heading: "tproc-c and ch-benchmark", options: tproc_c::options::OPTIONS },
        WorkloadOptionGroup { heading: "tproc-h, tproc-ds and ch-benchmark", options: query_set::options::OPTIONS },
        WorkloadOptionGroup { heading: "tproc-h and tproc-ds", options: tproc_h::options::OPTIONS },
        WorkloadOptionGroup { heading: "tproc-ds", options: tproc_ds::options::OPTIONS },
        WorkloadOptionGroup { heading: "ch-benchmark", options: ch_benchmark::options::OPTIONS },
        WorkloadOptionGroup { heading: "ycsb-a to ycsb-f", options: ycsb::options::OPTIONS },
        WorkloadOptionGroup { heading: "sysbench's workloads", options: oltp::options::OPTIONS },
    ];
}

/// Returns all options.
pub fn all() -> impl Iterator<Item = &'static WorkloadOption> {
    Options::GROUPS.iter().flat_map(|group| group.options)
}

/// Returns the option of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static WorkloadOption> {
    all().find(|option| option.spec.name == name)
}

/// The option whose value scripts have as a variable, as pgbench's do.
const SCALE: &str = "scale";

/// Returns true if scripts of a user take the option.
#[must_use]
pub fn is_of_scripts(option: &WorkloadOption) -> bool {
    option.spec.name == SCALE
}

/// Returns the workloads that take an option, as in `tproc-c and ch-benchmark`.
#[must_use]
pub fn takers(option: &WorkloadOption) -> String {
    let mut takers = having(|param| param.name == option.param && !param.is_fixed());
    takers.extend(is_of_scripts(option).then_some("script files"));
    listed(&takers)
}

/// Those of several workloads.
const SHARED: &[WorkloadOption] = &[
    WorkloadOption {
        commands: Commands::Data,
        ..WorkloadOption::of(
            OptionSpec {
                short: Some('s'),
                conflicts: &["warehouses"],
                details: "The default is what is loaded; else for pgbench's workloads one for each client, at most 10; for tproc-h and \
                          tproc-ds, which take fractions, 1; for sysbench's workloads 100000; for scripts, where it is :scale, 1",
                ..OptionSpec::value(
                    "scale",
                    ValueKind::Number,
                    "N",
                    "Scale of pgbench's workloads, tproc-h, tproc-ds and scripts; rows of each table of sysbench's workloads",
                )
            },
            ("7", "simple-update"),
        )
    },
    WorkloadOption {
        commands: Commands::Data,
        ..WorkloadOption::of(
            OptionSpec {
                short: Some('w'),
                ..OptionSpec::value(
                    "warehouses",
                    ValueKind::Whole,
                    "N",
                    "Warehouses, for tproc-c and ch-benchmark [default: what is loaded, else one for each client, at most 10]",
                )
            },
            ("7", "tproc-c"),
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
            ("2", "tproc-c"),
        )
    },
    WorkloadOption::flag(OptionSpec::flag("pipeline", "Send a whole transaction as one pipeline"), "simple-update"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    #[test]
    fn each_option_sets_a_parameter_of_the_workload_of_its_sample() {
        for option in all() {
            let (value, workload) = option.sample;
            let value = (option.parse)(value).unwrap();
            let built = registry::build(workload, [(option.param, value.as_str())]);
            let built = built.unwrap_or_else(|error| panic!("--{}: {error}", option.spec.name));
            let usual = registry::build(workload, []).unwrap();
            assert_ne!(built.params, usual.params, "--{} changes nothing", option.spec.name);
        }
    }

    #[test]
    fn an_option_is_taken_by_all_workloads_with_its_parameter() {
        let takers = |name| takers(find(name).unwrap());
        assert_eq!(takers("warehouses"), "tproc-c and ch-benchmark");
        let pipelined = "tpcb-like, simple-update, oltp-read-write, oltp-read-only and oltp-write-only";
        assert_eq!(takers("pipeline"), pipelined);
        assert_eq!(takers("no-refresh"), "tproc-h");
        let of_scale = takers("scale");
        assert!(
            of_scale.starts_with("pgbench's workloads, tproc-h, tproc-ds,") && of_scale.ends_with("and script files"),
            "{of_scale}"
        );
        assert!(all().all(|option| !super::takers(option).is_empty()));
    }

    #[test]
    fn names_and_letters_are_used_once() {
        let specs = || all().map(|option| option.spec);
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
