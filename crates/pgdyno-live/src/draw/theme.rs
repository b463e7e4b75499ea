//! Colours and frames.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, BorderType};

/// The sixteen colours that every terminal lets its user choose; none with `NO_COLOR`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Theme {
    colour: bool,
}

impl Theme {
    pub(super) fn new(colour: bool) -> Self {
        Self { colour }
    }

    /// A colour, where there are any.
    pub(super) fn ink(self, colour: Color) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }

    /// What stands back: frames, names, units.
    pub(super) fn quiet(self) -> Style {
        if self.colour { Style::new().fg(Color::DarkGray) } else { Style::new().add_modifier(Modifier::DIM) }
    }

    /// What the eye shall find first.
    pub(super) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// What is wrong, or holds the run back.
    pub(super) fn bad(self) -> Style {
        self.ink(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// What is worth a look.
    pub(super) fn notable(self) -> Style {
        self.ink(Color::Yellow)
    }

    /// A panel's frame.
    pub(super) fn panel<'a>(self, title: impl Into<Line<'a>>) -> Block<'a> {
        Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(self.quiet())
            .title(title)
            .title_style(self.strong())
    }
}
