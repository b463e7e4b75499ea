//! Notes and warnings that came while the view was shown.

/// So many are kept; connections that are lost again and again fill no memory.
const KEPT: usize = 10_000;

/// In the order in which they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    lines: Vec<String>,
    /// How many more there were.
    more: u64,
}

impl Told {
    /// One more.
    pub(crate) fn say(&mut self, line: &str) {
        if self.lines.len() < KEPT {
            self.lines.push(line.to_owned());
        } else {
            self.more += 1;
        }
    }

    /// All of them, for a terminal without the view; none are left.
    pub(crate) fn take(&mut self) -> Vec<String> {
        let mut lines = std::mem::take(&mut self.lines);
        if self.more > 0 {
            lines.push(format!("{} more notes are not shown", self.more));
            self.more = 0;
        }
        lines
    }

    /// The newest, at most `n`, the oldest of them first.
    pub(crate) fn last(&self, n: usize) -> &[String] {
        &self.lines[self.lines.len().saturating_sub(n)..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_said_again_up_to_a_bound() {
        let mut told = Told::default();
        for nth in 0..KEPT + 2 {
            told.say(&format!("note {nth}"));
        }
        assert_eq!(told.last(2), ["note 9998", "note 9999"]);
        let lines = told.take();
        assert_eq!((lines.len(), lines[KEPT].as_str()), (KEPT + 1, "2 more notes are not shown"));
        assert!(told.take().is_empty());
    }
}
