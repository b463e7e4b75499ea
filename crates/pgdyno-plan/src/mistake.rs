//! TOML that is read, and what is wrong with it: line, caret and what was probably meant.

use serde::de::DeserializeOwned;

/// What is wrong with a TOML file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {what}")]
pub struct Mistake {
    /// The file, as the user knows it.
    pub file: String,
    /// Where and what, over several lines where there is a place to point at.
    pub what: String,
}

impl Mistake {
    /// A mistake that no single place is to blame for.
    #[must_use]
    pub fn new(file: &str, what: impl Into<String>) -> Self {
        Self { file: file.to_owned(), what: what.into() }
    }
}

/// Reads `text`, which is the content of `file`.
///
/// Types that are read so must not use serde's `flatten` or `untagged`: they lose the place of a mistake.
///
/// # Errors
/// With line, caret and, for a key that is not known, the nearest one that is.
pub fn read<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, Mistake> {
    toml::from_str(text).map_err(|error| {
        let told = error.to_string();
        let meant = suggestion(error.message()).map_or_else(String::new, |key| format!("\ndid you mean `{key}`?"));
        Mistake::new(file, told.trim_end().to_owned() + &meant)
    })
}

/// The one of `known` that looks most like `word`, where one does.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase().replace('-', "_");
    let distance = |known: &str| strsim::damerau_levenshtein(&word, &known.to_lowercase().replace('-', "_"));
    let far = |known: &str| known.len().div_ceil(3);
    // What is much longer is like none, and to measure how much costs time and memory.
    let alike = known.into_iter().filter(|known| word.chars().count() <= known.len() + far(known));
    let near = alike.map(|known| (distance(known), known));
    near.filter(|(distance, known)| *distance <= far(known)).min().map(|(_, known)| known)
}

/// What was meant by a field or variant of which serde says that it is unknown, and which there are.
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
        time: Option<crate::units::Duration>,
    }

    fn told(text: &str) -> String {
        read::<Example>("a.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn an_unknown_key_is_answered_with_place_and_nearest_key() {
        insta::assert_snapshot!(told("clients = 4\ncleints = 5\n"), @r"
        a.toml: TOML parse error at line 2, column 1
          |
        2 | cleints = 5
          | ^^^^^^^
        unknown field `cleints`, expected `clients` or `time`
        did you mean `clients`?
        ");
        assert!(!told("clients = 4\nwarehouses = 5").contains("did you mean"));
    }

    #[test]
    fn a_number_that_could_be_two_things_wants_a_unit() {
        insta::assert_snapshot!(told("clients = 4\ntime = 60\n"), @r#"
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
