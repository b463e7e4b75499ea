//! Entries of a service's log, put into the order of their time.
//!
//! Each has a line of the log in stderr's form. An export has them in nearly the order of their time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Entries that wait for earlier ones.
const ENTRIES_MAX: usize = 50_000;

/// Bytes of these entries together.
const BYTES_MAX: usize = 64 << 20;

/// Characters of a time that are kept.
const TIME_CHARS_MAX: usize = 40;

/// An entry by its time, the number of its line within the session, and its place in the file.
type Entry = (String, u64, u64, EntryText);

/// The text of an entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EntryText {
    /// A line with its prefix.
    pub(super) line: String,
    /// Its detail, where it is apart from it.
    pub(super) detail: String,
}

impl EntryText {
    fn bytes(&self) -> usize {
        self.line.len() + self.detail.len()
    }
}

/// Entries that wait for earlier ones.
#[derive(Debug, Default)]
pub(super) struct Entries {
    waiting: BinaryHeap<Reverse<Entry>>,
    bytes: usize,
    added: u64,
    last: String,
    /// Entries that came too late to be put in order.
    pub(super) late: u64,
}

impl Entries {
    /// Adds an entry with the number of its line. Returns the texts of those that no earlier one is expected for.
    pub(super) fn add(&mut self, timestamp: &str, number: u64, text: EntryText) -> Vec<EntryText> {
        self.added += 1;
        self.bytes += text.bytes();
        // Without the zone a shorter fraction comes first. More than this is no time.
        let time = timestamp.trim_end_matches('Z').chars().take(TIME_CHARS_MAX).collect();
        self.waiting.push(Reverse((time, number, self.added, text)));
        let mut ready = Vec::new();
        while self.waiting.len() > ENTRIES_MAX || self.bytes > BYTES_MAX {
            ready.extend(self.next());
        }
        ready
    }

    /// Returns the text of the earliest entry.
    pub(super) fn next(&mut self) -> Option<EntryText> {
        let Reverse((time, _, _, text)) = self.waiting.pop()?;
        self.bytes -= text.bytes();
        self.late += u64::from(time < self.last);
        self.last = time;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &str) -> EntryText {
        EntryText { line: line.to_owned(), detail: String::new() }
    }

    #[test]
    fn entries_come_in_the_order_of_their_time_and_line() {
        let mut entries = Entries::default();
        for (time, number, line) in [
            ("2026-08-04T14:52:17.5Z", 2, "d"),
            ("2026-08-04T14:52:17Z", 9, "a"),
            ("2026-08-04T14:52:17.5Z", 1, "c"),
            ("2026-08-04T14:52:17.232Z", 7, "b"),
        ] {
            assert!(entries.add(time, number, text(line)).is_empty());
        }
        let texts: String = std::iter::from_fn(|| entries.next()).map(|text| text.line).collect();
        assert_eq!((texts.as_str(), entries.late, entries.bytes), ("abcd", 0, 0));
    }

    #[test]
    fn a_file_in_another_order_takes_no_memory_and_is_noted() {
        let mut entries = Entries::default();
        let mut ready = 0;
        for nth in (0..2 * ENTRIES_MAX).rev() {
            ready += entries.add(&format!("{nth:09}"), 0, text("")).len();
            assert!(entries.waiting.len() <= ENTRIES_MAX);
        }
        assert_eq!((ready, entries.late > 0), (ENTRIES_MAX, true));
        ready += entries.add("x", 0, text(&"x".repeat(BYTES_MAX + 1))).len();
        assert_eq!((ready, entries.waiting.len()), (2 * ENTRIES_MAX + 1, 0));
    }
}
