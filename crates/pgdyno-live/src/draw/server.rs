//! Draws the facts about the server in a few lines.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};
use ratatui_core::widgets::Widget;

use super::fit::fitted;
use super::theme::Theme;
use super::waits::unseen;
use crate::model::Model;

pub(super) fn draw(model: &Model, area: Rect, buffer: &mut Buffer, theme: Theme) {
    let inner = theme.panel(" Server ").draw(area, buffer);
    let facts = model.server();
    if facts.is_empty() {
        return Line::from(Span::styled(unseen(model), theme.quiet())).render(inner, buffer);
    }
    for (fact, row) in facts.iter().zip(inner.rows()) {
        let ink = if fact.strain { theme.notable() } else { Style::new() };
        let name = Span::styled(format!("{:11}", fact.name), theme.quiet());
        fitted(Line::from(vec![name, Span::styled(&*fact.text, ink)]), row.width).render(row, buffer);
    }
}
