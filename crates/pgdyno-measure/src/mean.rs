//! The mean of a few independent values, such as repeated runs, and how uncertain it is.

use crate::compare::student;

/// The chance that an interval holds the truth.
const CONFIDENCE: f64 = 0.95;

/// Returns the mean; `None` of no values.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the median; `None` of no values.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[half]),
        _ => Some(f64::midpoint(sorted[half - 1], sorted[half])),
    }
}

/// Returns how far the 95 % interval of the mean reaches to each side of it (Student's t); `None` with fewer than two values.
#[must_use]
pub fn reach(values: &[f64]) -> Option<f64> {
    let (n, mean) = (values.len() as f64, mean(values)?);
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (values.len() > 1).then(|| t(n - 1.0) * (variance / n).sqrt())
}

/// Returns the factor of a standard error with so many degrees of freedom.
pub(crate) fn t(dof: f64) -> f64 {
    student::quantile(0.5 + CONFIDENCE / 2.0, dof)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students() {
        // Of 8, 10 and 12: s = 2, and t is 4.303 with two degrees of freedom.
        assert_eq!(mean(&[8.0, 10.0, 12.0]), Some(10.0));
        let reached = reach(&[8.0, 10.0, 12.0]).unwrap();
        assert!((reached - 4.302_652_73 * 2.0 / 3_f64.sqrt()).abs() < 1e-6, "{reached}");
        assert_eq!((reach(&[5.0, 5.0]), reach(&[5.0]), mean(&[])), (Some(0.0), None, None));
    }

    #[test]
    fn the_median_of_an_even_number_is_between_the_two_in_the_middle() {
        assert_eq!(
            [median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0, 3.0, 2.0]), median(&[])],
            [Some(2.0), Some(2.5), None]
        );
    }
}
