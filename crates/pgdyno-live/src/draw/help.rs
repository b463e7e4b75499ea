//! Draws the explanation of keys and panels, over the picture.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::text::Line;
use ratatui_core::widgets::Widget;

use super::panel;
use super::theme::Theme;

const TEXT: [&str; 11] = [
    "q, Esc   leave the view; the run continues with a line of progress",
    "p        pause the view, and resume it",
    "?        this page, and back",
    "Ctrl-C   end the run and keep its results; twice: at once",
    "",
    "Throughput: committed transactions a second; grey is the warm-up.",
    "Latency: of the last second, and of the measured window.",
    "Active sessions: how many, on average, were at each wait event.",
    "CPUs: how many each program kept busy in the last second.",
    "",
    "Messages are printed again when the view ends.",
];

pub(super) fn draw(area: Rect, buffer: &mut Buffer, theme: Theme) {
    let width = TEXT.iter().map(|line| line.len()).max().unwrap_or(0) as u16 + 4;
    let (width, height) = (width.min(area.width), (TEXT.len() as u16 + 2).min(area.height));
    let place = Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    panel::clear(place, buffer);
    let inner = theme.panel(" Help ").draw(place, buffer);
    for (line, row) in TEXT.iter().zip(inner.rows()) {
        Line::from(format!(" {line}")).render(row, buffer);
    }
}
