//! An old snapshot or transaction keeps dead rows from being removed.

use pgdyno_results::{Certainty, FindingRecord};
use pgdyno_samples::database;
use pgdyno_text::brief::{duration, number};

use super::UNKNOWN;
use crate::explained::Explained;
use crate::facts::Facts;
use crate::horizon::Holder;
use crate::sessions::is_of_streams;

/// Where fewer transactions than this change rows in a second, little is kept.
pub(super) const RATE_MIN: f64 = 10.0;

/// A smaller growth than this is chance.
const GROWTH_MIN: f64 = 1.5;

/// Returns the blocks that a transaction reads at the end of the window, divided by those at its start: it reads dead rows that
/// vacuum may not remove.
fn growth(facts: &Facts<'_>) -> Option<f64> {
    let quarter = facts.seconds() / 4.0;
    let per_commit = |from_s: f64| {
        let mean = |column| facts.rate_between(column, from_s, from_s + quarter);
        let blocks = mean(database::BLKS_HIT)? + mean(database::BLKS_READ)?;
        mean(database::XACT_COMMIT).filter(|commits| *commits > 0.0).map(|commits| blocks / commits)
    };
    let (first, last) = (per_commit(facts.from_s)?, per_commit(facts.until_s - quarter)?);
    Some(last / first.max(f64::MIN_POSITIVE)).filter(|growth| *growth >= GROWTH_MIN)
}

/// The blocks that a transaction reads more than at the start explain as much of the work.
pub(crate) fn of_cpu(facts: &Facts<'_>) -> Option<Explained> {
    // The growth is steady: its mean over the window is half of it.
    let growth = growth(facts)?;
    let mean = (1.0 + growth) / 2.0;
    Some(Explained { share: 1.0 - 1.0 / mean, certainty: Certainty::Consistent })
}

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    // Queries of streams have a rule of their own.
    let holder = Holder::longest(facts);
    let holder = holder.filter(|holder| facts.streams.is_none() || !is_of_streams(&holder.session.kind))?;
    if holder.newer / holder.seconds.max(f64::MIN_POSITIVE) < RATE_MIN {
        return None;
    }
    let doing = holder.session.doing();
    let mut evidence = vec![format!(
        "seen with the same snapshot or transaction for {} of {}",
        duration(holder.seconds),
        duration(facts.seconds())
    )];
    evidence.extend(Some(doing).filter(|doing| !doing.is_empty()));
    evidence.extend(growth(facts).map(|growth| {
        format!("a transaction read {} times as many blocks at the end of the window as at its start", number(growth))
    }));
    Some(FindingRecord {
        rule: "old-snapshot".to_owned(),
        text: format!(
            "{} kept rows from being removed that {} later transactions may have left dead",
            holder.session.who(facts),
            number(holder.age)
        ),
        weight: UNKNOWN,
        evidence,
        advice: holder.session.advice(facts).or_else(|| Some("make transactions shorter".to_owned())),
        also_seen: true,
        ..FindingRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    fn run(ages: [&str; 2]) -> Run {
        let columns = ["holder", "pid", "name", "xmin", "age", "state", "held_s", "query"];
        let row = |age| ["prepared transaction", "", "forgotten", "700", age, "prepared", "60", ""];
        let rows = ages.map(row);
        Run::new().looks("horizon", &columns, &[(2.0, &rows[0]), (10.0, &rows[1])])
    }

    #[test]
    fn a_forgotten_transaction_is_named_with_the_way_to_end_it() {
        let found = run(["100", "9100"]).finds(look);
        assert_eq!(
            found.text,
            "a prepared transaction (\"forgotten\") kept rows from being removed that 9,100 later transactions may have left \
             dead"
        );
        assert_eq!(
            found.evidence,
            ["seen with the same snapshot or transaction for 8.0 s of 10 s", "prepared 60 s ago"]
        );
        assert!(found.advice.unwrap().contains("ROLLBACK PREPARED"));
    }

    #[test]
    fn where_nothing_changes_it_is_nothing() {
        run(["100", "110"]).finds_nothing(look);
        Run::new().finds_nothing(look);
    }
}
