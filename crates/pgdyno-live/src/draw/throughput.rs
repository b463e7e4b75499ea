//! Draws throughput over time.

use pgdyno_text::units;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Color;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Sparkline, SparklineBar, Widget};

use super::fit::fitted;
use super::theme::Theme;
use crate::model::Model;

pub(super) fn draw(model: &Model, area: Rect, buffer: &mut Buffer, theme: Theme) {
    let mut block = theme.panel(" Throughput ");
    let inner = block.inner(area);
    let columns = model.series.columns(usize::from(inner.width));
    let best = model.series.best_tps();
    if columns.intervals > 1 {
        let scale = format!(" {} s a column ", columns.intervals);
        block = block.title_bottom(Line::from(Span::styled(scale, theme.quiet())).right_aligned());
    }
    block.render(area, buffer);
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
        SparklineBar::from((point.tps * 100.0) as u64).style(ink)
    });
    // A margin of a tenth keeps the line away from the top.
    Sparkline::default().data(bars.collect::<Vec<_>>()).max((greatest * 105.0) as u64 + 1).render(chart, buffer);
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
