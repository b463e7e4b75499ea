//! The verdict on runs with two sides, transactions and queries: one is better only if both of its sides are.

use pgdyno_measure::compare::Held;
use pgdyno_plan::Pace;
use pgdyno_results::RunRecord;

use super::words::signed;
use super::{ChangeVerdict, CompareOptions, Figure};

/// The figures of the two sides.
const TRANSACTIONS: &str = "nopm";
const QUERIES: &str = "analytics-per-hour";

/// The text about such a verdict.
pub(super) const NOTE: &str = "the runs have two sides, transactions and queries: one run is better than another only if both \
                               are. More transactions leave less for queries, and make the data larger that they read";

/// A verdict on both sides.
pub(super) struct Both {
    pub(super) verdict: ChangeVerdict,
    /// Why it decides nothing; empty if that is not known here.
    pub(super) reason: String,
    /// The name of the second figure.
    pub(super) other: String,
}

/// Returns the verdict; `None` if the runs have one side, or the user asks for one figure.
pub(super) fn judge<'a>(
    figures: &[Figure],
    mut records: impl Iterator<Item = &'a RunRecord>,
    options: &CompareOptions,
) -> Option<Both> {
    let find = |name: &str| figures.iter().find(|figure| figure.metric.name() == name);
    let (first, second) = (find(TRANSACTIONS)?, find(QUERIES)?);
    if options.metric.is_some() || figures.first().map(|figure| figure.metric.name()) != Some(TRANSACTIONS) {
        return None;
    }
    let is_offered = records.all(|record| matches!(record.plan.drive.pace, Pace::Rate(_)));
    let verdict = of_both(first.verdict, second.verdict, is_offered);
    let seen = |figure: &Figure| {
        let change = signed(figure.new / figure.base);
        format!("{} {change} ({})", figure.metric.title(), figure.verdict.name())
    };
    let is_reported = [first, second].iter().all(|figure| figure.verdict != ChangeVerdict::Undecided);
    let reason = format!("better only if both sides are, and these are not: {}; {}", seen(first), seen(second));
    let reason = if is_reported { reason } else { String::new() };
    Some(Both { verdict, reason, other: QUERIES.to_owned() })
}

/// Returns the verdict on transactions and queries. At an offered rate, transactions that are not slower say nothing.
fn of_both(transactions: ChangeVerdict, queries: ChangeVerdict, is_offered: bool) -> ChangeVerdict {
    use ChangeVerdict::{Faster, NoDifference, NotComparable, Slower, Undecided};
    match (transactions, queries) {
        (NotComparable, _) | (_, NotComparable) => NotComparable,
        (NoDifference, queries) if is_offered => queries,
        (Faster, Faster) => Faster,
        (Slower, Slower | NoDifference) | (NoDifference, Slower) => Slower,
        (NoDifference, NoDifference) => NoDifference,
        // One is better and the other is not, or one is not known.
        (Faster | Undecided, _) | (_, Faster | Undecided) => Undecided,
    }
}

/// Returns the worse of two verdicts on a limit.
pub(super) fn worse(a: Held, b: Held) -> Held {
    match (a, b) {
        (Held::No, _) | (_, Held::No) => Held::No,
        (Held::Unknown { runs: Some(a) }, Held::Unknown { runs: Some(b) }) => Held::Unknown { runs: Some(a.max(b)) },
        (Held::Unknown { runs: None }, _) | (_, Held::Unknown { runs: None }) => Held::Unknown { runs: None },
        (unknown @ Held::Unknown { .. }, Held::Yes) | (Held::Yes, unknown @ Held::Unknown { .. }) => unknown,
        (Held::Yes, Held::Yes) => Held::Yes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_better_only_if_both_sides_are() {
        use ChangeVerdict::{Faster, NoDifference, NotComparable, Slower, Undecided};
        for (transactions, queries, verdict) in [
            (Faster, Faster, Faster),
            (Faster, Slower, Undecided),
            (Slower, Faster, Undecided),
            (Faster, NoDifference, Undecided),
            (NoDifference, Faster, Undecided),
            (Slower, NoDifference, Slower),
            (NoDifference, Slower, Slower),
            (Slower, Slower, Slower),
            (NoDifference, NoDifference, NoDifference),
            (Undecided, Slower, Undecided),
            (NotComparable, Faster, NotComparable),
        ] {
            assert_eq!(of_both(transactions, queries, false), verdict, "{transactions:?} {queries:?}");
        }
        assert_eq!(of_both(NoDifference, Faster, true), Faster, "both offered the same");
        assert_eq!(of_both(Slower, Faster, true), Undecided);
    }

    #[test]
    fn a_limit_holds_only_if_both_sides_hold_it() {
        assert_eq!(worse(Held::Yes, Held::Yes), Held::Yes);
        assert_eq!(worse(Held::Yes, Held::No), Held::No);
        assert_eq!(worse(Held::Unknown { runs: Some(3) }, Held::Yes), Held::Unknown { runs: Some(3) });
    }
}
