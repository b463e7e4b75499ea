//! Draws wait events of sessions, as bars.

use pgdyno_text::units;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Style};
use ratatui_core::text::{Line, Span};
use ratatui_core::widgets::Widget;

use super::bars::bar;
use super::fit::fitted;
use super::theme::Theme;
use crate::model::Model;
use crate::model::waits::{WINDOW_S, Wait, waits};

pub(super) fn draw(model: &Model, area: Rect, buffer: &mut Buffer, theme: Theme) {
    let found = waits(&model.frames);
    let all: f64 = found.iter().flatten().map(|wait| wait.sessions).sum();
    let title = match &found {
        Some(_) => format!(" Active sessions {all:.1}, last {WINDOW_S} s "),
        None => " Active sessions ".to_owned(),
    };
    let inner = theme.panel(title).draw(area, buffer);
    let Some(found) = found else {
        return Line::from(Span::styled(unseen(model), theme.quiet())).render(inner, buffer);
    };
    if found.is_empty() {
        return Line::from(Span::styled("no active sessions", theme.quiet())).render(inner, buffer);
    }
    let names = found.iter().map(|wait| name(wait).chars().count()).max().unwrap_or(0);
    let wide = names.min(usize::from(inner.width) / 2).max(8);
    let room = usize::from(inner.width).saturating_sub(wide + 9);
    for (wait, row) in found.iter().zip(inner.rows()) {
        let name = fitted(Line::from(name(wait)), wide as u16).to_string();
        let line = Line::from(vec![
            Span::raw(format!("{name:wide$} ")),
            Span::styled(format!("{:>7} ", units::rate(wait.sessions)), theme.strong()),
            Span::styled(bar(wait.sessions / all, room), ink(wait, theme)),
        ]);
        line.render(row, buffer);
    }
}

fn name(wait: &Wait) -> String {
    if wait.kind == wait.event { wait.kind.clone() } else { format!("{} {}", wait.kind, wait.event) }
}

/// Returns the usual colours: work is green, waits for other sessions are warm.
fn ink(wait: &Wait, theme: Theme) -> Style {
    theme.ink(match wait.kind.as_str() {
        "CPU" => Color::Green,
        "IO" => Color::Blue,
        "Lock" => Color::Red,
        "LWLock" => Color::Yellow,
        "Client" => Color::Gray,
        _ => Color::Magenta,
    })
}

/// Returns why there is nothing to show.
pub(super) fn unseen(model: &Model) -> &'static str {
    match (model.facts.has_server, model.facts.unsampled) {
        (false, _) => "there is no server",
        (true, true) => "not sampled (--no-samples)",
        (true, false) => "no samples yet",
    }
}
