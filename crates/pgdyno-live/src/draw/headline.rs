//! Draws the workload, the target and the progress.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Constraint, Layout, Rect};
use ratatui_core::style::Color;
use ratatui_core::text::{Line, Span};
use ratatui_core::widgets::Widget;

use super::fit::fitted;
use super::theme::Theme;
use crate::model::Model;

pub(super) fn draw(model: &Model, now_s: f64, area: Rect, buffer: &mut Buffer, theme: Theme) {
    let [what, far] = Layout::vertical([Constraint::Length(1); 2]).areas(area);
    let facts = &model.facts;
    let line = Line::from(vec![
        Span::styled(format!(" {}", facts.workload), theme.strong()),
        Span::styled(" · ", theme.quiet()),
        Span::raw(&*facts.drivers),
        Span::styled(" · ", theme.quiet()),
        Span::raw(&*facts.target),
    ]);
    fitted(line, what.width).render(what, buffer);
    let stage = model.stage(now_s);
    let ink = match stage.name {
        "measuring" => theme.ink(Color::Green),
        _ => theme.notable(),
    };
    let words = format!(" {}  {} ", stage.name, stage.far);
    let [text, gauge] =
        Layout::horizontal([Constraint::Length(words.chars().count() as u16), Constraint::Fill(1)]).areas(far);
    Line::from(vec![Span::styled(format!(" {}  ", stage.name), ink.patch(theme.strong())), Span::raw(stage.far)])
        .render(text, buffer);
    let Some(share) = stage.share else { return };
    let width = usize::from(gauge.width.saturating_sub(1));
    let done = (share * width as f64).round() as usize;
    Line::from(vec![
        Span::styled("━".repeat(done), ink),
        Span::styled("─".repeat(width - done.min(width)), theme.quiet()),
    ])
    .render(gauge, buffer);
}
