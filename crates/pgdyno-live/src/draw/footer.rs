//! Draws the keys, in one line.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::text::{Line, Span};
use ratatui_core::widgets::Widget;

use super::DrawOptions;
use super::theme::Theme;

pub(super) fn draw(look: DrawOptions, area: Rect, buffer: &mut Buffer, theme: Theme) {
    let mut spans = Vec::new();
    if look.paused {
        spans.push(Span::styled(" paused ", theme.notable().patch(theme.strong())));
    }
    let pause = if look.paused { "go on" } else { "pause" };
    for (key, what) in [("q", "leave the view"), ("p", pause), ("?", "help"), ("Ctrl-C", "end the run")] {
        spans.push(Span::styled(format!(" {key} "), theme.strong()));
        spans.push(Span::styled(format!("{what} "), theme.quiet()));
    }
    Line::from(spans).render(area, buffer);
}
