//! Draws throughput over time.

use pgdyno_text::units;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Constraint, Layout, Rect};
use ratatui_core::style::Color;
use ratatui_core::text::{Line, Span};
use ratatui_core::widgets::Widget;

use super::bars;
use super::fit::fitted;
use super::theme::Theme;
use crate::model::Model;

pub(super) fn draw(model: &Model, area: Rect, buffer: &mut Buffer, theme: Theme) {
    let mut panel = theme.panel(" Throughput ");
    let columns = model.series.columns(usize::from(area.width).saturating_sub(2));
    let best = model.series.best_tps();
    if columns.intervals > 1 {
        let scale = format!(" {} s a column ", columns.intervals);
        panel.scale = Line::from(Span::styled(scale, theme.quiet()));
    }
    let inner = panel.draw(area, buffer);
    let [figures, troubles, chart] =
        Layout::vertical([Constraint::Length(1), Constraint::Length(1), Constraint::Fill(1)]).areas(inner);

    let Some(now) = &model.totals.now else {
        return Line::from(Span::styled("waiting for the first second", theme.quiet())).render(figures, buffer);
    };
    let rate = |tps: f64| Span::styled(units::rate(tps), theme.strong());
    let quiet = |text| Span::styled(text, theme.quiet());
    let mut line = vec![rate(now.tps), quiet(" tps now  "), rate(model.totals.whole.tps), quiet(" mean")];
    if let Some(best) = best {
        line.extend([quiet("  "), rate(best), quiet(" best")]);
    }
    fitted(Line::from(line), figures.width).render(figures, buffer);
    draw_troubles(model, troubles, buffer, theme);

    let greatest = columns.points.iter().map(|point| point.tps).fold(0.0, f64::max);
    let bars = columns.points.iter().map(|point| {
        let ink = theme.ink(if point.measured { Color::Cyan } else { Color::DarkGray });
        (point.tps, ink)
    });
    // A margin keeps the columns away from the top.
    bars::columns(bars, greatest * 1.05, chart, buffer);
}

fn draw_troubles(model: &Model, area: Rect, buffer: &mut Buffer, theme: Theme) {
    let troubles = model.totals.troubles();
    let line = troubles.iter().enumerate().flat_map(|(nth, (name, n))| {
        let ink = match (nth, n) {
            (0, 0) => theme.quiet(),
            (0, _) => theme.bad(),
            _ => theme.notable(),
        };
        let name = format!(" {name}{}", if nth + 1 < troubles.len() { "  " } else { "" });
        [Span::styled(units::count(*n), ink), Span::styled(name, theme.quiet())]
    });
    fitted(Line::from(line.collect::<Vec<_>>()), area.width).render(area, buffer);
}
