//! Draws notes and warnings, the newest last.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};
use ratatui_core::widgets::Widget;

use pgdyno_text::wrap::narrow;

use super::fit::fitted;
use super::theme::Theme;
use crate::model::Model;

/// Draws the messages in a panel.
pub(super) fn panel(model: &Model, area: Rect, buffer: &mut Buffer, theme: Theme) {
    let inner = theme.panel(" Messages ").draw(area, buffer);
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
    let width = usize::from(area.width.max(1));
    let rows = newest.iter().flat_map(|line| {
        let style = ink(line, theme);
        narrow(line.trim(), width).into_iter().map(move |row| Line::from(Span::styled(row, style)))
    });
    let rows: Vec<_> = rows.collect();
    let above = rows.len().saturating_sub(usize::from(area.height));
    for (line, row) in rows[above..].iter().zip(area.rows()) {
        line.render(row, buffer);
    }
}
