//! Draws figures by kind of transaction.

use pgdyno_text::units;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::text::{Line, Span};
use ratatui_core::widgets::Widget;

use super::theme::Theme;
use crate::model::Model;

/// Maximum number of kinds that are shown.
const MOST: usize = 8;

/// Returns the number of rows; 0 if all transactions are of one kind.
pub(super) fn rows(model: &Model) -> u16 {
    match model.facts.txns.len() {
        0 | 1 => 0,
        kinds => kinds.min(MOST) as u16 + 3,
    }
}

pub(super) fn draw(model: &Model, area: Rect, buffer: &mut Buffer, theme: Theme) {
    if area.is_empty() {
        return;
    }
    let inner = theme.panel(" Transactions ").draw(area, buffer);
    let wide = usize::from(inner.width).saturating_sub(52).clamp(8, 32);
    let head = format!("{:wide$}{:>12}{:>10}{:>10}{:>10}{:>10}", "", "tps", "p50 ms", "p99 ms", "max ms", "failed");
    let head = Line::from(Span::styled(head, theme.quiet()));
    let kinds = model.facts.txns.iter().zip(&model.totals.kinds).take(MOST).map(|(name, figures)| {
        let ms = |at: fn(&pgdyno_measure::Percentiles) -> u64| {
            figures.latency.as_ref().map_or("–".to_owned(), |latency| units::ms(at(latency)))
        };
        let name: String = name.chars().take(wide).collect();
        let (p50, p99, max) = (ms(|p| p.p50), ms(|p| p.p99), ms(|p| p.max));
        let failed = if figures.failed > 0 { theme.bad() } else { theme.quiet() };
        Line::from(vec![
            Span::raw(format!("{name:wide$}")),
            Span::styled(format!("{:>12}", units::rate(figures.tps)), theme.strong()),
            Span::raw(format!("{p50:>10}{p99:>10}{max:>10}")),
            Span::styled(format!("{:>10}", units::count(figures.failed)), failed),
        ])
    });
    for (line, row) in std::iter::once(head).chain(kinds).zip(inner.rows()) {
        line.render(row, buffer);
    }
}
