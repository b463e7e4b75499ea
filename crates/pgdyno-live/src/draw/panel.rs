//! Panels: a round frame with a title, and what is inside.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use ratatui_core::text::Line;
use ratatui_core::widgets::Widget;

/// The frame of a panel.
#[derive(Debug)]
pub(super) struct Panel<'a> {
    /// At the left of its top line.
    pub(super) title: Line<'a>,
    /// At the right of its bottom line.
    pub(super) scale: Line<'a>,
    pub(super) frame: Style,
}

impl Panel<'_> {
    /// Draws the frame. Returns the area inside it.
    pub(super) fn draw(self, area: Rect, buffer: &mut Buffer) -> Rect {
        if area.width < 2 || area.height < 2 {
            return Rect { width: 0, height: 0, ..area };
        }
        let inner = Rect { x: area.x + 1, y: area.y + 1, width: area.width - 2, height: area.height - 2 };
        let (right, bottom) = (area.right() - 1, area.bottom() - 1);
        let across = "─".repeat(usize::from(inner.width));
        buffer.set_string(area.x, area.y, format!("╭{across}╮"), self.frame);
        buffer.set_string(area.x, bottom, format!("╰{across}╯"), self.frame);
        for row in inner.rows() {
            buffer.set_string(area.x, row.y, "│", self.frame);
            buffer.set_string(right, row.y, "│", self.frame);
        }
        self.title.render(Rect { y: area.y, height: 1, ..inner }, buffer);
        self.scale.right_aligned().render(Rect { y: bottom, height: 1, ..inner }, buffer);
        inner
    }
}

/// Removes what an area shows.
pub(super) fn clear(area: Rect, buffer: &mut Buffer) {
    for position in area.positions() {
        buffer[position].reset();
    }
}
