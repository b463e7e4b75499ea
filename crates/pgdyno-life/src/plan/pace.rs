//! The offered rate of a run, and its steps.

use std::borrow::Cow;

use pgdyno_plan::{Order, Pace, Rate, RateOrder, RateSteps, RateStepsOrder};
use pgdyno_workload::RATE_MAX_PER_S;

use crate::exit_code::Code;
use crate::failure::{CommandError, Result};
use crate::plan::workload_source::WorkloadSource;

/// Returns the order with a length: all steps of its rate once, if the rate changes in steps and the order has no length.
pub(super) fn with_length<'a>(order: &'a Order, source: &WorkloadSource) -> Result<Cow<'a, Order>> {
    let drive = &order.drive;
    if drive.time.is_some() || drive.transactions.is_some() {
        return Ok(Cow::Borrowed(order));
    }
    Ok(match steps(order, source)? {
        None => Cow::Borrowed(order),
        Some(steps) => {
            let mut order = order.clone();
            order.drive.time = Some(steps.length_s());
            Cow::Owned(order)
        }
    })
}

/// Returns when transactions start, and how the rate changes. The rate is the mean over the measured window.
pub(super) fn planned(order: &Order, source: &WorkloadSource) -> Result<(Pace, Option<RateSteps>)> {
    let steps = steps(order, source)?;
    let per_s = match &steps {
        None => rate_per_s(order, source)?,
        Some(steps) => Some(steps.mean_per_s(0.0, order.drive.time.unwrap_or_else(|| steps.length_s()))),
    };
    if per_s == Some(0.0) {
        let error = "the steps of the rate that the measured window has are all 0";
        return Err(
            CommandError::new(Code::Start, error).hint("give a longer --time, or shorter steps: --rate-steps=10s")
        );
    }
    if order.drive.arrivals.is_some() && per_s.is_none() {
        let error = "--arrivals chooses the distribution of the arrivals of a rate, and this run has no rate";
        let hint = "give --rate, or leave out --arrivals; a directory can have rate_per_s below [run] in workload.toml";
        return Err(CommandError::new(Code::Start, error).hint(hint));
    }
    let arrivals = order.drive.arrivals.unwrap_or_default();
    Ok((per_s.map(|per_s| Rate { per_s, arrivals }).into(), steps))
}

/// Returns the steps of the rate, if it changes in steps.
fn steps(order: &Order, source: &WorkloadSource) -> Result<Option<RateSteps>> {
    let own = source.run_defaults();
    let is_usual = own.follow_rate_steps.unwrap_or(true);
    let asked = order.drive.rate_steps.or_else(|| own.steps().filter(|_| is_usual).map(|_| RateStepsOrder::Own));
    let Some(asked) = asked.filter(|asked| *asked != RateStepsOrder::None) else { return Ok(None) };
    let failed = |error: String, hint: &str| Err(CommandError::new(Code::Start, error).hint(hint));
    let Some(steps) = own.steps() else {
        let error =
            format!("--rate-steps changes the rate in the workload's own steps, and {} has none", source.name());
        return failed(error, "leave it out, or write rate_steps and rate_step below [run] in workload.toml");
    };
    let Some(per_s) = rate_per_s(order, source)? else {
        // Without a rate there is nothing to follow.
        return match order.drive.rate_steps {
            None => Ok(None),
            Some(_) => failed("--rate-steps needs a rate".to_owned(), "leave out -R none"),
        };
    };
    let step_s = match asked {
        RateStepsOrder::Each(step_s) => step_s,
        RateStepsOrder::Own | RateStepsOrder::None => steps.step_s,
    };
    let steps = RateSteps { per_s, step_s, ..steps };
    match steps.admit() {
        Ok(()) => Ok(Some(steps)),
        Err(error) => failed(format!("--rate-steps: {error}"), "give another length, such as --rate-steps=10s"),
    }
}

/// Returns the offered rate in transactions a second; `None` for a closed loop.
fn rate_per_s(order: &Order, source: &WorkloadSource) -> Result<Option<f64>> {
    let own = source.run_defaults().rate_per_s;
    let times = match order.drive.rate {
        None => return Ok(own),
        Some(RateOrder::None) => return Ok(None),
        Some(RateOrder::PerS(per_s)) => return Ok(Some(per_s)),
        Some(RateOrder::Times(times)) => times,
    };
    let failed = |error: String, hint: &str| CommandError::new(Code::Start, error).hint(hint);
    let Some(own) = own else {
        let error = format!("--rate {times}x is a multiple of the workload's own rate, and {} has none", source.name());
        return Err(failed(error, "give transactions a second, or write rate_per_s below [run] in workload.toml"));
    };
    let per_s = own * times;
    if per_s > RATE_MAX_PER_S {
        let error = format!("--rate {times}x is {per_s:.0} transactions a second, and 1e9 is the maximum");
        return Err(failed(error, "lower it"));
    }
    Ok(Some(per_s))
}
