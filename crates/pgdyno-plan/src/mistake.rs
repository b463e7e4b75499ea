//! Parses TOML, and reports errors with line, caret and a suggestion.

use pgdyno_workload::in_plain_words;
use serde::de::DeserializeOwned;

/// An error in a TOML file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {what}")]
pub struct Mistake {
    /// The file, as the user named it.
    pub file: String,
    /// The message; over several lines if it points at a position.
    pub what: String,
}

impl Mistake {
    /// Returns an error without a position.
    #[must_use]
    pub fn new(file: &str, what: impl Into<String>) -> Self {
        Self { file: file.to_owned(), what: what.into() }
    }
}

/// Parses `text`, the content of `file`.
///
/// Types that are parsed with this must not use serde's `flatten` or `untagged`, which lose the position of errors.
///
/// # Errors
/// With line, caret and, for an unknown key, the most similar known one.
pub fn read<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, Mistake> {
    toml::from_str(text).map_err(|error| {
        let message = error.to_string();
        let message = message.replace(error.message(), &in_plain_words(error.message()));
        let hint = suggestion(error.message()).map_or_else(String::new, |key| format!("\ndid you mean `{key}`?"));
        Mistake::new(file, message.trim_end().to_owned() + &hint)
    })
}

/// Returns the one of `known` that is most similar to `word`, if any is similar.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase().replace('-', "_");
    let distance = |known: &str| strsim::damerau_levenshtein(&word, &known.to_lowercase().replace('-', "_"));
    let far = |known: &str| known.len().div_ceil(3);
    // A much longer word is similar to none, and comparing it costs time and memory.
    let alike = known.into_iter().filter(|known| word.chars().count() <= known.len() + far(known));
    let near = alike.map(|known| (distance(known), known));
    near.filter(|(distance, known)| *distance <= far(known)).min().map(|(_, known)| known)
}

/// Returns the most similar name for a field or variant that serde reports as unknown.
fn suggestion(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("unknown field `").or_else(|| message.split_once("unknown variant `"))?;
    let (word, known) = rest.split_once('`')?;
    nearest(word, known.split('`').skip(1).step_by(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Example {
        clients: u32,
        #[serde(default)]
        time: Option<pgdyno_text::parse::Duration>,
    }

    fn reported(text: &str) -> String {
        read::<Example>("a.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn an_unknown_key_is_answered_with_place_and_nearest_key() {
        insta::assert_snapshot!(reported("clients = 4\ncleints = 5\n"), @r"
        a.toml: TOML parse error at line 2, column 1
          |
        2 | cleints = 5
          | ^^^^^^^
        unknown field `cleints`, expected `clients` or `time`
        did you mean `clients`?
        ");
        assert!(!reported("clients = 4\nwarehouses = 5").contains("did you mean"));
    }

    #[test]
    fn a_value_of_another_type_is_refused_with_what_is_expected_without_rust() {
        insta::assert_snapshot!(reported("clients = \"8\"\n"), @r#"
        a.toml: TOML parse error at line 1, column 11
          |
        1 | clients = "8"
          |           ^^^
        the text "8" is not a whole number, 0 or more
        "#);
        for (text, words) in [
            ("clients = -1", "-1 is not a whole number, 0 or more"),
            ("clients = 1.5", "1.5 is not a whole number"),
            ("clients = true", "true is not a whole number"),
            ("clients = [8]", "expected a whole number, 0 or more"),
        ] {
            assert!(reported(text).contains(words), "{}", reported(text));
        }
    }

    #[test]
    fn a_number_that_could_be_two_things_wants_a_unit() {
        insta::assert_snapshot!(reported("clients = 4\ntime = 60\n"), @r#"
        a.toml: TOML parse error at line 2, column 8
          |
        2 | time = 60
          |        ^^
        60 could be seconds or minutes: write it with its unit, as in "60s" or "10min"
        "#);
        let read: Example = read("a.toml", "clients = 4\ntime = '1.5min'").unwrap();
        assert_eq!(read.time.map(|time| time.seconds()), Some(90.0));
    }
}
