//! What a workload can be told, and what it was told.

use std::collections::BTreeMap;

/// When a parameter takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// It shapes the loaded data: another value is another data set.
    Load,
    /// It shapes the loaded data where it is not at its default. With the default the data is what it was before there was
    /// this parameter, and is told from other data as it was then.
    LoadUnlessDefault,
    /// It shapes the run only.
    Run,
}

/// What a parameter's value may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamKind {
    /// A whole number between these, both included.
    Integer(i64, i64),
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
    /// One line.
    pub help: &'static str,
    /// What it is if it is not given.
    pub default: &'static str,
    /// What it may be.
    pub kind: ParamKind,
    /// When it takes effect.
    pub when: When,
}

impl Param {
    /// Whether it shapes the loaded data, with one value or another.
    #[must_use]
    pub fn shapes_data(&self) -> bool {
        self.when != When::Run
    }

    /// Whether data that was loaded with this value is told from other data by it.
    #[must_use]
    pub fn tells_data(&self, value: &str) -> bool {
        match self.when {
            When::Load => true,
            When::LoadUnlessDefault => value != self.default,
            When::Run => false,
        }
    }

    /// Whether there is nothing to choose.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        matches!(self.kind, ParamKind::Choice([_]))
    }
}

/// Why parameters were refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParamError {
    /// No such parameter.
    #[error("workload {workload} has no parameter '{name}'; it has {known}")]
    Unknown {
        /// The workload.
        workload: &'static str,
        /// What was given.
        name: String,
        /// What could have been given.
        known: String,
    },
    /// A value outside of what is possible.
    #[error("{name} must be {expected}, but '{value}' was given")]
    Invalid {
        /// The parameter.
        name: &'static str,
        /// What was given.
        value: String,
        /// What could have been given.
        expected: String,
    },
}

/// Every parameter of a workload with its value, checked. One value has one text: `007` is kept as `7`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Params(BTreeMap<&'static str, String>);

impl Params {
    /// Checks what was given against what there is, and fills in the defaults.
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

    /// The value of `name` as it was written.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// The value of an integer parameter.
    #[must_use]
    pub fn integer(&self, name: &str) -> i64 {
        self.text(name).parse().unwrap_or_default()
    }

    /// The value of a flag.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.text(name) == "true"
    }

    /// All names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }
}

impl ParamKind {
    /// The value in its one spelling.
    fn check(self, name: &'static str, value: &str) -> Result<String, ParamError> {
        let written = || value.to_owned();
        let (fits, expected) = match self {
            Self::Integer(low, high) => (
                value.parse::<i64>().ok().filter(|v| (low..=high).contains(v)).map(|v| v.to_string()),
                format!("a whole number between {low} and {high}"),
            ),
            Self::Flag => (matches!(value, "true" | "false").then(written), "true or false".to_owned()),
            Self::Choice(words) => (words.contains(&value).then(written), format!("one of {}", words.join(", "))),
            Self::Text => (Some(written()), "a text".to_owned()),
        };
        fits.ok_or_else(|| ParamError::Invalid { name, value: value.to_owned(), expected })
    }
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
    fn a_default_of_later_days_tells_no_data() {
        let param = |when| Param { name: "late", help: "", default: "false", kind: ParamKind::Flag, when };
        for (when, shapes, by_default, otherwise) in [
            (When::Load, true, true, true),
            (When::LoadUnlessDefault, true, false, true),
            (When::Run, false, false, false),
        ] {
            let param = param(when);
            let found = (param.shapes_data(), param.tells_data("false"), param.tells_data("true"));
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
