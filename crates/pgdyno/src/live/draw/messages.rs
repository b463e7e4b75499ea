//! Notes and warnings, the newest last.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget, Wrap};

use super::theme::Theme;
use crate::live::model::Model;

/// In a panel.
pub(super) fn panel(model: &Model, area: Rect, buffer: &mut Buffer, theme: Theme) {
    let block = theme.panel(" Messages ");
    let inner = block.inner(area);
    block.render(area, buffer);
    lines(model, inner, buffer, theme);
}

/// As many of the newest as there is room for; long ones take several rows.
pub(super) fn lines(model: &Model, area: Rect, buffer: &mut Buffer, theme: Theme) {
    let (newest, _) = model.told.last(usize::from(area.height));
    if newest.is_empty() {
        return Line::from(Span::styled("none", theme.quiet())).render(area, buffer);
    }
    let text: Vec<_> = newest
        .iter()
        .map(|line| {
            let ink = if line.starts_with("warning: ") { theme.notable() } else { ratatui::style::Style::new() };
            Line::from(Span::styled(line.trim(), ink))
        })
        .collect();
    let paragraph = Paragraph::new(text).wrap(Wrap { trim: true });
    // Words break lines nearly everywhere, so a little less than the area's width holds.
    let width = usize::from(area.width.saturating_sub(4).max(1));
    let rows: usize = newest.iter().map(|line| line.chars().count().div_ceil(width).max(1)).sum();
    let above = rows.saturating_sub(usize::from(area.height));
    paragraph.scroll((above as u16, 0)).render(area, buffer);
}
