//! Draws notes and warnings, the newest last.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget, Wrap};

use super::fit::fitted;
use super::theme::Theme;
use crate::model::Model;

/// Draws the messages in a panel.
pub(super) fn panel(model: &Model, area: Rect, buffer: &mut Buffer, theme: Theme) {
    let block = theme.panel(" Messages ");
    let inner = block.inner(area);
    block.render(area, buffer);
    lines(model, inner, buffer, theme);
}

/// Returns the style of a message.
fn ink(line: &str, theme: Theme) -> Style {
    if line.starts_with("warning: ") { theme.notable() } else { Style::new() }
}

/// Draws the start of the newest message.
pub(super) fn newest(model: &Model, area: Rect, buffer: &mut Buffer, theme: Theme) {
    if let Some(line) = model.messages.last(1).first() {
        fitted(Line::from(Span::styled(format!(" {}", line.trim()), ink(line, theme))), area.width)
            .render(area, buffer);
    }
}

/// Draws as many of the newest messages as fit; long ones take several rows.
fn lines(model: &Model, area: Rect, buffer: &mut Buffer, theme: Theme) {
    let newest = model.messages.last(usize::from(area.height));
    if newest.is_empty() {
        return Line::from(Span::styled("none", theme.quiet())).render(area, buffer);
    }
    let text: Vec<_> = newest.iter().map(|line| Line::from(Span::styled(line.trim(), ink(line, theme)))).collect();
    let paragraph = Paragraph::new(text).wrap(Wrap { trim: true });
    // Lines break between words, so they hold a little less than the area's width.
    let width = usize::from(area.width.saturating_sub(4).max(1));
    let rows: usize = newest.iter().map(|line| line.chars().count().div_ceil(width).max(1)).sum();
    let above = rows.saturating_sub(usize::from(area.height));
    paragraph.scroll((above as u16, 0)).render(area, buffer);
}
