//! Which runs are comparable: they did the same work on the same target, with the settings they asked for.

use std::collections::BTreeMap;

use pgdyno_results::{RunRecord, Status, Trust};
use pgdyno_text::units::{plural, rate, sized};

use crate::compare::work;
use crate::{describe, trust};

/// The suite of the slices of A/B experiments.
const EXPERIMENTS: &str = "ab";

/// Runs by series.
pub(super) struct Grouped<'a> {
    /// The series by name, that of the newest run first; their runs oldest first.
    pub(super) series: Vec<(String, Vec<&'a RunRecord>)>,
    /// The runs that do not take part, and why.
    pub(super) left_out: Vec<(String, String)>,
}

/// Groups runs by what they did and where.
pub(super) fn grouped<'a>(records: &[&'a RunRecord], slices: bool) -> Grouped<'a> {
    let mut sorted = records.to_vec();
    // Times are RFC 3339 in UTC, which sort as text.
    sorted.sort_by(|a, b| (&a.started_at, &a.id).cmp(&(&b.started_at, &b.id)));
    sorted.dedup_by(|a, b| a.id == b.id);
    let (mut by_work, mut left_out) = (BTreeMap::<_, Vec<&RunRecord>>::new(), Vec::new());
    for record in sorted {
        match unfit(record, slices) {
            Some(why) => left_out.push((record.id.clone(), why)),
            None => by_work.entry((conditions(record), target(record))).or_default().push(record),
        }
    }
    let facts: Vec<_> = by_work.keys().map(|(conditions, _)| conditions.clone()).collect();
    let mut series: Vec<_> = by_work.into_values().zip(facts).collect();
    series.sort_by(|(a, _), (b, _)| newest(b).cmp(&newest(a)));
    let titles: Vec<String> = series.iter().map(|(runs, _)| title(runs[0])).collect();
    let name = |nth: usize| {
        let namesakes = (0..titles.len()).filter(|other| titles[*other] == titles[nth]);
        let others: Vec<_> = namesakes.filter(|other| *other != nth).map(|other| &series[other].1).collect();
        let own = &series[nth].1;
        let differs = |(fact, value): &(&String, &String)| others.iter().any(|other| other.get(*fact) != Some(value));
        let reported = own.iter().filter(differs).map(|(fact, value)| format!(", {fact} {value}"));
        titles[nth].clone() + &reported.collect::<String>()
    };
    let names: Vec<_> = (0..series.len()).map(name).collect();
    Grouped { series: names.into_iter().zip(series).map(|(name, (runs, _))| (name, runs)).collect(), left_out }
}

fn newest<'a>(runs: &[&'a RunRecord]) -> Option<&'a str> {
    runs.last().map(|run| run.started_at.as_str())
}

/// Returns why a run cannot take part.
fn unfit(record: &RunRecord, slices: bool) -> Option<String> {
    if record.status != Status::Complete {
        return Some(record.status.name().to_owned());
    }
    if trust::of(record).degree() == Trust::NotUsable {
        return Some(Trust::NotUsable.name().to_owned());
    }
    let is_slice = record.plan.suite.as_ref().is_some_and(|suite| suite.suite == EXPERIMENTS);
    (is_slice && !slices).then(|| "of A/B experiments".to_owned())
}

/// Returns what a run did and under which conditions: its work, the settings that it was asked to make, and how durable and
/// isolated transactions were. Users chose these; a setting of the server that changes by itself is what histories look for.
fn conditions(record: &RunRecord) -> BTreeMap<String, String> {
    let mut facts = work(record);
    if let Some(server) = &record.server {
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        facts.extend(describe::less_durable(server).map(own));
        facts.extend(describe::isolation(server).map(|level| own(("default_transaction_isolation", level))));
    }
    facts.extend(record.plan.settings.clone());
    facts
}

/// Returns the target. Private servers are one, whichever build they are of: that is what histories compare.
fn target(record: &RunRecord) -> String {
    match &record.target {
        Some(target) => target.name.clone(),
        None if record.plan.target.kind().is_private() => "a private server".to_owned(),
        None => record.plan.target.to_string(),
    }
}

/// Returns workload, size, clients, rate and target.
fn title(record: &RunRecord) -> String {
    let plan = &record.plan;
    let mut words = vec![plan.workload.clone()];
    if !plan.scale_name.is_empty() {
        words.push(sized(&plan.scale_name, &plan.size()));
    }
    words.push(plural(u64::from(plan.stage_clients()), "client"));
    if let Some(offered) = plan.offered() {
        words.push(format!("{} a second", rate(offered.per_s)));
    }
    if !plan.target.kind().is_none() {
        words.push(format!("on {}", target(record)));
    }
    words.join(", ")
}
