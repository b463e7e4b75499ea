//! Messages of the server in libpq's format.

use crate::backend::ServerMessage;

/// libpq's message after a lost connection.
pub const LOST: &str = "server closed the connection unexpectedly\n\
                        \tThis probably means the server terminated abnormally\n\
                        \tbefore or while processing the request.";

/// Columns of the statement that are shown.
const EXCERPT_COLUMNS: usize = 60;
/// Columns shown after the position of the error.
const COLUMNS_AFTER: usize = 10;

/// Formats an error as `PQerrorMessage` does, without the last line break. `sql` is the statement, empty if libpq
/// does not know it.
#[must_use]
pub fn error(message: &ServerMessage, sql: &str) -> String {
    let mut text = without_context(message, sql);
    if let Some((query, _)) = &message.internal {
        text.push_str(&format!("\nQUERY:  {query}"));
    }
    if let Some(context) = &message.context {
        text.push_str(&format!("\nCONTEXT:  {context}"));
    }
    text
}

/// Formats a notice as libpq prints it to standard error, with its line break.
#[must_use]
pub fn notice(message: &ServerMessage, sql: &str) -> String {
    format!("{}\n", without_context(message, sql))
}

fn without_context(message: &ServerMessage, sql: &str) -> String {
    let severity = message.localized_severity.as_ref().unwrap_or(&message.severity);
    let mut text = format!("{severity}:  {}", message.message);
    let place = match (message.position, &message.internal) {
        (Some(position), _) if !sql.is_empty() => Some((sql, position)),
        (None, Some((query, Some(position)))) => Some((query.as_str(), *position)),
        _ => None,
    };
    if let Some((sql, position)) = place {
        text.push('\n');
        text.push_str(&place_in(sql, position as usize));
    }
    for (label, part) in [("DETAIL", &message.detail), ("HINT", &message.hint)] {
        if let Some(part) = part {
            text.push_str(&format!("\n{label}:  {part}"));
        }
    }
    text
}

/// Formats `LINE n: ` with the line around character `position` (from 1), and a caret under it. Of a long line a part
/// is shown. Every character counts as one column.
fn place_in(sql: &str, position: usize) -> String {
    let chars: Vec<char> = sql.chars().map(|c| if c == '\t' { ' ' } else { c }).collect();
    let place = position.saturating_sub(1).min(chars.len());
    let is_break = |c: &char| *c == '\n' || *c == '\r';
    let breaks_before = chars[..place].iter().enumerate();
    let number =
        1 + breaks_before.filter(|(at, c)| **c == '\n' || (**c == '\r' && chars.get(at + 1) != Some(&'\n'))).count();
    let line_start = chars[..place].iter().rposition(is_break).map_or(0, |at| at + 1);
    let line_end = chars[place..].iter().position(is_break).map_or(chars.len(), |at| place + at);
    let (mut start, mut end) = (line_start, line_end);
    if end - start > EXCERPT_COLUMNS {
        if start + EXCERPT_COLUMNS >= place + COLUMNS_AFTER {
            end = start + EXCERPT_COLUMNS;
        } else {
            end = end.min(place + COLUMNS_AFTER);
            start = start.max(end.saturating_sub(EXCERPT_COLUMNS));
        }
    }
    let label = format!("LINE {number}: {}", if start > line_start { "..." } else { "" });
    let excerpt: String = chars[start..end].iter().collect();
    let dots = if end < line_end { "..." } else { "" };
    format!("{label}{excerpt}{dots}\n{}^", " ".repeat(label.chars().count() + place - start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_in_libpqs_order() {
        let message = ServerMessage {
            severity: "ERROR".into(),
            message: "boo".into(),
            detail: Some("dd".into()),
            hint: Some("hh".into()),
            context: Some("cc".into()),
            internal: Some(("select x".into(), Some(8))),
            ..ServerMessage::default()
        };
        let head = "ERROR:  boo\nLINE 1: select x\n               ^\nDETAIL:  dd\nHINT:  hh";
        assert_eq!(error(&message, "call f()"), format!("{head}\nQUERY:  select x\nCONTEXT:  cc"));
        assert_eq!(notice(&message, "call f()"), format!("{head}\n"));
    }

    #[test]
    fn the_place_is_shown_in_its_line() {
        assert_eq!(place_in("select\r\n\tx,\ny", 10), "LINE 2:  x,\n         ^");
        assert_eq!(place_in("", 1), "LINE 1: \n        ^");
        assert_eq!(place_in("a", 99), "LINE 1: a\n         ^");
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let line = "0123456789".repeat(10);
        let shown = |position| place_in(&line, position);
        assert_eq!(shown(1), format!("LINE 1: {}...\n        ^", &line[..60]));
        assert_eq!(shown(96), format!("LINE 1: ...{}\n{}^", &line[40..], " ".repeat(11 + 55)));
        assert_eq!(shown(71), format!("LINE 1: ...{}...\n{}^", &line[20..80], " ".repeat(11 + 50)));
    }
}
