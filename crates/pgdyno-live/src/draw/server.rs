//! Draws the facts about the server in a few lines.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::fit::fitted;
use super::theme::Theme;
use super::waits::unseen;
use crate::model::Model;

pub(super) fn draw(model: &Model, area: Rect, buffer: &mut Buffer, theme: Theme) {
    let block = theme.panel(" Server ");
    let inner = block.inner(area);
    block.render(area, buffer);
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
