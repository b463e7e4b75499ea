//! The goodness of fit of a distribution, for its test.

/// Draws for one test.
const DRAWS: u64 = 200_000;
/// Draws that a class needs: rarer values are put together.
const AT_LEAST: f64 = 25.0;

/// Asserts that `draw` returns each value below `values` with its `expected` probability: Pearson's χ² over classes of
/// at least [`AT_LEAST`] expected draws stays below its 99.99th percentile.
pub(super) fn assert_fits(values: u64, expected: impl Fn(u64) -> f64, mut draw: impl FnMut() -> u64) {
    let mut counts = vec![0u64; values as usize];
    for _ in 0..DRAWS {
        let value = draw();
        assert!(value < values, "{value} of {values}");
        counts[value as usize] += 1;
    }
    let (mut statistic, mut classes) = (0.0, 0u32);
    let (mut seen, mut due, mut all) = (0.0, 0.0, 0.0);
    for (value, count) in (0..values).zip(counts) {
        seen += count as f64;
        due += expected(value) * DRAWS as f64;
        if due >= AT_LEAST {
            statistic += (seen - due) * (seen - due) / due;
            classes += 1;
            all += due;
            (seen, due) = (0.0, 0.0);
        }
    }
    assert!(
        (all + due - DRAWS as f64).abs() < 1e-6 * DRAWS as f64,
        "the probabilities add up to {}",
        (all + due) / DRAWS as f64
    );
    let most = percentile(f64::from(classes - 1));
    assert!(statistic < most, "χ² is {statistic:.1} with {classes} classes, and at most {most:.1} is to be expected");
}

/// Returns the 99.99th percentile of χ² with so many degrees of freedom, by Wilson and Hilferty.
fn percentile(freedom: f64) -> f64 {
    const NORMAL: f64 = 3.719;
    let part = 2.0 / (9.0 * freedom);
    freedom * (1.0 - part + NORMAL * part.sqrt()).powi(3)
}

#[test]
#[should_panic(expected = "χ² is")]
fn a_wrong_distribution_does_not_fit() {
    let mut rng = crate::Rng::new(3);
    // One value in a hundred is drawn half as often again.
    assert_fits(
        100,
        |_| 0.01,
        || {
            let value = rng.up_to(99);
            if value == 7 && rng.up_to(1) == 0 { 8 } else { value }
        },
    );
}
