//! Draws the picture: one file for each panel.
//!
//! The size of the terminal decides which panels are shown; their contents come from the [`Model`](super::model::Model)
//! alone.

mod bars;
mod fit;
mod footer;
mod headline;
mod help;
mod latency;
mod machines;
mod messages;
mod panel;
mod server;
#[cfg(test)]
mod tests;
mod theme;
mod throughput;
mod transactions;
mod waits;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Constraint, Layout, Rect};
use ratatui_core::text::Line;
use ratatui_core::widgets::Widget;

use super::model::Model;
use theme::Theme;

/// Minimum columns and rows of the view.
pub(crate) const LEAST: (u16, u16) = (60, 15);

/// With this many rows the server and messages have panels of their own.
const ROOMY: u16 = 22;
/// With this many rows the kinds of transactions have a panel, too.
const TALL: u16 = 32;

/// Options of the picture.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DrawOptions {
    /// The time in seconds since the view started.
    pub(crate) now_s: f64,
    /// Whether it has colours.
    pub(crate) colour: bool,
    /// Whether it is paused.
    pub(crate) paused: bool,
    /// Whether it explains the keys.
    pub(crate) help: bool,
}

/// Draws the whole picture.
pub(crate) fn draw(model: &Model, look: DrawOptions, area: Rect, buffer: &mut Buffer) {
    let theme = Theme::new(look.colour);
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let text = format!("needs {} x {}; q leaves the view", LEAST.0, LEAST.1);
        return Line::from(text).render(area, buffer);
    }
    let kinds = if area.height >= TALL { transactions::rows(model) } else { 0 };
    let roomy = area.height >= ROOMY;
    // With few rows: enough for the percentiles, and three waits.
    let (causes, below) =
        if roomy { (Constraint::Fill(2), 6 + area.height.saturating_sub(24) / 4) } else { (Constraint::Length(5), 1) };
    let rows = [
        Constraint::Length(2),
        Constraint::Fill(3),
        Constraint::Length(kinds),
        causes,
        Constraint::Length(below),
        Constraint::Length(1),
    ];
    let [head, figures, kinds, causes, below, foot] = Layout::vertical(rows).areas(area);
    headline::draw(model, look.now_s, head, buffer, theme);
    let [left, right] = halves(figures);
    throughput::draw(model, left, buffer, theme);
    latency::draw(model, right, buffer, theme);
    transactions::draw(model, kinds, buffer, theme);
    let [left, right] = halves(causes);
    waits::draw(model, left, buffer, theme);
    machines::draw(model, right, buffer, theme);
    if roomy {
        let [left, right] = halves(below);
        server::draw(model, left, buffer, theme);
        messages::panel(model, right, buffer, theme);
    } else {
        messages::newest(model, below, buffer, theme);
    }
    footer::draw(look, foot, buffer, theme);
    if look.help {
        help::draw(area, buffer, theme);
    }
}

/// Splits an area into two halves. The wider half has time lines or long names.
fn halves(area: Rect) -> [Rect; 2] {
    Layout::horizontal([Constraint::Fill(5), Constraint::Fill(4)]).areas(area)
}
