//! Options of workloads with sets of queries.

use pgdyno_text::parse;
use pgdyno_workload::{OptionSpec, ValueKind, WorkloadOption};

/// The options.
pub(crate) const OPTIONS: &[WorkloadOption] = &[
    WorkloadOption::of(
        OptionSpec::value(
            "streams",
            ValueKind::Whole,
            "N",
            "Streams of queries, 0 for none: in the throughput stage of tproc-h or tproc-ds [default: 0], in ch-benchmark [default: 1]",
        ),
        ("3", "tproc-h"),
    ),
    WorkloadOption::of(
        OptionSpec::value(
            "queries",
            ValueKind::Text,
            "LIST",
            "Queries of tproc-h, tproc-ds or ch-benchmark to run, as in 1,6,17 or 1-9,17 [default: all]",
        ),
        ("1,6", "tproc-h"),
    ),
    WorkloadOption {
        parse: timeout,
        ..WorkloadOption::of(
            OptionSpec::value(
                "timeout",
                ValueKind::Time,
                "TIME",
                "Time that a query of tproc-h, tproc-ds or ch-benchmark may take: seconds, or with a unit [default: 1 day]",
            ),
            ("5min", "tproc-h"),
        )
    },
];

/// Returns a time-out to the thousandth of a second.
fn timeout(text: &str) -> Result<String, String> {
    match parse::duration(text)? {
        seconds if seconds < 1e-3 => {
            Err("it would cancel every query: write at least 1ms, or leave it out for no limit".to_owned())
        }
        seconds => Ok(format!("{seconds:.3}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_limit_is_not_zero() {
        assert_eq!(["1ms", "5min", "0.5"].map(timeout), ["0.001", "300.000", "0.500"].map(|text| Ok(text.to_owned())));
        for wrong in ["0", "0s", "0.0001", "-1", "2d"] {
            assert!(timeout(wrong).is_err(), "{wrong}");
        }
    }
}
