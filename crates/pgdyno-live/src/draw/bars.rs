//! Bars with a resolution of an eighth of a character.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

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

/// The top of a column, by eighths.
const TOPS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// Draws a chart of columns, each a height relative to `greatest` and a style, from the left.
pub(super) fn columns(bars: impl Iterator<Item = (f64, Style)>, greatest: f64, area: Rect, buffer: &mut Buffer) {
    let whole = usize::from(area.height) * 8;
    for ((height, style), column) in bars.zip(area.columns()) {
        let share = if greatest > 0.0 { (height / greatest).clamp(0.0, 1.0) } else { 0.0 };
        let eighths = (share * whole as f64) as usize;
        for (above, row) in column.rows().rev().enumerate() {
            let top = eighths.saturating_sub(above * 8).min(8);
            buffer.set_string(row.x, row.y, TOPS[top], style);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(
            [bar(0.0, 4), bar(0.0001, 4), bar(0.5, 4), bar(0.66, 4), bar(7.0, 4)],
            ["", "▏", "██", "██▋", "████"]
        );
        assert_eq!([bar(1.0, 0), bar(f64::NAN, 2)], ["", ""]);
    }

    #[test]
    fn columns_are_as_high_as_their_share_and_what_has_no_room_is_left_out() {
        let area = Rect::new(0, 0, 3, 2);
        let mut buffer = Buffer::empty(area);
        columns([16.0, 9.0, 0.5, 16.0].into_iter().map(|height| (height, Style::new())), 16.0, area, &mut buffer);
        assert_eq!(buffer, Buffer::with_lines(["█▁ ", "██ "]));
        columns([(0.0, Style::new()), (f64::NAN, Style::new())].into_iter(), 0.0, area, &mut buffer);
        assert_eq!(buffer, Buffer::with_lines(["   ", "   "]));
    }
}
