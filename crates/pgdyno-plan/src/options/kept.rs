//! What a plan keeps of an option.

use crate::Plan;

/// How much an option affects figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bearing {
    /// Not at all: it decides what is shown, or which random choices are made.
    None,
    /// Figures may differ with it, but measure the same work.
    Figures,
    /// Figures of plans that differ in it measure different work.
    Work,
}

/// What a plan keeps of an option.
pub enum KeptOption {
    /// Nothing: it names the server, selects a recipe's numbers, labels the run, or names output files.
    Nothing,
    /// A value, which is reported with that of another option.
    With(&'static str),
    /// Whether it was given.
    Flag(Reported, fn(&Plan) -> bool),
    /// Its values: with names if there may be several. Empty ones are those of a plan without the option.
    Values(Reported, fn(&Plan) -> Vec<(String, String)>),
}

/// How reports show an option.
#[derive(Clone, Copy)]
pub struct Reported {
    /// Its name in reports.
    pub title: &'static str,
    /// How much it affects the figures of a run of this plan.
    pub bearing: fn(&Plan) -> Bearing,
}

/// A value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionValue {
    /// The name of the parameter or setting; the option's title if it has only one value.
    pub name: String,
    /// The value as people read it.
    pub text: String,
}

impl KeptOption {
    /// Returns how reports show it, if they show it as an option of its own.
    #[must_use]
    pub fn reported(&self) -> Option<Reported> {
        match self {
            Self::Nothing | Self::With(_) => None,
            Self::Flag(reported, _) | Self::Values(reported, _) => Some(*reported),
        }
    }

    /// Returns the values in `plan`: none if the option is off, several for parameters and settings.
    #[must_use]
    pub fn values(&self, plan: &Plan) -> Vec<OptionValue> {
        let (title, values) = match self {
            Self::Nothing | Self::With(_) => return Vec::new(),
            Self::Flag(reported, is_given) if is_given(plan) => (reported.title, one("yes")),
            Self::Flag(..) => return Vec::new(),
            Self::Values(reported, values) => (reported.title, values(plan)),
        };
        let named = |(name, text): (String, String)| OptionValue {
            name: if name.is_empty() { title.to_owned() } else { name },
            text,
        };
        values.into_iter().filter(|(_, text)| !text.is_empty()).map(named).collect()
    }

    /// Returns true if the plan has a value that arguments have to give again.
    pub(super) fn is_in(&self, plan: &Plan) -> bool {
        match self {
            Self::Nothing => false,
            Self::With(_) => true,
            Self::Flag(..) | Self::Values(..) => !self.values(plan).is_empty(),
        }
    }
}

/// Returns an option that the plan keeps as true or false.
pub(super) const fn flag(title: &'static str, is_given: fn(&Plan) -> bool) -> KeptOption {
    KeptOption::Flag(Reported { title, bearing: figures }, is_given)
}

/// Returns an option whose values the plan keeps.
pub(super) const fn values(
    title: &'static str,
    bearing: fn(&Plan) -> Bearing,
    values: fn(&Plan) -> Vec<(String, String)>,
) -> KeptOption {
    KeptOption::Values(Reported { title, bearing }, values)
}

/// Returns the only value of an option.
pub(super) fn one(value: impl ToString) -> Vec<(String, String)> {
    vec![(String::new(), value.to_string())]
}

/// Returns the only value of an option, if the plan has one.
pub(super) fn one_of<T: ToString>(value: Option<T>) -> Vec<(String, String)> {
    value.map(one).unwrap_or_default()
}

pub(super) fn none(_: &Plan) -> Bearing {
    Bearing::None
}

pub(super) fn figures(_: &Plan) -> Bearing {
    Bearing::Figures
}

pub(super) fn work(_: &Plan) -> Bearing {
    Bearing::Work
}

/// Returns true if its workload has data.
pub(super) fn has_data(plan: &Plan) -> bool {
    !plan.scale_name.is_empty()
}
