//! `log_line_prefix`: what is in front of each line of a log in stderr's form.

use super::line::LogLine;

/// Bytes of a line within which its prefix ends.
const PREFIX_MAX: usize = 2 << 10;

/// Ends of values that are tried for one line. Names of applications may have any character.
const TRIES_MAX: usize = 1000;

/// What to do about a prefix that is of no use.
pub(super) const REMEDY: &str = "set log_line_prefix to '%m [%p] %q%u@%d ', or add csvlog to log_destination";

/// A part of a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    /// A value, by the letter of its escape.
    Value(char),
}

/// The prefix of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinePrefix {
    parts: Vec<Part>,
}

/// A line without its prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PrefixedLine<'a> {
    /// What the prefix says.
    pub(super) line: LogLine,
    /// The number of the line within its session, 0 if the prefix has none.
    pub(super) number: u64,
    /// The severity, or the name of a part of a message: `LOG`, `DETAIL`.
    pub(super) severity: &'a str,
    /// The text, with a tab in front of each further line.
    pub(super) text: &'a str,
}

impl LinePrefix {
    /// Returns the prefix that a setting describes. The error says what it lacks.
    pub(super) fn new(setting: &str) -> Result<Self, String> {
        let parts = parts(setting);
        let has = |letters: &str| parts.iter().any(|part| matches!(part, Part::Value(c) if letters.contains(*c)));
        let lacks = |what: &str| Err(format!("log_line_prefix '{setting}' has {what}"));
        if !has("mtn") {
            return lacks("no time (%m, %t or %n)");
        }
        if !has("pc") {
            return lacks("neither the process (%p) nor the session (%c)");
        }
        let is_free = |part: &Part| matches!(part, Part::Value(c) if is_free(*c));
        if parts.windows(2).any(|pair| pair.iter().all(is_free)) {
            return lacks("two names without a character between them");
        }
        Ok(Self { parts })
    }

    /// Returns true if lines have the database.
    pub(super) fn has_database(&self) -> bool {
        self.parts.contains(&Part::Value('d'))
    }

    /// Returns a line without its prefix; `None` if it does not begin with it, or is not of a session.
    pub(super) fn read<'a>(&self, text: &'a str) -> Option<PrefixedLine<'a>> {
        let mut values = Vec::with_capacity(self.parts.len());
        let (severity, text) = read(&self.parts, text, text.len(), &mut values, &mut 0)?;
        let mut found = PrefixedLine { severity, text, ..PrefixedLine::default() };
        found.line.lacks_transaction = !self.parts.contains(&Part::Value('v'));
        let mut process = "";
        for (letter, value) in values {
            let line = &mut found.line;
            match letter {
                'm' | 't' | 'n' => value.clone_into(&mut line.timestamp),
                'd' => value.clone_into(&mut line.database),
                'c' => value.clone_into(&mut line.session_id),
                'p' => process = value,
                'i' => value.clone_into(&mut line.ps),
                'v' => value.clone_into(&mut line.vxid),
                'e' => value.clone_into(&mut line.state_code),
                'l' => found.number = value.parse().unwrap_or_default(),
                'Q' => line.query_id = value.parse().unwrap_or_default(),
                _ => {}
            }
        }
        if found.line.session_id.is_empty() {
            process.clone_into(&mut found.line.session_id);
        }
        Some(found)
    }
}

/// Returns the parts of a setting. A width only adds blanks, which are taken from values; unknown escapes print nothing.
fn parts(setting: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut characters = setting.chars().peekable();
    while let Some(c) = characters.next() {
        if c != '%' {
            literal.push(c);
            continue;
        }
        while characters.next_if(|c| *c == '-' || c.is_ascii_digit()).is_some() {}
        match characters.next() {
            Some('%') => literal.push('%'),
            // Lines of sessions go on.
            Some('q') | None => {}
            Some(letter) if "audrhbpPtmnsiecQlvx".contains(letter) => {
                if !literal.is_empty() {
                    parts.push(Part::Literal(std::mem::take(&mut literal)));
                }
                parts.push(Part::Value(letter));
            }
            Some(_) => {}
        }
    }
    if !literal.is_empty() {
        parts.push(Part::Literal(literal));
    }
    parts
}

/// Returns true if a value may have any characters.
fn is_free(letter: char) -> bool {
    "audrhbi".contains(letter)
}

/// Reads the values of the parts, and the severity after them.
fn read<'a>(
    parts: &[Part],
    text: &'a str,
    whole: usize,
    values: &mut Vec<(char, &'a str)>,
    tries: &mut usize,
) -> Option<(&'a str, &'a str)> {
    let Some((first, rest)) = parts.split_first() else { return severity(text) };
    let letter = match first {
        Part::Literal(literal) => return read(rest, text.strip_prefix(literal.as_str())?, whole, values, tries),
        Part::Value(letter) => *letter,
    };
    let depth = values.len();
    if !is_free(letter) {
        let padded = text.trim_start_matches(' ');
        let end = value_end(letter, padded)?;
        values.push((letter, &padded[..end]));
        let after = &padded[end..];
        // A width may have added blanks.
        return [after, after.trim_start_matches(' ')].into_iter().find_map(|after| {
            values.truncate(depth + 1);
            read(rest, after, whole, values, tries)
        });
    }
    for (end, _) in text.char_indices().take_while(|(end, _)| whole - text.len() + end <= PREFIX_MAX) {
        if !begins(rest, &text[end..]) {
            continue;
        }
        *tries += 1;
        if *tries > TRIES_MAX {
            return None;
        }
        values.truncate(depth);
        values.push((letter, text[..end].trim()));
        if let Some(found) = read(rest, &text[end..], whole, values, tries) {
            return Some(found);
        }
    }
    None
}

/// Returns false if a text does not begin as these parts do.
fn begins(parts: &[Part], text: &str) -> bool {
    match parts.first() {
        Some(Part::Literal(literal)) => text.starts_with(literal.as_str()),
        Some(Part::Value(_)) => true,
        None => severity(text).is_some(),
    }
}

/// Returns where a value of a known form ends.
fn value_end(letter: char, text: &str) -> Option<usize> {
    let count = |text: &str, is: fn(char) -> bool| text.find(|c: char| !is(c)).unwrap_or(text.len());
    let digits = |text: &str| count(text, |c| c.is_ascii_digit());
    let some = |end: usize| (end > 0).then_some(end);
    match letter {
        'm' => time_end(text, 23),
        't' | 's' => time_end(text, 19),
        'n' => {
            let whole = some(digits(text))?;
            let decimals = text[whole..].strip_prefix('.').map_or(0, |after| 1 + digits(after));
            Some(whole + decimals)
        }
        'p' | 'l' | 'x' => some(digits(text)),
        'P' => Some(digits(text)),
        'c' => some(count(text, |c| c.is_ascii_hexdigit() || c == '.')),
        // Empty where there is no transaction.
        'v' => Some(count(text, |c| c.is_ascii_digit() || c == '/')),
        'e' => text.get(..5).filter(|code| code.chars().all(|c| c.is_ascii_alphanumeric())).map(str::len),
        _ => some(count(text, |c| c.is_ascii_digit() || c == '-')),
    }
}

/// Returns where a time ends that has so many characters and the name of its zone.
fn time_end(text: &str, length: usize) -> Option<usize> {
    const FORM: &[u8] = b"0000-00-00 00:00:00.000";
    let time = text.as_bytes().get(..length)?;
    let fits = |(byte, form): (&u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form };
    if !time.iter().zip(FORM).all(fits) {
        return None;
    }
    let zone = text.get(length..)?.strip_prefix(' ')?;
    let is_zone = |c: char| c.is_ascii_alphanumeric() || "+-_/<>".contains(c);
    let mut end = zone.find(|c| !is_zone(c)).unwrap_or(zone.len());
    // A sign before what follows the time is no part of a zone's name: `%t-%c-`.
    let is_name = zone.starts_with(|c: char| c.is_ascii_alphabetic());
    if is_name {
        end = zone.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(zone.len());
    } else if let Some(sign) = zone[..end].char_indices().skip(1).find(|(_, c)| *c == '-').map(|(at, _)| at) {
        end = sign;
    }
    Some(length + 1 + end)
}

/// Returns the severity and the text after it: `LOG:  duration: 0.1 ms`.
fn severity(text: &str) -> Option<(&str, &str)> {
    let (word, text) = text.split_once(":  ")?;
    let is_word = !word.is_empty() && word.len() <= 40 && !word.contains([' ', '\n', '\t', ':', '/']);
    is_word.then_some((word, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(setting: &str, text: &'a str) -> Option<PrefixedLine<'a>> {
        LinePrefix::new(setting).unwrap().read(text)
    }

    #[test]
    fn values_of_a_prefix_are_read() {
        let line =
            found("%m [%p] %q%u@%d/%a ", "2026-11-28 15:01:27.584 CET [3440] app@shop/my: app/x LOG:  a: b").unwrap();
        assert_eq!((line.severity, line.text, line.line.session()), ("LOG", "a: b", "3440"));
        assert_eq!(
            (line.line.timestamp.as_str(), line.line.database.as_str()),
            ("2026-11-28 15:01:27.584 CET", "shop")
        );
        assert!(line.line.lacks_transaction);
        let line = found(
            "%m [%p]: [%l-1] db=%d,user=%u ",
            "2026-08-04 14:52:17.232 UTC [115855]: [7-1] db=shop,user=app DETAIL:  parameters: $1 = '5'",
        );
        let line = line.unwrap();
        assert_eq!((line.severity, line.number, line.line.database.as_str()), ("DETAIL", 7, "shop"));
        let line =
            found("%t:%r:%u@%d:[%p]:", "2026-11-28 15:01:27 UTC:10.0.0.7(5432):app@shop:[3440]:LOG:  x").unwrap();
        assert_eq!((line.line.timestamp.as_str(), line.line.database.as_str()), ("2026-11-28 15:01:27 UTC", "shop"));
        let line = found("%t-%c-", "2026-11-28 15:01:27 UTC-6b0aecc7.d70-LOG:  x").unwrap();
        assert_eq!((line.line.session(), line.text), ("6b0aecc7.d70", "x"));
        let line = found("%n %c %v %e %Q %i|%x ", "1764324000.123 6b.d7 3/17 00000 -118 SELECT|0 LOG:  x").unwrap();
        assert_eq!((line.line.transaction(), line.line.query_id, line.line.timestamp.len()), (Some("17"), -118, 14));
        assert!(!line.line.lacks_transaction);
        let line = found("%-5p|%8l|%m ", "34   |       7|2026-11-28 15:01:27.584 +0545 LOG:  x").unwrap();
        assert_eq!((line.line.session(), line.number), ("34", 7));
    }

    #[test]
    fn lines_without_the_prefix_are_none() {
        for text in [
            "",
            "2026-11-28 15:01:27.584 CET [3440] ",
            "2026-11-28 15:01:27.584 CET [3440] LOG: one blank",
            "2026-11-28 15:01:27 CET [3440] LOG:  no milliseconds",
            "\t from t LOG:  x",
            "2026-11-28 15:01:27.584 CET [] LOG:  x",
            "é026-11-28 15:01:27.584 CET [3] LOG:  x",
        ] {
            assert_eq!(found("%m [%p] ", text), None, "{text}");
        }
        let names = format!("2026-11-28 15:01:27.584 CET {}", "@ ".repeat(100_000));
        assert_eq!(found("%m %u@%d@%a@%r@%h %p ", &names), None);
    }

    #[test]
    fn a_prefix_of_no_use_is_refused() {
        for (setting, why) in [
            ("", "no time"),
            ("%u@%d [%p] ", "no time"),
            ("%m %u@%d ", "neither the process"),
            ("%m [%p] %u%d ", "two names without a character"),
        ] {
            assert!(LinePrefix::new(setting).unwrap_err().contains(why), "{setting}");
        }
    }
}
