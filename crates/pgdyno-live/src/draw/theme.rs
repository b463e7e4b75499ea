//! Colours and frames.

use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::text::Line;

use super::panel::Panel;

/// The sixteen colours that users can configure in every terminal; none with `NO_COLOR`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Theme {
    colour: bool,
}

impl Theme {
    pub(super) fn new(colour: bool) -> Self {
        Self { colour }
    }

    /// Returns the style of a colour, if there are colours.
    pub(super) fn ink(self, colour: Color) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }

    /// Returns the style of frames, names and units.
    pub(super) fn quiet(self) -> Style {
        if self.colour { Style::new().fg(Color::DarkGray) } else { Style::new().add_modifier(Modifier::DIM) }
    }

    /// Returns the style of the most important text.
    pub(super) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Returns the style of failures and bottlenecks.
    pub(super) fn bad(self) -> Style {
        self.ink(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// Returns the style of text that is worth a look.
    pub(super) fn notable(self) -> Style {
        self.ink(Color::Yellow)
    }

    /// Returns a panel's frame.
    pub(super) fn panel<'a>(self, title: impl Into<Line<'a>>) -> Panel<'a> {
        Panel { title: title.into().style(self.strong()), scale: Line::default(), frame: self.quiet() }
    }
}
