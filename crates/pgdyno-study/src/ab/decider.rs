//! Decides what an experiment measures next, and what its units show. `pgdyno_measure::ab` has the statistics.

use pgdyno_life::exit_code::Code;
use pgdyno_measure::ab::{Experiment, Shown};
use pgdyno_results::{AbRecord, AbTask, AbTaskRatio, AbUnit, AbVerdict};

use super::levels::{self, percent};
use super::statements;

/// The decider of an experiment.
pub(crate) struct Decider {
    experiment: Experiment,
    /// Units that the last look took into account.
    looked_at: usize,
    /// Whether less of the figure is better.
    pub(crate) is_time: bool,
}

impl Decider {
    /// Returns the decider of an experiment that begins, or goes on.
    pub(crate) fn of(record: &AbRecord) -> Self {
        let experiment = Experiment { margin: record.margin, confidence: record.confidence, looks: record.looks };
        Self { experiment, looked_at: record.units.len(), is_time: false }
    }

    /// Returns the number of units at which the next look is due.
    pub(crate) fn next_look(&self) -> usize {
        self.experiment.next_look()
    }

    /// Returns the sides of the slices of the next block, as indices; `None` when the experiment is decided. Every other block is
    /// the other way round.
    pub(crate) fn next(record: &AbRecord) -> Option<[usize; 4]> {
        let block = if record.units.len().is_multiple_of(2) { [0, 1, 1, 0] } else { [1, 0, 0, 1] };
        (record.verdict == AbVerdict::Undecided).then_some(block)
    }

    /// Adds a unit. Looks at all of them if a look is due.
    pub(crate) fn add(&mut self, record: &mut AbRecord, unit: AbUnit) {
        record.units.push(unit);
        if record.units.len() >= self.experiment.next_look() {
            self.look(record);
        } else if record.looks == 0 {
            record.figures = levels::figures(&record.units, &record.metric, None);
            record.clients_time = levels::parts(&record.units);
            statements::evaluate(record);
        }
    }

    /// Looks at units that no look took into account yet. No others will follow.
    pub(crate) fn look_last(&mut self, record: &mut AbRecord) {
        if record.units.len() > self.looked_at {
            self.look(record);
        }
    }

    fn look(&mut self, record: &mut AbRecord) {
        self.looked_at = record.units.len();
        let ratios: Vec<f64> = record.units.iter().map(|unit| unit.log_ratio).collect();
        let before = self.experiment;
        let Some(look) = self.experiment.look(&ratios) else { return };
        record.looks = self.experiment.looks;
        let change_percent = percent(look.change.ratio);
        let interval_percent = [percent(look.change.low), percent(look.change.high)];
        (record.change_percent, record.interval_percent) = (Some(change_percent), Some(interval_percent));
        record.noise_percent = Some(look.change.variance_of_one.sqrt() * 100.0);
        record.units_for_power = look.units_for_power(ratios.len(), self.experiment.margin);
        record.detectable_percent = Some(look.detectable(ratios.len()) * 100.0);
        record.verdict = verdict(look.shown, self.is_time);
        let decided = levels::Decided { change_percent, interval_percent };
        record.figures = levels::figures(&record.units, &record.metric, Some((before, decided)));
        record.clients_time = levels::parts(&record.units);
        statements::evaluate(record);
        record.tasks = self.look_at_tasks(&record.units);
    }

    /// Looks at the tasks that every unit has, after the look at the figure. They share the error that is allowed equally
    /// (Bonferroni), so that all of their intervals hold together.
    fn look_at_tasks(&self, units: &[AbUnit]) -> Vec<AbTask> {
        let ratio =
            |unit: &AbUnit, name: &str| unit.tasks.iter().find(|task| task.name == name).map(|task| task.log_ratio);
        let names = units.first().into_iter().flat_map(|unit| unit.tasks.iter().map(|task| task.name.as_str()));
        let ratios = |name| {
            let ratios = units.iter().map(|unit| ratio(unit, name)).collect::<Option<Vec<f64>>>()?;
            Some((name, ratios))
        };
        let tasks: Vec<(&str, Vec<f64>)> = names.filter_map(ratios).collect();
        let confidence = 1.0 - (1.0 - self.experiment.confidence) / tasks.len().max(1) as f64;
        let looks = self.experiment.looks.saturating_sub(1);
        let look = |(name, ratios): &(&str, Vec<f64>)| {
            let look = Experiment { confidence, looks, ..self.experiment }.look(ratios)?;
            Some(AbTask {
                name: (*name).to_owned(),
                change_percent: percent(look.change.ratio),
                interval_percent: [percent(look.change.low), percent(look.change.high)],
                verdict: verdict(look.shown, true),
            })
        };
        tasks.iter().filter_map(look).collect()
    }
}

/// Returns the exit code of a verdict.
pub(crate) fn code(verdict: AbVerdict) -> Code {
    match verdict {
        AbVerdict::Slower => Code::Slower,
        AbVerdict::Undecided => Code::Unsure,
        AbVerdict::Faster | AbVerdict::NoDifference => Code::Success,
    }
}

/// Returns what is shown of B, whose figure is a time or a throughput.
fn verdict(shown: Shown, is_time: bool) -> AbVerdict {
    match (shown, is_time) {
        (Shown::Up, false) | (Shown::Down, true) => AbVerdict::Faster,
        (Shown::Down, false) | (Shown::Up, true) => AbVerdict::Slower,
        (Shown::Same, _) => AbVerdict::NoDifference,
        (Shown::Nothing, _) => AbVerdict::Undecided,
    }
}

/// Returns the ratio of the geometric means of each task's times that all four slices have: two of each side.
pub(crate) fn task_ratios([a, b]: &[Vec<(String, f64)>; 2]) -> Vec<AbTaskRatio> {
    let logs = |side: &[(String, f64)], name: &str| {
        let times: Vec<f64> = side.iter().filter(|(task, _)| task == name).map(|(_, ns)| ns.ln()).collect();
        (times.len() == 2).then(|| times.iter().sum::<f64>() / 2.0)
    };
    let mut ratios: Vec<AbTaskRatio> = Vec::new();
    for (name, _) in a {
        if ratios.iter().all(|task| task.name != *name)
            && let Some((of_a, of_b)) = logs(a, name).zip(logs(b, name))
        {
            ratios.push(AbTaskRatio { name: name.clone(), log_ratio: of_b - of_a });
        }
    }
    ratios
}

#[cfg(test)]
mod tests {
    use super::*;

    fn experiment() -> AbRecord {
        AbRecord { margin: 0.02, confidence: 0.95, ..AbRecord::default() }
    }

    fn unit(log_ratio: f64) -> AbUnit {
        AbUnit { log_ratio, ..AbUnit::default() }
    }

    /// Adds units one after the other; the second of each pair differs a little from the first.
    fn add(decider: &mut Decider, record: &mut AbRecord, log_ratio: f64, units: usize) {
        for nth in 0..units {
            decider.add(record, unit(log_ratio + 0.001 * (nth % 2) as f64));
        }
    }

    #[test]
    fn blocks_take_turns_until_the_experiment_is_decided() {
        let mut record = experiment();
        assert_eq!(Decider::next(&record), Some([0, 1, 1, 0]));
        let mut decider = Decider::of(&record);
        add(&mut decider, &mut record, -0.3, 1);
        assert_eq!(Decider::next(&record), Some([1, 0, 0, 1]));
        add(&mut decider, &mut record, -0.3, 3);
        assert_eq!((record.looks, record.verdict), (1, AbVerdict::Slower), "the first look is at four units");
        assert_eq!((Decider::next(&record), code(record.verdict)), (None, Code::Slower));
    }

    #[test]
    fn the_end_of_the_budget_is_a_look_if_units_wait_for_one() {
        let mut record = experiment();
        let mut decider = Decider::of(&record);
        add(&mut decider, &mut record, 0.0, 3);
        decider.look_last(&mut record);
        assert_eq!((record.looks, record.verdict), (0, AbVerdict::Undecided), "three units are too few for a look");
        for log_ratio in [-0.5, 0.5] {
            decider.add(&mut record, unit(log_ratio));
        }
        assert_eq!((record.looks, record.units.len()), (1, 5), "the second look is due at six");
        decider.look_last(&mut record);
        decider.look_last(&mut record);
        assert_eq!(record.looks, 2, "a look is at something new");
        // Resumed, all units have been looked at, and looks go on from there.
        let mut resumed = Decider::of(&record);
        resumed.look_last(&mut record);
        assert_eq!(record.looks, 2);
    }

    #[test]
    fn less_of_a_time_is_faster() {
        let verdicts = |is_time| [Shown::Up, Shown::Down, Shown::Same].map(|shown| verdict(shown, is_time));
        assert_eq!(verdicts(false), [AbVerdict::Faster, AbVerdict::Slower, AbVerdict::NoDifference]);
        assert_eq!(verdicts(true), [AbVerdict::Slower, AbVerdict::Faster, AbVerdict::NoDifference]);
    }

    #[test]
    fn a_task_has_a_ratio_if_all_four_slices_did_it() {
        let task = |name: &str, ns| (name.to_owned(), ns);
        let a = vec![task("q1", 10.0), task("q2", 5.0), task("q1", 40.0)];
        let b = vec![task("q1", 40.0), task("q2", 5.0), task("q1", 40.0), task("q2", 5.0)];
        let ratios = task_ratios(&[a, b]);
        assert_eq!(ratios.len(), 1, "q2 failed once: {ratios:?}");
        assert!(ratios[0].name == "q1" && (ratios[0].log_ratio - 2_f64.ln()).abs() < 1e-12, "{ratios:?}");
    }
}
