//! What else changed where the level changed: facts that are the same in the runs before and the same in those after.

use std::collections::BTreeMap;
use std::ops::Range;

use pgdyno_results::{AbTime, RunRecord};

use crate::compare::account;
use crate::compare::{FactDifference, FactGroup, differences};

/// A fact that changed with the level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFact {
    /// The subject.
    pub group: FactGroup,
    /// Its name.
    pub name: String,
    /// Its value in the runs before.
    pub before: String,
    /// Its value in the runs after.
    pub after: String,
    /// The first run with it, counted from 0: one of those that may be the first of the new level.
    pub at: usize,
}

/// Runs on each side of a change that are looked at.
const AROUND: usize = 20;

/// The same for the account of the clients' time.
const ACCOUNTS: usize = 10;

/// A fact that changes between more than one of so many runs and the next is noise.
const NOISE: usize = 3;

/// Facts that follow from the version of the server.
const OF_VERSION: [&str; 3] = ["origin", "programs", "configure"];

/// Stands for a value that a run does not have.
const NONE: &str = "-";

/// The runs around a change of the level.
pub(super) struct ChangeWindow<'a> {
    /// All runs of the series.
    pub(super) records: &'a [&'a RunRecord],
    /// The runs of the level before.
    pub(super) before: Range<usize>,
    /// The runs of the level after.
    pub(super) after: Range<usize>,
    /// The earliest and the latest run that may be the first of the new level.
    pub(super) places: (usize, usize),
    /// The label by which runs are named: the place of the change has it already.
    pub(super) label: &'a str,
}

impl ChangeWindow<'_> {
    /// Returns the facts that changed with the level, the likeliest causes first.
    pub(super) fn changed(&self) -> Vec<ChangedFact> {
        let from = self.before.start.max(self.before.end.saturating_sub(AROUND));
        let to = self.after.end.min(self.after.start + AROUND);
        let mut by_fact: BTreeMap<(FactGroup, String), Vec<ChangedFact>> = BTreeMap::new();
        for at in from + 1..to {
            for found in differences(&self.records[at - 1..at], &self.records[at..=at]) {
                let FactDifference { group, name, base, new, .. } = found;
                let (before, after) = (base.join(" or "), new.join(" or "));
                let changed = ChangedFact { group, name: name.clone(), before, after, at };
                by_fact.entry((group, name)).or_default().push(changed);
            }
        }
        let own = format!("label {}", self.label);
        by_fact.retain(|(group, name), _| (*group, name.as_str()) != (FactGroup::Plan, own.as_str()));
        let mut changed: Vec<_> =
            by_fact.into_values().filter_map(|steps| self.with_the_level(steps, to - from)).collect();
        let has = |group, name: &str| changed.iter().any(|fact: &ChangedFact| fact.group == group && fact.name == name);
        let (version, pgdyno) = (has(FactGroup::Server, "version"), has(FactGroup::Client, "pgdyno"));
        // Which facts a record has depends on the version of pgdyno.
        let is_new_in_records = |fact: &ChangedFact| {
            matches!(fact.group, FactGroup::Server | FactGroup::Client) && (fact.before == NONE || fact.after == NONE)
        };
        changed.retain(|fact| !(pgdyno && is_new_in_records(fact)));
        changed
            .retain(|fact| !(version && fact.group == FactGroup::Server && OF_VERSION.contains(&fact.name.as_str())));
        changed.sort_by(|a, b| (rank(a), &a.name).cmp(&(rank(b), &b.name)));
        changed
    }

    /// Returns the change of a fact that may be that of the level, of all its changes in `runs` runs: it has the new value first
    /// there, and keeps it.
    fn with_the_level(&self, mut steps: Vec<ChangedFact>, runs: usize) -> Option<ChangedFact> {
        let is_rare = steps.len() == 1 || steps.len() * NOISE < runs;
        let last = steps.pop()?;
        let is_new = !steps.iter().any(|step| step.before == last.after);
        let is_there = (self.places.0..=self.places.1).contains(&last.at);
        (is_rare && is_new && is_there).then_some(last)
    }

    /// Returns the parts of the clients' time before and after, those that changed most first; empty where the runs have no account.
    pub(super) fn accounts(&self) -> Vec<AbTime> {
        let with_account = |runs: &Range<usize>| {
            self.records[runs.clone()].iter().copied().filter(|run| !run.clients_time.is_empty()).collect::<Vec<_>>()
        };
        let (mut before, mut after) = (with_account(&self.before), with_account(&self.after));
        before.drain(..before.len().saturating_sub(ACCOUNTS));
        after.truncate(ACCOUNTS);
        if before.is_empty() || after.is_empty() { Vec::new() } else { account::changes(&before, &after) }
    }
}

/// The order in lists: version of the server, settings, plan, machines, version of pgdyno.
fn rank(fact: &ChangedFact) -> u8 {
    match (fact.group, fact.name.as_str()) {
        (FactGroup::Server, "version") => 0,
        (FactGroup::Settings, _) => 1,
        (FactGroup::Plan | FactGroup::Recipe, _) => 2,
        (FactGroup::Server, _) => 3,
        (FactGroup::Client, "pgdyno") => 5,
        (FactGroup::Client, _) => 4,
    }
}
