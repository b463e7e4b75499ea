//! Text wrapped between words: for a terminal of 80 columns, unless the program knows that it goes to a wider one.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::paint::Paint;

/// Columns of a terminal that everybody has.
pub const COLUMNS: usize = 80;

/// Longer lines are hard to read, however wide the terminal is.
const COLUMNS_MAX: usize = 120;

/// The columns of what is wrapped now.
static WIDTH: AtomicUsize = AtomicUsize::new(COLUMNS);

/// Wraps text at the width of the terminal that it goes to, from 80 to 120 columns. It is for the program, before it prints or writes
/// anything: all text of a process has one width.
pub fn fit(columns: usize) {
    WIDTH.store(columns.clamp(COLUMNS, COLUMNS_MAX), Ordering::Relaxed);
}

/// Returns the width.
#[must_use]
pub fn columns() -> usize {
    WIDTH.load(Ordering::Relaxed)
}

/// Columns of a label at the beginning of a line, with the space behind it.
pub const LABEL: usize = 8;

/// Writes text with a label before it; further lines are indented as far as the first.
///
/// # Errors
/// Those of `out`.
pub fn entry(out: &mut dyn Write, paint: &Paint, label: &str, text: &str) -> io::Result<()> {
    hanging(out, &paint.bold(&format!("{label:<LABEL$}")), LABEL, text)
}

/// Writes text behind `first`, which takes `indent` columns; further lines are indented by as many.
///
/// # Errors
/// Those of `out`.
pub fn hanging(out: &mut dyn Write, first: &str, indent: usize, text: &str) -> io::Result<()> {
    painted(out, first, indent, text, str::to_owned)
}

/// Writes text as [`hanging`] does, each line painted.
///
/// # Errors
/// Those of `out`.
pub fn painted(
    out: &mut dyn Write,
    first: &str,
    indent: usize,
    text: &str,
    paint: impl Fn(&str) -> String,
) -> io::Result<()> {
    let lines = textwrap::wrap(text, options(columns() - indent));
    let blank = " ".repeat(indent);
    lines
        .iter()
        .enumerate()
        .try_for_each(|(nth, line)| writeln!(out, "{}{}", if nth == 0 { first } else { &blank }, paint(line)))
}

/// Writes a paragraph whose lines after the first begin with `indent`.
///
/// # Errors
/// Those of `out`.
pub fn wrapped(out: &mut dyn Write, text: &str, indent: &str) -> io::Result<()> {
    let lines = textwrap::wrap(text, options(columns()).subsequent_indent(indent));
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// A label is no wider than this: further in, what looks like one is a table.
const LABEL_MAX: usize = 30;

/// Returns a text as one line, with single spaces between its words.
#[must_use]
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns lines of text for a terminal: longer ones are wrapped between words, and hang below the text that follows
/// the label of the first, which two spaces or more end.
#[must_use]
pub fn folded(text: &str) -> String {
    text.split_inclusive('\n').map(folded_line).collect()
}

fn folded_line(line: &str) -> String {
    let text = line.trim_end_matches('\n');
    if text.chars().count() <= columns() {
        return line.to_owned();
    }
    let indent = text.len() - text.trim_start().len();
    let label = text[indent..].find("  ").map(|end| indent + end).filter(|end| *end <= LABEL_MAX);
    let behind = label.map(|end| end + text[end..].len() - text[end..].trim_start().len());
    let hang = " ".repeat(behind.map_or(indent + 2, |at| text[..at].chars().count()));
    let first = &text[..behind.unwrap_or(indent)];
    let rest = &text[first.len()..];
    let rest = together(rest);
    let lines = textwrap::wrap(&rest, options(columns()).initial_indent(first).subsequent_indent(&hang));
    let end = &line[text.len()..];
    lines.join("\n").replace(NO_BREAK, " ") + end
}

/// A space at which no line ends.
const NO_BREAK: char = '\u{a0}';

/// What stands in brackets is read at once where it has no more characters than this.
const TOGETHER_MAX: usize = 24;

/// Returns the text with spaces that do not break where short words stand in brackets, as in `[default: 1]`.
fn together(text: &str) -> String {
    let mut parts = text.split_inclusive(['[', ']']).peekable();
    let mut out = String::with_capacity(text.len());
    while let Some(part) = parts.next() {
        out += part;
        let is_short = |inner: &&str| inner.ends_with(']') && inner.chars().count() <= TOGETHER_MAX;
        if part.ends_with('[')
            && let Some(inner) = parts.next_if(is_short)
        {
            out += &inner.replace(' ', "\u{a0}");
        }
    }
    out
}

/// Returns a text as lines of at most `columns` columns; words that are longer are divided.
#[must_use]
pub fn narrow(text: &str, columns: usize) -> Vec<String> {
    textwrap::wrap(text, options(columns).break_words(true)).into_iter().map(Into::into).collect()
}

/// Returns as much of a line as fits into `columns` columns of a terminal, where some characters take two.
#[must_use]
pub fn cut(line: &str, columns: usize) -> &str {
    let mut width = 0;
    let beyond = line.char_indices().find(|(_, letter)| {
        width += textwrap::core::display_width(letter.encode_utf8(&mut [0; 4]));
        width > columns
    });
    beyond.map_or(line, |(at, _)| &line[..at])
}

/// Returns as much of a text as fits into a line of the summary, up to the end of a part.
#[must_use]
pub fn clipped(text: &str, columns: usize) -> &str {
    if text.chars().count() <= columns {
        return text;
    }
    let end = text.char_indices().nth(columns).map_or(text.len(), |(at, _)| at);
    let cut = &text[..end];
    let part = ["; ", ", ", ": "].iter().filter_map(|end| cut.rfind(end)).max();
    part.or_else(|| cut.rfind(' ')).map_or(cut, |at| &cut[..at])
}

fn options(columns: usize) -> textwrap::Options<'static> {
    // Names, paths and options are never divided.
    textwrap::Options::new(columns)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_fits_also_where_characters_take_two_columns() {
        assert_eq!([cut("table", 5), cut("table", 4), cut("表表", 3), cut("表", 1)], ["table", "tabl", "表", ""]);
    }

    fn written(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_end_between_words_and_hang_below_the_label() {
        let text = "word ".repeat(30);
        let lines = written(|out| entry(out, &Paint(false), "TRUST", &text));
        assert!(lines.starts_with("TRUST   word word"), "{lines}");
        assert!(lines.lines().all(|line| line.len() <= 80) && lines.lines().count() == 3, "{lines}");
        assert!(lines.lines().skip(1).all(|line| line.starts_with("        word")), "{lines}");
    }

    #[test]
    fn what_has_no_space_is_not_divided() {
        let path = "/a/very-long-path".repeat(9);
        assert_eq!(written(|out| wrapped(out, &format!("in {path}"), "  ")), format!("in\n  {path}\n"));
    }

    #[test]
    fn folded_lines_hang_below_the_text_behind_the_label() {
        let words = "word ".repeat(20);
        let text = folded(&format!("short\n  scale     {words}\nwarning: {words}\n"));
        let lines: Vec<_> = text.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!((lines[0], &lines[1][..16]), ("short", "  scale     word"));
        assert!(lines[2].starts_with("            word") && lines[4].starts_with("  word"), "{text}");
        assert_eq!(text.replace('\n', " ").split_whitespace().filter(|word| *word == "word").count(), 40);
    }

    #[test]
    fn short_words_in_brackets_stay_together() {
        let text = format!("  --clients  {}[default: 1] more", "x ".repeat(30));
        assert_eq!(
            folded(&text),
            format!("  --clients  {}\n             [default: 1] more", "x ".repeat(30).trim_end())
        );
        let long = format!("{}[a list of words that is longer than a bracket that is kept whole]", "x ".repeat(30));
        assert!(folded(&long).lines().next().unwrap().contains("[a list of"));
    }

    #[test]
    fn a_clipped_line_ends_with_a_part() {
        assert_eq!(clipped("one, two; three", 20), "one, two; three");
        assert_eq!(clipped("one, two; three", 12), "one, two");
        assert_eq!(clipped("1,000 µs and more", 9), "1,000 µs");
        assert_eq!(clipped("row locks: 1 session: Lock:tuple", 26), "row locks: 1 session");
        assert_eq!(clipped("µµµµ", 2), "µµ");
    }
}
