//! Draws percentiles, of the last interval and of the window, and the 99th over time.

use pgdyno_measure::{Percentiles, Phase};
use pgdyno_text::units;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Constraint, Layout, Rect};
use ratatui_core::style::Color;
use ratatui_core::text::{Line, Span};
use ratatui_core::widgets::Widget;

use super::bars;
use super::theme::Theme;
use crate::model::Model;

/// A percentile and the function that returns it.
type Row = (&'static str, fn(&Percentiles) -> u64);

const ROWS: [Row; 6] = [
    ("p50", |p| p.p50),
    ("p95", |p| p.p95),
    ("p99", |p| p.p99),
    ("max", |p| p.max),
    ("p99.9", |p| p.p99_9),
    ("mean", |p| p.mean as u64),
];

/// Minimum rows of the chart below the figures.
const CHART: usize = 2;

pub(super) fn draw(model: &Model, area: Rect, buffer: &mut Buffer, theme: Theme) {
    let title = if model.facts.scheduled { " Response time, ms " } else { " Latency, ms " };
    let inner = theme.panel(title).draw(area, buffer);
    let room = usize::from(inner.height).saturating_sub(1);
    // The chart takes precedence over the last two figures.
    let shown = if room >= 4 + CHART { (room - CHART).min(ROWS.len()) } else { room.min(4) };
    let [table, chart] = Layout::vertical([Constraint::Length(1 + shown as u16), Constraint::Fill(1)]).areas(inner);

    let now = model.totals.now.as_ref().and_then(|figures| figures.latency.as_ref());
    let whole = model.totals.whole.latency.as_ref();
    let phase = if model.totals.phase == Some(Phase::Ramp) { "warm-up" } else { "window" };
    let head = Line::from(Span::styled(format!("{:6}{:>9}{phase:>9}", "", "now"), theme.quiet()));
    let figure =
        |of: Option<&Percentiles>, at: fn(&Percentiles) -> u64| of.map_or("–".to_owned(), |p| units::ms(at(p)));
    let rows = ROWS.iter().take(shown).map(|(name, at)| {
        Line::from(vec![
            Span::styled(format!("{name:6}"), theme.quiet()),
            Span::raw(format!("{:>9}", figure(now, *at))),
            Span::styled(format!("{:>9}", figure(whole, *at)), theme.strong()),
        ])
    });
    for (line, row) in std::iter::once(head).chain(rows).zip(table.rows()) {
        line.render(row, buffer);
    }
    if usize::from(chart.height) < CHART {
        return;
    }
    let [name, chart] = Layout::horizontal([Constraint::Length(6), Constraint::Fill(1)]).areas(chart);
    Line::from(Span::styled("p99", theme.quiet())).render(name, buffer);
    let columns = model.series.columns(usize::from(chart.width));
    let greatest = columns.points.iter().filter_map(|point| point.p99_ns).max().unwrap_or(0);
    let bars = columns.points.iter().map(|point| {
        let ink = theme.ink(if point.measured { Color::Magenta } else { Color::DarkGray });
        (point.p99_ns.unwrap_or(0) as f64, ink)
    });
    bars::columns(bars, greatest as f64, chart, buffer);
}
