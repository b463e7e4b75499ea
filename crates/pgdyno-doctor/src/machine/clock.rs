//! Cost of the clock, and lateness of timers.

use pgdyno_engine::Clock;

use crate::finding::Finding;

/// A reading that takes longer than this, in nanoseconds, is not the CPU's own.
const SLOW_NS: f64 = 200.0;
/// Timers that are later than this, in nanoseconds, shift a schedule of fractions of a millisecond.
const LATE_NS: f64 = 1e6;

pub(super) fn check(clock: &Clock) -> Option<Finding> {
    let source = clock.source.as_deref().unwrap_or("source unknown");
    let mut figure = format!("{source}, {:.0} ns a reading", clock.read_ns);
    if let Some(late) = clock.timer_ns {
        figure += &format!(", timers {:.0} µs late", late / 1e3);
    }
    let found = Finding::passed("clock", figure).measured(clock.read_ns, "ns");
    Some(if clock.read_ns > SLOW_NS {
        found.warning(
            "Each reply takes a reading or more: a slow clock costs CPU time of the driver and is part of every latency.",
            "Use a machine whose clocksource is tsc.",
        )
    } else if clock.timer_ns.is_some_and(|late| late > LATE_NS) {
        found.warning(
            "With a rate (-R) transactions begin that much later than intended, which counts as response time.",
            "Measure on an idle machine, or without a rate.",
        )
    } else {
        found
    })
}

#[cfg(test)]
mod tests {
    use super::super::severity;
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn slow_clocks_and_late_timers_are_reported() {
        let clock = |read_ns, timer_ns| Clock { read_ns, step_ns: None, timer_ns: Some(timer_ns), source: None };
        let of = |read_ns, timer_ns| severity(&check(&clock(read_ns, timer_ns)));
        assert_eq!(
            [of(25.0, 60e3), of(900.0, 60e3), of(25.0, 3e6)],
            [FindingSeverity::Passed, FindingSeverity::Warning, FindingSeverity::Warning]
        );
    }
}
