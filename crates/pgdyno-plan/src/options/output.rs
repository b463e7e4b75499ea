//! What a run writes beside its record.

use pgdyno_workload::{Commands, Omitted, OptionSpec, ValueKind};

use super::access::{flag, given, pairs, text};
use super::kept::{self, none, one, values};
use super::{KeptOption, OptionGroup, RunOption};

/// The options.
pub(super) const GROUP: OptionGroup = OptionGroup {
    heading: "Output",
    options: &[
        RunOption {
            spec: OptionSpec {
                omitted: Omitted::WithEquals("50,95,99"),
                ..OptionSpec::value(
                    "latency-percentiles",
                    ValueKind::Text,
                    "LIST",
                    "Report further latency percentiles: up to ten numbers above 0 and up to 100",
                )
            },
            commands: Commands::Run,
            suite: Some("latency_percentiles"),
            access: given!(latency_percentiles, percentiles, |list| listed(list)),
            kept: values("percentiles", none, |plan| one(listed(&plan.percentiles))),
            sample: "50,99.9",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::flag(
                "log",
                "Log every transaction to transactions.log in the run directory, in the format of pgbench's -l",
            ),
            commands: Commands::Run,
            suite: Some("log"),
            access: flag!(log),
            kept: kept::flag("log of every transaction", |plan| plan.log),
            sample: "",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::value(
                "label",
                ValueKind::Pairs,
                "NAME=VALUE",
                "Label the run, as in commit=abc123; labels are in the record, and lists can be filtered by them. May be given several times",
            ),
            commands: Commands::Run,
            suite: None,
            access: pairs!(labels),
            kept: KeptOption::Nothing,
            sample: "commit=abc123",
            beside: "tpcb-like --target embedded",
        },
        RunOption {
            spec: OptionSpec::value("json", ValueKind::Text, "FILE", "Also write the record to this file"),
            commands: Commands::Run,
            suite: None,
            access: given!(json, text, |file| file.display().to_string()),
            kept: KeptOption::Nothing,
            sample: "out.json",
            beside: "tpcb-like --target embedded",
        },
    ],
};

/// The maximum of pgbench's proposed option.
const MAX_PERCENTILES: usize = 10;

/// Parses `50,95,99.9`; returns each once, in ascending order.
fn percentiles(list: &str) -> Result<Vec<f64>, String> {
    let one = |text: &str| {
        let number = text.trim().parse::<f64>().ok().filter(|p| *p > 0.0 && *p <= 100.0);
        number.ok_or_else(|| format!("'{text}' is no percentile: write numbers above 0 up to 100, as in 50,95,99.9"))
    };
    let mut found = list.split(',').map(one).collect::<Result<Vec<_>, _>>()?;
    found.sort_by(f64::total_cmp);
    found.dedup();
    if found.len() > MAX_PERCENTILES {
        return Err(format!("{} percentiles are given, and at most {MAX_PERCENTILES} are shown", found.len()));
    }
    Ok(found)
}

fn listed(percentiles: &[f64]) -> String {
    percentiles.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_numbers_up_to_100_and_at_most_ten() {
        assert_eq!(percentiles("99.9, 50,99,50,100").unwrap(), [50.0, 99.0, 99.9, 100.0]);
        for wrong in ["", "0", "-1", "100.1", "50,", "p99", "nan", "inf"] {
            assert!(percentiles(wrong).unwrap_err().contains("no percentile"), "{wrong}");
        }
        assert!(percentiles("1,2,3,4,5,6,7,8,9,10").is_ok());
        assert!(percentiles("1,2,3,4,5,6,7,8,9,10,11").unwrap_err().contains("at most 10"));
    }
}
