//! A clock that goes as fast as a rate that changes in steps: arrivals of a constant rate on it are those of the steps.
//!
//! For Poisson arrivals this is the time change of an inhomogeneous process; equally spaced arrivals are equally spaced within a step.

use pgdyno_workload::RateSteps;

/// The clock. Times are in nanoseconds since the stage began.
#[derive(Debug)]
pub(super) struct StepClock {
    ramp_ns: f64,
    step_ns: f64,
    /// How fast the clock goes in each step.
    speeds: Vec<f64>,
    /// The clock's time at the end of each step, since the first one began.
    ends_ns: Vec<f64>,
}

impl StepClock {
    /// Returns the clock of these steps, on which arrivals have this rate.
    pub(super) fn new(steps: &RateSteps, ramp_ns: u64, rate_per_s: f64) -> Self {
        let step_ns = steps.step_s * 1e9;
        let speeds: Vec<f64> = steps.steps.iter().map(|factor| factor * steps.per_s / rate_per_s).collect();
        let mut end_ns = 0.0;
        let end = |speed: &f64| {
            end_ns += speed * step_ns;
            end_ns
        };
        let ends_ns = speeds.iter().map(end).collect();
        Self { ramp_ns: ramp_ns as f64, step_ns, speeds, ends_ns }
    }

    /// Returns the clock's time at this time.
    pub(super) fn warped(&self, real_ns: f64) -> f64 {
        let within_ns = real_ns - self.ramp_ns;
        if within_ns <= 0.0 {
            return self.speeds[0] * real_ns;
        }
        let steps = within_ns / self.step_ns;
        let rounds = (steps / self.speeds.len() as f64).floor();
        let step = ((steps - rounds * self.speeds.len() as f64) as usize).min(self.speeds.len() - 1);
        let into_ns = within_ns - (rounds * self.speeds.len() as f64 + step as f64) * self.step_ns;
        self.speeds[0] * self.ramp_ns + rounds * self.round_ns() + self.begin_ns(step) + self.speeds[step] * into_ns
    }

    /// Returns the time at which the clock passes this time: after a step in which it stands, the end of the step.
    pub(super) fn real(&self, warped_ns: f64) -> f64 {
        let within_ns = warped_ns - self.speeds[0] * self.ramp_ns;
        if within_ns < 0.0 {
            return warped_ns / self.speeds[0];
        }
        let rounds = (within_ns / self.round_ns()).floor();
        let rest_ns = within_ns - rounds * self.round_ns();
        let step = self.ends_ns.partition_point(|end_ns| *end_ns <= rest_ns);
        let into_ns = match self.speeds.get(step) {
            Some(speed) => ((rest_ns - self.begin_ns(step)) / speed).clamp(0.0, self.step_ns),
            // Rounding has put it at the end of the round.
            None => 0.0,
        };
        self.ramp_ns + (rounds * self.speeds.len() as f64 + step as f64) * self.step_ns + into_ns
    }

    fn begin_ns(&self, step: usize) -> f64 {
        step.checked_sub(1).map_or(0.0, |before| self.ends_ns[before])
    }

    fn round_ns(&self) -> f64 {
        self.ends_ns[self.ends_ns.len() - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_agree() {
        let steps = RateSteps { per_s: 40.0, step_s: 0.3, steps: vec![0.7, 0.0, 2.0, 1.1] };
        for ramp_ns in [0, 777_000_000] {
            let clock = StepClock::new(&steps, ramp_ns, 31.0);
            let mut last_ns = 0.0;
            for nth in 0..100_000 {
                let warped_ns = f64::from(nth) * 1e5;
                let real_ns = clock.real(warped_ns);
                assert!((clock.warped(real_ns) - warped_ns).abs() < 1.0, "{warped_ns}: {real_ns}");
                assert!(real_ns >= last_ns, "{warped_ns}: {real_ns} after {last_ns}");
                last_ns = real_ns;
            }
        }
        let late = StepClock::new(&steps, 0, 31.0);
        let week_ns = 7.0 * 86_400e9;
        assert!((late.warped(late.real(week_ns)) - week_ns).abs() < 1000.0);
    }
}
