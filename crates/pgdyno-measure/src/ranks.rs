//! The middle of values that vary symmetrically, by their ranks: a few wild values hardly move it, and nothing is assumed of how
//! often they come.

/// A middle and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Middle {
    /// The median of the means of all pairs (Hodges and Lehmann 1963).
    pub(crate) at: f64,
    /// The interval's lower end.
    pub(crate) low: f64,
    /// The interval's upper end.
    pub(crate) high: f64,
}

/// The middle of values with the interval that Wilcoxon's signed-rank test does not reject at a two-sided error of `alpha`, exact
/// for any symmetric distribution. `None` where there are too few values for so small an error: it takes 2¹⁻ⁿ ≤ `alpha`.
pub(crate) fn middle(values: &[f64], alpha: f64) -> Option<Middle> {
    let outside = outside(values.len(), alpha)?;
    let pairs = values.iter().enumerate().flat_map(|(nth, a)| values[nth..].iter().map(move |b| (a + b) / 2.0));
    let mut means: Vec<_> = pairs.collect();
    means.sort_by(f64::total_cmp);
    let (last, half) = (means.len() - 1, means.len() / 2);
    let at = if means.len().is_multiple_of(2) { (means[half - 1] + means[half]) / 2.0 } else { means[half] };
    Some(Middle { at, low: means[outside], high: means[last - outside] })
}

/// So many of the means of pairs of `n` values are outside the interval at each of its ends.
fn outside(n: usize, alpha: f64) -> Option<usize> {
    // The chance of each sum of the ranks of positive values, where each has either sign: one value after the other.
    let sums = n * (n + 1) / 2;
    let mut chances = vec![0.0; sums + 1];
    chances[0] = 1.0;
    let mut reached = 0;
    for rank in 1..=n {
        reached += rank;
        for sum in (0..=reached).rev() {
            let without = if sum >= rank { chances[sum - rank] } else { 0.0 };
            chances[sum] = (chances[sum] + without) / 2.0;
        }
    }
    let mut below = 0.0;
    let rejected = chances.iter().take_while(|chance| {
        below += **chance;
        2.0 * below <= alpha
    });
    rejected.count().checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn critical_sums_are_those_of_the_tables() {
        // Wilcoxon's table: the largest sum that is significant at 5 % and at 1 %, two-sided.
        for (n, five, one) in [
            (5, None, None),
            (6, Some(0), None),
            (8, Some(3), Some(0)),
            (10, Some(8), Some(3)),
            (20, Some(52), Some(37)),
        ] {
            assert_eq!((outside(n, 0.05), outside(n, 0.01)), (five, one), "{n}");
        }
        assert_eq!(outside(0, 0.05), None);
    }

    #[test]
    fn a_wild_value_hardly_moves_the_middle() {
        let tame: Vec<_> = (0..20).map(|nth| 1.0 + 0.01 * f64::from(nth - 10)).collect();
        let mut wild = tame.clone();
        wild[4] = 50.0;
        let (tame, wild) = (middle(&tame, 0.01).unwrap(), middle(&wild, 0.01).unwrap());
        assert!((tame.at - 0.995).abs() < 0.01 && (wild.at - 1.0).abs() < 0.03, "{tame:?} {wild:?}");
        assert!(tame.low > 0.94 && tame.high < 1.06 && wild.low > 0.94 && wild.high < 1.1, "{tame:?} {wild:?}");
    }

    #[test]
    fn few_values_have_no_interval() {
        assert_eq!(middle(&[1.0; 5], 0.05), None);
        assert_eq!(middle(&[1.0; 6], 0.05), Some(Middle { at: 1.0, low: 1.0, high: 1.0 }));
    }
}
