//! Notices and warnings of the server: each kind is shown once and counted. A function that raises one in every
//! transaction fills neither the terminal nor the memory.

use std::collections::HashMap;

use pgdyno_results::NoticeRecord;
use pgdyno_text::units;
use pgdyno_wire::backend::ServerMessage;
use pgdyno_wire::libpq;

use crate::events::EventSink;

/// Maximum number of kinds that are counted separately.
const KINDS_MAX: usize = 100;

/// The notices so far.
#[derive(Default)]
pub(crate) struct Notices {
    /// Index in `notices` of each kind.
    kinds: HashMap<Vec<u8>, usize>,
    /// The first message of each kind.
    notices: Vec<NoticeRecord>,
    /// Number of further messages, of other kinds.
    more: u64,
    /// Buffer for the kind of the current message.
    kind: Vec<u8>,
}

impl Notices {
    /// Counts a message. Shows the first of each kind as psql shows it.
    pub(crate) fn take(&mut self, message: &ServerMessage, events: &dyn EventSink) {
        kind_of(message, &mut self.kind);
        match self.kinds.get(&self.kind) {
            Some(at) => self.notices[*at].count += 1,
            None if self.notices.len() == KINDS_MAX => self.more += 1,
            None => {
                events.note(libpq::notice(message, "").trim_end());
                self.kinds.insert(self.kind.clone(), self.notices.len());
                self.notices.push(NoticeRecord {
                    severity: message.severity.clone(),
                    sqlstate: message.code.to_string(),
                    count: 1,
                    message: message.message.clone(),
                });
            }
        }
    }

    /// Shows the count of each kind that came more than once, and returns all kinds for the record.
    pub(crate) fn end(self, events: &dyn EventSink) -> Vec<NoticeRecord> {
        for NoticeRecord { severity, count, message, .. } in self.notices.iter().filter(|notice| notice.count > 1) {
            events.note(&format!("{severity}:  {message}: {} times", units::count(*count)));
        }
        if self.more > 0 {
            events.note(&format!("{} more notices of other kinds", units::count(self.more)));
        }
        self.notices
    }
}

/// Returns the kind of a notice: severity, SQLSTATE and text without its numbers, which are keys of rows.
fn kind_of(message: &ServerMessage, kind: &mut Vec<u8>) {
    kind.clear();
    kind.extend(message.severity.bytes());
    kind.extend(message.code.as_str().bytes());
    for byte in message.message.bytes() {
        match byte {
            b'0'..=b'9' if kind.last() == Some(&b'0') => {}
            b'0'..=b'9' => kind.push(b'0'),
            byte => kind.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Silent;

    fn message(severity: &str, text: &str) -> ServerMessage {
        ServerMessage { severity: severity.to_owned(), message: text.to_owned(), ..ServerMessage::default() }
    }

    fn counted(messages: impl IntoIterator<Item = ServerMessage>) -> (Vec<(String, u64)>, u64) {
        let mut notices = Notices::default();
        let quiet = Silent;
        messages.into_iter().for_each(|message| notices.take(&message, &quiet));
        let more = notices.more;
        let text_and_count = |notice: NoticeRecord| (format!("{} {}", notice.severity, notice.message), notice.count);
        (notices.end(&quiet).into_iter().map(text_and_count).collect(), more)
    }

    #[test]
    fn numbers_do_not_make_a_kind_and_words_and_severities_do() {
        let notices = [
            ("NOTICE", "row 17"),
            ("NOTICE", "row 8"),
            ("WARNING", "row 8"),
            ("NOTICE", "rows 8"),
            ("NOTICE", "row 0"),
        ];
        let expected = [("NOTICE row 17", 3), ("WARNING row 8", 1), ("NOTICE rows 8", 1)];
        let expected = expected.map(|(text, count)| (text.to_owned(), count));
        assert_eq!(counted(notices.map(|(severity, text)| message(severity, text))), (expected.to_vec(), 0));
    }

    #[test]
    fn kinds_without_end_are_only_counted() {
        let kinds = (0..2 * KINDS_MAX).map(|nth| message("NOTICE", &"x".repeat(nth)));
        let (notices, more) = counted(kinds.clone().chain(kinds));
        assert_eq!((notices.len(), more), (KINDS_MAX, 2 * KINDS_MAX as u64));
        assert!(notices.iter().all(|(_, count)| *count == 2));
    }
}
