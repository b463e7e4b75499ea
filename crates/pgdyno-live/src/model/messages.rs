//! Notes and warnings that came before the view was shown, and since.

/// Maximum number of messages: connections that are lost again and again do not fill the memory.
const KEPT: usize = 10_000;

/// The messages in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Messages {
    lines: Vec<String>,
    /// How many of them the terminal had before the view.
    printed: usize,
    /// Number of further messages.
    more: u64,
}

impl Messages {
    /// Returns the messages that the terminal has already.
    pub(crate) fn printed(lines: Vec<String>) -> Self {
        Self { printed: lines.len(), lines, more: 0 }
    }

    /// Adds a message.
    pub(crate) fn say(&mut self, line: &str) {
        if self.lines.len() < KEPT {
            self.lines.push(line.to_owned());
        } else {
            self.more += 1;
        }
    }

    /// Returns all messages that the terminal has not, and removes them.
    pub(crate) fn take(&mut self) -> Vec<String> {
        let mut lines = std::mem::take(&mut self.lines).split_off(std::mem::take(&mut self.printed));
        if self.more > 0 {
            lines.push(format!("{} more notes are not shown", self.more));
            self.more = 0;
        }
        lines
    }

    /// Returns the newest messages, at most `n`, the oldest of them first.
    pub(crate) fn last(&self, n: usize) -> &[String] {
        &self.lines[self.lines.len().saturating_sub(n)..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_said_again_up_to_a_bound() {
        let mut messages = Messages::default();
        for nth in 0..KEPT + 2 {
            messages.say(&format!("note {nth}"));
        }
        assert_eq!(messages.last(2), ["note 9998", "note 9999"]);
        let lines = messages.take();
        assert_eq!((lines.len(), lines[KEPT].as_str()), (KEPT + 1, "2 more notes are not shown"));
        assert!(messages.take().is_empty());
    }

    #[test]
    fn what_was_printed_is_shown_and_not_printed_again() {
        let mut messages = Messages::printed(vec!["warning: before".to_owned()]);
        messages.say("since");
        assert_eq!(messages.last(5), ["warning: before", "since"]);
        assert_eq!(messages.take(), ["since"]);
    }
}
