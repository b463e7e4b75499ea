//! The samples of values with which a statement does on the copy what it did on the captured server.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::copy::{Copy, FitError};
use super::measure::{Method, PerCall, Way, measure, measure_each};
use super::roles::{How, Role, Source};
use super::values::{ADDED, Parameters, Sampling, Values};
use crate::refusal::Refusal;

/// Executions by which a sampling is measured.
const EXECUTIONS: usize = 6;

/// Executions by which the best sampling is confirmed, for how long at most: the mean of a few is near by chance where a few rows have most of
/// the rows that refer to them.
const CONFIRMING: usize = 200;
const CONFIRMING_TIME: Duration = Duration::from_secs(3);

/// Standard errors by which their mean may be off.
const SURE: f64 = 2.0;

/// Executions where some of the keys are new.
const EXECUTIONS_OF_UPSERT: usize = 60;

/// How much nearer a sampling must be than plain samples to replace them: values of which rows and blocks are equal stay a mixture.
const BETTER: f64 = 0.15;

/// How long samplings of a statement are tried. The best of those that were is taken.
const SEARCH_MAX: Duration = Duration::from_secs(30);

/// Executions that are measured one by one where no sampling is near, for how long at most, and how many of them must be left.
const SINGLE_MAX: usize = 1000;
const SINGLE_TIME: Duration = Duration::from_secs(10);
const PICKED_MIN: usize = 3;

/// Number of shares that are tried for the first of two.
const SHARES: u32 = 40;

/// One sampling, or two that are mixed.
#[derive(Clone, Debug)]
pub(super) struct Mixture {
    /// Each with its share.
    pub(super) parts: Vec<(f64, Sampling)>,
    /// What the statement does with it.
    pub(super) per_call: PerCall,
}

/// A column with one of its common values.
pub(super) type CommonValue = (Source, String, String);

/// Finds the mixture whose rows and blocks of a call are nearest to the wanted ones. Returns why the server refuses the statement, if
/// it does.
pub(super) fn nearest(
    copy: &mut Copy,
    method: &Method,
    parameters: &Parameters,
    wanted: PerCall,
    common: &[CommonValue],
) -> Result<Result<Mixture, Refusal>, FitError> {
    let first = first(wanted);
    let mut search = Search { copy, method, parameters, wanted, measured: Vec::new(), began: Instant::now() };
    if let Err(why) = search.measure(&first)? {
        return Ok(Err(why));
    }
    let mut best = first;
    for _ in 0..2 {
        let before = best.clone();
        for ladder in ladders(&parameters.roles, wanted, common) {
            best = search.climb(best, &ladder)?;
        }
        if best == before {
            break;
        }
    }
    if let Some(picked) = search.pick(&best)? {
        return Ok(Ok(picked));
    }
    Ok(Ok(mixed(&search.measured, &best, wanted)))
}

/// Returns what is tried first.
fn first(wanted: PerCall) -> Sampling {
    let rows = wanted.rows.round().clamp(1.0, 1e6);
    Sampling {
        fixed: None,
        width: 0.01,
        prefix: 4,
        elements: (rows as u32).min(100),
        limit: rows as u64,
        offset: 0,
        added: 1,
        is_missing: false,
        picked: None,
    }
}

/// A change of a sampling.
type Step = Box<dyn Fn(&mut Sampling)>;

/// Changes of one property, in the order in which they are tried. A ladder that grows ends where far too much is returned.
struct Ladder {
    steps: Vec<Step>,
    grows: bool,
}

impl Ladder {
    fn of<T: Clone + 'static>(values: impl IntoIterator<Item = T>, grows: bool, set: fn(&mut Sampling, T)) -> Self {
        let step = |value: T| Box::new(move |sampling: &mut Sampling| set(sampling, value.clone())) as Step;
        Self { steps: values.into_iter().map(step).collect(), grows }
    }
}

fn ladders(roles: &[Role], wanted: PerCall, common: &[CommonValue]) -> Vec<Ladder> {
    let has = |how: How| roles.iter().any(|role| role.is(how));
    let mut ladders = Vec::new();
    let has_elements = roles.iter().any(Role::has_elements);
    if has_elements && roles.contains(&Role::Limit) {
        // Rows are the product of both.
        let near = wanted.rows.round().max(1.0);
        let both = [(near as u32, 1), (1, near as u64)].map(|(elements, limit)| (elements.min(500), limit));
        ladders.push(Ladder::of(both, false, |sampling, (elements, limit)| {
            (sampling.elements, sampling.limit) = (elements, limit);
        }));
    }
    if has_elements {
        let steps = [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 500];
        ladders.push(Ladder::of(steps, true, |sampling, n| sampling.elements = n));
    }
    if has(How::Above) || has(How::Below) {
        let widths = (-8..=0).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)));
        ladders.push(Ladder::of(widths.filter(|width| *width <= 1.0), true, |sampling, width| sampling.width = width));
    }
    if has(How::Like) {
        ladders.push(Ladder::of((0..=10).rev(), true, |sampling, n| sampling.prefix = n));
    }
    if roles.contains(&Role::Added) {
        ladders.push(Ladder::of(0..ADDED.len(), true, |sampling, place| sampling.added = place));
    }
    if roles.contains(&Role::Limit) {
        let near = wanted.rows.round().max(1.0) as u64;
        ladders.push(Ladder::of([near, 1, 10, 20, 50, 100, 1000], false, |sampling, n| sampling.limit = n));
    }
    if roles.contains(&Role::Offset) {
        ladders.push(Ladder::of([0, 10, 100, 1000, 10_000, 100_000], true, |sampling, n| sampling.offset = n));
    }
    if !common.is_empty() {
        let all = [None].into_iter().chain(common.iter().cloned().map(Some));
        ladders.push(Ladder::of(all, false, |sampling, fixed| sampling.fixed = fixed));
    }
    if has(How::Equal) {
        ladders.push(Ladder::of([false, true], false, |sampling, is_missing| sampling.is_missing = is_missing));
    }
    ladders
}

struct Search<'a> {
    copy: &'a mut Copy,
    method: &'a Method,
    parameters: &'a Parameters,
    wanted: PerCall,
    measured: Vec<(Sampling, PerCall)>,
    began: Instant,
}

impl Search<'_> {
    fn measure(&mut self, sampling: &Sampling) -> Result<Result<PerCall, Refusal>, FitError> {
        if let Some((_, known)) = self.measured.iter().find(|(known, _)| known == sampling) {
            return Ok(Ok(*known));
        }
        let executions = if self.parameters.new_share.is_some() { EXECUTIONS_OF_UPSERT } else { EXECUTIONS };
        let values = self.parameters.values(self.copy, sampling, executions)?;
        let measured = measure(self.copy, self.method, &values)?;
        if let Ok(per_call) = &measured {
            self.measured.push((sampling.clone(), *per_call));
        }
        Ok(measured)
    }

    /// Returns values of single executions that together come near, where the best sampling does not: a few rows may have most of the
    /// rows that refer to them.
    fn pick(&mut self, best: &Sampling) -> Result<Option<Mixture>, FitError> {
        let has_rows = self.parameters.roles.iter().any(|role| matches!(role, Role::Column(..)));
        if !has_rows || !matches!(self.method.way, Way::Explain { writes: false }) {
            return Ok(None);
        }
        if self.is_near(best) && self.confirm(best)? {
            return Ok(None);
        }
        let mut values = self.parameters.values(self.copy, best, SINGLE_MAX)?;
        let mut known = BTreeSet::new();
        values.retain(|one| known.insert(one.clone()));
        let measured = measure_each(self.copy, self.method, &values, Instant::now() + SINGLE_TIME)?;
        let found = picked(values.into_iter().zip(measured).collect(), self.wanted);
        Ok(found.map(|(values, per_call)| {
            let sampling = Sampling { picked: Some(values), ..best.clone() };
            Mixture { parts: vec![(1.0, sampling)], per_call }
        }))
    }

    fn is_near(&self, sampling: &Sampling) -> bool {
        self.measured.iter().any(|(known, of)| known == sampling && of.represents(self.wanted))
    }

    /// Measures a sampling again, by more executions. Returns true if it is near then, too.
    fn confirm(&mut self, sampling: &Sampling) -> Result<bool, FitError> {
        let values = self.parameters.values(self.copy, sampling, CONFIRMING)?;
        let all = measure_each(self.copy, self.method, &values, Instant::now() + CONFIRMING_TIME)?;
        // Too few ended in time to know more.
        if all.len() <= EXECUTIONS {
            return Ok(true);
        }
        if let Some((_, of)) = self.measured.iter_mut().find(|(known, _)| known == sampling) {
            *of = mean(&all);
        }
        Ok(is_surely_near(&all, self.wanted))
    }

    /// Returns the best sampling that a ladder leads to.
    fn climb(&mut self, from: Sampling, ladder: &Ladder) -> Result<Sampling, FitError> {
        let mut best = (from.clone(), f64::INFINITY);
        if let Ok(per_call) = self.measure(&from)? {
            best.1 = per_call.distance(self.wanted);
        }
        for step in &ladder.steps {
            if self.began.elapsed() > SEARCH_MAX {
                break;
            }
            let mut sampling = from.clone();
            step(&mut sampling);
            // A value that the server refuses, or with which it takes too long, is none.
            let Ok(per_call) = self.measure(&sampling)? else { if ladder.grows { break } else { continue } };
            let distance = per_call.distance(self.wanted);
            if distance < best.1 - BETTER {
                best = (sampling, distance);
            }
            let far = |now: f64, wanted: f64| now > 4.0 * (wanted + 1.0);
            if ladder.grows && (far(per_call.rows, self.wanted.rows) || far(per_call.blocks, self.wanted.blocks)) {
                break;
            }
        }
        Ok(best.0)
    }
}

fn mean(all: &[PerCall]) -> PerCall {
    let of_first = |mean: PerCall, (nth, of): (usize, &PerCall)| of.mixed(1.0 / (nth as f64 + 1.0), mean);
    all.iter().enumerate().fold(PerCall::default(), of_first)
}

/// Returns true if the mean of these executions is near at both ends of its error: then the mean of further executions is near, too.
fn is_surely_near(all: &[PerCall], wanted: PerCall) -> bool {
    let (mean, n) = (mean(all), all.len() as f64);
    let error = |of: fn(&PerCall) -> f64| {
        let squares: f64 = all.iter().map(|one| (of(one) - of(&mean)).powi(2)).sum();
        SURE * (squares / (n - 1.0).max(1.0) / n).sqrt()
    };
    let errors = PerCall { rows: error(|of| of.rows), blocks: error(|of| of.blocks) };
    [-1.0, 1.0].iter().all(|sign| {
        let end = |mean: f64, error: f64| (mean + sign * error).max(0.0);
        let end = PerCall { rows: end(mean.rows, errors.rows), blocks: end(mean.blocks, errors.blocks) };
        end.represents(wanted)
    })
}

/// Returns the executions with most rows and blocks, or with fewest, whose means are nearest; `None` if they are not near.
fn picked(mut all: Vec<(Values, PerCall)>, wanted: PerCall) -> Option<(Vec<Values>, PerCall)> {
    let size = |(_, of): &(Values, PerCall)| (of.rows + 0.1).ln() + (of.blocks + 1.0).ln();
    all.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let mut nearest = None;
    let mut least = f64::INFINITY;
    for _ in 0..2 {
        let mut mean = PerCall::default();
        for (nth, (_, of)) in all.iter().enumerate() {
            mean = of.mixed(1.0 / (nth as f64 + 1.0), mean);
            let distance = mean.distance(wanted);
            if nth + 1 >= PICKED_MIN && mean.represents(wanted) && distance < least {
                least = distance;
                nearest = Some((all[..=nth].iter().map(|(values, _)| values.clone()).collect(), mean));
            }
        }
        all.reverse();
    }
    nearest
}

/// Returns the best sampling, or the two that together come nearer.
fn mixed(measured: &[(Sampling, PerCall)], best: &Sampling, wanted: PerCall) -> Mixture {
    let of_best =
        measured.iter().find(|(sampling, _)| sampling == best).map(|(_, per_call)| *per_call).unwrap_or_default();
    let single = Mixture { parts: vec![(1.0, best.clone())], per_call: of_best };
    // Almost any figures can be met by a mixture that has nothing to do with them.
    if of_best.represents(wanted) {
        return single;
    }
    let mut nearest = (of_best.distance(wanted) - BETTER, single);
    for (nth, (a, of_a)) in measured.iter().enumerate() {
        for (b, of_b) in &measured[..nth] {
            for share in (1..SHARES).map(|part| f64::from(part) / f64::from(SHARES)) {
                let per_call = of_a.mixed(share, *of_b);
                let distance = per_call.distance(wanted);
                if distance < nearest.0 {
                    let parts = vec![(share, a.clone()), (1.0 - share, b.clone())];
                    nearest = (distance, Mixture { parts, per_call });
                }
            }
        }
    }
    nearest.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_are_picked_from_the_greatest_or_the_smallest() {
        let of = |rows, blocks| PerCall { rows, blocks };
        let values = |nth: usize| vec![Some(nth.to_string())];
        let all = |figures: &[f64]| -> Vec<_> {
            figures.iter().enumerate().map(|(nth, rows)| (values(nth), of(*rows, *rows))).collect()
        };
        let figures = [1.0, 1.0, 1000.0, 2.0, 90.0, 80.0, 1.0];
        let (found, mean) = picked(all(&figures), of(290.0, 290.0)).unwrap();
        assert_eq!((found, mean.rows.round()), (vec![values(2), values(4), values(5), values(3)], 293.0));
        let (found, _) = picked(all(&figures), of(1.0, 1.0)).unwrap();
        assert_eq!(found.len(), 3);
        assert_eq!(picked(all(&figures), of(5000.0, 5000.0)), None);
        assert_eq!(picked(all(&figures), of(1.0, 500.0)), None);
        assert_eq!(picked(all(&[5.0]), of(5.0, 5.0)), None);
    }

    #[test]
    fn a_mean_that_is_near_by_chance_is_not_confirmed() {
        let of = |rows| PerCall { rows, blocks: 10.0 };
        let wanted = PerCall { rows: 30.0, blocks: 10.0 };
        // Two of five have 30 rows, the others 6: 15.6 on average, and 14.6 or 16.6 in another sample.
        let edge: Vec<_> = (0..200).map(|nth| of(if nth % 5 < 2 { 30.0 } else { 6.0 })).collect();
        assert!(mean(&edge).represents(wanted) && !is_surely_near(&edge, wanted));
        // One of a hundred has nearly all.
        let rare: Vec<_> = (0..200).map(|nth| of(if nth % 100 == 0 { 3000.0 } else { 0.1 })).collect();
        assert!(mean(&rare).represents(wanted) && !is_surely_near(&rare, wanted));
        let scattered: Vec<_> = (0..200).map(|nth| of(f64::from(nth % 60))).collect();
        assert!(is_surely_near(&scattered, wanted) && is_surely_near(&[of(30.0); 7], wanted));
    }

    #[test]
    fn two_samplings_are_mixed_where_neither_is_near() {
        let sampling = |elements| Sampling { elements, ..first(PerCall::default()) };
        let of = |rows, blocks| PerCall { rows, blocks };
        let measured = [(sampling(1), of(1.0, 4.0)), (sampling(2), of(100.0, 1000.0))];
        let mixture = mixed(&measured, &sampling(1), of(10.9, 103.6));
        assert_eq!(mixture.parts.iter().map(|(share, _)| (share * 100.0).round()).collect::<Vec<_>>(), [10.0, 90.0]);
        assert!(mixture.per_call.distance(of(10.9, 103.6)) < 0.01);
        let near = mixed(&measured, &sampling(1), of(1.0, 4.2));
        assert_eq!(near.parts, [(1.0, sampling(1))]);
    }
}
