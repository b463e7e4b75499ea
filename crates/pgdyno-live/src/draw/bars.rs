//! Bars with a resolution of an eighth of a character.

/// The last character of a bar, by eighths.
const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// Returns a bar of `share` (0 to 1) of `width` characters. A share above 0 has at least an eighth.
pub(super) fn bar(share: f64, width: usize) -> String {
    let whole = width * 8;
    let least = usize::from(share > 0.0);
    let eighths = ((share.clamp(0.0, 1.0) * whole as f64).round() as usize).clamp(least.min(whole), whole);
    let mut bar = "█".repeat(eighths / 8);
    if eighths % 8 > 0 {
        bar.push(EIGHTHS[eighths % 8]);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(
            [bar(0.0, 4), bar(0.0001, 4), bar(0.5, 4), bar(0.66, 4), bar(7.0, 4)],
            ["", "▏", "██", "██▋", "████"]
        );
        assert_eq!([bar(1.0, 0), bar(f64::NAN, 2)], ["", ""]);
    }
}
