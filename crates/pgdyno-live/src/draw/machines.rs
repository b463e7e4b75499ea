//! Draws the use of CPUs, as bars.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Style};
use ratatui_core::text::{Line, Span};
use ratatui_core::widgets::Widget;

use super::bars::bar;
use super::fit::fitted;
use super::theme::Theme;
use super::waits::unseen;
use crate::model::Model;
use crate::model::machines::{Machine, Share, Use, machines};

/// Columns for the names.
const NAMES: usize = 9;

pub(super) fn draw(model: &Model, area: Rect, buffer: &mut Buffer, theme: Theme) {
    let machines = machines(&model.frames);
    let title = match machines.first() {
        Some(Machine { cpus: Some(cpus), name, .. }) => format!(" {cpus:.0} {} ", cased(name)),
        _ => " CPUs ".to_owned(),
    };
    let inner = theme.panel(title).draw(area, buffer);
    if machines.is_empty() {
        return Line::from(Span::styled(unseen(model), theme.quiet())).render(inner, buffer);
    }
    let mut lines = Vec::new();
    for (nth, machine) in machines.iter().enumerate() {
        if nth > 0 {
            lines.push(Line::from(Span::styled(machine.name, theme.strong())));
        }
        let whole = machine.cpus.unwrap_or_else(|| machine.shares.iter().map(|share| share.cpus).sum());
        lines.extend(machine.shares.iter().map(|share| line(share, whole, usize::from(inner.width), theme)));
        if !machine.kinds.is_empty() {
            let kinds: Vec<_> = machine.kinds.iter().map(|(kind, cpus)| format!("{kind} {cpus:.2}")).collect();
            lines.push(Line::from(Span::styled(kinds.join(", "), theme.quiet())));
        }
    }
    for (line, row) in lines.into_iter().zip(inner.rows()) {
        fitted(line, row.width).render(row, buffer);
    }
}

/// Returns the title of a machine's CPUs.
fn cased(name: &str) -> &str {
    if name == "CPUs" { "CPUs" } else { "CPUs of the server's machine" }
}

fn line(share: &Share, whole: f64, width: usize, theme: Theme) -> Line<'static> {
    let room = width.saturating_sub(NAMES + 7);
    Line::from(vec![
        Span::raw(format!("{:NAMES$}", share.name)),
        Span::styled(format!("{:>6.2} ", share.cpus), theme.strong()),
        Span::styled(bar(share.cpus / whole, room), ink(share.by, theme)),
    ])
}

fn ink(by: Use, theme: Theme) -> Style {
    match by {
        Use::Server => theme.ink(Color::Cyan),
        Use::Driver => theme.ink(Color::Magenta),
        Use::Other | Use::Waiting => theme.ink(Color::Red),
        Use::System => theme.ink(Color::Yellow),
        Use::Idle => theme.quiet(),
    }
}
