//! Formats numbers as pgbench does.

/// Returns `value` with `decimals` digits after the point: C's `%.3f`, with PostgreSQL's words for NaN and infinities.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    match value {
        // Without a sign, as PostgreSQL's printf.
        _ if value.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        _ => format!("{value:.decimals$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::fixed;

    #[test]
    fn ties_go_to_the_even_digit_and_the_rest_to_the_nearest() {
        for (value, decimals, text) in [
            (0.0625, 3, "0.062"),
            (0.1875, 3, "0.188"),
            (1.0015, 3, "1.002"),
            (0.25, 1, "0.2"),
            (1e20, 0, "100000000000000000000"),
            (-0.0004, 3, "-0.000"),
            (f64::NAN, 3, "NaN"),
            (-f64::NAN, 3, "NaN"),
            (1.0 / 0.0, 6, "Infinity"),
        ] {
            assert_eq!(fixed(value, decimals), text);
        }
    }
}
