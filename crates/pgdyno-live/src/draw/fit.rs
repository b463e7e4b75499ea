//! Lines that are longer than their place.

use ratatui_core::text::{Line, Span};

/// Returns a line that is at most `width` columns wide, with a mark where it is cut.
pub(super) fn fitted(line: Line<'_>, width: u16) -> Line<'_> {
    let width = usize::from(width);
    if line.width() <= width {
        return line;
    }
    let mut room = width.saturating_sub(1);
    let mut spans = Vec::new();
    for span in line.spans {
        let kept: String = span.content.chars().take(room).collect();
        room -= kept.chars().count();
        spans.push(Span::styled(kept, span.style));
    }
    spans.push(Span::raw("…"));
    Line::from(spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_marked_and_what_fits_is_as_it_was() {
        let line = || Line::from(vec![Span::raw("abc"), Span::raw("def")]);
        assert_eq!([6, 5, 2].map(|width| fitted(line(), width).to_string()), ["abcdef", "abcd…", "a…"]);
    }
}
