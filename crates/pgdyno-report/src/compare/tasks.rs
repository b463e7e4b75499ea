//! The change of each task of a stage, such as each query of a set.

use pgdyno_measure::compare::{Change, Direction, Estimate, Repeated, Tested, directions};
use pgdyno_results::{RunRecord, TransactionRecord};

use super::{ChangeVerdict, CompareOptions, ComparedRun};
use crate::tasks;

/// The scripts of a fitted workload that are tasks.
const SCRIPTS_MAX: usize = 20;

/// One task of both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskChange {
    /// Its name: `q18`.
    pub name: String,
    /// Its mean time in BASE in nanoseconds.
    pub base_ns: f64,
    /// Its mean time in NEW.
    pub new_ns: f64,
    /// The change with an interval of its own, if runs or repeats show how much it varies.
    pub change: Option<Change>,
    /// The verdict, with all of them judged together.
    pub verdict: ChangeVerdict,
}

/// The tasks of a stage that both sides have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tasks {
    /// The stage.
    pub stage: String,
    /// In the order of the workload.
    pub list: Vec<TaskChange>,
}

impl Tasks {
    /// Returns `power: q18 and q21 slower; q1 faster; no difference shown of 21`; `None` without tasks that were judged.
    #[must_use]
    pub fn summary(&self) -> Option<String> {
        let of = |verdict: ChangeVerdict| {
            let names = self.list.iter().filter(move |task| task.verdict == verdict).map(|task| task.name.as_str());
            names.collect::<Vec<_>>()
        };
        let changed = |verdict: ChangeVerdict| {
            let names = of(verdict);
            (!names.is_empty()).then(|| format!("{} {}", names.join(", "), verdict.name()))
        };
        let open = of(ChangeVerdict::NoDifference).len();
        let equal = (open > 0).then(|| format!("{} of {open}", ChangeVerdict::NoDifference.name()));
        let parts = [changed(ChangeVerdict::Slower), changed(ChangeVerdict::Faster), equal].into_iter().flatten();
        let parts = parts.collect::<Vec<_>>().join("; ");
        (!parts.is_empty()).then(|| format!("{}: {parts}", self.stage))
    }
}

/// Returns the tasks of the first stage that has some in all runs; none if there is no such stage.
pub(super) fn tasks(base: &[ComparedRun], new: &[ComparedRun], options: &CompareOptions, is_comparable: bool) -> Tasks {
    let records = || base.iter().chain(new).map(|run| &run.record);
    let Some((stage, names)) = records().next().and_then(named) else { return Tasks::default() };
    let of_side = |side: &[ComparedRun], name: &str| {
        side.iter().map(|run| times(&run.record, &stage, name)).collect::<Option<_>>()
    };
    let both = |name: String| {
        let (from, to): (Vec<Repeated>, Vec<Repeated>) = (of_side(base, &name)?, of_side(new, &name)?);
        let tested = test(&from, &to, options);
        Some((name, mean(&from), mean(&to), tested))
    };
    let found: Vec<_> = names.into_iter().filter_map(both).collect();
    let known: Vec<_> = found.iter().filter_map(|(_, _, _, tested)| *tested).collect();
    let mut judged = directions(&known, options.confidence).into_iter();
    let list = found.into_iter().map(|(name, base_ns, new_ns, tested)| {
        let verdict = match tested.and_then(|_| judged.next()) {
            _ if !is_comparable => ChangeVerdict::NotComparable,
            None => ChangeVerdict::Undecided,
            Some(Direction::Up) => ChangeVerdict::Slower,
            Some(Direction::Down) => ChangeVerdict::Faster,
            Some(Direction::Unknown) => ChangeVerdict::NoDifference,
        };
        TaskChange { name, base_ns, new_ns, change: tested.map(|tested| tested.change), verdict }
    });
    Tasks { list: list.collect(), stage }
}

/// Returns the mean time in nanoseconds of each task of the first stage that has some, in its order. Leaves out tasks that
/// failed or never ended. The scripts of a fitted workload are its tasks.
#[must_use]
pub fn task_times(record: &RunRecord) -> Vec<(String, f64)> {
    let Some((stage, names)) = named(record) else { return script_times(record) };
    names
        .into_iter()
        .filter_map(|name| Some((times(record, &stage, &name)?.mean, name)))
        .map(|(ns, name)| (name, ns))
        .collect()
}

/// Returns the mean time of each captured statement of a fitted workload: each of them, and each transaction, is a script.
fn script_times(record: &RunRecord) -> Vec<(String, f64)> {
    if !record.plan.is_fitted() {
        return Vec::new();
    }
    let of_script = |script: &TransactionRecord| {
        let latency = script.service_latency_ns.as_ref().filter(|latency| script.failed == 0 && latency.mean > 0.0)?;
        Some((script.name.clone(), latency.mean))
    };
    // The scripts are in the order of the captured time; all verdicts together share the error that is allowed.
    record.transactions.iter().take(SCRIPTS_MAX).filter_map(of_script).collect()
}

/// Returns the first stage with tasks, and their names.
fn named(record: &RunRecord) -> Option<(String, Vec<String>)> {
    let (stage, group) = tasks::groups(record).next()?;
    Some((stage.name.clone(), group.transactions.iter().map(|txn| txn.name.clone()).collect()))
}

/// Returns the times of a task; `None` if it failed, or never ended.
fn times(record: &RunRecord, stage: &str, name: &str) -> Option<Repeated> {
    let (_, group) = tasks::groups(record).find(|(known, _)| known.name == stage)?;
    let task = tasks::of_group(group).find(|task| task.txn.name == name)?;
    task.times().filter(|times| task.txn.failed == 0 && times.count > 0 && times.mean > 0.0)
}

/// Tests the change: several runs of each side by their means, single ones by their repeats.
fn test(base: &[Repeated], new: &[Repeated], options: &CompareOptions) -> Option<Tested> {
    if let ([base], [new]) = (base, new) {
        let noise = options.run_noise.map_or(0.0, |deviation| deviation * deviation);
        let estimate = |times: &Repeated| {
            let Estimate { log, variance, dof } = times.estimate()?;
            // Only the part that was estimated has few degrees of freedom.
            let all = variance + noise;
            Some(Estimate { log, variance: all, dof: dof * (all / variance).powi(2) })
        };
        return Some(Tested::between(&estimate(base)?, &estimate(new)?, options.confidence));
    }
    let means = |side: &[Repeated]| side.iter().map(|times| times.mean).collect::<Vec<_>>();
    Tested::of_runs(&means(base), &means(new), options.confidence)
}

/// Returns the geometric mean of the runs.
fn mean(side: &[Repeated]) -> f64 {
    super::mean(&side.iter().map(|times| times.mean).collect::<Vec<_>>())
}

/// Returns what the verdicts stand on; `None` without tasks.
pub(super) fn note(tasks: &Tasks, sides: [usize; 2], options: &CompareOptions) -> Option<String> {
    let judged = tasks.list.iter().filter(|task| task.change.is_some()).count();
    if tasks.list.is_empty() {
        return None;
    }
    let alone = sides == [1, 1] && options.run_noise.is_none();
    Some(match judged {
        0 => "no interval for single tasks: run each side several times, or repeat the tasks within a run (--repeat)"
            .to_owned(),
        _ => format!(
            "{judged} tasks are judged together, by Holm's method: at {} confidence none of those shown as slower or faster \
             is chance alone{}",
            super::words::share(options.confidence),
            if alone { "; that is within these two runs: how much runs differ is not in it" } else { "" }
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_is_said_in_one_line() {
        let task = |name: &str, verdict| TaskChange {
            name: name.to_owned(),
            base_ns: 1e9,
            new_ns: 2e9,
            change: None,
            verdict,
        };
        let list = vec![
            task("q1", ChangeVerdict::Slower),
            task("q2", ChangeVerdict::NoDifference),
            task("q3", ChangeVerdict::Slower),
        ];
        let tasks = Tasks { stage: "power".to_owned(), list };
        assert_eq!(tasks.summary().as_deref(), Some("power: q1, q3 slower; no difference shown of 1"));
        let unknown = Tasks { stage: "power".to_owned(), list: vec![task("q1", ChangeVerdict::Undecided)] };
        assert_eq!((unknown.summary(), Tasks::default().summary()), (None, None));
    }
}
