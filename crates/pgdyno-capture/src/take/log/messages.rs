//! Messages of a log in stderr's form: a line for the message, and one for its detail.
//!
//! Lines of one session are in their order. Those of others may be between them.

use std::collections::HashMap;

use super::line::LogLine;
use super::prefix::PrefixedLine;

/// Messages that wait for their details.
const MESSAGES_MAX: usize = 10_000;

/// Bytes of these messages together.
const BYTES_MAX: usize = 64 << 20;

/// Severities of messages, and whether they are errors.
const SEVERITIES: [(&str, bool); 12] = [
    ("LOG", false),
    ("ERROR", true),
    ("FATAL", true),
    ("PANIC", true),
    ("WARNING", false),
    ("NOTICE", false),
    ("INFO", false),
    ("DEBUG1", false),
    ("DEBUG2", false),
    ("DEBUG3", false),
    ("DEBUG4", false),
    ("DEBUG5", false),
];

/// Names of the other parts of a message.
const PARTS: [&str; 7] = ["DETAIL", "HINT", "CONTEXT", "STATEMENT", "QUERY", "LOCATION", "BACKTRACE"];

/// Messages that wait for the next line of their session.
#[derive(Debug, Default)]
pub(super) struct Messages {
    waiting: HashMap<String, LogLine>,
    bytes: usize,
    /// Lines whose words are in another language.
    pub(super) foreign: u64,
}

impl Messages {
    /// Adds a line. Returns the messages that are whole.
    pub(super) fn add(&mut self, prefixed: PrefixedLine<'_>) -> Vec<LogLine> {
        let PrefixedLine { mut line, severity, text, .. } = prefixed;
        let text = text.trim_end_matches(['\n', '\r']).replace("\n\t", "\n");
        if PARTS.contains(&severity) {
            if let Some(message) = self.waiting.get_mut(line.session()).filter(|_| severity == "DETAIL") {
                self.bytes += text.len();
                message.detail = text;
            }
            return Vec::new();
        }
        let Some((_, is_error)) = SEVERITIES.iter().find(|(known, _)| *known == severity) else {
            self.foreign += 1;
            return Vec::new();
        };
        let mut whole: Vec<_> = self.take(line.session()).into_iter().collect();
        if *is_error && line.state_code.is_empty() {
            severity.clone_into(&mut line.state_code);
        }
        line.message = without_code(&text).to_owned();
        let bytes = line.message.len() + line.detail.len();
        if self.waiting.len() >= MESSAGES_MAX || self.bytes + bytes > BYTES_MAX {
            whole.extend(self.end());
        }
        self.bytes += bytes;
        self.waiting.insert(line.session().to_owned(), line);
        whole
    }

    /// Returns all messages that still wait.
    pub(super) fn end(&mut self) -> Vec<LogLine> {
        self.bytes = 0;
        self.waiting.drain().map(|(_, line)| line).collect()
    }

    fn take(&mut self, session: &str) -> Option<LogLine> {
        let line = self.waiting.remove(session)?;
        self.bytes = self.bytes.saturating_sub(line.message.len() + line.detail.len());
        Some(line)
    }
}

/// Returns a message without the SQLSTATE that `log_error_verbosity = verbose` puts in front.
fn without_code(message: &str) -> &str {
    let is_code = |code: &str| code.len() == 5 && code.chars().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase());
    message.split_once(": ").filter(|(code, _)| is_code(code)).map_or(message, |(_, after)| after)
}

#[cfg(test)]
mod tests {
    use super::super::prefix::LinePrefix;
    use super::*;

    fn add(messages: &mut Messages, session: u32, text: &str) -> Vec<LogLine> {
        let text = format!("2026-11-28 15:01:27.584 CET [{session}] {text}\n");
        messages.add(LinePrefix::new("%m [%p] ").unwrap().read(&text).unwrap())
    }

    #[test]
    fn a_message_has_the_detail_that_follows_in_its_session() {
        let mut messages = Messages::default();
        assert!(add(&mut messages, 1, "LOG:  duration: 0.236 ms  execute a: select $1\n\tfrom t").is_empty());
        assert!(add(&mut messages, 2, "LOG:  00000: duration: 0.236 ms  statement: begin").is_empty());
        assert!(add(&mut messages, 1, "DETAIL:  Parameters: $1 = '5'").is_empty());
        assert!(add(&mut messages, 2, "LOCATION:  exec_simple_query, postgres.c:1").is_empty());
        let whole = add(&mut messages, 1, "ERROR:  no");
        assert_eq!((whole.len(), whole[0].executed()), (1, Some("select $1\nfrom t")));
        assert_eq!(whole[0].parameters(), [Some("5".to_owned())]);
        let mut rest = messages.end();
        rest.sort_by(|a, b| a.session().cmp(b.session()));
        assert!(rest[0].is_error() && rest[1].executed() == Some("begin") && !rest[1].is_error());
        assert!(messages.end().is_empty() && messages.bytes == 0);
    }

    #[test]
    fn messages_that_wait_take_little_memory() {
        let mut messages = Messages::default();
        let mut whole = 0;
        for session in 0..3 * MESSAGES_MAX as u32 {
            whole += add(&mut messages, session, "LOG:  x").len();
            assert!(messages.waiting.len() <= MESSAGES_MAX);
        }
        let long = format!("LOG:  {}", "x".repeat(BYTES_MAX / 4));
        for session in 0..9 {
            whole += add(&mut messages, session, &long).len();
            assert!(messages.bytes <= BYTES_MAX);
        }
        assert_eq!(whole + messages.end().len(), 3 * MESSAGES_MAX + 9);
    }

    #[test]
    fn other_languages_are_counted() {
        let mut messages = Messages::default();
        assert!(add(&mut messages, 1, "PROTOKOLL:  Dauer: 0.012 ms  Anweisung: select 1").is_empty());
        assert_eq!((messages.foreign, messages.end().len()), (1, 0));
    }
}
