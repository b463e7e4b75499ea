//! Parameters of a workload.

use std::collections::BTreeMap;

/// Name of the parameter by which transactions write markers that queries read, so that the age of what queries see is
/// known.
pub const MARKERS: &str = "markers";

/// When a parameter takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// It shapes the loaded data: another value is another data set.
    Load,
    /// It shapes the loaded data unless it has its default value. With the default value, the data and its stamp are
    /// as before this parameter existed.
    LoadUnlessDefault,
    /// It shapes only the run.
    Run,
}

/// Values that a parameter can have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamKind {
    /// A whole number in this range, both ends included.
    Integer(i64, i64),
    /// A number in this range of thousandths, both ends included, with at most three digits after the point.
    Thousandths(i64, i64),
    /// Numbers in this range, both ends included, or ranges such as `1-9`, separated by commas; or `all`.
    Numbers(i64, i64),
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
}

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its name on the command line and in recipes.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// Its default value.
    pub default: &'static str,
    /// Values that it can have.
    pub kind: ParamKind,
    /// When it takes effect.
    pub when: When,
}

impl Param {
    /// Returns true if some of its values shape the loaded data.
    #[must_use]
    pub fn shapes_data(&self) -> bool {
        self.when != When::Run
    }

    /// Returns true if this value is a part of the identity of loaded data.
    #[must_use]
    pub fn identifies_data(&self, value: &str) -> bool {
        match self.when {
            When::Load => true,
            When::LoadUnlessDefault => value != self.default,
            When::Run => false,
        }
    }

    /// Returns true if it can have only one value.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        matches!(self.kind, ParamKind::Choice([_]))
    }
}

/// The error when parameters were refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParamError {
    /// No such parameter.
    #[error("workload {workload} has no parameter '{name}'; it has {known}")]
    Unknown {
        /// The workload.
        workload: &'static str,
        /// The name given.
        name: String,
        /// The names known.
        known: String,
    },
    /// An impossible value.
    #[error("{name} must be {expected}, but '{value}' was given")]
    Invalid {
        /// The parameter.
        name: &'static str,
        /// The value given.
        value: String,
        /// The possible values.
        expected: String,
    },
}

/// All parameters of a workload with their values, checked. Each value has one spelling: `007` is stored as `7`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Params(BTreeMap<&'static str, String>);

impl Params {
    /// Checks the given values, and fills in the defaults.
    ///
    /// # Errors
    /// When a name is unknown or a value impossible.
    pub fn new<'a>(
        workload: &'static str,
        known: &'static [Param],
        given: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, ParamError> {
        let mut values: BTreeMap<_, _> = known.iter().map(|p| (p.name, p.default.to_owned())).collect();
        for (name, value) in given {
            let param = known.iter().find(|p| p.name == name).ok_or_else(|| ParamError::Unknown {
                workload,
                name: name.to_owned(),
                known: match known {
                    [] => "none".to_owned(),
                    known => known.iter().map(|p| p.name).collect::<Vec<_>>().join(", "),
                },
            })?;
            values.insert(param.name, param.kind.check(param.name, value)?);
        }
        Ok(Self(values))
    }

    /// Returns the text of the value of `name`.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Returns the value of an integer parameter.
    #[must_use]
    pub fn integer(&self, name: &str) -> i64 {
        self.text(name).parse().unwrap_or_default()
    }

    /// Returns the value of a parameter of thousandths, in thousandths.
    #[must_use]
    pub fn thousandths(&self, name: &str) -> i64 {
        thousandths(self.text(name)).unwrap_or_default()
    }

    /// Returns the value of a flag.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.text(name) == "true"
    }

    /// Returns all names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }
}

impl ParamKind {
    /// Returns the value in its one spelling.
    fn check(self, name: &'static str, value: &str) -> Result<String, ParamError> {
        let written = || value.to_owned();
        let (fits, expected) = match self {
            Self::Integer(low, high) => (
                value.parse::<i64>().ok().filter(|v| (low..=high).contains(v)).map(|v| v.to_string()),
                format!("a whole number between {low} and {high}"),
            ),
            Self::Thousandths(low, high) => (
                thousandths(value).filter(|v| (low..=high).contains(v)).map(in_units),
                format!(
                    "a number between {} and {} with at most three digits after the point",
                    in_units(low),
                    in_units(high)
                ),
            ),
            Self::Numbers(low, high) => (
                numbers(value, low, high),
                format!("numbers between {low} and {high}, or ranges of them, separated by commas, or all"),
            ),
            Self::Flag => (matches!(value, "true" | "false").then(written), "true or false".to_owned()),
            Self::Choice(words) => (words.contains(&value).then(written), format!("one of {}", words.join(", "))),
            Self::Text => (Some(written()), "a text".to_owned()),
        };
        fits.ok_or_else(|| ParamError::Invalid { name, value: value.to_owned(), expected })
    }
}

/// Returns a list of numbers and ranges of them in their order, each number once; `all` if it has all of them. `None` if one is no
/// number of the range.
fn numbers(text: &str, low: i64, high: i64) -> Option<String> {
    let number = |word: &str| word.trim().parse::<i64>().ok().filter(|number| (low..=high).contains(number));
    let range = |word: &str| {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let (first, last) = (number(first)?, number(last)?);
        (first <= last).then_some(first..=last)
    };
    let mut found: Vec<i64> = match text {
        "all" => (low..=high).collect(),
        _ => text.split(',').map(range).collect::<Option<Vec<_>>>()?.into_iter().flatten().collect(),
    };
    found.sort_unstable();
    found.dedup();
    if found.len() as i64 == high - low + 1 {
        return Some("all".to_owned());
    }
    Some(found.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
}

/// Returns a number such as `0.01` in thousandths; `None` if it is none, is negative, or has more than three digits
/// after the point.
fn thousandths(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 3 {
        return None;
    }
    let part: i64 = format!("{fraction:0<3}").parse().ok()?;
    whole.parse::<i64>().ok()?.checked_mul(1000)?.checked_add(part)
}

/// Returns a number of thousandths as text without needless digits.
fn in_units(thousandths: i64) -> String {
    let text = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Param] = &[
        Param { name: "scale", help: "", default: "1", kind: ParamKind::Integer(1, 100), when: When::Load },
        Param {
            name: "call",
            help: "",
            default: "procedure",
            kind: ParamKind::Choice(&["procedure", "function"]),
            when: When::Run,
        },
    ];

    #[test]
    fn defaults_are_filled_in() {
        let params = Params::new("x", KNOWN, [("scale", "7")]).unwrap();
        assert_eq!(params.integer("scale"), 7);
        assert_eq!(params.text("call"), "procedure");
    }

    #[test]
    fn one_value_has_one_text() {
        let params = |scale| Params::new("x", KNOWN, [("scale", scale)]).unwrap();
        assert_eq!(params("007"), params("7"));
        assert_eq!(params("+7").text("scale"), "7");
    }

    #[test]
    fn a_fraction_has_one_spelling_and_three_digits() {
        let kind = ParamKind::Thousandths(1, 10_000_000);
        let check = |value| kind.check("scale", value).map_err(|error| error.to_string());
        for (value, spelled) in
            [("1", "1"), ("0.01", "0.01"), ("0.010", "0.01"), ("2.50000", "2.5"), ("010.0", "10"), ("10000", "10000")]
        {
            assert_eq!(check(value).as_deref(), Ok(spelled));
        }
        for value in ["0", "0.0005", "0.0001", "-1", "1e3", ".5", "1.", "", "10000.001", "NaN", "99999999999999999999"]
        {
            let error = check(value).unwrap_err();
            let expected = "scale must be a number between 0.001 and 10000 with at most three digits after the point";
            assert_eq!(error, format!("{expected}, but '{value}' was given"));
        }
        let params = Params(BTreeMap::from([("scale", "0.01".to_owned())]));
        assert_eq!(params.thousandths("scale"), 10);
    }

    #[test]
    fn a_list_of_numbers_is_sorted_and_has_each_once() {
        let check = |value| ParamKind::Numbers(1, 3).check("queries", value).map_err(|error| error.to_string());
        for (value, spelled) in [
            ("3, 1,3", "1,3"),
            ("2", "2"),
            ("all", "all"),
            ("3,2,1", "all"),
            ("2-3", "2,3"),
            ("1 - 2,1", "1,2"),
            ("1-3", "all"),
        ] {
            assert_eq!(check(value).as_deref(), Ok(spelled));
        }
        for value in ["", "0", "4", "1,", "q1", "1;2", "-1", "1-4", "3-1", "1-2-3", "1-"] {
            let expected = "queries must be numbers between 1 and 3, or ranges of them, separated by commas, or all";
            assert_eq!(check(value).unwrap_err(), format!("{expected}, but '{value}' was given"));
        }
    }

    #[test]
    fn a_default_of_later_days_shows_no_data() {
        let param = |when| Param { name: "late", help: "", default: "false", kind: ParamKind::Flag, when };
        for (when, shapes, by_default, otherwise) in [
            (When::Load, true, true, true),
            (When::LoadUnlessDefault, true, false, true),
            (When::Run, false, false, false),
        ] {
            let param = param(when);
            let found = (param.shapes_data(), param.identifies_data("false"), param.identifies_data("true"));
            assert_eq!(found, (shapes, by_default, otherwise), "{when:?}");
        }
    }

    #[test]
    fn what_is_refused_says_what_would_do() {
        let error = |given| Params::new("x", KNOWN, [given]).unwrap_err().to_string();
        assert_eq!(error(("scale", "0")), "scale must be a whole number between 1 and 100, but '0' was given");
        assert_eq!(
            error(("scale", "99999999999999999999")),
            "scale must be a whole number between 1 and 100, but '99999999999999999999' was given"
        );
        assert_eq!(error(("call", "client")), "call must be one of procedure, function, but 'client' was given");
        assert_eq!(error(("scael", "1")), "workload x has no parameter 'scael'; it has scale, call");
    }
}
