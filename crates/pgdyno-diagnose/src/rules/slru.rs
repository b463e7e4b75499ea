//! Sessions look up states of transactions, subtransactions or multixacts, and wait for them.

use std::collections::BTreeMap;

use pgdyno_results::FindingRecord;
use pgdyno_samples::slru;
use pgdyno_text::brief::number;

use super::{SAMPLES_MIN, UNKNOWN, waited, with_settings};
use crate::facts::Facts;
use crate::waits::Class;

/// More lookups of subtransactions or multixacts than this for each transaction are a finding without a wait for them: most
/// transactions need none.
const FOR_EACH: f64 = 1.0;

/// Fewer lookups a second than this are nothing.
const RATE_MIN: f64 = 1_000.0;

/// Names as of PostgreSQL 17.
const SUBTRANSACTION: &str = "subtransaction";
const MULTIXACT_MEMBER: &str = "multixact_member";
const MULTIXACT_OFFSET: &str = "multixact_offset";

/// Pages of an SLRU that were looked up, and those of them that were read from files, a second.
#[derive(Clone, Copy, Debug, Default)]
struct Lookups {
    all: f64,
    read: f64,
}

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let lookups = lookups(facts);
    let of = |name: &str| lookups.get(name).copied().unwrap_or_default();
    let multixacts = of(MULTIXACT_MEMBER).all.max(of(MULTIXACT_OFFSET).all);
    let what = "looking up transactions, subtransactions or multixacts (SLRU)";
    let mut found =
        waited(facts, "slru", Class::Slru, what).or_else(|| many(facts, of(SUBTRANSACTION).all, multixacts))?;
    for (name, lookups) in lookups.iter().filter(|(_, lookups)| lookups.all >= RATE_MIN) {
        found.evidence.push(format!(
            "{name}: {} pages looked up a second, {} of them read from files",
            number(lookups.all),
            number(lookups.read)
        ));
    }
    // The event that was waited for most decides; without one, what was looked up most.
    let top = facts.waits.of_class(Class::Slru).next().map_or_else(String::new, |(name, _)| name.to_ascii_lowercase());
    let is_new = facts.record.server.as_ref().is_some_and(|server| server.version_num >= 170_000);
    let by_lookups = !top.contains("lwlock") && of(SUBTRANSACTION).all.max(multixacts) >= RATE_MIN;
    found.advice = if top.contains("subtrans") || (by_lookups && of(SUBTRANSACTION).all >= multixacts) {
        let what = "use fewer subtransactions (savepoints, EXCEPTION blocks): more than 64 in a transaction overflow; end long \
                    transactions";
        advice(facts, what, is_new.then_some("subtransaction_buffers"), &["subtransaction_buffers"])
    } else if top.contains("multixact") || by_lookups {
        let what =
            "let fewer transactions lock the same row at once (foreign keys to few rows, FOR SHARE, FOR KEY SHARE)";
        let settings = ["multixact_member_buffers", "multixact_offset_buffers"];
        advice(facts, what, is_new.then_some("multixact_member_buffers, multixact_offset_buffers"), &settings)
    } else {
        None
    };
    Some(found)
}

/// Advice, which names `settings` where the server has them.
fn advice(facts: &Facts<'_>, what: &str, raise: Option<&str>, settings: &[&str]) -> Option<String> {
    match raise {
        Some(raise) => with_settings(facts, &format!("{what}; or raise {raise}"), settings),
        None => Some(what.to_owned()),
    }
}

/// The finding that there were many lookups, for which nobody waited long: they are CPU time.
fn many(facts: &Facts<'_>, subtransactions: f64, multixacts: f64) -> Option<FindingRecord> {
    let (what, why, rate) = if subtransactions >= multixacts {
        let why = "snapshots need them while a transaction has more than 64 subtransactions";
        ("subtransactions", why, subtransactions)
    } else {
        ("multixacts", "rows that several transactions have locked need them", multixacts)
    };
    let is_much = rate >= RATE_MIN && rate >= FOR_EACH * facts.summary.tps;
    (is_much && facts.waits.looks >= SAMPLES_MIN).then(|| FindingRecord {
        rule: "slru".to_owned(),
        text: format!("sessions looked up {} pages of {what} a second: {why}", number(rate)),
        weight: UNKNOWN,
        also_seen: true,
        ..FindingRecord::default()
    })
}

/// Returns the lookups of each SLRU between the first look and the last one in the window.
fn lookups(facts: &Facts<'_>) -> BTreeMap<String, Lookups> {
    let table = facts.samples.of(slru::SOURCE);
    // The sampler looks once when the window has closed.
    let end_s = table.rows().iter().map(|(at, _)| *at).find(|at| *at >= facts.until_s).unwrap_or(facts.until_s);
    let within = |at: f64| (facts.from_s..=end_s).contains(&at);
    let of_name = |(name, table): (String, pgdyno_results::SampleTable)| {
        let mut rows = table.rows().iter().filter(|(at, _)| within(*at));
        let first = rows.next()?;
        let last = rows.next_back()?;
        let grown = |column| {
            let number = |row: &(f64, Vec<String>)| table.cell(&row.1, column)?.parse::<f64>().ok();
            Some((number(last)? - number(first)?).max(0.0) / (last.0 - first.0).max(1e-9))
        };
        let read = grown(slru::BLKS_READ)?;
        Some((name, Lookups { all: grown(slru::BLKS_HIT)? + read, read }))
    };
    table.by(slru::NAME).into_iter().filter_map(of_name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    fn run(name: &str, hits: f64) -> Run {
        let mut run = Run::new()
            .waits(&[("CPU", "CPU", 6.0)])
            .keyed_counters(
                "slru",
                &["name"],
                &[
                    (&[name], &[("blks_hit", hits), ("blks_read", 100.0)]),
                    (&["transaction"], &[("blks_hit", 20.0), ("blks_read", 0.0)]),
                ],
            )
            .setting("subtransaction_buffers", "0");
        run.record.server.as_mut().unwrap().version_num = 150_000;
        run
    }

    #[test]
    fn waits_for_subtransactions_are_reported_with_advice_for_the_version() {
        let run = run("subtransaction", 50_000.0).waits(&[("LWLock", "SubtransSLRU", 4.0), ("CPU", "CPU", 2.0)]);
        let found = run.finds(look);
        assert!((found.weight - 0.5).abs() < 1e-9, "{found:?}");
        assert_eq!(found.evidence[1], "subtransaction: 50,100 pages looked up a second, 100 of them read from files");
        let advice = found.advice.unwrap();
        assert!(advice.contains("savepoints") && !advice.contains("subtransaction_buffers"), "{advice}");
        let mut new = run;
        new.record.server.as_mut().unwrap().version_num = 170_000;
        assert!(
            new.finds(look).advice.unwrap().ends_with("or raise subtransaction_buffers (subtransaction_buffers is 0)")
        );
    }

    #[test]
    fn many_lookups_are_seen_without_a_wait() {
        let found = run("subtransaction", 50_000.0).finds(look);
        let text = "sessions looked up 50,100 pages of subtransactions a second: snapshots need them while a transaction has more \
                    than 64 subtransactions";
        assert!(found.also_seen && found.text == text, "{found:?}");
        let found = run("multixact_member", 50_000.0).finds(look);
        assert!(found.advice.unwrap().contains("FOR KEY SHARE"));
    }

    #[test]
    fn few_lookups_and_those_of_transactions_are_nothing() {
        run("subtransaction", 800.0).finds_nothing(look);
        run("transaction", 900_000.0).finds_nothing(look);
        Run::new().finds_nothing(look);
    }
}
