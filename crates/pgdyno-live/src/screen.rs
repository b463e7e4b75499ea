//! Turns the picture into bytes for a terminal: ECMA-48 sequences that every terminal understands.
//!
//! The backends of ratatui write to the terminal and wait for it; these bytes go to [`terminal`](super::terminal),
//! which does not wait.

use std::convert::Infallible;
use std::fmt::Write;

use pgdyno_untrusted::TerminalText;
use ratatui_core::backend::{Backend, ClearType, WindowSize};
use ratatui_core::buffer::Cell;
use ratatui_core::layout::{Position, Size};
use ratatui_core::style::{Color, Modifier};
use ratatui_core::text::Span;

/// A screen of a certain size, and the bytes to be written to it.
#[derive(Debug)]
pub(super) struct Screen {
    size: Size,
    bytes: String,
}

impl Screen {
    pub(super) fn new(size: Size) -> Self {
        Self { size, bytes: String::new() }
    }

    /// Sets the size of the terminal.
    pub(super) fn resize(&mut self, size: Size) {
        self.size = size;
    }

    /// Returns the bytes to be written, and removes them.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.bytes)
    }

    fn write(&mut self, arguments: std::fmt::Arguments<'_>) {
        // Writing to a string never fails.
        let _ = self.bytes.write_fmt(arguments);
    }

    /// Sets the style of the following cells.
    fn style(&mut self, cell: &Cell) {
        self.bytes.push_str("\x1b[0");
        for (modifier, code) in [
            (Modifier::BOLD, 1),
            (Modifier::DIM, 2),
            (Modifier::ITALIC, 3),
            (Modifier::UNDERLINED, 4),
            (Modifier::REVERSED, 7),
        ] {
            if cell.modifier.contains(modifier) {
                self.write(format_args!(";{code}"));
            }
        }
        if let Some(code) = ink(cell.fg) {
            self.write(format_args!(";{code}"));
        }
        if let Some(code) = ink(cell.bg) {
            self.write(format_args!(";{}", code + 10));
        }
        self.bytes.push('m');
    }
}

/// Returns the foreground code of one of the sixteen colours; the view uses no others.
fn ink(colour: Color) -> Option<u8> {
    Some(match colour {
        Color::Black => 30,
        Color::Red => 31,
        Color::Green => 32,
        Color::Yellow => 33,
        Color::Blue => 34,
        Color::Magenta => 35,
        Color::Cyan => 36,
        Color::Gray => 37,
        Color::DarkGray => 90,
        Color::LightRed => 91,
        Color::LightGreen => 92,
        Color::LightYellow => 93,
        Color::LightBlue => 94,
        Color::LightMagenta => 95,
        Color::LightCyan => 96,
        Color::White => 97,
        Color::Reset | Color::Rgb(..) | Color::Indexed(_) => return None,
    })
}

impl Backend for Screen {
    type Error = Infallible;

    fn draw<'a, I>(&mut self, content: I) -> Result<(), Infallible>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let (mut next, mut look) = (None, None);
        for (x, y, cell) in content {
            if next != Some((x, y)) {
                self.write(format_args!("\x1b[{};{}H", y + 1, x + 1));
            }
            let style = (cell.fg, cell.bg, cell.modifier);
            if look != Some(style) {
                self.style(cell);
                look = Some(style);
            }
            // Widgets leave out control characters; not those that turn the direction of text.
            self.write(format_args!("{}", TerminalText(cell.symbol())));
            next = Some((x + Span::raw(cell.symbol()).width() as u16, y));
        }
        if look.is_some() {
            self.bytes.push_str("\x1b[0m");
        }
        Ok(())
    }

    fn hide_cursor(&mut self) -> Result<(), Infallible> {
        // The cursor is hidden while the view is shown.
        Ok(())
    }

    fn show_cursor(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn get_cursor_position(&mut self) -> Result<Position, Infallible> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, _position: P) -> Result<(), Infallible> {
        Ok(())
    }

    fn clear(&mut self) -> Result<(), Infallible> {
        self.bytes.push_str("\x1b[2J");
        Ok(())
    }

    fn clear_region(&mut self, _region: ClearType) -> Result<(), Infallible> {
        // ratatui clears only the whole screen here.
        self.clear()
    }

    fn size(&self) -> Result<Size, Infallible> {
        Ok(self.size)
    }

    fn window_size(&mut self) -> Result<WindowSize, Infallible> {
        Ok(WindowSize { columns_rows: self.size, pixels: Size::ZERO })
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ratatui_core::style::Style;
    use ratatui_core::terminal::Terminal;
    use ratatui_core::text::Line;

    use super::*;

    #[test]
    fn only_what_changed_is_written() {
        let mut terminal = Terminal::new(Screen::new(Size::new(20, 2))).unwrap();
        let mut show = |first: &'static str, second: &'static str, style: Style| {
            terminal
                .draw(|frame| {
                    let [top, bottom] = [0, 1].map(|y| ratatui_core::layout::Rect::new(2, y, 18, 1));
                    frame.render_widget(Line::from(first), top);
                    frame.render_widget(Line::from(Span::styled(second, style)), bottom);
                })
                .unwrap();
            terminal.backend_mut().take()
        };
        let red = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
        assert_eq!(show("one", "two", red), "\x1b[1;3H\x1b[0mone\x1b[2;3H\x1b[0;1;31mtwo\x1b[0m");
        assert_eq!(show("one", "twx", red), "\x1b[2;5H\x1b[0;1;31mx\x1b[0m");
        assert_eq!(show("one", "twx", red), "");
    }

    #[test]
    fn what_a_server_says_cannot_steer_the_terminal() {
        let mut terminal = Terminal::new(Screen::new(Size::new(20, 1))).unwrap();
        terminal.draw(|frame| frame.render_widget(Line::from("a\x1b[2Jb\x07c"), frame.area())).unwrap();
        let written = terminal.backend_mut().take();
        assert!(!written.contains("\x1b[2J") && !written.contains('\x07'), "{written:?}");
    }
}
